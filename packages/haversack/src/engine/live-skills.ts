/**
 * Skills for a process that lives as long as a session. Opens nothing before it is needed. Every call uses the store that is on disk at
 * that time (it may have been restored, deleted or made since), and checks the index against the files at most every few seconds. A project
 * without `.haversack/` is served from memory: nobody asked for a folder there.
 */
import { resolve } from "node:path";
import { readHead, stripControl } from "../base/clean-text.ts";
import { errorText, type FaultCode, isFault } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { profileOf } from "../skills/showing/activation.ts";
import type { SkillCard } from "../skills/types.ts";
import type { StoreHandle } from "../store/sqlite/access.ts";
import { guardStore } from "../store/sqlite/connect.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SessionState } from "../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../store/sqlite/skills/skill-ledger.ts";
import { type Discovery, discover, type PromptTracking } from "./discover.ts";
import type { MatchOptions, SkillText } from "./library-types.ts";
import { type LoadInput, listSkillResources, loadSkill, readSkillResource, type SkillResource } from "./load-skill.ts";
import type { KeptProject, OpenProject } from "./open-project.ts";
import { discoverSettings, offReason } from "./project.ts";
import { refreshIndex } from "./refresh-index.ts";
import { type FoundSkill, searchSkills } from "./search-skills.ts";
import { findSkillSources } from "./skill-sources.ts";
import { type CallMarks, windowOfCall } from "./window-of-call.ts";

export interface LiveSkillsOptions {
  project: KeptProject;
  log(level: "warn" | "error", text: string): void;
  /** Brings the project's index up to date in another process, and returns whether it did: see refresh-index.ts. */
  indexElsewhere?: (root: string) => boolean;
  now?: () => number;
}

/** How old the last check of the files may be. Checking 285 skills takes about 15 ms. */
const CHECK_EVERY_MS = 3000;
/** How often another process is asked to index: the second time is for files added during the first. */
const MOST_TURNS = 2;
/** How long a call waits for other processes. After that, a fault is better than more waiting. */
const BUSY_MS = 2000;
/** If the store can be read but not written, deliver the body without recording that it was loaded. */
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

  /** `session`: if the caller knows it. Otherwise the marks of the call identify it. */
  load({ marks, session: known, ...input }: LoadInput & { marks: CallMarks }): SkillText {
    return this.#ask((open) => {
      const parts = { ...open, listResources: listSkillResources };
      const session = known ?? (open.isMemory ? undefined : windowOfCall(marks, open));
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

  /** The answer to a prompt. Without a session nothing is remembered, and every prompt is the first of its window. */
  match(prompt: string, { session, agentId, client, taskType, role }: MatchOptions): Discovery {
    return this.#ask((open) => {
      const { paths, cwd, env, config } = this.#options.project.current({ busyMs: BUSY_MS, isRetry: false });
      if (offReason(paths, env)) return NO_MATCH;
      const sessionId = session ?? "library";
      const answer = (ledger: PromptTracking) =>
        discover(
          {
            sessionId,
            ...(agentId !== undefined && { agentId }),
            client: { ...profileOf(client ?? "plain"), ...(session !== undefined && { session }) },
            cwd,
            root: paths.root,
            prompt,
            at: new Date(this.#now()),
            env,
            readHead: (path) => readHead(resolve(paths.root, path)),
            ...(taskType !== undefined && { taskType }),
            ...(role !== undefined && { role }),
          },
          { index: open.index, ledger, settings: discoverSettings(config) },
        );
      if (session === undefined) return answer(NO_LEDGER);
      try {
        return guardStore(open.handle.file, () => answer(open.ledger));
      } catch (error) {
        if (!isUnwritable(error)) throw error;
        this.#options.log("warn", `the prompt was answered, but that could not be recorded: ${errorText(error)}`);
        const { ledger } = open;
        return answer({ ...NO_LEDGER, tracking: (key) => ledger.tracking(key) });
      }
    });
  }

  list(): SkillCard[] {
    return this.#ask(({ index }) => index.listCards());
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

  /** Skills that a model may invoke and that have a text. */
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
   * Brings the index up to date before the first call. A fault is only logged, because the first call will meet and report it. Many
   * sessions never call, so the store does not stay open.
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
      // The next call opens it again: by then it may be restored or unlocked.
      if (isFault(error)) this.close();
      throw error;
    }
  }

  #current(): OpenIndex {
    const isLookedAtLately = this.#now() - this.#checkedAt < CHECK_EVERY_MS;
    // For a read-only store the index is in memory and is rebuilt on reopening: do not reopen at every call.
    const project = this.#options.project.current({ busyMs: BUSY_MS, isRetry: !isLookedAtLately });
    if (this.#open?.handle !== project.handle) {
      this.#open = openIndex(project);
      this.#checkedAt = Number.NEGATIVE_INFINITY;
    }
    if (this.#now() - this.#checkedAt >= CHECK_EVERY_MS) {
      this.#refresh(this.#open, project);
      this.#checkedAt = this.#now();
      // The index counts its skills when it is created, and another process may have updated them.
      this.#open = { ...this.#open, index: new SqliteSkillIndex(this.#open.indexed.db) };
    }
    return this.#open;
  }

  #refresh({ handle, indexed, index, isMemory }: OpenIndex, { paths, env, config }: OpenProject): void {
    const { log, indexElsewhere } = this.#options;
    const sources = findSkillSources(paths.root, { env, folders: config["skills.folders"], fs: diskFileSystem });
    try {
      // Other processes cannot reach an index in memory.
      const isOnDisk = !isMemory && indexed === handle;
      let turns = 0;
      refreshIndex(indexed, {
        ...sources,
        fs: diskFileSystem,
        ...(indexElsewhere && isOnDisk && { inOtherProcess: () => turns++ < MOST_TURNS && indexElsewhere(paths.root) }),
      });
    } catch (error) {
      if (!isUnwritable(error) || index.size === 0) throw error;
      log("warn", `the skill index could not be brought up to date: ${errorText(error)}`);
    }
  }
}

/** A window that has seen nothing, and forgets what it is shown. */
const NO_LEDGER: PromptTracking = {
  tracking: () => ({ window: 1, promptCount: 0, isNewWindow: true, domainHistory: [], ledger: [], files: [] }),
  recentPrompts: () => [],
  recordAnswer: () => undefined,
  recordSlowPatterns: () => undefined,
};

/** Haversack is switched off. */
const NO_MATCH: Discovery = {
  format: "none",
  text: "",
  tokens: 0,
  status: "continue",
  isExplicit: false,
  promptNumber: 0,
  skills: [],
  slowPatterns: [],
};

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
