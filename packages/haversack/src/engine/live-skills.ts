/**
 * Skills for a process that lives as long as a session. Nothing is opened before it is asked for; at every question the store
 * is the one that lies there now (it may have been restored, deleted or made meanwhile), and the index is held against the
 * files, at most every few seconds. A project without `.haversack/` is served from memory: nobody asked for a folder there.
 */
import { stripControl } from "../base/clean-text.ts";
import { errorText, type FaultCode, isFault } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { guardStore } from "../store/sqlite/faults.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SessionState } from "../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../store/sqlite/skills/skill-ledger.ts";
import { type LoadedSkill, type LoadInput, loadSkill } from "./load-skill.ts";
import type { KeptProject, OpenProject } from "./open-project.ts";
import { refreshIndex } from "./refresh-index.ts";
import { type FoundSkill, searchSkills } from "./search-skills.ts";
import { listSkillResources, readSkillResource, type SkillResource } from "./skill-folder.ts";
import { findSkillSources } from "./skill-sources.ts";
import { type CallMarks, windowOfCall } from "./window-of-call.ts";

export interface LiveSkillsOptions {
  project: KeptProject;
  log(level: "warn" | "error", text: string): void;
  /** Brings the project's index up to date in another process, and returns whether it did: see refresh-index.ts. */
  indexElsewhere?: (root: string) => boolean;
  now?: () => number;
}

/** How old the last look at the files may be. A look at 285 skills takes about 15 ms. */
const CHECK_EVERY_MS = 3000;
/** A call that waits longer than this for other processes is worth less than an answer. */
const BUSY_MS = 2000;
/** The store can be read but not written: the body matters more than the record that it was loaded. */
const UNWRITABLE: readonly FaultCode[] = ["store-locked", "store-full", "store-read-only"];

export class LiveSkills {
  readonly #options: LiveSkillsOptions;
  readonly #now: () => number;
  #open: OpenIndex | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LiveSkillsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  load({ marks, ...input }: Omit<LoadInput, "session"> & { marks: CallMarks }): LoadedSkill {
    return this.#ask((open) => {
      const parts = { ...open, listResources: listSkillResources };
      const session = open.isMemory ? undefined : windowOfCall(marks, open);
      if (!session) return loadSkill(input, parts);
      try {
        return guardStore(open.handle.file, () => loadSkill({ ...input, session }, parts));
      } catch (error) {
        if (!isUnwritable(error)) throw error;
        this.#options.log("warn", `${input.name} was loaded, but that could not be recorded: ${errorText(error)}`);
        return loadSkill(input, parts);
      }
    });
  }

  search(text: string, { limit }: { limit: number }): { found: FoundSkill[]; total: number } {
    return this.#ask(({ index }) => ({ found: searchSkills(text, { index }, { limit }), total: index.size }));
  }

  readResource(name: string, path: string): SkillResource | { kind: "unknown"; text: string } {
    return this.#ask((open) => {
      const loaded = loadSkill(
        { name, includeResources: false, at: new Date(this.#now()) },
        { ...open, listResources: listSkillResources },
      );
      if (loaded.kind === "unknown") return { kind: "unknown", text: loaded.text };
      return readSkillResource(loaded.id, path, open.index);
    });
  }

  /** Those that a model may start and that have a text. */
  servedIds(): string[] {
    return this.#ask(({ index }) =>
      index
        .listCards()
        .filter((card) => card.modelInvocable && card.sourceKind !== "rule")
        .map(({ id }) => id),
    );
  }

  /** The skill's own file, frontmatter included. */
  manifest(id: string): string | undefined {
    return this.#ask(({ index }) => {
      const card = index.card(id);
      if (!card || card.sourceKind === "rule") return undefined;
      try {
        return stripControl(diskFileSystem.readFile(card.path));
      } catch (error) {
        this.#options.log("warn", `${card.path}: ${errorText(error)}`);
        return undefined;
      }
    });
  }

  /**
   * Brings the index up to date ahead of the first question. A fault is logged; the question will meet it again and say it. Many sessions
   * ask nothing, so the store is not kept open for them.
   */
  checkNow(): void {
    try {
      const isOnDisk = this.#ask(({ handle, indexed, isMemory }) => !isMemory && indexed === handle);
      if (!isOnDisk) return;
      const checkedAt = this.#checkedAt;
      this.close();
      this.#checkedAt = checkedAt;
    } catch (error) {
      this.#options.log("warn", errorText(error));
    }
  }

  close(): void {
    this.#open = undefined;
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    this.#options.project.close();
  }

  #ask<T>(question: (open: OpenIndex) => T): T {
    try {
      const open = this.#current();
      return guardStore(open.handle.file, () => question(open));
    } catch (error) {
      // Opened anew at the next question: by then it may be restored or free.
      if (isFault(error)) this.close();
      throw error;
    }
  }

  #current(): OpenIndex {
    const isLookedAtLately = this.#now() - this.#checkedAt < CHECK_EVERY_MS;
    // Of a store that can only be read the index is in memory, and made anew with it: not at every question.
    const project = this.#options.project.current({ busyMs: BUSY_MS, isRetry: !isLookedAtLately });
    if (this.#open?.handle !== project.handle) {
      this.#open = openIndex(project);
      this.#checkedAt = Number.NEGATIVE_INFINITY;
    }
    if (this.#now() - this.#checkedAt >= CHECK_EVERY_MS) {
      this.#refresh(this.#open, project);
      this.#checkedAt = this.#now();
      // Another process may have brought it up to date as well: the index counts its skills when it is made.
      this.#open = { ...this.#open, index: new SqliteSkillIndex(this.#open.indexed.db) };
    }
    return this.#open;
  }

  #refresh({ handle, indexed, index, isMemory }: OpenIndex, { paths, env, config }: OpenProject): void {
    const { log, indexElsewhere } = this.#options;
    const sources = findSkillSources(paths.root, { env, folders: config["skills.folders"], fs: diskFileSystem });
    try {
      // No other process reaches an index in memory.
      const isOnDisk = !isMemory && indexed === handle;
      refreshIndex(indexed, {
        ...sources,
        fs: diskFileSystem,
        ...(indexElsewhere && isOnDisk && { inOtherProcess: () => indexElsewhere(paths.root) }),
      });
    } catch (error) {
      if (!isUnwritable(error) || index.size === 0) throw error;
      log("warn", `the skill index could not be brought up to date: ${errorText(error)}`);
    }
  }
}

interface OpenIndex {
  handle: StoreHandle;
  /** Where the index is: in memory when the store can only be read. */
  indexed: StoreHandle;
  isMemory: boolean;
  index: SqliteSkillIndex;
  ledger: SkillLedger;
  sessions: SqliteLocalStore;
  state: SessionState;
}

function openIndex({ handle, isMemory }: OpenProject): OpenIndex {
  const indexed = handle.isReadOnly ? openMemoryStore() : handle;
  return {
    handle,
    indexed,
    isMemory,
    index: guardStore(handle.file, () => new SqliteSkillIndex(indexed.db)),
    ledger: new SkillLedger(handle),
    sessions: new SqliteLocalStore(handle),
    state: new SessionState(handle),
  };
}

function isUnwritable(error: unknown): boolean {
  return isFault(error) && UNWRITABLE.includes(error.code);
}
