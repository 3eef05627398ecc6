/**
 * The state of a run: its tasks, its sessions and what it has spent. Every change is stored before the next step, so a killed runner
 * resumes exactly where it was. Also manages the run's claims: takes, binds, takes back and releases tasks.
 */
import { existsSync } from "node:fs";
import { errorText } from "../base/errors.ts";
import type { Usage } from "../clients/stream-event.ts";
import { claimTask, releaseTask } from "../engine/work/claims.ts";
import { setStatus } from "../engine/work/set-status.ts";
import type { WorkParts } from "../engine/work/work-parts.ts";
import type { NewRunSession, Run, RunSession, RunTask, RunTaskState } from "../store/run-store.ts";
import type { Handoff } from "../work/handoff.ts";
import type { RunTotals } from "./brakes.ts";
import { addUsage, type EndWhy, type RunningSession, type SessionEnd, type SessionEndKind } from "./client-session.ts";
import { keepChanges } from "./keep-changes.ts";
import { findProcesses, signal } from "./process-tree.ts";
import { agentOf, holderOf, holdLapsed, isOfRun } from "./run-agents.ts";
import type { Place, RunParts, RunRequest } from "./run-parts.ts";
import { RunStop } from "./session-health.ts";
import type { StopSwitch } from "./stop-switch.ts";
import { lastWindowTokens, type WindowUse, windowUse } from "./window-room.ts";

export const NO_USAGE: Usage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };

const ENDS: Readonly<Record<EndWhy, SessionEndKind>> = {
  "window-full": "window-full",
  circling: "circling",
  stopped: "stopped",
  limit: "stopped",
};

const KEEP_WAITS_MS = [10_000, 30_000, 60_000, 120_000];

export class RunRecord {
  readonly parts: RunParts;
  readonly stop: StopSwitch;
  readonly client: string;
  readonly tasks = new Map<string, RunTask>();
  /** Fingerprints of test failures that this run's tasks did not cause. */
  readonly knownRed = new Set<string>();
  /** Sessions that run now, by their number. */
  readonly live = new Map<number, RunningSession>();
  sessions: RunSession[] = [];
  run: Run;
  workedMs: number;
  readonly #oldHandoffs = new Set<string>();
  #lastKept = "";

  constructor(run: Run, { client }: RunRequest, parts: RunParts, stop: StopSwitch) {
    [this.run, this.client, this.parts, this.stop] = [run, client, parts, stop];
    this.workedMs = run.workedMs;
  }

  /** The environment of something that the run starts, and the mark in it by which all its processes are found. */
  marked(name: string, value: string | number): { env: Record<string, string>; mark: string } {
    const { env, project } = this.parts;
    const { id } = this.run;
    const own = `${project}/${id}/${value}`;
    return { env: { ...env, HAVERSACK_RUN: id, [RUN_MARK]: `${project}/${id}`, [name]: own }, mark: `${name}=${own}` };
  }

  /** The agent that works in the project's own folder. */
  get agent(): string {
    return agentOf(this.run.id);
  }

  get home(): Place {
    return { cwd: this.parts.cwd, agent: this.agent };
  }

  work({ agent, cwd }: Place, sessionId?: string): WorkParts {
    const place = { worktree: cwd, client: this.client };
    const at = this.parts.now();
    return this.parts.work({ name: agent, isNamed: true, at, place, ...(sessionId !== undefined && { sessionId }) });
  }

