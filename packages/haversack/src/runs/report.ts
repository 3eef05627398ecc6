/** The report of a run: what was done, what failed and why, what was decided, what is next, and what it cost. */
import { join } from "node:path";
import { stripControl } from "../base/clean-text.ts";
import { makeFolder, putFile } from "../base/safe-write.ts";
import type { Run, RunSession, RunStore, RunTask, RunTest } from "../store/run-store.ts";
import { isUnnamed } from "./verify.ts";

export interface ReportInput {
  run: Run;
  sessions: readonly RunSession[];
  tasks: readonly RunTask[];
  tests: readonly RunTest[];
  /** Of each batch: a session may have several. */
  batchSizes: readonly number[];
  /** Why it stopped. */
  stopped: string;
}

export async function readReport(run: Run, stopped: string, runs: RunStore): Promise<ReportInput> {
  const [sessions, tasks, tests, batches] = await Promise.all([
    runs.listSessions(run.id),
    runs.listTasks(run.id),
    runs.listTests(run.id),
    // Not since its start: the clock may have been set back.
    runs.metricsSince(new Date(0)),
  ]);
  const batchSizes = batches.filter(({ runId }) => runId === run.id).map(({ lastBatchSize }) => lastBatchSize);
  return { run, stopped, sessions, tasks, tests, batchSizes };
}

/** Writes text for people and JSON for programs. Returns the path of the text. */
export function writeReport(input: ReportInput, { folder, within }: { folder: string; within: string }): string {
  makeFolder(folder, { within });
  const file = join(folder, `chain-${input.run.id}-report`);
  putFile(`${file}.md`, reportText(input), { within });
  putFile(`${file}.json`, `${JSON.stringify(reportData(input), null, 1)}\n`, { within });
  return `${file}.md`;
}

/** Tasks that are done although no test checked them: none ran, or they failed without naming a test. */
export function uncheckedTasks(tasks: readonly RunTask[], tests: readonly RunTest[]): RunTask[] {
  return tasks.filter(({ taskId, state }) => {
    const last = tests.findLast(({ taskIds }) => taskIds.includes(taskId));
    return state === "done" && (!last || isUnnamed(last.fingerprint));
  });
}

interface ReportFile {
  id: string;
  stopped: string;
  started_at: string;
  ended_at: string;
  client: string;
  /** The ref with what was uncommitted before the first session. */
  kept_before?: string;
  tasks_completed: number;
  tasks_failed: number;
  /** Done, but no test has checked them. */
  tasks_unchecked: string[];
  tasks: object[];
  decisions: string[];
  next_steps: string[];
  sessions: object[];
  tests: object[];
  batch_sizes: number[];
  tokens: number;
  cost_usd?: number;
}

export function reportData({ run, sessions, tasks, tests, batchSizes, stopped }: ReportInput): ReportFile {
  const done = tasks.filter(({ state }) => state === "done");
  const failed = tasks.filter(({ state }) => state === "blocked" || state === "conflict");
  const costs = sessions.flatMap(({ costUsd }) => costUsd ?? []);
  return {
    id: run.id,
    stopped,
    started_at: run.startedAt.toISOString(),
    ended_at: (run.endedAt ?? run.seenAt).toISOString(),
    client: run.client,
    ...(run.kept !== undefined && { kept_before: run.kept }),
    tasks_completed: done.length,
    tasks_failed: failed.length,
    tasks_unchecked: uncheckedTasks(tasks, tests).map(({ taskId }) => taskId),
    tasks: tasks.map(
      ({
        taskId,
        title,
        state,
        fixes,
        reviewFailures,
        tokens,
        costUsd,
        sessions: count,
        summary,
        evidence,
        branch,
      }) => ({
        id: taskId,
        ...{ title, state, sessions: count, tokens, fixes },
        review_failures: reviewFailures,
        ...(costUsd !== undefined && { cost_usd: round(costUsd) }),
        ...(summary !== undefined && { summary }),
        ...(evidence !== undefined && { evidence }),
        ...(branch !== undefined && { branch }),
      }),
    ),
    decisions: tasks.flatMap(({ taskId, decisions = [] }) => decisions.map((decision) => `${taskId}: ${decision}`)),
    next_steps: nextSteps(tasks),
    sessions: sessions.map((session) => ({
      number: session.number,
      purpose: session.purpose,
      role: session.role,
      tasks: session.taskIds,
      session_id: session.sessionId,
      end: session.end,
      text: session.text,
      tokens: (session.inputTokens ?? 0) + (session.outputTokens ?? 0),
      cached_tokens: session.cachedTokens ?? 0,
      cost_usd: session.costUsd,
      fill: fillOf(session),
      compactions: session.compactions ?? 0,
      kept: session.kept,
    })),
    tests: tests.map(({ session, taskIds, command, isGreen, exitCode, tookMs }) => ({
      after_session: session,
      tasks: taskIds,
      command,
      is_green: isGreen,
      exit_code: exitCode,
      took_ms: tookMs,
    })),
    batch_sizes: [...batchSizes],
    tokens: sessions.reduce((sum, { inputTokens = 0, outputTokens = 0 }) => sum + inputTokens + outputTokens, 0),
    ...(costs.length > 0 && { cost_usd: round(costs.reduce((sum, cost) => sum + cost, 0)) }),
  };
}

