/** Shows a run: a live view in a terminal, plain lines elsewhere, or one JSON object per line for programs. */
import { stripControl } from "../base/clean-text.ts";
import type { Usage } from "../clients/stream-event.ts";
import { tokensOf } from "../runs/brakes.ts";
import type { EndWhy, LiveState } from "../runs/client-session.ts";
import type { BriefTask, RunEvent } from "../runs/run-event.ts";
import { bar } from "./charts.ts";
import { type Io, jsonLine } from "./command.ts";
import { cutShown, shownColumns } from "./screen.ts";
import { counted, wrapColumns } from "./terminal.ts";

export interface RunView {
  on(event: RunEvent): void;
  /** Restores the terminal. */
  close(): void;
}

/** The terminal's size now: the user may change it. */
type Size = Pick<NodeJS.WriteStream, "columns" | "rows">;

export function makeRunView(io: Io, { isJson }: { isJson: boolean }, size: Size = process.stdout): RunView {
  if (isJson) return { on: (event) => io.out(jsonOf(event)), close: () => undefined };
  // A dumb terminal cannot move its cursor.
  const isLive = io.isTerminal && io.env["TERM"] !== "dumb";
  if (isLive) return new LiveView(io, size);
  const on = (event: RunEvent) => {
    const line = lineOf(event);
    if (line !== undefined) io.out(`${line}\n`);
  };
  return { on, close: () => undefined };
}

function jsonOf(event: RunEvent): string {
  const { kind, ...rest } = event;
  // The client's own event must not stand in for the kind of ours.
  const told = event.kind === "stream" ? { number: event.number, stream: event.event, state: event.state } : rest;
  return jsonLine({ event: kind, ...told });
}

/** Undefined: nothing to show. Removes control characters from the texts of models, tests and titles. */
export function lineOf(event: RunEvent): string | undefined {
  const line = textOf(event);
  return line === undefined ? undefined : oneLine(line);
}

function oneLine(text: string): string {
  return stripControl(text).replace(/[\n\t]/g, " ");
}

function textOf(event: RunEvent): string | undefined {
  switch (event.kind) {
    case "run":
      return `Run ${event.id} ${event.isContinued ? "continues" : "starts"} with ${event.client}: ${counted(event.open, "open task")}; tests: ${event.testCommand ?? "none"}.`;
    case "note":
      return `Note: ${event.text}`;
    case "session":
      return `Session ${event.number} (${purposeOf(event)}): ${event.tasks.map(taskName).join(", ")}`;
    case "batch":
      return `Session ${event.number} continues: ${event.tasks.map(taskName).join(", ")}`;
    case "asked":
      return `  ${ASKED[event.why]}asked to save and end.${event.why === "stopped" ? " Ctrl-C again, or `haversack runs stop --now`, does not wait." : ""}`;
    case "merged":
      return `  ${event.id} ${event.isMerged ? "merged from" : "kept on"} ${event.branch}${event.text === "" ? "" : `: ${event.text}`}`;
    case "session-end": {
      const { kind, text, usedTokens, windowTokens, usage } = event.end;
      const why = kind === "completed" || text === "" || text === kind ? "" : `: ${text}`;
      return `  Session ${event.number} ${kind}${why}; window ${percent(usedTokens, windowTokens)}, ${formatTokens(tokensOf(usage))} tokens${formatCost(usage.costUsd)}.`;
    }
    case "kept":
      return `  Kept ${counted(event.files, "uncommitted file")} as ${event.ref}.`;
    case "tests":
      return `  Tests (${event.command}): ${event.isGreen ? "green" : event.isKnown ? "red as before" : "red"}, ${(event.tookMs / 1000).toFixed(1)} s${event.isGreen || event.isKnown ? "" : `; ${event.text}`}`;
    case "task":
      return `  ${event.id} "${event.title}" ${event.state === "claimed" ? "goes back" : event.state}${event.text === "" ? "" : `: ${event.text.replace(/\s+/g, " ").slice(0, 200)}`}`;
    case "wait":
      return `  Waits ${Math.round(event.ms / 1000)} s: ${event.why}`;
    case "stop": {
      const { sessions, done, blocked, unchecked, usage } = event.totals;
      const doubt = unchecked === 0 ? "" : ` ${counted(unchecked, "task")} unchecked,`;
      return `Stopped (${event.reason}): ${event.text}. ${done} done,${doubt} ${blocked} blocked, ${counted(sessions, "session")}, ${formatTokens(tokensOf(usage))} tokens${formatCost(usage.costUsd)}.`;
    }
    case "stream":
    case "testing":
      return undefined;
  }
}

