/**
 * One headless session of a client. It runs in its own process group and is followed line by line. When its window is nearly full it is
 * asked to end, and stopped if it does not; every process it started ends with it. The result comes from what we did to it and what its
 * stream said. The exit code says little: Claude Code exits with 0 after SIGINT, Gemini CLI after any signal.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { maskSecrets } from "../base/mask.ts";
import { type FailureReason, failureReason, type StreamEvent, shorten, type Usage } from "../clients/stream-event.ts";
import { messageLine, type StreamedClient } from "../clients/streamed.ts";
import type { WindowFill } from "../engine/wiring.ts";
import { AwakeClock } from "./awake-clock.ts";
import { isCircling } from "./brakes.ts";
import { endAll, followLines, signalGroup, whenEnded } from "./client-process.ts";
import { type FoundProcess, findProcesses, signal } from "./process-tree.ts";
import { fullAt, type Window } from "./window-room.ts";

export interface SessionStart {
  client: StreamedClient;
  program: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment: nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** `NAME=VALUE`, also in `env`: marks every process that the session starts. */
  mark: string;
  prompt: string;
  limits: SessionLimits;
  /** The message that asks the session to end. */
  endRequest(why: EndWhy): string;
  /** Delivers the end request to clients that take no message on standard input. */
  onEndRequest?(text: string): void;
  /** Called before a signal stops the session. */
  beforeStop?(): void;
  /** After a successful turn: a further prompt, or undefined to let the session end. Only for clients that accept messages. */
  onTurnEnd?(): Promise<string | undefined>;
  /** Reads how full the window is, if the stream does not say. Called now and then after tool calls. */
  readFill?(sessionId: string): WindowFill | undefined;
}

export interface SessionLimits {
  /** The share of the window at which the session is asked to end. */
  windowShare: number;
  /** Window size to assume if the client does not report one. */
  windowTokens: number;
  /** From the end request to SIGTERM. */
  graceMs: number;
  /** From SIGTERM to SIGKILL. */
  killMs: number;
  /** Longest silence while no tool runs. */
  quietMs: number;
  /** Longest silence while a tool runs. */
  quietToolMs: number;
}

/** Why a session has to end. limit: the run reached one of its limits. */
export type EndWhy = "window-full" | "stopped" | "limit" | "circling";

export type SessionEndKind =
  /** It ended by itself after a successful turn. */
  | "completed"
  /** It was asked to end because its window was nearly full. */
  | "window-full"
  /** The client reported the reason. */
  | "failed"
  | "hung"
  /** It repeated the same calls until it was asked to end. */
  | "circling"
  /** The runner was told to stop it. */
  | "stopped"
  /** The process is gone without a reason. */
  | "crashed";

export interface SessionEnd {
  kind: SessionEndKind;
  reason?: FailureReason;
  /** Why it was asked to end. */
  endsFor?: EndWhy;
  /** One line for people. */
  text: string;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  sessionId?: string;
  usage: Usage;
  usedTokens: number;
  windowTokens: number;
  compactions: number;
  toolCalls: number;
  /** The last calls, oldest first. Repeated calls show that the session goes in circles. */
  lastCalls: Call[];
  unknownLines: number;
  lastSaid: string;
  /** Processes that had to be ended after it. */
  leftovers: number;
}

export interface Call {
  /** What it was about. */
  text: string;
  /** Equal only for equal calls. */
  key: string;
}

export interface RunningSession {
  pid: number;
  /** What is known so far. */
  readonly state: Readonly<LiveState>;
  /** Asks it to save and end; stops it after the grace period. */
  askToEnd(why: EndWhy): void;
  /** At once. */
  kill(): void;
  ended: Promise<SessionEnd>;
}

export interface LiveState extends Window {
  sessionId?: string;
  usage: Usage;
  /** What it is doing now. */
  doing: string;
  toolCalls: number;
  compactions: number;
}

/** After a result: the client has begun another turn. */
const BEGINS_TURN: ReadonlySet<StreamEvent["kind"]> = new Set(["tool", "tool-end", "said", "fill", "retry"]);

const TICK_MS = 1_000;
const FILL_EVERY_MS = 2_000;
const MAX_ERROR_CHARS = 20_000;
/**
 * After this many calls that only repeat one or two, the session is asked to end. Nobody watches it: it would continue until its
 * window is full, or for ever.
 */
