/**
 * Work for a process that lives as long as a session. In a project without `.haversack/` there is no work, so reading finds none; the
 * first write makes the folder.
 */
import { isFault } from "../../base/errors.ts";
import { workPlace } from "../../base/git-place.ts";
import { newId } from "../../base/ids.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { clientName } from "../../work/agent-name.ts";
import type { KeptProject, OpenProject } from "../open-project.ts";
import { retireOldState } from "../open-project.ts";
import { ensureStateFolder } from "../project.ts";
import { type CallMarks, callerOfCall } from "../window-of-call.ts";
import { actorForCall } from "./actor.ts";
import { type WorkParts, workSettings } from "./work-parts.ts";

export interface LiveParts extends WorkParts, OpenProject {
  project: OpenProject;
}

/** A project that stays open for many calls: each part of the library binds its operations to one. */
export interface BoundProject {
  /** Makes no folder and no store. */
  read<T>(use: (parts: LiveParts) => Promise<T>): Promise<T>;
  write<T>(use: (parts: LiveParts) => Promise<T>): Promise<T>;
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
  readonly #project: KeptProject;
  /** Tells this process from another server of a client that says nothing of its session. */
  readonly #processId = newId("", 4);
  #last: Promise<unknown> = Promise.resolve();

  constructor(project: KeptProject) {
    this.#project = project;
  }

  read<T>(call: WorkCall, use: (parts: LiveParts) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#use(call, use, { isWrite: false }));
  }

  write<T>(call: WorkCall, use: (parts: LiveParts) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#use(call, use, { isWrite: true }));
  }

  close(): void {
    this.#project.close();
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
    const ask = (project: OpenProject) => {
      const { handle, cwd, env, config, isMemory } = project;
      const sessions = new SqliteLocalStore(handle);
      const caller = isMemory ? undefined : callerOfCall(marks, { handle, sessions, state: new SessionState(handle) });
      const session = caller && sessions.getSession(caller);
      // As hooks call it: to an MCP server most clients give another name.
      const known = caller && sessions.getSession({ sessionId: caller.sessionId })?.client;
      const name = known ?? (client && clientName(client));
      const by = {
        ...actorForCall(marks, { env, client: name, caller, processId: this.#processId, at }),
        // The caller's own folder, where a hook has seen it: a sub-agent may work in a work tree of its own.
        place: { ...workPlace(session?.cwd ?? cwd), ...(name && { client: name }) },
      };
      const store = new SqliteWorkStore(handle);
      return use({ ...project, project, store, by, settings: workSettings(config), for: "agent" });
    };
    return this.#project.use(async () => {
      try {
        const project = this.#project.current({ busyMs: BUSY_MS });
        const { handle, paths, config } = project;
        const answer = await ask(project);
        retireOldState(handle, { paths, days: config["store.retentionDays"], now: at });
        if (!isWrite || !project.isMemory) return answer;
        // That was in memory: what can be done there is worth a folder, what cannot leaves no trace in the project.
        ensureStateFolder(paths);
        return await ask(this.#project.current({ busyMs: BUSY_MS }));
      } catch (error) {
        // Wrong input, and what another holds, is the caller's; after anything else it is opened anew: by then it may be restored or free.
        const isCallers = isFault(error, "input-invalid") || isFault(error, "not-found") || isFault(error, "refused");
        if (!isCallers) this.#project.close();
        throw error;
      }
    });
  }
}
