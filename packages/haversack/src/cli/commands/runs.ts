/** `haversack runs` and `haversack metrics`: past and current runs, and how to stop them. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { type RunDay, type RunMetrics, readDays, readMetrics } from "../../engine/runs/run-metrics.ts";
import { readReport, reportData, reportText } from "../../runs/report.ts";
import type { Run, RunSession, RunStore, RunTask, RunTest } from "../../store/run-store.ts";
import { canDraw, columnsOf } from "../charts.ts";
import { type ArgumentSpec, type Call, flag, type Io, option, snakeKeys, wholeNumber } from "../command.ts";
import { dim, formatAgo, table } from "../print-work.ts";
import { formatCost, formatTokens, percent, purposeOf } from "../run-view.ts";
import { asSeen, type SeenRun, viewRun } from "../seen-run.ts";
import { paint } from "../terminal.ts";
import { defineWork } from "../work.ts";

const RUN: ArgumentSpec = { name: "RUN", about: "run ID, or a unique prefix (3+ characters); default: the newest" };
/** For commands that are about a run at work. */
const RUN_AT_WORK: ArgumentSpec = { ...RUN, about: `${RUN.about} at work` };

/** For commands that take several. */
const RUNS: ArgumentSpec = { ...RUN, many: true };

async function findRun(
  { arguments: [id] }: Pick<Call, "arguments">,
  store: RunStore,
  { isAtWork = false } = {},
): Promise<Run> {
  if (id !== undefined) return store.getRun(id);
  const runs = await store.listRuns({ limit: isAtWork ? MOST_RUNS : 1 });
  const newest = runs.find((run) => isAtWork && asSeen(run, new Date()).state === "running") ?? runs[0];
  if (newest) return newest;
  throw new HaversackError("not-found", "there is no run yet", {
    hint: "`haversack work --help` says how to start one",
  });
}