const LAST_CALLS = 50;
const KEY_TRIES = 2;

export function startSession(
  start: SessionStart,
  onEvent: (event: StreamEvent) => void = () => undefined,
): RunningSession {
  const { client, limits } = start;
  const reader = client.makeReader();
  const state: LiveState = {
    usedTokens: 0,
    windowTokens: limits.windowTokens,
    usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0 },
    doing: "starting",
    toolCalls: 0,
    compactions: 0,
  };
  const clock = new AwakeClock();
  let [lastSignAt, filledAt, openTools, unknownLines] = [clock.now(), 0, 0, 0];
  let [lastSaid, errors] = ["", ""];
  let result: Extract<StreamEvent, { kind: "result" }> | undefined;
  let asked: { why: EndWhy; at: number } | undefined;
  let [terminatedAt, killedAt]: [number | undefined, number | undefined] = [undefined, undefined];
  let [isHung, isHeldOpen] = [false, false];
  /** Waiting: between two turns. */
  let [isWaiting, isOver] = [false, false];
  /** Its last turn has ended, and nothing has come since. */
  let isTurnOver = false;
  let isTold = false;
  let turnEnd: Promise<void> | undefined;
  let known: FoundProcess[] = [];
  const lastCalls: Call[] = [];

  const child = spawnClient(start);
  const pid = child.pid ?? -1;
  sendPrompt(child, start);

  const note = (event: StreamEvent) => {
    lastSignAt = clock.now();
    if (isTurnOver && BEGINS_TURN.has(event.kind)) {
      isTurnOver = false;
      if (asked && !isTold) tellToEnd(asked.why);
    }
    switch (event.kind) {
      case "session":
        state.sessionId = event.id;
        // The answer tells the window's size, which some clients otherwise report only at the end.
        if (client.askWindow && child.stdin?.writable) child.stdin.write(client.askWindow);
        break;
      case "fill":
        state.usedTokens = event.usedTokens;
        break;
      case "window":
        state.windowTokens = event.windowTokens;
        if (event.compactsAtTokens !== undefined) state.compactsAtTokens = event.compactsAtTokens;
        break;
      case "usage":
        state.usage = event.isTotal ? atLeast(state.usage, event) : addUsage(state.usage, event);
        break;
      case "tool":
        state.toolCalls++;
        if (event.subAgent === undefined) openTools++;
        state.doing = event.text === "" ? event.name : `${event.name}: ${event.text}`;
        if (lastCalls.push({ text: state.doing, key: event.call }) > LAST_CALLS) lastCalls.shift();
        if (!asked && isCircling(lastCalls, LAST_CALLS)) askToEnd("circling");
        break;
      case "tool-end":
        if (event.subAgent === undefined) openTools = Math.max(0, openTools - 1);
        if (openTools === 0 && lastCalls.length > 0) state.doing = `thinking, after ${lastCalls.at(-1)?.text}`;
        checkFill();
        break;
      case "said":
        if (event.subAgent === undefined) lastSaid = event.text;
        state.doing = shorten(event.text);
        break;
      case "compacted":
        state.compactions++;
        state.usedTokens = event.after ?? 0;
        break;
      case "retry":
        state.doing = `waiting for the model's server: ${event.text}`;
        // Claude Code tries a refused key ten times, for three minutes.
        if (event.attempt >= KEY_TRIES && failureReason(event.status, event.text) === "auth") {
          result = { kind: "result", isError: true, reason: "auth", text: event.text };
          terminate();
        }
        break;
      case "result":
        result = event;
        isTurnOver = true;
        openTools = 0;
        // A task in the background may have a turn of its own while the session waits for the next batch.
        if (client.input === "messages" && !isWaiting) turnEnd = afterTurn(event.isError);
        break;
      case "unknown":
        unknownLines++;
        break;
    }
    onEvent(event);
    if ((event.kind === "fill" || event.kind === "window") && !asked && !result && isFull()) askToEnd("window-full");
  };

  const isFull = () => state.usedTokens >= fullAt(state, { ...limits, compactsAt: client.compactsAt });

  function checkFill(): void {
    const at = clock.now();
    if (!start.readFill || state.sessionId === undefined || at - filledAt < FILL_EVERY_MS) return;
    filledAt = at;
    const fill = tryFill(start.readFill, state.sessionId);
    if (!fill) return;
    if (fill.windowTokens !== undefined) note({ kind: "window", windowTokens: fill.windowTokens });
    // Codex and Gemini CLI compact their windows without a word in the stream.
    if (fill.usedTokens < state.usedTokens / 2) {
      note({ kind: "compacted", before: state.usedTokens, after: fill.usedTokens });
    }
    if (fill.usedTokens !== state.usedTokens) note({ kind: "fill", usedTokens: fill.usedTokens });
  }

  async function afterTurn(isError: boolean): Promise<void> {
    isWaiting = true;
    state.doing = "waiting while its tasks are checked";
    // `onTurnEnd` reports its own faults; after one, the session ends as if there were no further prompt.
    const next = isError || asked || isOver ? undefined : await start.onTurnEnd?.().catch(() => undefined);
    isWaiting = false;
    lastSignAt = clock.now();
    if (next !== undefined && !asked && !isOver && child.stdin?.writable) {
      result = undefined;
      isTurnOver = false;
      state.doing = "starting on its next batch";
      child.stdin.write(messageLine(next));
    }
    // No further prompt comes, so let the client end.
    else child.stdin?.end();
  }

  function askToEnd(why: EndWhy): void {
    if (asked) return;
    asked = { why, at: clock.now() };
    if (isWaiting) {
      isTold = true;
      child.stdin?.end();
    }
    // It is about to exit. If it starts another turn instead, it is told then.
    else if (!isTurnOver) tellToEnd(why);
  }

  function tellToEnd(why: EndWhy): void {
    isTold = true;
    const text = start.endRequest(why);
    if (client.input === "messages" && child.stdin?.writable) child.stdin.write(messageLine(text));
    else start.onEndRequest?.(text);
  }

  const remember = () => {
    const found = findProcesses({ roots: [pid], mark: start.mark });
    known = [...new Map([...known, ...found].map((one) => [one.id, one])).values()];
  };

  function terminate(): void {
    if (terminatedAt !== undefined) return;
    remember();
    start.beforeStop?.();
    terminatedAt = clock.now();
    signalGroup(pid, "SIGTERM");
  }

  function kill(): void {
    if (killedAt !== undefined) return;
    remember();
    if (terminatedAt === undefined) start.beforeStop?.();
    killedAt = clock.now();
    signalGroup(pid, "SIGKILL");
    signal(known, "SIGKILL");
  }

  // The client must not outlive this process, however it ends (except by SIGKILL).
  process.on("exit", kill);

  const tick = setInterval(() => {
    const at = clock.now();
    if (start.readFill && openTools === 0) checkFill();
    if (terminatedAt !== undefined) {
      if (at - terminatedAt > limits.killMs) kill();
      return;
    }
    if (asked && at - asked.at > limits.graceMs) return terminate();
    if (isWaiting) lastSignAt = at;
    if (at - lastSignAt > (openTools > 0 || client.tellsToolsLate ? limits.quietToolMs : limits.quietMs)) {
      // A shell in the background, or an MCP server, may hold the client open after its last turn.
      [isHung, isHeldOpen] = [!isTurnOver, isTurnOver];
      terminate();
    }
  }, TICK_MS);

  followLines(child, {
    onLine: (line) => {
      for (const event of reader.read(line)) note(event);
    },
    onLongLine: () => note({ kind: "busy" }),
    onError: (text) => (errors = (errors + text).slice(-MAX_ERROR_CHARS)),
  });

  const ended = whenEnded(child)
    .then(async ({ exitCode, signal: by, fault }): Promise<SessionEnd> => {
      isOver = true;
      // Finish the work of the last turn before the session counts as ended.
      await turnEnd;
      clearInterval(tick);
      process.off("exit", kill);
      remember();
      const leftovers = await endAll(known, pid);
      const last = tellingLine(errors);
      const said = client.isResultOptional && exitCode === 0 ? DONE : undefined;
      const isKilled = killedAt !== undefined;
      // It ended by itself before it could be asked.
      const isAsked = isTold || isKilled || terminatedAt !== undefined;
      const why = isAsked ? asked?.why : undefined;
      const how = judge({ asked: why, isHung, isHeldOpen, isKilled, result: result ?? said, exitCode, fault, last });
      return {
        ...how,
        ...(why && { endsFor: why }),
        text: maskSecrets(how.text),
        exitCode,
        signal: by,
        ...(state.sessionId !== undefined && { sessionId: state.sessionId }),
        usage: state.usage,
        usedTokens: state.usedTokens,
        windowTokens: state.windowTokens,
        compactions: state.compactions,
        toolCalls: state.toolCalls,
        lastCalls,
        unknownLines,
        lastSaid,
        leftovers,
      };
    })
    .finally(() => clearInterval(tick));

  return { pid, state, askToEnd, kill, ended };
}

