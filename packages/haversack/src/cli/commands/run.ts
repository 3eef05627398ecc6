/** `haversack work`: runs headless sessions one after another until the scope is done. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readBounded, shellWord } from "../../base/clean-text.ts";
import { errorText, HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { makeFolder, putFile, removeFile, USER } from "../../base/safe-write.ts";
import { STREAMED, type StreamedClient } from "../../clients/streamed.ts";
import { CLIENTS } from "../../clients/table.ts";
import { roleText } from "../../clients/work-files.ts";
import { type ReviewerBrief, reviewerBrief } from "../../engine/artifacts/artifact-refs.ts";
import { clientProcess } from "../../engine/events/event-project.ts";
import { requireSettings } from "../../engine/open-project.ts";
import { sendMessage } from "../../engine/wake/messages.ts";
import { wakeAgent } from "../../engine/wake/wake-agent.ts";
import { pickApart } from "../../engine/work/next-batch.ts";
import { DEFAULT_MINUTES, type RunLimits } from "../../runs/brakes.ts";
import type { KeepWay } from "../../runs/keep-changes.ts";
import { notifyEnd } from "../../runs/notify.ts";
import { freeDeadRuns } from "../../runs/other-runs.ts";
import { patientStore } from "../../runs/patient-store.ts";
import { batchPrompt } from "../../runs/prompts.ts";
import { readReport, reportText, writeReport } from "../../runs/report.ts";
import { isOfRun } from "../../runs/run-agents.ts";
import type { RunOptions, RunParts } from "../../runs/run-parts.ts";
import { isRunAlive } from "../../runs/run-record.ts";
import { FIRST_SIZE, runWork } from "../../runs/runner.ts";
import { RunStop } from "../../runs/session-health.ts";
import { StopSwitch } from "../../runs/stop-switch.ts";
import { batchSize, lastWindowTokens, windowUse } from "../../runs/window-room.ts";
import type { Run, RunProcess, RunScope, RunStore } from "../../store/run-store.ts";
import type { Actor } from "../../store/work-store.ts";
import { estimateTokens } from "../../tokens/estimate.ts";
import type { Task } from "../../work/task.ts";
import {
  type Call,
  defineCommand,
  type ExitCode,
  flag,
  type OptionsOf,
  option,
  sayNote,
  wholeNumber,
} from "../command.ts";
import { asScope, clientOrNone, requireClient, requireReady, requireRepository, testsOf } from "../run-checks.ts";
import { makeRunView } from "../run-view.ts";
import { continueCommand, holdingRuns, isProcessAlive, machineName, runSpace } from "../seen-run.ts";
import { withoutSession } from "../start-client.ts";
import { wakeParts } from "../wake.ts";
import { inputOf, type OpenWork, openWork } from "../work.ts";
import { EPIC, STORY } from "../work-options.ts";
import { isWired } from "./skills-defer.ts";

const OPTIONS = {
  parallel: option("auto|N", "Tasks per session (default auto: 2 to 4, by success).", { short: "n" }),
  epic: EPIC,
  story: STORY,
  all: flag("Work on everything that is ready."),
  continue: flag("Continue the last run of this scope, with its options, where it stopped."),
  client: option("NAME", "The client to start (default: headless.client). command: what headless.command names.", {
    choices: [...Object.keys(STREAMED), "command"],
  }),
  "max-chains": wholeNumber(
    "N",
    "Start at most this many sessions (default: headless.max_chains). Fixers and reviewers do not count.",
  ),
  "max-tokens": wholeNumber("N", "Stop after this many tokens."),
  "max-cost": option("USD", "Stop after this much money, if the client reports its cost.", {
    type: "number",
    minimum: 0.001,
  }),
  "max-minutes": wholeNumber("N", "Stop after this many minutes (default 480 if nothing else is limited)."),
  isolate: flag(
    "Each task in its own git worktree and branch with its own session, merged back when its tests are green.",
  ),
  "no-tests": flag("Run no tests. Nothing else checks the work then."),
  "dry-run": flag("Print what would be claimed, told and started. Nothing is changed."),
};

type WorkCall = Call<OptionsOf<typeof OPTIONS>>;

export const command = defineCommand({
  about:
    "Works through the queue without you: claims a batch, starts the client headless with what the tasks need, follows it, runs the tests, and continues with the next session until the scope is done or a limit is reached. Uncommitted changes are kept after every session. Give the client its permissions after --. Exit 0: everything in the scope is done; 1: something is left.",
  options: OPTIONS,
  rest: { name: "ARGS", about: "options for the client, such as --permission-mode acceptEdits" },
  examples: {
    "haversack work --story S12": "until the story is done",
    "haversack work --all --max-cost 5 -- --permission-mode acceptEdits": "everything, for at most 5 dollars",
    "haversack work --story S12 --dry-run": "what it would do",
    "haversack work --story S12 --continue": "after a crash or a stop",
  },
  json: "one event per line: {event, …}; with --dry-run {client, command, tasks, prompt, prompt_chars, test_command, reviewers, limits}, and with --continue also {continues, checks: [{id, title}]}.",
  async run(call) {
    const isDryRun = call.options["dry-run"] === true;
    const scope = scopeOf(call);
    const { parallel } = call.options;
    if (parallel !== undefined) sizeOf(parallel);
    // A wrong setting could mean a wrong limit, command or test, and nobody watches the run.
    requireSettings(call.io, (key) => /^(?:headless|work)\./.test(key));
    return start(call, await openWork(call, isDryRun ? "try" : "save"), scope, isDryRun);
  },
});

function scopeOf({ options: { epic, story, all } }: WorkCall): RunScope {
  const given = [epic, story, all || undefined].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw new HaversackError("usage", given.length === 0 ? "work needs a scope" : "only one scope can be given", {
      hint: "name one with --epic ID or --story ID, or say --all for everything",
    });
  }
  if (epic !== undefined) return { kind: "epic", id: epic };
  return story !== undefined ? { kind: "story", id: story } : { kind: "all" };
}

async function start(call: WorkCall, open: OpenWork, asked: RunScope, isDryRun: boolean): Promise<ExitCode> {
  const { io, options } = call;
  const scope = await wholeScope(asked, open);
  const { runs } = open;
  const machine = machineName(io.env);
  if (!isDryRun && (await runs.drainedMachines()).includes(machine)) {
    throw new HaversackError("refused", `${machine} is drained: it takes no new tasks`, {
      hint: `\`haversack runs drain ${machine} --undo\` lets it work again`,
    });
  }
  // The worktrees and sessions of another machine's run are on that machine.
  const own = open.shared === undefined ? undefined : machine;
  const continues = options.continue ? await runToContinue(scope, runs, own) : undefined;
  const startedWith = optionsFile(open);
  const before = continues && startedWith.read(continues.id);
  const clientId = options.client ?? continues?.client ?? open.config["headless.client"];
  const { client, program, problem } = isDryRun
    ? clientOrNone(clientId, call, open)
    : { ...requireClient(clientId, call, open), problem: undefined };
  const given = optionsOf(call, open, before);
  if (given.limits.maxCostUsd !== undefined && client.tellsNoCost) {
    throw new HaversackError("refused", `${client.title} does not say what it costs, so --max-cost could not hold`, {
      hint: "limit it with --max-tokens, --max-chains or --max-minutes",
    });
  }
  const { cwd, branch } = requireRepository(io.cwd, given, { isContinued: continues !== undefined });
  const runOptions = { ...given, ...(branch !== undefined && !given.mergeInto && { mergeInto: branch }) };
  const testCommand = runOptions.isTested ? testsOf(open, cwd) : undefined;
  const forAgent = (by: Actor) => ({ ...open, by, for: "agent" as const });
  const project = projectId(open);
  const dead = { runs, work: forAgent, isAlive: isProcessAlive, now: () => new Date(), project };
  if (!isDryRun) await freeDeadRuns(dead, { except: continues?.id });
  if (!continues && (await requireReady(scope, { ...open, runs })) === "done") {
    sayNote(io, "every task of this scope is done");
    return 0;
  }
  if (options.continue && !continues) {
    sayNote(io, "no run of this scope was left to continue, so a new one starts");
  }

  const packet = packetMaker(call, open, clientId);
  if (isDryRun) {
    const run = { scope, continues, clientId, client, program, problem, runOptions, testCommand, packet };
    return dryRun(call, open, run);
  }

  const view = makeRunView(io, { isJson: call.json });
  const stop = new StopSwitch();
  const deaf = listenForSignals(stop);
  const parts = runParts(call, open, { runs, client, program, cwd, testCommand, packet, view });
  const { on } = parts;
  parts.on = (event) => {
    if (event.kind === "run") startedWith.write(event.id, runOptions);
    on(event);
  };
  for (const text of notesFor(clientId, client, call)) view.on({ kind: "note", text });
  if (continues && !before) {
    const text = `the options of run ${continues.id} were not given on this machine; give them again if they matter`;
    view.on({ kind: "note", text });
  }
  try {
    const request = { scope, client: clientId, options: runOptions, ...(continues && { continues }) };
    const { run, reason, text, report } = await runWork(request, parts, stop);
    view.close();
    const isDone = reason === "done";
    if (isDone) startedWith.remove(run.id);
    const wish = open.config["headless.report"];
    const isShown = wish === "always" || (wish === "on_complete" && isDone) || (wish === "on_failure" && !isDone);
    const input = await readReport(run, `${reason}: ${text}`, runs);
    // Before the first session there is nothing to report but the reason, which has just been printed.
    if (!call.json && isShown && input.sessions.length > 0) io.out(`\n${reportText(input)}`);
    if (!call.json && report !== undefined) io.out(`Report: ${report}\n`);
    const mayGoOn = !isDone && reason !== "blocked" && reason !== "nothing-ready";
    if (!call.json && mayGoOn) io.out(`Continue with: ${continueCommand(run)}\n`);
    const end = { run, reason, text, report, input };
    for (const problem of await notifyEnd(open.config["headless.notify"], end, { ...io, isQuiet: call.json })) {
      io.err(`haversack: ${problem}\n`);
    }
    return isDone ? 0 : 1;
  } catch (error) {
    if (error instanceof RunStop) throw new HaversackError("refused", error.message);
    throw error;
  } finally {
    view.close();
    deaf();
  }
}

async function runToContinue(scope: RunScope, runs: RunStore, machine?: string): Promise<Run | undefined> {
  const run = await runs.lastRun(scope, machine);
  if (!run || (run.state === "ended" && run.stopped?.startsWith("done"))) return undefined;
  if (run.state === "running" && isRunAlive(run, { isAlive: isProcessAlive, now: new Date() })) {
    throw new HaversackError("refused", `run ${run.id} is still at work on this scope`, {
      hint: `\`haversack runs follow ${run.id}\` shows it; without --continue a second run shares its work`,
    });
  }
  return run;
}

/** Without our hooks and tools, a session cannot save its work in progress. Only Claude Code can still be asked to end, through its message input. */
function notesFor(id: string, { title }: StreamedClient, { io }: WorkCall): string[] {
  const known = CLIENTS.find(({ name }) => name === id);
  const place = { cwd: io.cwd, env: io.env };
  if (!known || known.isPackaged?.(place) || isWired(known, place)) return [];
  return [
    `Haversack is not connected to ${title} here, so work in progress is not captured; \`haversack init\` does that`,
  ];
}