  /** Takes over what an earlier process of this run left: its sessions, its tasks, and perhaps a client that still runs. */
  async takeUp(): Promise<void> {
    const { runs, now } = this.parts;
    const { id } = this.run;
    this.sessions = await runs.listSessions(id);
    for (const task of await runs.listTasks(id)) this.tasks.set(task.taskId, task);
    await this.#findClaims();
    for (const one of this.run.redBefore?.split(" ") ?? []) this.knownRed.add(one);
    const left = this.sessions
      .filter(({ endedAt }) => !endedAt)
      .map((session) => ({ session, end: this.#endOf(session) }));
    endLeftovers(this.run, this.sessions, this.parts);
    for (const { session, end } of left) {
      const ended = { endedAt: now(), end, text: "the runner was ended" };
      Object.assign(session, ended);
      const task = this.tasks.get(session.taskIds[0] ?? "");
      const place = task && existsSync(task.worktree ?? "") ? this.placeOf(task) : this.home;
      await runs.updateSession(id, session.number, { ...ended, ...this.keep(place, session.number) });
    }
  }

  /** Of a session that nobody followed to its end: one that was asked to save and end, and has gone, is no crash. */
  #endOf({ asked, process }: RunSession): SessionEndKind {
    const isGone = process !== undefined && this.parts.isAlive(process) === false;
    return asked === undefined || !isGone ? "crashed" : ENDS[asked as EndWhy];
  }

  /** Tasks that count as done although their tests or reviews are still due. */
  async countUnchecked(): Promise<number> {
    const { store, by } = this.work(this.home);
    const found = await Promise.all(this.held().map(({ taskId }) => store.getTask(taskId, by.at)));
    return found.filter(({ status }) => status === "done" || status === "archived").length;
  }

  /** The earlier process may have been killed after a claim and before recording it. */
  async #findClaims(): Promise<void> {
    const { store, by } = this.work(this.home);
    for (const { taskId, agent } of await store.listClaims({ at: by.at })) {
      if (!this.#isOurs(agent) || this.tasks.has(taskId)) continue;
      const { title } = await store.getTask(taskId, by.at);
      await this.setTask(taskId, { state: "claimed", title });
    }
  }

  #isOurs(agent: string | undefined): boolean {
    return agent !== undefined && isOfRun(agent, this.run.id);
  }

  get windowTokens(): number {
    return lastWindowTokens(this.sessions, this.parts.settings.sessionLimits.windowTokens);
  }

  /** With that of the sessions that still run. */
  get windowUse(): WindowUse {
    const sessions = this.sessions.map((session) => ({ ...session, ...this.live.get(session.number)?.state }));
    return windowUse(sessions, this.tasks.values());
  }

  async update(change: Parameters<RunParts["runs"]["updateRun"]>[1]): Promise<void> {
    this.run = { ...this.run, ...change };
    await this.parts.runs.updateRun(this.run.id, change);
  }

  async setTask(taskId: string, change: Partial<Omit<RunTask, "runId" | "taskId">>): Promise<RunTask> {
    const task: RunTask = {
      ...{ state: "claimed" as const, title: "", fixes: 0, reviewFailures: 0, tokens: 0, sessions: 0 },
      ...this.tasks.get(taskId),
      ...change,
      runId: this.run.id,
      taskId,
      at: this.parts.now(),
    };
    this.tasks.set(taskId, task);
    await this.parts.runs.setTask(task);
    return task;
  }

  async learnRed(fingerprint: string): Promise<void> {
    this.knownRed.add(fingerprint);
    await this.update({ redBefore: [...this.knownRed].join(" ") });
  }

  async addSession(session: Omit<NewRunSession, "runId">): Promise<RunSession> {
    const added = await this.parts.runs.addSession({ ...session, runId: this.run.id });
    this.sessions.push(added);
    return added;
  }

  /** Keeps uncommitted changes first. If that fails it throws, and no other session may start. */
  async endSession(session: RunSession, end: SessionEnd, place: Place): Promise<void> {
    const { usage, usedTokens, windowTokens, toolCalls, compactions, sessionId } = end;
    const change = {
      endedAt: this.parts.now(),
      end: end.kind,
      text: end.text,
      ...{ usedTokens, windowTokens, toolCalls, compactions, ...usage },
      ...(sessionId !== undefined && { sessionId }),
    };
    Object.assign(session, change);
    await this.parts.runs.updateSession(this.run.id, session.number, change);
    const kept = await this.keepPatiently(place, session.number);
    Object.assign(session, kept);
    if (kept.kept !== undefined) await this.parts.runs.updateSession(this.run.id, session.number, kept);
    const share = 1 / session.taskIds.length;
    for (const id of session.taskIds) {
      const task = this.tasks.get(id);
      await this.setTask(id, {
        tokens: (task?.tokens ?? 0) + Math.round((usage.inputTokens + usage.outputTokens) * share),
        sessions: (task?.sessions ?? 0) + 1,
        ...(usage.costUsd !== undefined && { costUsd: (task?.costUsd ?? 0) + usage.costUsd * share }),
      });
    }
  }

  /** Retries, because a full disk may have room again in a minute. */
  async keepPatiently(place: Place, number: number): Promise<{ kept?: string }> {
    for (const ms of KEEP_WAITS_MS) {
      try {
        return this.keep(place, number);
      } catch (error) {
        if (this.stop.how !== undefined) throw error;
        this.parts.on({ kind: "wait", ms, why: errorText(error) });
        await this.parts.wait(ms, this.stop);
      }
    }
    return this.keep(place, number);
  }

  /** Saves uncommitted changes under a ref. If that fails the run must stop: the next session could overwrite them. */
  keep({ cwd }: Place, number: number): { kept?: string } {
    const { settings, scratch, on } = this.parts;
    const runId = this.run.id;
    const message = `haversack: run ${runId}, ${number === 0 ? "before the first session" : `session ${number}`}`;
    try {
      const kept = keepChanges({ cwd, runId, number, scratch, way: settings.keep, message });
      if (!kept) return {};
      // A review changes nothing; its ref is not worth a line.
      if (kept.tree !== this.#lastKept) on({ kind: "kept", ref: kept.ref, files: kept.files });
      this.#lastKept = kept.tree;
      return { kept: kept.ref };
    } catch (error) {
      throw new RunStop(
        "cannot-keep",
        `uncommitted changes could not be kept (they are still in the folder): ${errorText(error)}`,
      );
    }
  }

  /** Counts against the limits. */
  spent(): RunTotals {
    const counted = this.sessions.filter(({ number }) => number > this.run.countsFrom);
    // A session that the model's server refused did nothing. How many may follow one another is limited elsewhere.
    const isRefused = ({ end, toolCalls }: RunSession) => end === "failed" && !toolCalls;
    const chains = counted.filter((session) => session.purpose === "batch" && !isRefused(session)).length;
    const live = [...this.live.values()].map(({ state }) => state.usage);
    const usage = [...counted.filter(({ endedAt }) => endedAt).map(usageOf), ...live].reduce(addUsage, NO_USAGE);
    return { chains, usage, workedMs: this.workedMs };
  }

  totals() {
    const states = [...this.tasks.values()].map(({ state }) => state);
    const count = (state: RunTaskState) => states.filter((one) => one === state).length;
    const usage = this.sessions.map(usageOf).reduce(addUsage, NO_USAGE);
    return {
      sessions: this.sessions.length,
      done: count("done"),
      blocked: count("blocked") + count("conflict"),
      usage,
    };
  }

  held(): RunTask[] {
    return [...this.tasks.values()].filter(({ state }) => state === "claimed");
  }

  // Claims.

  /** Claims for the run itself, not for a session. Also takes over tasks that its own sessions or their sub-agents hold. */
  async claim(taskId: string, place: Place): Promise<boolean> {
    const work = this.work(place);
    const { claim } = await work.store.getTask(taskId, work.by.at);
    if (claim && claim.agent === place.agent && claim.sessionId !== undefined) {
      await releaseTask({ taskId, reason: "its session has ended, the next one continues" }, work);
    }
    const isSubAgents = claim !== undefined && claim.agent !== place.agent && this.#isOurs(claim.agent);
    const claimed = await claimTask({ taskId, ...(isSubAgents && { stealReason: "its session has ended" }) }, work);
    return claimed.kind === "claimed";
  }

  /** It is no longer this run's: another agent has it, or a person settled it. */
  async giveBack(taskId: string): Promise<void> {
    const { store, by } = this.work(this.home);
    const { title, status, claim } = await store.getTask(taskId, by.at);
    await this.setTask(taskId, { state: "returned", title, isUnverified: false });
    const text = claim ? `${claim.agent} has it now` : `it is ${status.replace("_", " ")} now`;
    this.parts.on({ kind: "task", id: taskId, title, state: "returned", text });
  }

  /** From now on the claims belong to the session, so its sub-agents may take them over. */
  async bind(taskIds: readonly string[], sessionId: string, place: Place): Promise<void> {
    const work = this.work(place, sessionId);
    for (const taskId of taskIds) await work.store.claim({ taskId, leaseMs: work.settings.leaseMs }, work.by);
  }

  async beat(): Promise<void> {
    const { seenAt } = this.run;
    const at = this.parts.now();
    await this.update({ seenAt: at, workedMs: this.workedMs });
    // If the runner is killed, this is all that is known of what its sessions have used.
    for (const [number, { state }] of this.live) {
      const { usage, usedTokens, windowTokens, toolCalls, compactions } = state;
      const soFar = { usedTokens, windowTokens, toolCalls, compactions, ...usage };
      await this.parts.runs.updateSession(this.run.id, number, soFar);
    }
    const { leaseMs } = this.work(this.home).settings;
    if (at.getTime() - seenAt.getTime() >= leaseMs) await holdLapsed(this.held(), this.sessions, this.parts);
    for (const task of this.held()) {
      const work = this.work(this.placeOf(task));
      const { claim } = await work.store.getTask(task.taskId, work.by.at);
      if (!claim || !this.#isOurs(claim.agent)) continue;
      // Act as the current holder, which may be a sub-agent.
      const by = { ...work.by, name: claim.agent, ...(claim.sessionId && { sessionId: claim.sessionId }) };
      const holder = { ...by, ...(claim.agentId && { agentId: claim.agentId }) };
      await work.store.heartbeat({ taskId: task.taskId, leaseMs: work.settings.leaseMs }, holder);
    }
  }

  placeOf(task: RunTask): Place {
    return { cwd: task.worktree ?? this.parts.cwd, agent: holderOf(task) };
  }

  // Handoffs, told apart by their ids: a clock that was set back would make new ones look old.

  /** Remembers the handoffs that these tasks have now. */
  async noteHandoffs(taskIds: readonly string[]): Promise<void> {
    for (const taskId of taskIds) {
      for (const role of [undefined, ...this.parts.settings.reviewers]) {
        const found = await this.#handoff(taskId, role);
        if (found) this.#oldHandoffs.add(found.id);
      }
    }
  }

  /** The latest one that `noteHandoffs` has not seen. */
  async newHandoff(taskId: string, role?: string): Promise<Handoff | undefined> {
    const found = await this.#handoff(taskId, role);
    return found && !this.#oldHandoffs.has(found.id) ? found : undefined;
  }

  #handoff(taskId: string, role: string | undefined): Promise<Handoff | undefined> {
    return this.work(this.home).store.getHandoff({ taskId, ...(role !== undefined && { role }) });
  }

  /** At the end of a run: returns its tasks to the queue with their WIP. Tasks that are finished but not verified become open again. */
  async letGo(): Promise<void> {
    for (const task of this.held()) {
      const { taskId } = task;
      const place = this.placeOf(task);
      const work = this.work(place);
      const { status, claim } = await work.store.getTask(taskId, work.by.at);
      if (status === "in_progress" && this.#isOurs(claim?.agent)) {
        await this.claim(taskId, place);
        await releaseTask({ taskId, reason: `run ${this.run.id} has stopped` }, this.work(place));
      } else if (status === "done" || status === "review") {
        await this.setTask(taskId, { isUnverified: true });
        await setStatus({ taskId, status: "todo", notes: "its tests or its review are still due" }, work);
      }
    }
  }
}

function usageOf({ inputTokens = 0, cachedTokens = 0, outputTokens = 0, costUsd }: RunSession): Usage {
  return { inputTokens, cachedTokens, outputTokens, ...(costUsd !== undefined && { costUsd }) };
}

/** Whether its process still exists. For a run on another machine: whether it has sent a heartbeat lately. */
export function isRunAlive(
  run: Pick<Run, "process" | "seenAt">,
  { isAlive, now }: { isAlive: RunParts["isAlive"]; now: Date },
): boolean {
  return isAlive(run.process) ?? now.getTime() - run.seenAt.getTime() < SILENT_MS;
}

/** Heartbeats come every 30 seconds. */
const SILENT_MS = 180_000;

/** Names the run in the environment of everything that it starts. With the project: two projects may have a run of the same id. */
const RUN_MARK = "HAVERSACK_RUN_OF";

/** Ends every process that the sessions of a killed runner left. Never ends a later process that reuses the number. */
export function endLeftovers(
  run: Run,
  sessions: readonly RunSession[],
  parts: Pick<RunParts, "isAlive" | "project">,
): void {
  const roots = sessions.flatMap(({ process, endedAt }) =>
    process && !endedAt && parts.isAlive(process) === true ? [process.id] : [],
  );
  signal(findProcesses({ roots, mark: `${RUN_MARK}=${parts.project}/${run.id}` }), "SIGKILL");
}