export const commands = {
  "runs list": defineWork("read", {
    about: "Lists runs of headless sessions, newest first. A run whose process is gone is shown as interrupted.",
    options: { limit: wholeNumber("N", "How many (default 20).") },
    examples: { "haversack runs list": "the last twenty" },
    json: "[{id, state, client, machine, scope, started_at, seen_at, ended_at?, stopped?, report?, remedy?}]; state: running, ended or interrupted.",
    async run(call, { runs: store, by }) {
      const found = await store.listRuns({ limit: call.options.limit ?? 20 });
      const runs = found.map((run) => asSeen(run, by.at));
      const rows = runs.map((run) => [
        run.id,
        run.state,
        run.client,
        run.scope.kind === "all" ? "all" : run.scope.id,
        dim(run.machine),
        dim(formatAgo(run.startedAt, by.at)),
        cleanLine(endOf(run, by.at), { maxChars: 120 }),
      ]);
      const none = "No runs yet. `haversack work --help` says how to start one.";
      return { data: runs.map(viewRun), text: () => table(call.io, rows).join("\n") || none, isVerbatim: true };
    },
  }),
  "runs show": defineWork("read", {
    about: "Shows a run: its tasks, sessions, test runs, tokens and cost, and why it stopped.",
    arguments: [RUNS],
    examples: { "haversack runs show R4829": "one run" },
    json: "{id, state, machine, stopped, tasks, decisions, next_steps, sessions, tests, batch_sizes, tokens, cost_usd?, …}: the keys of the report. For several a list of these.",
    several: "blocks",
    async run(call, { runs: store, by }) {
      const run = asSeen(await findRun(call, store), by.at);
      const stopped = run.remedy
        ? `interrupted; continue with \`${run.remedy}\``
        : (run.stopped ?? "not yet, it is at work");
      const input = await readReport(run, stopped, store);
      return { data: { ...reportData(input), ...viewRun(run) }, text: reportText(input), isVerbatim: true };
    },
  }),
  "runs follow": defineWork("read", {
    about:
      "Watches a run from another terminal until it ends: sessions, tests, and what became of its tasks. Exit 0 if its whole scope is done.",
    arguments: [RUN_AT_WORK],
    examples: { "haversack runs follow": "the newest run at work" },
    json: "one object per line: {event: session|test|task|end, …}.",
    async run(call, { runs: store, changeMark, waitForChange }) {
      const { id } = await findRun(call, store, { isAtWork: true });
      const told = new Set<string>();
      const tell = (event: string, line: string, data: object) => {
        const text = call.json ? JSON.stringify({ event, ...data }) : line;
        if (told.has(text)) return;
        told.add(text);
        call.io.out(`${text}\n`);
      };
      for (;;) {
        const mark = changeMark();
        const run = asSeen(await store.getRun(id), new Date());
        for (const session of await store.listSessions(id)) tellSession(session, tell);
        for (const test of await store.listTests(id)) tellTest(test, tell);
        for (const task of await store.listTasks(id)) tellTask(task, tell);
        if (call.io.hasReader?.() === false) return 0;
        if (run.state === "running") {
          await waitForChange(mark, LOOK_MS);
          continue;
        }
        const why = run.remedy ? `interrupted; continue with \`${run.remedy}\`` : `ended: ${run.stopped ?? ""}`;
        tell("end", `Run ${id} ${why}`, viewRun(run));
        return run.stopped?.startsWith("done") ? 0 : 1;
      }
    },
  }),
  "runs stop": defineWork("save", {
    about:
      "Stops a run: its sessions are asked to save and end, and get headless.grace_seconds for it. What they did is kept, and their tasks are free again.",
    arguments: [{ ...RUN_AT_WORK, many: true }],
    options: { now: flag("Do not wait for the sessions.") },
    examples: {
      "haversack runs stop R4829": "when its sessions have saved",
      "haversack runs stop R4829 --now": "at once",
    },
    jsonOfEach: "{id, machine, is_now}",
    several: "lines",
    async run(call, { runs: store, by }) {
      const run = asSeen(await findRun(call, store, { isAtWork: true }), by.at);
      if (run.state !== "running") {
        const more = run.remedy ? `; \`${run.remedy}\` continues it` : "";
        return { text: `run ${run.id} ${run.state === "ended" ? "has ended" : "was interrupted"}${more}` };
      }
      const isNow = call.options["now"] === true;
      await store.requestStop(run.id, isNow ? "now" : "gracefully");
      const how = isNow ? "is told to stop at once" : "is asked to save and stop; --now does not wait for that";
      return { data: { id: run.id, machine: run.machine, isNow }, text: `Run ${run.id} on ${run.machine} ${how}.` };
    },
  }),
  "runs drain": defineWork((call) => (call.arguments.length > 0 ? "save" : "read"), {
    about:
      "Drains a machine: its runs finish the tasks that they have and end, and no new run starts there until --undo. Without a machine: lists the drained ones.",
    arguments: [{ name: "MACHINE", about: "its name, as `haversack runs list` shows it", many: true }],
    options: { undo: flag("Let it work again.") },
    examples: {
      "haversack runs drain build-3": "before an update of build-3",
      "haversack runs drain build-3 --undo": "when it is back",
    },
    json: "{machine, is_drained, runs: [id]}, for several a list of these; without a machine [name].",
    several: "blocks",
    async run(call, { runs: store, by, catchUp }) {
      const [machine] = call.arguments;
      if (machine === undefined) {
        const names = await store.drainedMachines();
        return { data: names, text: () => (names.length === 0 ? "No machine is drained." : names.join("\n")) };
      }
      const isDrained = call.options["undo"] !== true;
      // Without the shared store, the runs of other machines are not known, and nothing would be saved.
      if (!(await catchUp())) await store.setDrained(machine, isDrained);
      const all = await store.listRuns({ limit: MOST_RUNS });
      if (!all.some((run) => run.machine === machine) && !(await store.drainedMachines()).includes(machine)) {
        const known = [...new Set(all.map((run) => run.machine))];
        const hint = known.length > 0 ? `machines with runs: ${known.join(", ")}` : undefined;
        return { text: `no run was ever made on "${machine}"`, hint };
      }
      await store.setDrained(machine, isDrained);
      const ids: string[] = [];
      for (const run of all) {
        if (run.machine !== machine || asSeen(run, by.at).state !== "running") continue;
        const asked = await store.stopRequest(run.id);
        if (isDrained ? asked !== undefined : asked !== "drain") continue;
        await store.requestStop(run.id, isDrained ? "drain" : undefined);
        ids.push(run.id);
      }
      return {
        data: { machine, isDrained, runs: ids },
        text: () => {
          if (!isDrained) return `${machine} may take tasks again.`;
          const what = ids.length === 0 ? "has no run now" : `finishes what it has (${ids.join(", ")})`;
          return `${machine} ${what} and takes no new tasks.`;
        },
      };
    },
  }),
  metrics: defineWork("read", {
    about:
      "Shows how well runs go, from what was recorded: tasks per session, batches completed, interruptions, fixers, and the targets. In a terminal, small charts by day follow.",
    options: {
      since: option("DATE", "Only from this date on."),
      "before-after": option("DATE", "Two columns: before this date, and from it on."),
    },
    examples: {
      "haversack metrics --since 2026-11-01": "this month",
      "haversack metrics --before-after 2026-11-15": "what a change has brought",
    },
    json: "{tasks_per_session, batch_completion, interruptions, restarts, chain_median, …}; with --before-after {before, after}.",
    async run(call, { runs: store }) {
      const from = dateOf(call, "since");
      const cut = dateOf(call, "before-after");
      const columns: [string, RunMetrics][] =
        cut === undefined
          ? [["value", await readMetrics({ from }, store)]]
          : [
              ["before", await readMetrics({ from, to: cut }, store)],
              ["after", await readMetrics({ from: cut }, store)],
            ];
      const head = ["metric", ...columns.map(([name]) => name), "target"];
      const rows = ROWS.map(({ name, target, read }) => [name, ...columns.map(([, one]) => read(one)), target]);
      const text = async () => {
        const days = canDraw(call.io) ? chart(call.io, await readDays({ from }, store)) : [];
        return [...table(call.io, [head, ...rows]), ...days].join("\n");
      };
      return { data: asJson(columns), text, isVerbatim: true };
    },
  }),
};