async function wholeScope(scope: RunScope, { store }: OpenWork): Promise<RunScope> {
  if (scope.kind === "epic") return { kind: "epic", id: (await store.getEpic(scope.id)).id };
  if (scope.kind === "story") return { kind: "story", id: (await store.getStory(scope.id)).id };
  return scope;
}

/** Options that are not given come from the run that is resumed. */
function optionsOf(call: WorkCall, { config }: OpenWork, before: Partial<RunOptions> = {}): RunOptions {
  const { options, rest = [] } = call;
  const given: Partial<RunLimits> = inputOf(call, "max-chains", "max-tokens", "max-cost", "max-minutes");
  const isLimited = given.maxChains !== undefined || given.maxTokens !== undefined || given.maxCostUsd !== undefined;
  const usual = { maxChains: config["headless.max_chains"], ...(!isLimited && { maxMinutes: DEFAULT_MINUTES }) };
  return {
    size: options.parallel === undefined ? (before.size ?? "auto") : sizeOf(options.parallel),
    limits: { ...(before.limits ?? usual), ...given },
    args: rest.length > 0 || !before.args ? [...config["headless.args"], ...rest] : before.args,
    isIsolated: options.isolate || (before.isIsolated ?? false),
    isTested: options["no-tests"] !== true && (before.isTested ?? true),
    ...(before.mergeInto !== undefined && { mergeInto: before.mergeInto }),
  };
}

