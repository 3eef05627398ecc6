/**
 * Runs headless sessions one after another until a scope is done or a brake applies. Every step is stored before the next one starts, so
 * `--continue` resumes a killed runner where it stopped. The runner runs the tests itself and does not trust what a session says about
 * them.
 */
import { HaversackError } from "../base/errors.ts";
import { headCommit } from "../engine/artifacts/git-snapshot.ts";
import { pickApart, whyWaiting } from "../engine/work/next-batch.ts";
import type { Run, RunSession, RunTask } from "../store/run-store.ts";
import type { Scope } from "../store/work-store.ts";
import { sizeAfter } from "../work/batch.ts";
import type { TaskDetails } from "../work/task.ts";
import { AwakeClock } from "./awake-clock.ts";
import { batchOutcome, brakeOf, isCircling, isSound, MOST_IDLE_SESSIONS, type StopReason } from "./brakes.ts";
import type { LiveState, SessionEnd } from "./client-session.ts";
import { IsolatedTasks } from "./isolated-tasks.ts";
import { snapshot } from "./keep-changes.ts";
import { holdForOthers, OtherMachines } from "./other-runs.ts";
import { batchPrompt } from "./prompts.ts";
import { WorkPusher } from "./push-work.ts";
import { uncheckedTasks } from "./report.ts";
import { isOfAnyRun } from "./run-agents.ts";
import type { Place, RunParts, RunRequest } from "./run-parts.ts";
import { RunRecord } from "./run-record.ts";
import { RunStop, SessionHealth } from "./session-health.ts";
import { type NextBatch, runSession, type SessionContext } from "./session-step.ts";
import type { StopSwitch } from "./stop-switch.ts";
import { isUnnamed } from "./verify.ts";
import { evidenceOf, type Lane, type Settled, Verifier } from "./verify-step.ts";
import { batchSize, type Window } from "./window-room.ts";

export interface RunEnd {
  run: Run;
  reason: StopReason;
  text: string;
  report?: string;
}

export async function runWork(request: RunRequest, parts: RunParts, stop: StopSwitch): Promise<RunEnd> {
  const run = await openRun(request, parts);
  return new Runner(new RunRecord(run, request, parts, stop), request, stop).go();
}

async function openRun({ scope, client, options, continues }: RunRequest, parts: RunParts): Promise<Run> {
  const { runs, now, machine, process } = parts;
  const by = { machine, process };
  if (!continues) return runs.createRun({ scope, client, options: { ...options }, ...by, startedAt: now() });
  if (!(await runs.takeRun(continues, { ...by, seenAt: now() }))) {
    throw new HaversackError("refused", `another process continues run ${continues.id} already`, {
      hint: `\`haversack runs follow ${continues.id}\` shows it`,
    });
  }
  const sessions = await runs.listSessions(continues.id);
  // Continuing a run that ended at a limit grants the full limits again; a killed run gets only what was left.
  const fresh = continues.state === "ended" ? { countsFrom: sessions.at(-1)?.number ?? 0, workedMs: 0 } : {};
  await runs.updateRun(continues.id, { ...fresh });
  return { ...(await runs.getRun(continues.id)), client };
}

const BEAT_MS = 30_000;
const LOOK_MS = 1_000;
/** Nothing is ready, but other agents may change that: how long to wait before asking again. */
const OTHERS_MS = 5_000;
/** The same for a shared queue, which reports changes, but not that a lease has ended. */
const SHARED_MS = 15_000;
/** This many checks without a change are skipped. */
const SLOW_LOOKS = 15;
export const FIRST_SIZE = 2;

class Runner {
  readonly #record: RunRecord;
  readonly #request: RunRequest;
  readonly #stop: StopSwitch;
  readonly #health = new SessionHealth();
  readonly #otherMachines = new OtherMachines();
  readonly #isolated: IsolatedTasks;
  #size: number;
  /** How many tasks the last batch got. */
  #given = 0;
  #batches = 0;
  #idle = 0;
  #idleBatches = 0;
  #lastMark: string | undefined;
  #looks = 0;
  #pusher: WorkPusher | undefined;
  #waitsFor = "";
  #isStoreGone = false;