function endOf(run: SeenRun, now: Date): string {
  if (run.isSilent)
    return `last heartbeat ${formatAgo(run.seenAt, now)}; other runs free its tasks after 10 minutes, or its leases end`;
  return run.remedy ? `continue with: ${run.remedy}` : (run.stopped ?? "");
}

/** A process that died could not record its end. */
const LOOK_MS = 10_000;

type Tell = (event: string, line: string, data: object) => void;

function tellSession(session: RunSession, tell: Tell): void {
  const { number, purpose, taskIds, end, text, usedTokens, windowTokens, inputTokens = 0, outputTokens = 0 } = session;
  const { role } = session;
  const about = { number, purpose, ...(role !== undefined && { role }), tasks: taskIds };
  tell("session", `Session ${number} (${purposeOf(session)}): ${taskIds.join(", ")}`, about);
  if (end === undefined) return;
  const fill = usedTokens && windowTokens ? `; window ${percent(usedTokens, windowTokens)}` : "";
  const spent = `${formatTokens(inputTokens + outputTokens)} tokens${formatCost(session.costUsd)}`;
  const why = end === "completed" || !text || text === end ? "" : `: ${text}`;
  tell("session", `  Session ${number} ${end}${why}${fill}, ${spent}`, { number, end, text });
}

function tellTest({ session, command, isGreen, tookMs, at }: RunTest, tell: Tell): void {
  const when = session === 0 ? "before the first session" : `after session ${session}`;
  const line = `  Tests ${when} (${command}): ${isGreen ? "green" : "red"}, ${(tookMs / 1000).toFixed(1)} s`;
  tell("test", line, { after_session: session, command, is_green: isGreen, at });
}