const DONE = { kind: "result", isError: false, text: "" } as const;

function spawnClient({ program, args, cwd, env }: SessionStart): ChildProcess {
  const options = { cwd, env: { ...env }, detached: true, stdio: ["pipe", "pipe", "pipe"] } satisfies SpawnOptions;
  try {
    return spawn(program, [...args], options);
  } catch (error) {
    // Node reports a missing program as an event, but throws other faults, such as a program that is just being updated (ETXTBSY).
    return spawn("/bin/sh", ["-c", 'echo "it could not be started: $0" >&2; exit 126', String(error)], options);
  }
}

function sendPrompt({ stdin }: ChildProcess, { client, prompt }: SessionStart): void {
  // The client may exit before it has read everything; its exit tells why.
  stdin?.on("error", () => undefined);
  if (client.input === "messages") stdin?.write(messageLine(prompt));
  else stdin?.end(prompt);
}

function tryFill(read: (sessionId: string) => WindowFill | undefined, sessionId: string): WindowFill | undefined {
  try {
    return read(sessionId);
  } catch {
    // The transcript is being written or has an unknown format; the next look may succeed.
    return undefined;
  }
}

interface Known {
  asked: EndWhy | undefined;
  isHung: boolean;
  /** It was ended because it did not exit after its last turn. */
  isHeldOpen: boolean;
  isKilled: boolean;
  result: Extract<StreamEvent, { kind: "result" }> | undefined;
  exitCode: number | null;
  fault: string | undefined;
  /** Of standard error. */
  last: string;
}