  constructor(record: RunRecord, request: RunRequest, stop: StopSwitch) {
    [this.#record, this.#request, this.#stop] = [record, request, stop];
    this.#isolated = new IsolatedTasks(record, request.options);
    const { size } = request.options;
    this.#size = size === "auto" ? Math.max(record.run.batchSize, FIRST_SIZE) : size;
  }

  get #parts(): RunParts {
    return this.#record.parts;
  }

  get #context(): SessionContext {
    const { options } = this.#request;
    return { record: this.#record, options, stop: this.#stop, health: this.#health, batchSize: this.#given };
  }

  get #isIsolated(): boolean {
    return this.#request.options.isIsolated;
  }

  get #verifier(): Verifier {
    // An isolated task is finished when it is merged.
    return new Verifier(this.#context, { isFinishing: !this.#isIsolated });
  }

  async go(): Promise<RunEnd> {
    const { on, settings } = this.#parts;
    const { testCommand } = settings;
    const record = this.#record;
    const { id } = record.run;
    const clock = new AwakeClock();
    const before = record.workedMs;
    let beatAt = this.#parts.now().getTime();
    const look = setInterval(() => {
      record.workedMs = before + clock.now();
      if (this.#parts.isStoreGone?.()) {
        this.#isStoreGone = true;
        this.#stop.request("now");
      }
      void this.#lookForStop();
      // By the wall clock, because leases are. After sleep, or when the clock was set, they may have expired: hold them at once.
      const at = this.#parts.now().getTime();
      if (Math.abs(at - beatAt) < BEAT_MS) return;
      beatAt = at;
      // If the store is locked right now, the next heartbeat does it: a lease is much longer.
      const isShared = this.#parts.shared !== undefined;
      const beat = async () => {
        await record.beat();
        if (isShared) await this.#otherMachines.look(id, this.#parts);
      };
      void beat().catch(() => undefined);
    }, LOOK_MS);
    try {
      await record.takeUp();
      const isContinued = this.#request.continues !== undefined;
      const open = (await this.#countOpen()) + (await record.countUnchecked());
      const about = { id, isContinued, client: record.client, open };
      on({ kind: "run", ...about, ...(testCommand !== undefined && { testCommand }) });
      const end = await this.#untilStopped();
      const { reason, text } = this.#isStoreGone ? STORE_GONE : end;
      await record.letGo();
      await this.#push();
      const stopped = `${reason}: ${text}`;
      const run = { ...record.run, endedAt: this.#parts.now(), workedMs: record.workedMs, stopped };
      const report = await this.#parts.report({ run, reason, text });
      const { endedAt, workedMs } = run;
      await record.update({ state: "ended", endedAt, workedMs, stopped, ...(report !== undefined && { report }) });
      const unchecked = uncheckedTasks([...record.tasks.values()], await this.#parts.runs.listTests(id)).length;
      if (this.#isStoreGone) on({ kind: "note", text: this.#parts.saveStore(id) });
      on({ kind: "stop", reason, text, totals: { ...record.totals(), unchecked } });
      return { run: record.run, reason, text, ...(report !== undefined && { report }) };
    } catch (error) {
      await this.#giveUp();
      throw error;
    } finally {
      clearInterval(look);
      for (const session of record.live.values()) {
        session.kill();
        await session.ended;
      }
    }
  }

  /** After an unexpected fault: clean up what is possible; `--continue` does the rest. */
  async #giveUp(): Promise<void> {
    try {
      await this.#record.letGo();
      await this.#record.update({ state: "interrupted" });
    } catch {
      // The caller reports the original fault; `isAlive` shows that the process is gone.
    }
  }

  async #untilStopped(): Promise<{ reason: StopReason; text: string }> {
    try {
      if (this.#isIsolated && this.#request.continues) await this.#isolated.tidyUp();
      await this.#baseline();
      await this.#settleLeft();
      for (;;) await this.#round();
    } catch (error) {
      if (error instanceof RunStop) return { reason: error.reason, text: error.message };
      throw error;
    }
  }

  async #lookForStop(): Promise<void> {
    try {
      if (!this.#isDueToLook()) return;
      const how = await this.#parts.runs.stopRequest(this.#record.run.id);
      if (how === "drain") this.#stop.drain();
      else if (how !== undefined) this.#stop.request(how);
    } catch {
      // The store is locked right now; it is asked again in a second.
    }
  }

  /** A local store is asked every second; a server when it has told of a change, or after a while. */
  #isDueToLook(): boolean {
    const mark = this.#parts.shared?.changeMark();
    if (mark === undefined) return true;
    this.#looks = mark === this.#lastMark ? this.#looks + 1 : 0;
    this.#lastMark = mark;
    return this.#looks % SLOW_LOOKS === 0;
  }

  /** Before the first session: which changes are uncommitted, and whether the tests already fail. */
  async #baseline(): Promise<void> {
    const record = this.#record;
    if (record.run.base !== undefined) return;
    const kept = record.keep(record.home, 0);
    const tested = await this.#verifier.test([], record.home);
    if (tested === "stopped") return;
    if (tested && !tested.isGreen) {
      // Such a failure would count as known, and then nothing would check the work.
      if (isUnnamed(tested.fingerprint)) {
        const remedy = tested.isTimedOut ? "make it end sooner, raise work.test_minutes" : "make it run";
        throw new RunStop(
          "no-tests",
          `${evidenceOf(tested)}; it names no failing test, so it could not show what a task breaks (${remedy}, set work.test_command, or pass --no-tests)`,
        );
      }
      const text = "the tests fail before the first task, so only other failures will count against a task";
      this.#parts.on({ kind: "note", text });
      await record.learnRed(tested.fingerprint);
    }
    await record.update({ base: headCommit(this.#parts.cwd) ?? "", ...kept });
  }

  /** Checks tasks that a session finished but that no earlier runner process verified. */
  async #settleLeft(): Promise<void> {
    const record = this.#record;
    const lanes = new Map<string, { tasks: TaskDetails[]; place: Place }>();
    for (const task of record.held()) {
      const place = record.placeOf(task);
      const work = record.work(place);
      const found = await work.store.getTask(task.taskId, work.by.at);
      const isFinished = task.isUnverified || found.status === "done" || found.status === "review";
      if (!isFinished) continue;
      await record.setTask(task.taskId, { isUnverified: true });
      const lane = lanes.get(place.cwd) ?? { tasks: [], place };
      lanes.set(place.cwd, { ...lane, tasks: [...lane.tasks, found] });
    }
    for (const { tasks, place } of lanes.values()) {
      const before = record.run.base || "HEAD";
      const { done } = await this.#verifier.verify(tasks, { place, tasks, before }, { since: record.run.startedAt });
      if (this.#isIsolated) await this.#isolated.merge(done, this.#verifier);
    }
  }

  async #checkBrakes(): Promise<void> {
    const limit = brakeOf(this.#request.options.limits, this.#record.spent());
    const brake = this.#stop.how === undefined ? limit : "stopped";
    if (!brake) return;
    // A limit that is reached with the last task has not stopped anything.
    const isDone = (await this.#countOpen()) + this.#record.held().length === 0;
    throw isDone ? new RunStop("done", ALL_DONE) : new RunStop(brake, BRAKES[brake] ?? brake);
  }

  async #countOpen(): Promise<number> {
    const { store, by } = this.#record.work(this.#record.home);
    const { todo, in_progress, review, blocked } = await store.countTasks(this.#scope, by.at);
    return todo + in_progress + review + blocked;
  }

  /** A push that fails stops nothing: the commits are here. */
  async #push(): Promise<void> {
    const { settings, cwd, machine, env, on } = this.#parts;
    if (!settings.push) return;
    this.#pusher ??= new WorkPusher({ ...settings.push, cwd, machine, env, runId: this.#record.run.id });
    for (const pushed of await this.#pusher.push()) {
      if (pushed.kind === "pushed") on({ kind: "note", text: `pushed to ${pushed.to}` });
      if (pushed.kind === "refused") on({ kind: "note", text: `not pushed: ${pushed.why}` });
    }
  }

  /** One session per lane, then settles its tasks. */
  async #round(): Promise<void> {
    await this.#checkBrakes();
    const lanes = await this.#nextLanes();
    if (lanes.length === 0) return this.#nothingReady();
    this.#waitsFor = "";
    const results = await Promise.all(lanes.map((lane) => this.#work(lane)));
    const settled = results.map((result) => result.settled).reduce(together);
    if (this.#isIsolated) await this.#isolated.merge(settled.done, this.#verifier);
    await this.#adapt(
      results.filter(({ isOver }) => !isOver),
      settled,
    );
    await this.#push();
    for (const { end } of results) {
      const advice = this.#health.after(end);
      if (advice.kind === "stop") throw advice.stop;
      if (advice.kind !== "wait") continue;
      this.#parts.on(advice);
      await this.#parts.wait(advice.ms, this.#stop);
      return;
    }
    await this.#checkProgress(results);
  }

  async #work(first: Lane): Promise<Worked> {
    const { place } = first;
    /** What the session works on. Undefined: its last batch is settled. */
    let lane: Lane | undefined = first;
    let hasMoved = false;
    let fault: unknown;
    const settle = async (current: Lane, session: RunSession, end: WorkEnd): Promise<Worked> => {
      // The same calls again and again are no progress, even if each of them changes a file.
      const isChanged = snapshot(place.cwd, this.#parts.scratch) !== current.before && !isCircling(end.lastCalls);
      const settled = await this.#verifier.settle(current);
      hasMoved ||= isChanged || settled.done.length + settled.failed + settled.blocked > 0;
      return { lane: current, end, settled, hasMoved, number: session.number, isOver: false };
    };
    const next = async (session: RunSession, state: Readonly<LiveState>): Promise<NextBatch | undefined> => {
      if (!lane) return undefined;
      try {
        await this.#record.keepPatiently(place, session.number);
        const end = { kind: "completed" as const, lastCalls: [], ...idOf(state) };
        const worked = await settle(lane, session, end);
        lane = undefined;
        await this.#adapt([worked], worked.settled);
        if (!this.#mayGoOn(worked.lane, state)) return undefined;
        const size = this.#sizeFor(state);
        if (size === 0) return undefined;
        [lane] = await this.#nextLanes(size);
        return lane && { tasks: lane.tasks, prompt: await this.#prompt(lane), batchSize: this.#given };
      } catch (error) {
        // Rethrown after the session has ended; until then the session only hears that no further batch comes.
        fault = error;
        return undefined;
      }
    };
    const prompt = await this.#prompt(first);
    const step = { purpose: "batch" as const, tasks: first.tasks, place, prompt };
    const isFilling = this.#parts.settings.isFilling && !this.#isIsolated;
    const { end, session } = await runSession({ ...step, ...(isFilling && { next }) }, this.#context);
    if (fault) throw fault;
    // Read again: it changed during the session.
    const open = lane as Lane | undefined;
    if (open) return settle(open, session, end);
    return { lane: first, end, settled: NOTHING, hasMoved, number: session.number, isOver: true };
  }

  async #prompt({ tasks }: Lane): Promise<string> {
    const findings = tasks.flatMap(({ id }) => {
      const { reviewFailures = 0, evidence } = this.#record.tasks.get(id) ?? {};
      return reviewFailures > 0 && evidence !== undefined ? [`${id}: ${evidence}`] : [];
    });
    const { isTested } = this.#request.options;
    return batchPrompt(tasks, await Promise.all(tasks.map(({ id }) => this.#parts.packet(id))), { findings, isTested });
  }

  /** Whether the session may get a further batch. What it did not finish, or a reviewer sent back, goes into a fresh window. */
  #mayGoOn({ tasks }: Lane, { usedTokens }: Readonly<LiveState>): boolean {
    const isStopping = this.#stop.how !== undefined || this.#stop.isDraining;
    const isOpen = tasks.some(({ id }) => this.#record.tasks.get(id)?.state === "claimed");
    if (isOpen || isStopping || usedTokens === 0) return false;
    return !brakeOf({ ...this.#request.options.limits, maxChains: Infinity }, this.#record.spent());
  }

  /** How many tasks a session gets next. 0: the window has no room for more of them. */
  #sizeFor(window: Window): number {
    const { settings, client } = this.#parts;
    const limit = { windowShare: settings.sessionLimits.windowShare, compactsAt: client.compactsAt };
    return batchSize(this.#request.options, { size: this.#size, window, limit, use: this.#record.windowUse });
  }

  /** Chooses the size of the next batch and records the outcome of this one. */
  async #adapt(results: readonly Worked[], { done, failed, blocked, open, unverified }: Settled): Promise<void> {
    const [worst] = [...results].sort((a, b) => SEVERITY.indexOf(b.end.kind) - SEVERITY.indexOf(a.end.kind));
    if (!worst) return;
    const counts = { done: done.length, failed, blocked, open: open + unverified };
    const outcome = batchOutcome(worst.end, counts);
    const lastBatchSize = results.reduce((sum, { lane }) => sum + lane.tasks.length, 0);
    if (outcome === "completed") this.#batches++;
    if (this.#request.options.size === "auto") {
      this.#size = sizeAfter(this.#size, outcome === "completed" || outcome === "blocked" ? outcome : "unfinished");
    }
    await this.#record.update({ batchSize: this.#size });
    for (const { end, number } of results) {
      await this.#parts.runs.addMetrics({
        sessionId: end.sessionId ?? `${this.#record.run.id}/${number}`,
        runId: this.#record.run.id,
        batchesCompleted: this.#batches,
        lastBatchSize,
        lastBatchOutcome: outcome,
        createdAt: this.#parts.now(),
      });
    }
  }

  /** Blocks tasks on which sessions make no progress. If the next tasks get stuck too, the run stops. */
  async #checkProgress(results: readonly Worked[]): Promise<void> {
    const moved = results.some(({ hasMoved }) => hasMoved);
    if (moved) [this.#idle, this.#idleBatches] = [0, 0];
    if (moved || !results.every(({ end }) => isSound(end)) || ++this.#idle < MOST_IDLE_SESSIONS) return;
    const calls = results.flatMap(({ end }) => (isCircling(end.lastCalls) ? (end.lastCalls.at(-1)?.text ?? "") : []));
    const how = calls.length > 0 ? `repeated the same calls (${calls[0]})` : "changed no file";
    const reason = `no progress: ${this.#idle} sessions in a row ${how} and finished no task`;
    this.#idle = 0;
    for (const { lane } of results) {
      for (const { id } of lane.tasks) {
        const work = this.#record.work(lane.place);
        await this.#verifier.block(await work.store.getTask(id, work.by.at), lane.place, { reason });
      }
    }
    if (++this.#idleBatches >= MOST_IDLE_BATCHES) throw new RunStop("no-progress", reason);
  }

  get #scope(): Scope {
    const { scope } = this.#request;
    return scope.kind === "epic" ? { epicId: scope.id } : scope.kind === "story" ? { storyId: scope.id } : {};
  }

  async #nextLanes(size = this.#sizeFor({ usedTokens: 0, windowTokens: this.#record.windowTokens })): Promise<Lane[]> {
    const tasks = await this.#nextTasks(size);
    const [first] = tasks;
    if (!first) return [];
    this.#given = tasks.length;
    const { scratch } = this.#parts;
    await this.#record.noteHandoffs(tasks.map(({ taskId }) => taskId));
    if (!this.#isIsolated) {
      const place = this.#record.home;
      const before = snapshot(place.cwd, scratch);
      return [{ place, before, tasks: tasks.map(({ taskId: id, title }) => ({ id, title })) }];
    }
    const lanes: Lane[] = [];
    for (const task of tasks) {
      const place = await this.#isolated.placeFor(task, this.#verifier);
      if (!place) continue;
      const before = snapshot(place.cwd, scratch);
      lanes.push({ place, before, tasks: [{ id: task.taskId, title: task.title }] });
    }
    return lanes;
  }

  /** Tasks that this run already holds come before new ones. What a batch leaves of them waits for the next one. */
  async #nextTasks(size: number): Promise<RunTask[]> {
    const record = this.#record;
    const again: RunTask[] = [];
    for (const task of record.held()) {
      if (again.length >= size) break;
      if (await record.claim(task.taskId, record.placeOf(task))) again.push(task);
      else await record.giveBack(task.taskId);
    }
    if (again.length > 0) return again;
    if (this.#stop.isDraining) throw new RunStop("drained", `${this.#parts.machine} takes no new tasks`);
    const taken: RunTask[] = [];
    await holdForOthers(record.run.id, this.#parts);
    // Another runner may claim first: leave it those tasks and try the next ones.
    for (let tries = 0; taken.length === 0 && tries < 5; tries++) {
      const { batch } = await pickApart({ scope: this.#scope, size }, record.work(record.home));
      if (batch.length === 0) break;
      for (const { id, title } of batch) {
        const known = record.tasks.get(id);
        const place = known ? record.placeOf(known) : record.home;
        if (await record.claim(id, place)) taken.push(await record.setTask(id, { state: "claimed", title }));
      }
    }
    return taken;
  }

  async #nothingReady(): Promise<void> {
    const { store, by } = this.#record.work(this.#record.home);
    const counts = await store.countTasks(this.#scope, by.at);
    const open = counts.todo + counts.in_progress + counts.review;
    if (open === 0 && counts.blocked === 0) throw new RunStop("done", ALL_DONE);
    if (open === 0) throw new RunStop("blocked", `${counts.blocked} blocked, the rest is done`);
    if (counts.in_progress === 0 && counts.ready === 0) {
      const review = counts.review > 0 ? `, ${counts.review} in review` : "";
      const reasons = await whyWaiting(this.#scope, { store, by });
      throw new RunStop(
        "blocked",
        `${counts.todo} waiting, ${counts.blocked} blocked${review} (${reasons.join("; ")})`,
      );
    }
    const { shared } = this.#parts;
    // A machine that vanishes gives its tasks back: somebody must be there then.
    if (counts.todo === 0 && !(shared && (await this.#othersRun())))
      throw new RunStop("nothing-ready", `${counts.in_progress} in progress elsewhere, ${counts.blocked} blocked`);
    const ms = shared ? SHARED_MS : OTHERS_MS;
    // A ready task that was not given shares files with one in progress, or another run has just been faster.
    const held = counts.ready > 0 ? `, ${counts.ready} of them touch the same files` : "";
    const waiting = counts.todo > 0 ? `, ${counts.todo} wait${held}` : "";
    const why = `${counts.in_progress} in progress elsewhere${waiting}`;
    // Once: this may take hours.
    if (why !== this.#waitsFor) this.#parts.on({ kind: "wait", ms, why });
    this.#waitsFor = why;
    await (shared ? shared.waitForChange(ms, this.#stop) : this.#parts.wait(ms, this.#stop));
  }

  /** Whether other runs hold tasks. */
  async #othersRun(): Promise<boolean> {
    const { store, by } = this.#record.work(this.#record.home);
    return (await store.listClaims({ at: by.at })).some(({ agent }) => isOfAnyRun(agent));
  }
}

type WorkEnd = Pick<SessionEnd, "kind" | "lastCalls" | "sessionId" | "reason" | "text">;

interface Worked {
  lane: Lane;
  end: WorkEnd;
  settled: Settled;
  /** A file changed, or a task changed its status. */
  hasMoved: boolean;
  number: number;
  /** Its last batch was settled while the session waited. */
  isOver: boolean;
}

const NOTHING: Settled = { done: [], failed: 0, blocked: 0, open: 0, unverified: 0 };

function idOf({ sessionId }: Readonly<LiveState>): { sessionId?: string; text: string } {
  return { text: "", ...(sessionId !== undefined && { sessionId }) };
}

const MOST_IDLE_BATCHES = 2;

const SEVERITY: readonly SessionEnd["kind"][] = [
  "completed",
  "window-full",
  "circling",
  "failed",
  "stopped",
  "hung",
  "crashed",
];

function together(a: Settled, b: Settled): Settled {
  return {
    done: [...a.done, ...b.done],
    failed: a.failed + b.failed,
    blocked: a.blocked + b.blocked,
    open: a.open + b.open,
    unverified: a.unverified + b.unverified,
  };
}

const STORE_GONE = {
  reason: "store-gone",
  text: "somebody removed or replaced the project's store, so what sessions do would be lost",
} as const;

const ALL_DONE = "every task of the scope is done";

const BRAKES: Partial<Record<StopReason, string>> = {
  stopped: "it was told to stop",
  "max-chains": "the limit of sessions is reached (--max-chains)",
  "max-tokens": "the limit of tokens is reached (--max-tokens)",
  "max-cost": "the limit of cost is reached (--max-cost)",
  "max-minutes": "the limit of time is reached (--max-minutes)",
};