/**
 * The options that runs were started with, in this user's own folder. The store has them too, but a store can come with a repository, and `--continue`
 * must not take permissions or limits from there.
 */
function optionsFile({ paths }: Pick<OpenWork, "paths">) {
  const folder = paths.userState && join(paths.userState, "runs");
  const file = (id: string) => join(folder ?? "", `${projectId({ paths })}-${id}.json`);
  return {
    read(id: string): RunOptions | undefined {
      const text = folder === undefined ? undefined : readBounded(file(id), MAX_OPTIONS_BYTES)?.text;
      return text === undefined ? undefined : (readJson(text).value as RunOptions | undefined);
    },
    write(id: string, options: RunOptions): void {
      if (folder === undefined) return;
      makeFolder(folder, { within: USER, mode: 0o700 });
      putFile(file(id), `${JSON.stringify(options)}\n`, { within: USER, mode: 0o600 });
    },
    remove(id: string): void {
      if (folder !== undefined) removeFile(file(id), { within: USER });
    },
  };
}

const MAX_OPTIONS_BYTES = 1_000_000;

function projectId({ paths }: Pick<OpenWork, "paths">): string {
  return createHash("sha256").update(paths.state).digest("hex").slice(0, 12);
}

function sizeOf(given: string): RunOptions["size"] {
  if (given === "auto") return "auto";
  const size = Number(given);
  if (Number.isInteger(size) && size >= 1 && size <= 20) return size;
  throw new HaversackError("usage", `--parallel must be auto or a number from 1 to 20, not ${given}`);
}

