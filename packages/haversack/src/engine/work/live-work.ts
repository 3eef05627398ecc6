/**
 * Work for a process that lives as long as a session. A project without `.haversack/` has no work, so reading finds none; the first write
 * makes the folder.
 */
import { isFault } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { workPlace } from "../../base/project-root.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { clientName } from "../../work/agent-name.ts";
import type { KeptProject, OpenProject } from "../open-project.ts";
import { retireOldState } from "../open-project.ts";
import { ensureStateFolder, outputLimits } from "../project.ts";
import { isDue, teamState } from "../team/team-state.ts";
import { type CallMarks, callerOfCall } from "../window-of-call.ts";
import { KeptWork, type ProjectWork, sharedUrl } from "../work-of.ts";
import { actorForCall } from "./actor.ts";
import { type WorkParts, workSettings } from "./work-parts.ts";

export interface LiveParts extends WorkParts, Omit<OpenProject, "close">, Omit<ProjectWork, "store" | "close"> {
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

/** After this time, tell the caller that the store is busy. */
const BUSY_MS = 5000;

/** How often it looks whether a hook has written something. */
const TICK_MS = 2000;

export class LiveWork {
  readonly #project: KeptProject;
  readonly #work: KeptWork;
  /** Distinguishes this process from other servers of a client that sends no session. */
  readonly #processId = newId("", 4);
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isCatchingUp = false;

  /** `note` receives what a person should know about a shared store. */
  constructor(project: KeptProject, note: (text: string) => void = () => undefined) {
    this.#project = project;
    this.#work = new KeptWork({ note });
  }

  read<T>(call: WorkCall, use: (parts: LiveParts) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#use(call, use, { isWrite: false }));
  }

  write<T>(call: WorkCall, use: (parts: LiveParts) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#use(call, use, { isWrite: true }));
  }

  /**
   * From now on sends what hooks have written about shared work, and keeps the local snapshot up to date. Calls do not wait for it. Does
   * nothing for a project that shares no work.
   */
  keepUp(): void {
    this.#timer ??= setInterval(() => void this.#catchUp(), TICK_MS).unref();
  }

  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp || !sharedUrl(this.#project.found)) return;
    this.#isCatchingUp = true;
    try {
      await this.#project.use(async () => {
        const project = this.#project.current({ busyMs: BUSY_MS });
        const team = project.isMemory ? undefined : teamState(project.handle);
        if (!team || !isDue(team, Date.now())) return;
        await (await this.#work.of(project)).catchUp();
      });
    } catch {
      // A call reports it. What was not sent stays in the outbox.
    } finally {
      this.#isCatchingUp = false;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#work.close();
    this.#project.close();
  }

  /** One call at a time: a fault closes the store, and no other call may be using it then. */
  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action);
    // The caller gets the fault; waiting calls do not.
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #use<T>(
    { marks, client, at }: WorkCall,
    use: (parts: LiveParts) => Promise<T>,
    { isWrite }: { isWrite: boolean },
  ): Promise<T> {
    const ask = async (project: OpenProject) => {
      const { handle, cwd, env, config, isMemory } = project;
      const sessions = new SqliteLocalStore(handle);
      const caller = isMemory ? undefined : callerOfCall(marks, { handle, sessions, state: new SessionState(handle) });
      const session = caller && sessions.getSession(caller);
      // Use the hooks' name for the client: most clients give an MCP server another one.
      const known = caller && sessions.getSession({ sessionId: caller.sessionId })?.client;
      const name = known ?? (client && clientName(client));
      const by = {
        ...actorForCall(marks, { env, client: name, caller, processId: this.#processId, at }),
        // Use the caller's own folder if a hook saw it: a sub-agent may work in its own work tree.
        place: { ...workPlace(session?.cwd ?? cwd), ...(name && { client: name }) },
      };
      const work = await this.#work.of(project);
      return use({ ...project, ...work, project, by, settings: workSettings(config), for: "agent" });
    };
    return this.#project.use(async () => {
      try {
        const project = this.#project.current({ busyMs: BUSY_MS });
        const { handle, paths, config } = project;
        const answer = await ask(project);
        const outputs = outputLimits(config);
        retireOldState(handle, { paths, days: config["store.retention_days"], outputs, now: at });
        if (!isWrite || !project.isMemory) return answer;
        // That ran in memory. It succeeded, so make the folder and repeat it; a failed write leaves no trace in the project.
        ensureStateFolder(paths);
        return await ask(this.#project.current({ busyMs: BUSY_MS }));
      } catch (error) {
        // The caller caused these faults. After any other, open the store again next time: it may be restored or unlocked by then.
        const isCallers = isFault(error, "input-invalid") || isFault(error, "not-found") || isFault(error, "refused");
        if (!isCallers) this.#project.close();
        throw error;
      }
    });
  }
}
