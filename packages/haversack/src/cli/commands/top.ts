import { basename } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { windowFill } from "../../clients/window-fill.ts";
import { KeptProject } from "../../engine/open-project.ts";
import type { WindowFill } from "../../engine/wiring.ts";
import { type LiveParts, LiveWork } from "../../engine/work/live-work.ts";
import { projectStatus } from "../../engine/work/session-context.ts";
import { listTasks } from "../../engine/work/tasks.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import type { TaskCounts } from "../../store/work-store.ts";
import { viewCounts } from "../../work/task-view.ts";
import { bar, canDraw } from "../charts.ts";
import { defineCommand, flag, type Io, option } from "../command.ts";
import { type Cell, dim, formatAgo, formatCounts, formatSpan, table } from "../print-work.ts";
import { openProject } from "../project.ts";
import { formatCost, formatTokens } from "../run-view.ts";
import { openScreen } from "../screen.ts";
import { asSeen, type RunSummary, summarizeRun } from "../seen-run.ts";
import { counted, paint } from "../terminal.ts";

export const command = defineCommand({
  about:
    "Shows what is going on in this project and keeps it up to date: open sessions and how full their windows are, who holds which task and for how long, and headless runs. q or Ctrl-C ends it. Without a terminal it prints this once.",
  options: {
    once: flag("Print it once and exit."),
    every: option("SECONDS", "How often to look (default 2).", { type: "number", minimum: 0.5, maximum: 3600 }),
  },
  examples: {
    "haversack top": "until you press q",
    "haversack top --json": "once, for a script",
  },
  json: "once: {at, tasks: {status: count, ready}, sessions: [{session_id, agent_id, client, prompts, window, last_seen_at, task_ids, context?: {used_tokens, window_tokens, is_assumed, at}}], claims: [{task_id, title?, agent, claimed_at, lease_until}], runs: [{id, state, client, machine, scope, started_at, batch_size, sessions, tokens, cost_usd, fill?, tasks: [{id, title, state}], …}]}; is_assumed: the client does not say how large its window is, and the setting headless.window_tokens is used. Open sessions of the last day, and runs that are at work, were interrupted or ended in the last hour.",
  async run(call) {
    const { io, json, options } = call;
    // Reports a wrong setting, a missing project or a foreign store.
    const { paths, close } = openProject(call, { access: "look" });
    close();
    const kept = new KeptProject({ cwd: io.cwd, env: io.env, mustStay: true });
    const live = new LiveWork(kept);
    const read = () => live.read({ marks: {}, at: new Date() }, (parts) => look(parts, io));
    try {
      if (json || options.once || !io.isTerminal || io.env["TERM"] === "dumb") {
        const state = await read();
        return { data: viewOf(state), text: () => frame(io, state).join("\n") };
      }
      live.keepUp();
      await watch(io, {
        read,
        name: cleanLine(basename(paths.root)),
        everyMs: (options.every ?? DEFAULT_SECONDS) * 1000,
      });
      return 0;
    } finally {
      await live.close();
    }
  },
});

const DEFAULT_SECONDS = 2;
const HOUR_MS = 3_600_000;
const SESSION_AGE_MS = 24 * HOUR_MS;
const MOST_SESSIONS = 50;
const MOST_CLAIMS = 200;
const MOST_RUNS = 20;

type State = Awaited<ReturnType<typeof look>>;

/** Shows read errors in the view and tries again: a store may be locked or restored for a moment. */
async function watch(
  io: Io,
  { read, name, everyMs }: { read(): Promise<State>; name: string; everyMs: number },
): Promise<void> {
  const screen = openScreen(io);
  try {
    let before: State | undefined;
    do {
      let problem = "";
      try {
        before = await read();
      } catch (error) {
        problem = cleanLine((error as Error).message);
      }
      const width = screen.width();
      const sized = { ...io, width };
      const head = `${paint(io, "bold", name)}  ${new Date().toLocaleTimeString()}  ${paint(io, "dim", "q ends it")}`;
      const fault = problem === "" ? [] : [paint(io, "red", problem.slice(0, width))];
      screen.draw([head, ...fault, ...(before ? frame(sized, before) : [])]);
    } while ((await screen.wait(everyMs)) !== "left");
  } finally {
    screen.close();
  }
}

async function look(parts: LiveParts, { env }: Io) {
  const { handle, by, config, runs: store } = parts;
  const now = by.at;
  const { counts, claims } = await projectStatus({}, parts);
  const { items } = await listTasks({ status: "in_progress", limit: MOST_CLAIMS }, parts);
  const titles = new Map(items.map(({ id, title }) => [id, title]));
  const seenSince = new Date(now.getTime() - SESSION_AGE_MS);
  const sessions = new SqliteLocalStore(handle)
    .listSessions({ limit: MOST_SESSIONS, seenSince })
    .filter(({ endedAt }) => !endedAt)
    .map((session) => ({
      session,
      fill: fillOf(windowFill(session, env), config["headless.window_tokens"]),
      taskIds: claims
        .filter(({ sessionId, agentId = "" }) => sessionId === session.sessionId && agentId === session.agentId)
        .map(({ taskId }) => taskId),
    }));
  const recent = (await store.listRuns({ limit: MOST_RUNS })).filter((run) => {
    const { state, endedAt, seenAt } = asSeen(run, now);
    return state === "running" || now.getTime() - (endedAt ?? seenAt).getTime() < (endedAt ? HOUR_MS : SESSION_AGE_MS);
  });
  const runs = await Promise.all(recent.map((run) => summarizeRun(run, { store, now })));
  return { at: now, counts, claims, titles, sessions, runs };
}