function nextSteps(tasks: readonly RunTask[]): string[] {
  return tasks.flatMap(({ taskId, state, evidence, nextStep, branch, worktree, isUnverified }) => {
    if (state === "blocked") return [`${taskId}: ${nextStep ?? evidence ?? "blocked"}`];
    if (state === "conflict") return [`${taskId}: merge ${branch} by hand: ${evidence ?? "in conflict"}`];
    if (state !== "claimed") return [];
    if (isUnverified) return [`${taskId}: its session says that it is finished; --continue checks it`];
    const apart = `its work is in ${worktree}, on branch ${branch}; --continue continues there`;
    return [`${taskId}: ${worktree === undefined ? "continue from its work in progress" : apart}`];
  });
}

function fillOf({ usedTokens, windowTokens }: RunSession): number | undefined {
  return usedTokens && windowTokens ? Math.round((usedTokens / windowTokens) * 100) / 100 : undefined;
}

function round(cost: number): number {
  return Math.round(cost * 10_000) / 10_000;
}

export function reportText(input: ReportInput): string {
  const { run, tasks, sessions, tests } = input;
  const data = reportData(input);
  const unchecked = data.tasks_unchecked;
  const failed = tasks.filter(({ state }) => state === "blocked" || state === "conflict");
  const lines = [
    "# Session Chain Report",
    "",
    `Run ${data.id} with ${data.client}, ${data.started_at.slice(0, 16)}Z to ${data.ended_at.slice(0, 16)}Z. It stopped: ${data.stopped}.`,
    "",
    `- Tasks completed: ${data.tasks_completed}`,
    `- Tasks failed: ${data.tasks_failed}`,
    ...(unchecked.length === 0
      ? []
      : [`- Tasks unchecked: ${unchecked.length} (no test checked ${unchecked.join(", ")})`]),
    ...(run.kept === undefined ? [] : [`- Uncommitted before the run: kept as ${run.kept}`]),
    `- Sessions: ${sessions.length}`,
    `- Batch sizes: ${data.batch_sizes.join(", ") || "none"}`,
    `- Tokens: ${data.tokens.toLocaleString("en")}${data.cost_usd === undefined ? "" : ` ($${data.cost_usd.toFixed(2)})`}`,
    "",
    "## Tasks",
    "",
    "| task | state | sessions | fixes | tokens | summary |",
    "|---|---|---|---|---|---|",
    ...tasks.map(
      ({ taskId, title, state, isUnverified, sessions: count, fixes, tokens, summary, evidence }) =>
        `| ${taskId} ${cell(title)} | ${state === "claimed" ? (isUnverified ? "not checked" : "open") : state} | ${count} | ${fixes} | ${tokens.toLocaleString("en")} | ${cell(summary ?? evidence ?? "")} |`,
    ),
    ...section("Decisions", data.decisions),
    ...section("Next steps", data.next_steps),
    ...section(
      "Failures",
      failed.map(({ taskId, evidence }) => `${taskId}: ${evidence ?? "no evidence was kept"}`),
    ),
    "",
    "## Sessions",
    "",
    "| session | purpose | tasks | end | fill | tokens | kept |",
    "|---|---|---|---|---|---|---|",
    ...sessions.map((session) => {
      const fill = fillOf(session);
      const tokens = (session.inputTokens ?? 0) + (session.outputTokens ?? 0);
      return `| ${session.number} | ${session.role ?? session.purpose} | ${session.taskIds.join(", ")} | ${session.end ?? "open"} | ${fill === undefined ? "" : `${Math.round(fill * 100)}%`} | ${tokens.toLocaleString("en")} | ${session.kept ?? ""} |`;
    }),
    "",
    "## Test runs",
    "",
    ...tests.map(
      ({ session, command, isGreen, exitCode, tookMs }) =>
        `- ${session === 0 ? "before the first session" : `after session ${session}`}: \`${command}\` ${isGreen ? "green" : `red (exit ${exitCode})`}, ${(tookMs / 1000).toFixed(1)} s`,
    ),
    ...(tests.length === 0
      ? [run.options["isTested"] === false ? "- none: switched off with --no-tests" : "- none"]
      : []),
  ];
  // People read this in a terminal, and models or tests may have written control characters.
  return stripControl(`${lines.join("\n")}\n`);
}

function section(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : ["", `## ${title}`, "", ...items.map((item) => `- ${item.replace(/\s+/g, " ")}`)];
}

function cell(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|").slice(0, 200);
}