/** `batch`, `fix`, `review by spec-reviewer`. */
export function purposeOf({ purpose, role }: { purpose: string; role?: string }): string {
  return role === undefined ? purpose : `${purpose} by ${role}`;
}

const ASKED: Readonly<Record<EndWhy, string>> = {
  "window-full": "Its window is nearly full: ",
  stopped: "The run is to stop: ",
  limit: "A limit is reached: ",
  circling: "It only repeats the same calls: ",
};

const REDRAW_MS = 200;
/** There may be no event for minutes, but the clock must continue. */
const TICK_MS = 1_000;

interface ShownSession {
  start: Extract<RunEvent, { kind: "session" }>;
  startedAt: number;
  state?: Readonly<LiveState>;
  /** Its current activity, and when that began. */
  doing: string;
  doingSince: number;
}

/** The last events and, below them, a few lines on the current state, which are redrawn in place. */
class LiveView implements RunView {
  readonly #io: Io;
  readonly #size: Size;
  /** By number: with --isolate, several sessions run at once. */
  readonly #sessions = new Map<number, ShownSession>();
  /** From finished sessions. */
  #spent = { tokens: 0, costUsd: undefined as number | undefined };
  #tasks = { done: 0, blocked: 0, open: 0 };
  /** The running test command, and when it started. */
  #testing: { command: string; since: number } | undefined;
  #drawn: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #startedAt = Date.now();
  readonly #tick: NodeJS.Timeout;

  constructor(io: Io, size: Size) {
    [this.#io, this.#size] = [io, size];
    this.#tick = setInterval(() => this.#drawn.length > 0 && this.#later(), TICK_MS).unref();
  }

  get #columns(): number {
    return this.#size.columns || 80;
  }

  on(event: RunEvent): void {
    if (event.kind === "stream") {
      const shown = this.#sessions.get(event.number);
      if (shown) note(shown, event.state);
      this.#later();
      return;
    }
    const line = lineOf(event);
    this.#erase();
    if (line !== undefined) this.#io.out(`${wrapColumns(line, this.#columns)}\n`);
    if (event.kind === "session") {
      const now = Date.now();
      this.#sessions.set(event.number, { start: event, startedAt: now, doing: "starting", doingSince: now });
    }
    if (event.kind === "batch") {
      const shown = this.#sessions.get(event.number);
      if (shown) shown.start = { ...shown.start, tasks: event.tasks, batchSize: event.batchSize };
    }
    if (event.kind === "session-end") {
      this.#sessions.delete(event.number);
      this.#spend(event.end.usage);
    }
    if (event.kind === "run") this.#tasks.open = event.open;
    if (event.kind === "task" && event.state === "done") this.#tasks.done++;
    if (event.kind === "task" && (event.state === "blocked" || event.state === "conflict")) this.#tasks.blocked++;
    this.#testing = event.kind === "testing" ? { command: event.command, since: Date.now() } : undefined;
    if (event.kind === "stop") this.#sessions.clear();
    this.#draw();
  }