function judge({
  asked,
  isHung,
  isHeldOpen,
  isKilled,
  result,
  exitCode,
  fault,
  last,
}: Known): Pick<SessionEnd, "kind" | "reason" | "text"> {
  if (fault !== undefined) return { kind: "crashed", text: `it could not be started: ${fault}` };
  if (isHung) return { kind: "hung", text: "no sign of life for too long" };
  if (asked === "stopped" || (isKilled && !asked && !isHeldOpen)) return { kind: "stopped", text: "stopped" };
  if (asked === "limit") return { kind: "stopped", text: "a limit of the run was reached" };
  if (asked === "circling") return { kind: "circling", text: "it only repeated the same calls" };
  if (asked === "window-full") return { kind: "window-full", text: "its window was nearly full" };
  if (result?.isError) return { kind: "failed", reason: result.reason, text: result.text || result.reason };
  if (result && (exitCode === 0 || isHeldOpen)) return { kind: "completed", text: result.text };
  const why = last === "" ? "" : `: ${last}`;
  // Some failures, such as a missing key, appear only on standard error.
  const reason = exitCode === 0 ? "other" : failureReason(undefined, last);
  if (reason !== "other") return { kind: "failed", reason, text: last };
  return { kind: "crashed", text: `it ended with ${exitCode ?? "a signal"} and without a result${why}` };
}

/** The last line; if one of the last few names a known failure, that one: advice may stand behind it. */
function tellingLine(text: string): string {
  const lines = text
    .trim()
    .split("\n")
    .slice(-5)
    .map((line) => line.slice(0, 300));
  return lines.findLast((line) => failureReason(undefined, line) !== "other") ?? lines.at(-1) ?? "";
}

/** If the reported total is below the sum so far, the total is incomplete. */
function atLeast(sum: Usage, { inputTokens, cachedTokens, outputTokens, costUsd }: Usage): Usage {
  return {
    inputTokens: Math.max(sum.inputTokens, inputTokens),
    cachedTokens: Math.max(sum.cachedTokens, cachedTokens),
    outputTokens: Math.max(sum.outputTokens, outputTokens),
    ...(costUsd !== undefined && { costUsd }),
  };
}

export function addUsage(a: Usage, b: Usage): Usage {
  const hasCost = a.costUsd !== undefined || b.costUsd !== undefined;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(hasCost && { costUsd: (a.costUsd ?? 0) + (b.costUsd ?? 0) }),
  };
}