type Packet = (taskId: string, role?: string) => Promise<string>;

function packetMaker(call: WorkCall, open: OpenWork, client: string): Packet {
  const parts = wakeParts(call, open);
  const known = PROFILED.has(client) ? { client } : {};
  return async (taskId, role) => {
    const woken = await wakeAgent(
      { taskId, role, ...known, reason: "asked" },
      { ...parts, by: { ...open.by, at: new Date() } },
    );
    return woken.kind === "packet" ? woken.packet.text : "";
  };
}

const PROFILED = new Set(Object.keys(STREAMED));

interface DryRun {
  scope: RunScope;
  continues: Run | undefined;
  clientId: string;
  client: StreamedClient;
  program: string;
  /** Why the client cannot be started here. */
  problem: string | undefined;
  runOptions: RunOptions;
  testCommand: string | undefined;
  packet: Packet;
}

async function dryRun({ io, json }: WorkCall, open: OpenWork, run: DryRun): Promise<ExitCode> {
  const { scope, continues, clientId, client, program, problem, testCommand, packet } = run;
  const { size, args, limits, isIsolated } = run.runOptions;
  const left: Left = continues ? await leftOf(continues, open) : NOTHING_LEFT;
  const first = size === "auto" ? (continues?.batchSize ?? FIRST_SIZE) : size;
  const { sessions, use } = left;
  const limit = { windowShare: open.config["headless.window_percent"] / 100, compactsAt: client.compactsAt };
  const window = { usedTokens: 0, windowTokens: lastWindowTokens(sessions, open.config["headless.window_tokens"]) };
  const fitting = batchSize(run.runOptions, { size: first, window, limit, use });
  const { batch } =
    left.held.length > 0
      ? { batch: left.held.slice(0, fitting) }
      : await pickApart({ scope: asScope(scope), size: fitting }, open);
  const tasks = batch.map(({ id, title }) => ({ id, title }));
  // Apart, each task has a session with its own prompt.
  const told = isIsolated ? tasks.slice(0, 1) : tasks;
  const { isTested } = run.runOptions;
  const prompt = batchPrompt(told, await Promise.all(told.map(({ id }) => packet(id))), { isTested });
  const command = [program, ...client.begin, ...args, ...client.end];
  const reviewers = open.config["headless.reviewers"];
  if (problem !== undefined) sayNote(io, `a run cannot start here: ${problem}`);
  if (!continues) for (const text of await deadRuns(open)) sayNote(io, text);
  if (json) {
    const view = { client: clientId, command, tasks, prompt, prompt_chars: prompt.length };
    const { maxChains: max_chains, maxTokens: max_tokens, maxCostUsd: max_cost, maxMinutes: max_minutes } = limits;
    const more = { reviewers, limits: { max_chains, max_tokens, max_cost, max_minutes } };
    const again = continues && { continues: continues.id, checks: left.checks.map(({ id, title }) => ({ id, title })) };
    io.out(`${JSON.stringify({ ...view, test_command: testCommand ?? null, ...more, ...again })}\n`);
  } else {
    const list = (all: readonly Pick<Task, "id" | "title">[]) =>
      all.map(({ id, title }) => `${id} "${title}"`).join(", ");
    const lines = [
      ...(continues ? [`Would continue: run ${continues.id}`] : []),
      ...(left.checks.length > 0 ? [`Would check first: ${list(left.checks)}`] : []),
      `Would ${left.held.length > 0 ? "go on with" : "claim"}: ${list(tasks) || "nothing"}`,
      `Would run${isIsolated ? ", once per task" : ""}: ${command.map(shellWord).join(" ")}`,
      `Tests: ${testCommand ?? "none"}`,
      `Reviewers: ${reviewers.join(", ") || "none"}`,
      `Limits: ${limitWords(limits)}`,
      `Prompt${isIsolated ? ` for ${list(told)}` : ""} (${prompt.length} characters, about ${estimateTokens(prompt)} tokens, on standard input):`,
    ];
    io.out(`${lines.join("\n")}\n\n${prompt}\n`);
  }
  return 0;
}