/** Claude Code and Gemini CLI do not record the window's size. */
function fillOf(fill: WindowFill | undefined, assumedTokens: number) {
  return fill && { windowTokens: assumedTokens, isAssumed: fill.windowTokens === undefined, ...fill };
}

function viewOf({ at, counts, claims, titles, sessions, runs }: State): object {
  return {
    at,
    tasks: { ...viewCounts(counts), ready: counts.ready },
    sessions: sessions.map(({ session, fill, taskIds }) => ({
      session_id: session.sessionId,
      agent_id: session.agentId,
      client: session.client,
      prompts: session.promptCount,
      window: session.window,
      last_seen_at: session.lastSeenAt,
      task_ids: taskIds,
      ...(fill && { context: fill }),
    })),
    claims: claims.map(({ taskId, agent, claimedAt, leaseUntil }) => ({
      task_id: taskId,
      ...(titles.has(taskId) && { title: titles.get(taskId) }),
      ...{ agent, claimed_at: claimedAt, lease_until: leaseUntil },
    })),
    runs,
  };
}

function frame(io: Io, { at, counts, claims, titles, sessions, runs }: State): string[] {
  const section = (title: string, count: number, rows: readonly Cell[][], none: string) => [
    "",
    paint(io, "bold", count > 0 ? `${title} (${count})` : title),
    ...(count > 0 ? table(io, rows) : [paint(io, "dim", `  ${none}`)]),
  ];
  return [
    summary(io, counts),
    ...section(
      "Sessions",
      sessions.length,
      sessions.map((one) => sessionRow(io, one, at)),
      "No session is open.",
    ),
    ...section(
      "Claims",
      claims.length,
      claims.map(({ taskId, agent, leaseUntil }) => {
        const leftMs = leaseUntil.getTime() - at.getTime();
        return [
          `  ${taskId}`,
          cleanLine(agent, { maxChars: 24 }),
          leaseCell(leftMs),
          cleanLine(titles.get(taskId) ?? ""),
        ];
      }),
      "Nobody holds a task.",
    ),
    ...section(
      "Runs",
      runs.length,
      runs.map((one) => runRow(io, one, at)),
      "No run is at work.",
    ),
  ];
}

function summary(io: Io, counts: TaskCounts): string {
  const { ready: _, archived: __, ...open } = counts;
  const all = Object.values(open).reduce((sum, count) => sum + count, 0);
  const drawn = canDraw(io) && all > 0 ? `${bar(counts.done / all)} ${Math.round((100 * counts.done) / all)}%  ` : "";
  return `${drawn}Tasks: ${formatCounts(counts)}`;
}

function sessionRow(io: Io, { session, fill, taskIds }: State["sessions"][number], now: Date): Cell[] {
  const { client, sessionId, agentId, promptCount, lastSeenAt } = session;
  const name = agentId ? `${sessionId.slice(0, 8)}/${agentId.slice(0, 8)}` : sessionId.slice(0, 8);
  return [
    `  ${client}`,
    cleanLine(name),
    fill
      ? shareCell(
          io,
          fill.usedTokens / fill.windowTokens,
          ` of ${formatTokens(fill.windowTokens)}${fill.isAssumed ? "?" : ""}`,
        )
      : "",
    counted(promptCount, "prompt"),
    dim(formatAgo(lastSeenAt, now)),
    taskIds.join(", "),
  ];
}

function shareCell(io: Io, share: number, after = ""): Cell {
  const drawn = canDraw(io) ? `${bar(share, { cells: 10 })} ` : "";
  const style = share >= 0.8 ? "red" : share >= 0.6 ? "yellow" : "green";
  return { text: `${drawn}${Math.round(share * 100)}%${after}`, style };
}

function leaseCell(leftMs: number): Cell {
  if (leftMs <= 0) return { text: "lease over", style: "red" };
  return { text: `${formatSpan(leftMs)} left`, ...(leftMs < HOUR_MS / 12 && { style: "yellow" as const }) };
}

function runRow(io: Io, run: RunSummary, now: Date): Cell[] {
  const done = run.tasks.filter(({ state }) => state === "done").length;
  const words = `${counted(run.sessions, "session")}, batch ${run.batch_size}`;
  const style = run.state === "running" ? "green" : run.state === "interrupted" ? "red" : "dim";
  return [
    `  ${run.id}`,
    { text: run.state, style },
    run.client,
    run.scope,
    run.fill === undefined ? "" : shareCell(io, run.fill),
    `${done} of ${run.tasks.length} done`,
    `${formatTokens(run.tokens)} tokens${run.cost_usd > 0 ? formatCost(run.cost_usd) : ""}`,
    dim(cleanLine(run.remedy ?? run.stopped ?? `${words}, started ${formatAgo(run.started_at, now)}`)),
  ];
}
