/**
 * Settles the tasks of a session: runs the project's tests, starts a fixer if they fail, then the reviewers. Each task ends up done,
 * blocked with the evidence, open again, or still unverified because the run was stopped in between.
 */

import { setStatus } from "../engine/work/set-status.ts";
import { readVerdict } from "../work/handoff.ts";
import type { TaskDetails } from "../work/task.ts";
import { brakeOf, isCircling, isSound } from "./brakes.ts";
import type { SessionEnd } from "./client-session.ts";
import { changedFiles, diffTrees, snapshot } from "./keep-changes.ts";
import { fixPrompt, reviewPrompt } from "./prompts.ts";
import type { BriefTask } from "./run-event.ts";
import type { Place } from "./run-parts.ts";
import { runSession, type SessionContext, type SessionStep } from "./session-step.ts";
import { runTests, type TestRun } from "./verify.ts";

/** Some tasks, the place where they were worked on, and a snapshot of the files from before. */
export interface Lane {
  place: Place;
  tasks: readonly BriefTask[];
  before: string;
}

export interface Settled {
  done: TaskDetails[];
  failed: number;
  blocked: number;
  open: number;
  /** Reported as finished, but the run was stopped before it checked them. */
  unverified: number;
}

/** The tests after a fixer, or instead of one. Given up: no other fixer would help. */
type Fixed = { isGivenUp: true; tested: TestRun } | { isGivenUp: false; tested: TestRun | "stopped" | undefined };

const SHOWN_OUTPUT = 6_000;
const SHOWN_DIFF = 20_000;
/** A task that sessions give up on more often than this is blocked. */
const MOST_FAILURES = 3;
/** A reviewer that crashed or said nothing is asked once more. */
const MOST_REVIEWS = 2;

export class Verifier {
  readonly #context: SessionContext;
  /** False: tasks that pass are left to the caller, who has to merge them first. */
  readonly #isFinishing: boolean;

  constructor(context: SessionContext, { isFinishing }: { isFinishing: boolean }) {
    [this.#context, this.#isFinishing] = [context, isFinishing];
  }

  get #record() {
    return this.#context.record;
  }

