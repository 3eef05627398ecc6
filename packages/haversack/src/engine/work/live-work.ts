/**
 * Work for a process that lives as long as a session. Nothing is opened before it is asked for, and at every question the store
 * is the one that lies there now: it may have been restored, deleted or made meanwhile. In a project without `.haversack/` there is
 * no work, so reading finds none; the first write makes the folder.
 */
import { statSync } from "node:fs";
import type { Config } from "../../base/config-schema.ts";
import { isFault } from "../../base/errors.ts";
import { workPlace } from "../../base/git-place.ts";
import { newId } from "../../base/ids.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { readInSpool } from "../../store/sqlite/spool/take-in.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { clientName } from "../../work/agent-name.ts";
import { type Environment, ensureStateFolder, type ProjectPaths, projectPaths, requireConfig } from "../project.ts";
import { openProjectToRead } from "../project-store.ts";
import { freshenIndex } from "../refresh-index.ts";
import { retireOldState } from "../retire-state.ts";
import { afterClaim } from "../wake/after-claim.ts";
import { wakeSettings } from "../wake/gather-wake.ts";
import { type CallMarks, callerOfCall } from "../window-of-call.ts";
import { actorForCall } from "./actor.ts";
import type { WorkParts } from "./work-parts.ts";
import { workSettings } from "./work-parts.ts";

export interface LiveParts extends WorkParts {
  handle: StoreHandle;
  /** The folder that the process serves. */
  cwd: string;
  paths: ProjectPaths;
  config: Config;
}

export interface WorkCall {
  marks: CallMarks;
  /** As the client named itself. */
  client?: string | undefined;
  at: Date;
}

/** A caller would rather hear that the store is busy than wait longer. */
const BUSY_MS = 5000;

export class LiveWork {
  readonly #options: { cwd: string; env: Environment };
  /** Tells this process from another server of a client that says nothing of its session. */
  readonly #processId = newId("", 4);
  #open: OpenWork | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: { cwd: string; env: Environment }) {
    this.#options = options;
  }

  read<T>(call: WorkCall, use: (parts: LiveParts) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#use(call, use, { isWrite: false }));
  }

  write<T>(call: WorkCall, use: (parts: LiveParts) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#use(call, use, { isWrite: true }));
  }

  close(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.handle.db.close();
  }

  /** One after the other: a fault closes the store, and no other call may be using it then. */
  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action);
    // Whoever asked gets the fault; those who wait behind do not.
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #use<T>(
    { marks, client, at }: WorkCall,
    use: (parts: LiveParts) => Promise<T>,
    { isWrite }: { isWrite: boolean },
  ): Promise<T> {
    const { cwd, env } = this.#options;
    const paths = projectPaths(cwd, env);
    try {
      const config = requireConfig(paths, () => undefined);
      const settings = workSettings(config);
      const ask = (open: OpenWork) => {
        const caller = open.isMemory ? undefined : callerOfCall(marks, open);
        const session = caller && open.sessions.getSession(caller);
        // As hooks call it: to an MCP server most clients give another name.
        const known = caller && open.sessions.getSession({ sessionId: caller.sessionId })?.client;
        const name = known ?? (client && clientName(client));
        const by = {
          ...actorForCall(marks, { env, client: name, caller, processId: this.#processId, at }),
          // The caller's own folder, where a hook has seen it: a sub-agent may work in a work tree of its own.
          place: { ...workPlace(session?.cwd ?? cwd), ...(name && { client: name }) },
        };
        const { store, handle } = open;
        const wake = wakeSettings(config);
        const places = { root: paths.root, env, folders: config["skills.folders"] };
        const freshen = (options: { isThorough: boolean }) => freshenIndex(handle, places, options);
        return use({
          store,
          by,
          settings,
          for: "agent",
          handle,
          cwd,
          paths,
          config,
          afterClaim: (taskId) => afterClaim(taskId, { store, by, handle, settings: wake, cwd, client: name, freshen }),
        });
      };
      const open = this.#current(paths);
      const answer = await ask(open);
      retireOldState(open.handle, { paths, days: config["store.retentionDays"], now: at });
      if (!isWrite || !open.isMemory) return answer;
      // That was in memory: what can be done there is worth a folder, what cannot leaves no trace in the project.
      ensureStateFolder(paths);
      return await ask(this.#current(paths));
    } catch (error) {
      // Wrong input, and what another holds, is the caller's; after anything else it is opened anew: by then it may be restored or free.
      const isCallers = isFault(error, "input-invalid") || isFault(error, "not-found") || isFault(error, "refused");
      if (!isCallers) this.close();
      throw error;
    }
  }

  #current(paths: ProjectPaths): OpenWork {
    // One that could only be read may be writable by now.
    if (this.#open && (this.#open.place !== placeOf(paths) || this.#open.handle.isReadOnly)) this.close();
    if (this.#open) readInSpool(this.#open.handle);
    this.#open ??= openWork(paths);
    return this.#open;
  }
}

interface OpenWork {
  handle: StoreHandle;
  /** Which file was opened; another one may have taken its name since. */
  place: string;
  isMemory: boolean;
  store: SqliteWorkStore;
  sessions: SqliteLocalStore;
  state: SessionState;
}

function openWork(paths: ProjectPaths): OpenWork {
  const isMemory = !exists(paths.state);
  // full: agents are told that it is saved.
  const handle = isMemory ? openMemoryStore() : openProjectToRead(paths, { durability: "full", busyMs: BUSY_MS });
  return {
    handle,
    // After opening: that may have made the file.
    place: placeOf(paths),
    isMemory,
    store: new SqliteWorkStore(handle),
    sessions: new SqliteLocalStore(handle),
    state: new SessionState(handle),
  };
}

/** The file and what tells it from another of the same name. */
function placeOf(paths: ProjectPaths): string {
  if (!exists(paths.state)) return `memory for ${paths.root}`;
  return `${paths.store}#${statSync(paths.store, { throwIfNoEntry: false })?.ino ?? "none"}`;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