function tellTask({ taskId, title, state, evidence, summary }: RunTask, tell: Tell): void {
  if (state === "claimed") return;
  const text = cleanLine(evidence ?? summary ?? "", { maxChars: 200 });
  tell("task", `  ${taskId} "${title}" ${state}${text === "" ? "" : `: ${text}`}`, { id: taskId, state, text });
}

const MOST_RUNS = 1000;

// How well runs go.

interface Row {
  name: string;
  target: string;
  read(metrics: RunMetrics): string;
}

const number = (value: number | undefined, digits = 0) => (value === undefined ? "-" : value.toFixed(digits));
const part = (value: number | undefined) => (value === undefined ? "-" : `${Math.round(value * 100)}%`);

const ROWS: readonly Row[] = [
  { name: "Tasks per session", target: "8+", read: (one) => number(one.tasksPerSession, 1) },
  { name: "Batch completion rate", target: "95%+", read: (one) => part(one.batchCompletion) },
  { name: "Sessions interrupted mid-task", target: "rare", read: (one) => number(one.interruptions) },
  { name: "Restarts by hand", target: "0", read: (one) => number(one.restarts) },
  { name: "Sessions per run, median", target: "", read: (one) => number(one.chainMedian) },
  { name: "Sessions per run, most", target: "", read: (one) => number(one.chainLongest) },
  { name: "Window at session end, median", target: "managed", read: (one) => part(one.fillMedian) },
  { name: "Window at session end, most", target: "", read: (one) => part(one.fillHighest) },
  { name: "Review failures", target: "", read: (one) => number(one.reviewFailures) },
  { name: "Tasks that needed a fixer", target: "", read: (one) => number(one.fixed) },
  { name: "Fixer success", target: "", read: (one) => part(one.fixerSuccess) },
  { name: "Tasks done by runs", target: "", read: (one) => number(one.tasksDone) },
  { name: "Runs", target: "", read: (one) => number(one.runs) },
];

/** As many of the newest days as fit, one column each. */
function chart(io: Io, all: readonly RunDay[]): string[] {
  const days = all.slice(-Math.min(MOST_DAYS, Math.max(7, (io.width ?? 80) - 34)));
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last || days.length < 2) return [];
  const counts = (name: string, values: number[]) => `  ${name}  ${columnsOf(values)}  most ${Math.max(...values)}`;
  const fills = days.map(({ fillMedian }) => fillMedian);
  const known = fills.filter((fill) => fill !== undefined);
  return [
    "",
    paint(io, "bold", `By day, ${first.day} to ${last.day}`),
    counts(
      "Tasks done",
      days.map(({ tasksDone }) => tasksDone),
    ),
    counts(
      "Sessions  ",
      days.map(({ sessions }) => sessions),
    ),
    ...(known.length > 0 ? [`  Window      ${columnsOf(fills, 1)}  most ${part(Math.max(...known))}`] : []),
  ];
}

const MOST_DAYS = 60;

function asJson(columns: readonly [string, RunMetrics][]): object {
  // `before` and `after` keep the keys of what is below them.
  const known = (one: RunMetrics) =>
    snakeKeys(Object.fromEntries(Object.entries(one).map(([key, value]) => [key, value ?? null]))) as object;
  const [[, only] = ["", undefined]] = columns;
  if (columns.length === 1 && only) return known(only);
  return Object.fromEntries(columns.map(([name, one]) => [name, known(one)]));
}

function dateOf({ options }: Pick<Call, "options">, name: string): Date | undefined {
  const given = options[name] as string | undefined;
  if (given === undefined) return undefined;
  const date = new Date(given);
  if (!Number.isNaN(date.getTime()) && /^\d{4}-\d\d-\d\d/.test(given)) return date;
  throw new HaversackError("usage", `--${name} must be a date such as 2026-11-18, not ${given}`);
}