  /** After a session. */
  async settle(lane: Lane): Promise<Settled> {
    const { place } = lane;
    const finished: TaskDetails[] = [];
    let [open, blocked, failed] = [0, 0, 0];
    for (const { id } of lane.tasks) {
      const work = this.#record.work(place);
      const task = await work.store.getTask(id, work.by.at);
      const handoff = await this.#record.newHandoff(id);
      if (task.status === "blocked" || handoff?.status === "BLOCKED") {
        blocked++;
        const reasons = task.blockers.map(({ reason }) => reason).join("; ");
        await this.block(task, place, { reason: reasons || handoff?.summary || "its session reports it as blocked" });
      } else if (task.status === "archived" && !task.completedAt) {
        // Somebody dropped it before it was done. The batch did not fail because of that.
        blocked++;
        await this.#record.giveBack(id);
      } else if (["done", "review", "archived"].includes(task.status) || handoff?.status === "PASS") {
        finished.push(task);
        await this.#record.setTask(id, { isUnverified: true });
      } else if (handoff?.status === "FAIL" && (await this.#countFailure(id)) >= MOST_FAILURES) {
        failed++;
        await this.block(task, place, { reason: `${MOST_FAILURES} sessions gave up on it: ${handoff.summary}` });
      } else {
        // Its session is over: the run itself holds the claim until the next session starts.
        if (await this.#record.claim(id, place)) open++;
        else {
          blocked++;
          await this.#record.giveBack(id);
        }
      }
    }
    const verified = await this.verify(finished, lane);
    return { ...verified, failed: failed + verified.failed, blocked, open: open + verified.open };
  }

  async #countFailure(taskId: string): Promise<number> {
    const failures = (this.#record.tasks.get(taskId)?.failures ?? 0) + 1;
    await this.#record.setTask(taskId, { failures });
    return failures;
  }

  /** Tests, fixer, reviewers. `since`: only verdicts of reviewers after this time count. */
  async verify(
    tasks: readonly TaskDetails[],
    lane: Lane,
    { since, isReviewed = false }: { since?: Date; isReviewed?: boolean } = {},
  ): Promise<Settled> {
    const settled: Settled = { done: [], failed: 0, blocked: 0, open: 0, unverified: 0 };
    if (tasks.length === 0) return settled;
    let waiting = [...tasks];
    let tested = await this.test(waiting, lane.place);
    while (tested !== "stopped" && tested && !this.#isFine(tested) && waiting.length > 0) {
      const guilty = await this.#guiltyOf(waiting, tested.output);
      const fixed = await this.#fix(guilty, tested, lane, waiting);
      tested = fixed.tested;
      if (!fixed.isGivenUp) continue;
      const details = fixed.tested.output;
      for (const task of guilty) await this.block(task, lane.place, { reason: evidenceOf(fixed.tested), details });
      settled.failed += guilty.length;
      waiting = waiting.filter(({ id }) => !guilty.some((one) => one.id === id));
      // Remember failures that stay, so that later tasks are not blamed for them.
      await this.#record.learnRed(fixed.tested.fingerprint);
    }
    if (tested === "stopped") return { ...settled, unverified: waiting.length };
    for (const role of this.#record.parts.settings.reviewers) {
      if (waiting.length === 0 || isReviewed) break;
      const reviewed = await this.#review(role, waiting, lane, since);
      if (reviewed === "stopped") return { ...settled, unverified: waiting.length };
      settled.failed += waiting.length - reviewed.length;
      waiting = reviewed;
    }
    if (this.#isFinishing) for (const task of waiting) await this.finish(task, lane.place);
    return { ...settled, done: waiting };
  }

  #isFine({ isGreen, fingerprint }: TestRun): boolean {
    return isGreen || this.#record.knownRed.has(fingerprint);
  }

  #mayGoOn(): boolean {
    const { stop, options } = this.#context;
    return stop.how === undefined && !brakeOf({ ...options.limits, maxChains: Infinity }, this.#record.spent());
  }

  /** Undefined: no tests are run here. */
  async test(tasks: readonly TaskDetails[], { cwd }: Place): Promise<TestRun | "stopped" | undefined> {
    const { settings, runs, on, now } = this.#record.parts;
    const { testCommand } = settings;
    const { stop } = this.#context;
    if (testCommand === undefined) return undefined;
    if (stop.how !== undefined) return "stopped";
    const abort = new AbortController();
    const forget = stop.onRequest(() => abort.abort());
    on({ kind: "testing", command: testCommand });
    const tested = await runTests(testCommand, {
      cwd,
      ...this.#record.marked("HAVERSACK_RUN_TESTS", ++tests),
      limitMs: settings.testLimitMs,
      signal: abort.signal,
    }).finally(forget);
    if (abort.signal.aborted) return "stopped";
    const { command, isGreen, exitCode, tookMs, fingerprint, output } = tested;
    await runs.addTest({
      runId: this.#record.run.id,
      session: this.#record.sessions.at(-1)?.number ?? 0,
      taskIds: tasks.map(({ id }) => id),
      ...{ command, isGreen, exitCode, tookMs, fingerprint, output: output.slice(-SHOWN_OUTPUT) },
      at: now(),
    });
    const isKnown = !isGreen && this.#record.knownRed.has(fingerprint);
    on({ kind: "tests", command, isGreen, tookMs, isKnown, text: isGreen ? "" : evidenceOf(tested) });
    return tested;
  }

  /** One attempt of the fixer, and the tests after it, which judge all tasks that wait for them. */
  async #fix(
    tasks: readonly TaskDetails[],
    before: TestRun,
    { place, before: began }: Lane,
    waiting: readonly TaskDetails[],
  ): Promise<Fixed> {
    const { maxTestRetries, isAutoFix } = this.#record.parts.settings;
    const { scratch } = this.#record.parts;
    const attempt = Math.max(...tasks.map(({ id }) => this.#record.tasks.get(id)?.fixes ?? 0)) + 1;
    // A spike may fail: finding that out is its purpose.
    const mayFix = isAutoFix && tasks.some(({ type }) => type !== "spike");
    if (!mayFix || attempt > maxTestRetries) return { isGivenUp: true, tested: before };
    if (!this.#mayGoOn()) return { isGivenUp: false, tested: "stopped" };
    const state = snapshot(place.cwd, scratch);
    const briefs = tasks.map(({ id, title }) => ({ id, title }));
    const prompt = fixPrompt({
      tasks: briefs,
      command: before.command,
      output: before.output.slice(-SHOWN_OUTPUT),
      diff: diffTrees(place.cwd, began, state, SHOWN_DIFF),
      attempt,
      most: maxTestRetries,
    });
    for (const { id } of tasks) await this.#record.setTask(id, { fixes: attempt });
    const end = await this.#session({ purpose: "fix", tasks: briefs, place, prompt });
    if (end.kind === "stopped") return { isGivenUp: false, tested: "stopped" };
    const after = await this.test(waiting, place);
    if (after === "stopped" || after === undefined || after.isGreen) return { isGivenUp: false, tested: after };
    // Another session would not help: nothing changed, it goes in circles, or the same failure came twice.
    const isIdle = isSound(end) && (snapshot(place.cwd, scratch) === state || isCircling(end.lastCalls));
    const isSame = after.fingerprint === before.fingerprint && attempt > 1;
    return { isGivenUp: isIdle || isSame, tested: after };
  }

  /** Retries after a fault of the model's server, which is not the task's fault. */
  async #session(step: SessionStep): Promise<SessionEnd> {
    const { health, stop } = this.#context;
    const { on, wait } = this.#record.parts;
    for (;;) {
      const { end } = await runSession(step, this.#context);
      const advice = health.after(end);
      if (advice.kind === "stop") throw advice.stop;
      if (advice.kind === "go-on") return end;
      on(advice);
      await wait(advice.ms, stop);
      if (!this.#mayGoOn()) return { ...end, kind: "stopped" };
    }
  }

  /** Returns the tasks that passed. */
  async #review(role: string, tasks: readonly TaskDetails[], lane: Lane, since: Date | undefined) {
    const passed: TaskDetails[] = [];
    let due: TaskDetails[] = [];
    for (const task of tasks) {
      // The session's own sub-agents may have reviewed it.
      const handoff = await this.#record.newHandoff(task.id, role);
      const isPassed = handoff?.status === "PASS" && (!since || handoff.createdAt >= since);
      (isPassed ? passed : due).push(task);
    }
    for (let tries = 1; due.length > 0; tries++) {
      if (!this.#mayGoOn()) return "stopped";
      const end = await this.#reviewSession(role, due, lane);
      if (end.kind === "stopped") return "stopped";
      const silent: TaskDetails[] = [];
      for (const task of due) {
        const handoff = await this.#record.newHandoff(task.id, role);
        const verdict = handoff?.status ?? readVerdict(end.lastSaid);
        const why = handoff?.summary ?? (verdict ? end.lastSaid.slice(-500) : `gave no verdict (${end.kind})`);
        if (verdict === "PASS") passed.push(task);
        else if (verdict === undefined && tries < MOST_REVIEWS) silent.push(task);
        else await this.#sendBack(task, lane.place, `${role}: ${why}`);
      }
      due = silent;
    }
    return passed;
  }

  async #reviewSession(role: string, due: readonly TaskDetails[], { place, before }: Lane): Promise<SessionEnd> {
    const { review, scratch } = this.#record.parts;
    const briefs = due.map(({ id, title }) => ({ id, title }));
    const brief = await review(
      role,
      briefs.map(({ id }) => id),
    );
    await this.#record.noteHandoffs(due.map(({ id }) => id));
    const files = changedFiles(place.cwd, before, snapshot(place.cwd, scratch));
    const prompt = reviewPrompt({ role, tasks: briefs, files, ...brief });
    return this.#session({ purpose: "review", tasks: briefs, place, prompt, role });
  }

  /** After a failed review the next session continues the task. After too many failures it is blocked. */
  async #sendBack(task: TaskDetails, place: Place, reason: string): Promise<void> {
    const reviewFailures = (this.#record.tasks.get(task.id)?.reviewFailures ?? 0) + 1;
    await this.#record.setTask(task.id, { reviewFailures });
    if (reviewFailures > this.#record.parts.settings.maxTestRetries) return this.block(task, place, { reason });
    await this.#reopen(task.id, place);
    await this.#record.setTask(task.id, { evidence: reason, isUnverified: false });
    this.#tell(task, "claimed", reason);
  }

  async #reopen(taskId: string, place: Place): Promise<void> {
    const work = this.#record.work(place);
    const { status } = await work.store.getTask(taskId, work.by.at);
    if (status === "done" || status === "archived") await setStatus({ taskId, status: "todo" }, work);
    await this.#record.claim(taskId, place);
  }

  async finish(task: TaskDetails, place: Place): Promise<void> {
    const { store, by } = this.#record.work(place);
    // Read it first: completing a story or epic compacts its handoffs.
    const handoff = await store.getHandoff({ taskId: task.id });
    const { status, wip } = await store.getTask(task.id, by.at);
    const decisions = (wip?.decisions ?? []).map((one) => (typeof one === "string" ? one : String(one.decision ?? "")));
    if (status !== "done" && status !== "archived") {
      await this.#record.claim(task.id, place);
      const changed = await setStatus({ taskId: task.id, status: "done" }, this.#record.work(place));
      if (changed.kind === "refused") this.#record.parts.on({ kind: "note", text: changed.text });
    }
    const summary = handoff?.summary;
    await this.#record.setTask(task.id, {
      // What a reviewer had found is mended.
      ...{ state: "done", title: task.title, decisions, isUnverified: false, evidence: undefined },
      ...(summary !== undefined && { summary }),
    });
    this.#tell(task, "done", summary ?? "");
  }

  async block(
    task: TaskDetails,
    place: Place,
    { reason, details, state = "blocked" }: { reason: string; details?: string; state?: "blocked" | "conflict" },
  ): Promise<void> {
    const { store, by } = this.#record.work(place);
    const known = await store.getTask(task.id, by.at);
    if (known.status !== "blocked") {
      await this.#reopen(task.id, place);
      if (details !== undefined) await store.recordFailure({ taskId: task.id, summary: reason, details }, by);
      const blocked = await store.setBlocker({ taskId: task.id, reason }, this.#record.work(place).by);
      if (blocked.kind !== "changed") {
        this.#record.parts.on({ kind: "note", text: `${task.id} could not be blocked: ${blocked.kind}` });
      }
    }
    const nextStep = known.wip?.next_step;
    await this.#record.setTask(task.id, {
      ...{ state, title: task.title, evidence: reason, isUnverified: false },
      ...(nextStep !== undefined && { nextStep }),
    });
    this.#tell(task, state, reason);
  }

  #tell({ id, title }: TaskDetails, state: "done" | "blocked" | "conflict" | "claimed", text: string): void {
    this.#record.parts.on({ kind: "task", id, title, state, text });
  }

  /** Tasks whose files the output names; all of them when it names none. */
  async #guiltyOf(tasks: readonly TaskDetails[], output: string): Promise<TaskDetails[]> {
    const { store } = this.#record.work(this.#record.home);
    const named: TaskDetails[] = [];
    for (const task of tasks) {
      const handoff = await store.getHandoff({ taskId: task.id });
      const own = [
        ...task.files,
        ...((task.wip?.files_modified as string[] | undefined) ?? []),
        ...(handoff?.filesChanged ?? []),
      ];
      if (own.some((file) => file.length > 2 && !file.endsWith("/") && output.includes(file))) named.push(task);
    }
    return named.length > 0 ? named : [...tasks];
  }
}

let tests = 0;

export function evidenceOf({ command, exitCode, isTimedOut, output }: TestRun): string {
  const lines = output.split("\n").map((line) => line.trim());
  const failing = lines.filter((line) => /\b(fail|error|assert|expected|not ok)/i.test(line));
  const shown = failing.length > 0 ? failing : lines.filter(Boolean).slice(-3);
  const how = isTimedOut ? "took longer than work.test_minutes" : `failed (exit ${exitCode})`;
  return [`\`${command}\` ${how}`, shown.slice(0, 3).join(" · ").slice(0, 400)].filter(Boolean).join(": ");
}
