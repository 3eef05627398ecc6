/**
 * The real engine on a scratch project: it answers events as the hook does, and does not touch the user's project. The scratch project has copies of
 * the project's skills, rules and settings, and its own empty store. The user's own skills are read from their usual places.
 */
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MAX_CONFIG_BYTES, readProjectText } from "../base/clean-text.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { makeFolder, makeScratch, putFile, removeScratch } from "../base/safe-write.ts";
import type { answerHook, HookHost } from "../clients/answer-hook.ts";
import type { Payload } from "../clients/client-adapter.ts";
import type { keptOpen } from "../engine/events/event-project.ts";
import { findProject, openProject } from "../engine/open-project.ts";
import type { Environment } from "../engine/project.ts";
import { MAX_FILE_BYTES, refreshIndex } from "../engine/refresh-index.ts";
import { findSkillSources } from "../engine/skill-sources.ts";
import { findSkillFiles } from "../skills/skill-files.ts";
import type { StoreHandle } from "../store/sqlite/access.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";

export interface EngineAnswer {
  /** As the hook would print it. "" for nothing. */
  answer: string;
  /** The text in it that the model would read. */
  text: string;
  ms: number;
}

/** The function that answers events. The caller passes it, because it is large and loaded only when needed. */
export interface EventCode {
  answerHook: typeof answerHook;
  keptOpen: typeof keptOpen;
}

export class ScratchEngine {
  readonly root: string;
  /** Names of the skills that it knows. */
  readonly skills: ReadonlySet<string>;
  readonly #folder: string;
  readonly #host: HookHost;
  readonly #code: EventCode;
  #opened: { handle: StoreHandle; open: ReturnType<typeof keptOpen> } | undefined;

  /** `project`: the folder whose skills and settings are used. */
  constructor(project: string, given: Environment, code: EventCode) {
    this.#code = code;
    this.#folder = makeScratch(join(tmpdir(), "haversack-replay-"));
    this.root = join(this.#folder, "project");
    // With doctor's variable, no event starts a background process.
    const env = { ...given, XDG_STATE_HOME: join(this.#folder, "state"), HAVERSACK_DOCTOR: "1" };
    makeFolder(join(this.root, ".git"), { within: this.#folder });
    makeFolder(join(this.root, ".haversack"), { within: this.#folder });
    this.#copyFrom(project, env);
    const open = openProject(findProject({ cwd: this.root, env }), { access: "save" });
    const sources = findSkillSources(this.root, { env, folders: open.config["skills.folders"], fs: diskFileSystem });
    refreshIndex(open.handle, { ...sources, fs: diskFileSystem, isRebuild: true });
    this.skills = new Set(new SqliteSkillIndex(open.handle.db).listCards().map(({ id }) => id));
    open.close();
    this.#host = {
      env: env as NodeJS.ProcessEnv,
      cwd: this.root,
      cli: [process.execPath, "-e", "0"],
      openStore: ({ store, userState }, sessionId, warn) => {
        const kept = this.#opened?.open ?? code.keptOpen(store, { busyMs: 1_000, userState, warn });
        const handle = kept(sessionId);
        if (handle) this.#opened = { handle, open: kept };
        return handle;
      },
      process: () => undefined,
    };
  }

  /** Treats the event as one of the scratch project. */
  answer(client: string, payload: Payload): EngineAnswer {
    const start = performance.now();
    const answer = this.#code.answerHook(client, { ...payload, cwd: this.root }, this.#host);
    return { answer, text: shownIn(answer), ms: performance.now() - start };
  }

  end(): void {
    if (this.#opened?.handle.db.isOpen) this.#opened.handle.db.close();
    removeScratch(this.#folder);
  }

  #copyFrom(project: string, env: Environment): void {
    const { roots, ruleFiles } = findSkillSources(project, { env, folders: [], fs: diskFileSystem });
    const inside = roots.filter(({ dir }) => dir.startsWith(`${project}/`));
    const skills = findSkillFiles(inside, diskFileSystem).files.map(({ path }) => path);
    for (const path of [...skills, ...ruleFiles, join(project, ".haversack/config.json")]) {
      if (!path.startsWith(`${project}/`)) continue;
      const read = readProjectText(path, {
        root: project,
        maxBytes: skills.includes(path) ? MAX_FILE_BYTES : MAX_CONFIG_BYTES,
        mayLinkInside: true,
      });
      if (read?.text === undefined) continue;
      const copy = join(this.root, path.slice(project.length + 1));
      makeFolder(dirname(copy), { within: this.#folder });
      putFile(copy, read.text, { within: this.#folder, isSynced: false });
    }
  }
}

/** Hooks give text to the model in one field; other fields are for the person or the client. */
function shownIn(answer: string): string {
  if (answer === "") return "";
  try {
    const { hookSpecificOutput } = JSON.parse(answer) as { hookSpecificOutput?: { additionalContext?: unknown } };
    const text = hookSpecificOutput?.additionalContext;
    return typeof text === "string" ? text : "";
  } catch {
    // Plain text reaches the model as it is.
    return answer;
  }
}