  close(): void {
    clearInterval(this.#tick);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#erase();
  }

  #spend(usage: Usage): void {
    this.#spent.tokens += tokensOf(usage);
    if (usage.costUsd !== undefined) this.#spent.costUsd = (this.#spent.costUsd ?? 0) + usage.costUsd;
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#erase();
      this.#draw();
    }, REDRAW_MS).unref();
  }

  #draw(): void {
    const width = this.#columns - 1;
    const sessions = [...this.#sessions.values()];
    const [first] = sessions;
    const head = first ? this.#drawRun(first.start, width) : [];
    const tests = this.#testing ? [drawDoing("tests", this.#testing.command, { ...this.#testing, width })] : [];
    // What has scrolled out at the top cannot be redrawn.
    const room = Math.floor(((this.#size.rows || 24) - head.length - tests.length - 2) / 2);
    const hidden = sessions.length - Math.max(1, room);
    const shown = hidden > 0 ? sessions.slice(0, -hidden) : sessions;
    const more = hidden > 0 ? [`  and ${hidden} more ${hidden === 1 ? "session" : "sessions"}`] : [];
    const lines = [...head, ...shown.flatMap((one) => drawSession(one, width)), ...more, ...tests];
    if (lines.length > 0) this.#put(lines.map((line) => cutShown(oneLine(line), width)));
  }

  #drawRun({ chain, maxChains, batchSize }: ShownSession["start"], width: number): string[] {
    const live = [...this.#sessions.values()].flatMap(({ state }) => state?.usage ?? []);
    const tokens = live.reduce((sum, usage) => sum + tokensOf(usage), this.#spent.tokens);
    const costs = [this.#spent, ...live].flatMap(({ costUsd }) => costUsd ?? []);
    const cost = costs.length === 0 ? undefined : costs.reduce((sum, one) => sum + one, 0);
    const { done, blocked, open } = this.#tasks;
    const run = `  run    ${clock(Date.now() - this.#startedAt)}  ${done} of ${open} done, ${blocked} blocked  chain ${chain} of ${maxChains}  batch size ${batchSize}`;
    const spent = `${formatTokens(tokens)} tokens${formatCost(cost)}`;
    const line = `${run}  ${spent}`;
    return line.length <= width ? [line] : [run, `  spent  ${spent}`];
  }

  #put(lines: readonly string[]): void {
    this.#io.out(`${lines.join("\n")}\n`);
    this.#drawn = lines;
  }

  #erase(): void {
    // A terminal that was made narrower has wrapped them.
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(shownColumns(line) / this.#columns)), 0);
    // The cursor may stand behind a `^C`.
    if (rows > 0) this.#io.out(`\r\x1b[${rows}A\x1b[0J`);
    this.#drawn = [];
  }
}

function note(shown: ShownSession, state: Readonly<LiveState>): void {
  shown.state = state;
  if (state.doing === shown.doing) return;
  [shown.doing, shown.doingSince] = [state.doing, Date.now()];
}

const LONG_MS = 10_000;

function drawSession({ start, startedAt, state, doing, doingSince }: ShownSession, width: number): string[] {
  const { usedTokens = 0, windowTokens = 1 } = state ?? {};
  return [
    `  ${start.purpose.padEnd(6)} ${bar(usedTokens / windowTokens)} ${percent(usedTokens, windowTokens)} of the window  ${clock(Date.now() - startedAt)}  ${start.tasks.map(({ id }) => id).join(", ")}`,
    drawDoing("now", doing, { since: doingSince, width }),
  ];
}

function drawDoing(what: string, text: string, { since, width }: { since: number; width: number }): string {
  const ms = Date.now() - since;
  const long = ms < LONG_MS ? "" : `  ${clock(ms)}`;
  return `${cutShown(`  ${what.padEnd(6)} ${oneLine(text)}`, width - long.length)}${long}`;
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${Math.round((part / whole) * 100)}%` : "?";
}

function taskName({ id, title }: BriefTask): string {
  return `${id} "${title}"`;
}

export function formatTokens(count: number): string {
  if (count >= 1_000_000) return `${(count / 1_000_000).toFixed(1)}M`;
  return count >= 10_000 ? `${Math.round(count / 1000)}k` : String(count);
}

export function formatCost(cost: number | undefined): string {
  return cost === undefined ? "" : `, $${cost.toFixed(2)}`;
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (count: number) => String(count).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}