/** What a run that is continued still has: tasks to check, and tasks to go on with. */
async function leftOf({ id }: Run, { runs, store, by }: OpenWork) {
  const [tasks, sessions] = [await runs.listTasks(id), await runs.listSessions(id)];
  const claimed = tasks.filter(({ state }) => state === "claimed");
  const [checks, held]: [Task[], Task[]] = [[], []];
  for (const { taskId, isUnverified } of claimed) {
    const task = await store.getTask(taskId, by.at);
    (isUnverified || task.status === "done" || task.status === "review" ? checks : held).push(task);
  }
  return { checks, held, sessions, use: windowUse(sessions, tasks) };
}

type Left = Awaited<ReturnType<typeof leftOf>>;
const NOTHING_LEFT = { checks: [], held: [], sessions: [], use: { used: 0, tasks: 0 } };

/** A real run first frees what a dead one holds, so it would claim more than is ready now. */
async function deadRuns({ runs, store, by }: OpenWork): Promise<string[]> {
  const claims = await store.listClaims({ at: by.at });
  const dead = (await holdingRuns(claims, { runs, now: by.at })).filter(({ remedy }) => remedy !== undefined);
  return dead.map(({ id, remedy }) => {
    const ids = claims.filter(({ agent }) => isOfRun(agent, id)).map(({ taskId }) => taskId);
    return `run ${id} was interrupted and holds ${ids.join(", ")}: a new run would free them first; \`${remedy}\` continues it`;
  });
}

function limitWords({ maxChains, maxTokens, maxCostUsd, maxMinutes }: RunLimits): string {
  return [
    `${maxChains} sessions`,
    ...(maxTokens === undefined ? [] : [`${maxTokens} tokens`]),
    ...(maxCostUsd === undefined ? [] : [`$${maxCostUsd}`]),
    ...(maxMinutes === undefined ? [] : [`${maxMinutes} minutes`]),
  ].join(", ");
}

interface Started {
  runs: RunStore;
  client: StreamedClient;
  program: string;
  cwd: string;
  testCommand: string | undefined;
  packet: Packet;
  view: { on: RunParts["on"] };
}

function runParts({ io }: WorkCall, open: OpenWork, started: Started): RunParts {
  const { client, program, cwd, testCommand, packet, view } = started;
  const { config, handle, paths } = open;
  const storeId = fileId(handle.file);
  const speed = speedOf(io.env);
  const minutes = (count: number) => (count * 60_000) / speed;
  const patience = {
    // Not scaled by `speed`, because it is compared with unscaled waits.
    limitMs: 600_000,
    wait: (ms: number) => wait(ms / speed, new StopSwitch()),
    onWait: (why: string) => view.on({ kind: "note", text: `waits for ${why}` }),
  };
  const briefOf = (role: string, task: Task): ReviewerBrief => {
    try {
      return reviewerBrief(role, task, { cwd, paths });
    } catch (error) {
      // A session may have broken the role map; a review without references is better than none.
      view.on({ kind: "note", text: `no references for ${role}: ${errorText(error)}` });
      return { block: "" };
    }
  };
  const runs = patientStore(started.runs, patience);
  const store = patientStore(open.store, patience);
  return {
    work: (by: Actor) => ({ ...open, store, by, for: "agent" }),
    runs,
    ...{ client, program, cwd },
    packet: (taskId) => packet(taskId),
    review: async (role, taskIds) => {
      let instructions = roleText(role);
      const packets: string[] = [];
      for (const id of taskIds) {
        const { rubric, block } = briefOf(role, await store.getTask(id, new Date()));
        instructions = rubric ?? instructions;
        packets.push([await packet(id, role), block].filter(Boolean).join("\n\n"));
      }
      return { instructions, packets };
    },
    env: withoutSession(io.env),
    settings: {
      sessionLimits: {
        windowShare: config["headless.window_percent"] / 100,
        windowTokens: config["headless.window_tokens"],
        graceMs: (config["headless.grace_seconds"] * 1000) / speed,
        killMs: 10_000 / speed,
        quietMs: minutes(config["headless.quiet_minutes"]),
        quietToolMs: minutes(3 * config["headless.quiet_minutes"]),
      },
      keep: config["headless.keep"] as KeepWay,
      testCommand,
      testLimitMs: minutes(config["work.test_minutes"]),
      setupCommand: config["work.setup_command"] || undefined,
      maxTestRetries: config["work.max_test_retries"],
      isAutoFix: config["work.auto_fix"],
      isFilling: config["headless.fill_sessions"],
      reviewers: config["headless.reviewers"],
      push: config["headless.push"]
        ? { remote: config["headless.push"], name: config["headless.push_branch"] }
        : undefined,
    },
    project: projectId(open),
    scratch: join(paths.userState ?? paths.state, "runs"),
    machine: machineName(io.env),
    process: processOf(process.pid),
    processOf,
    isAlive: isProcessAlive,
    ...(client.fill && {
      readFill: (sessionId: string, startedAt: Date) => client.fill?.({ sessionId, agentId: "", startedAt }, io.env),
    }),
    tell: async (agent, text) => {
      const by = { name: RUNNER, at: new Date() };
      await sendMessage({ to: [agent], text, isPrivate: true }, { ...open, store, by });
    },
    forgetTold: async (name) => {
      const { items } = await store.inbox({ agent: name, limit: 100 });
      const ids = items.filter(({ from }) => from === RUNNER).map(({ id }) => id);
      if (ids.length > 0) await store.markRead({ name, ids }, new Date());
    },
    ...(open.shared === undefined && { isStoreGone: () => fileId(handle.file) !== storeId }),
    saveStore: (runId) => {
      const copy = join(paths.userState ?? paths.state, "runs", `store-of-${runId}.db`);
      makeFolder(dirname(copy), { within: paths.userState ? USER : paths.root, mode: 0o700 });
      // SQLite writes only into a file that is empty.
      putFile(copy, "", { within: paths.userState ? USER : paths.root, mode: 0o600 });
      handle.db.prepare("VACUUM INTO ?").run(copy);
      return `what this run knew is in ${copy}; \`haversack store restore ${shellWord(copy)}\` restores it`;
    },
    report: async ({ run, reason, text }) => {
      const folder = join(paths.state, "reports");
      const input = await readReport(run, `${reason}: ${text}`, runs);
      try {
        return writeReport(input, { folder, within: paths.root });
      } catch (error) {
        view.on({ kind: "note", text: `the report could not be written: ${(error as Error).message}` });
        return undefined;
      }
    },
    on: (event) => view.on(event),
    ...(open.shared !== undefined && {
      shared: {
        changeMark: open.changeMark,
        waitForChange: async (ms, stop) => {
          const stopped = Promise.withResolvers<void>();
          const forget = stop.onRequest(stopped.resolve);
          await Promise.race([open.waitForChange(open.changeMark(), ms / speed), stopped.promise]);
          forget();
        },
      },
    }),
    wait: (ms, stop) => wait(ms / speed, stop),
    now: () => new Date(),
  };
}

/** Undefined: there is no such file. */
function fileId(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}/${found.ino}`;
}

/** The sender of messages that ask a session to end. */
const RUNNER = "haversack";

/** For tests only: divides all waits of the runner. */
function speedOf(env: Call["io"]["env"]): number {
  const speed = Number(env["HAVERSACK_TEST_SPEED"]);
  return speed >= 1 ? speed : 1;
}

function processOf(id: number): RunProcess {
  return { ...(clientProcess(id) ?? { id }), space: runSpace() };
}

/** The first Ctrl-C asks the session to save and end; the second stops it. Closing the terminal counts as Ctrl-C. */
function listenForSignals(stop: StopSwitch): () => void {
  const onSignal = () => stop.request(stop.how === undefined ? "gracefully" : "now");
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, onSignal);
  return () => {
    for (const name of names) process.off(name, onSignal);
  };
}

function wait(ms: number, stop: StopSwitch): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(end, ms);
    const forget = stop.onRequest(end);
    if (stop.how !== undefined) end();
  });
}
