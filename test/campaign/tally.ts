/** What a part of the campaign counts, and when a promise is broken. */
import type { HookClient } from "./payloads.ts";

export interface Tally {
  cases: number;
  /** Cases in which a hook printed something. */
  answers: number;
  /** Of hooks: they must always exit with 0. A plugin call that throws counts too. */
  badExits: number;
  overCap: number;
  invalidJson: number;
  /** Outputs on standard error by hooks, or more than one clear line by commands. */
  noise: number;
  longestMs: number;
  /** Other promises of this part that did not hold, and the first cases of the above. */
  broken: string[];
  /** For the reader of the table. */
  notes: string[];
}

export function newTally(): Tally {
  return {
    cases: 0,
    answers: 0,
    badExits: 0,
    overCap: 0,
    invalidJson: 0,
    noise: 0,
    longestMs: 0,
    broken: [],
    notes: [],
  };
}

/** What the clients take before they cut or move the text into a file: see docs/reference/clients/claude-code.md and its neighbours. */
const CAPS: Record<HookClient | "opencode", (text: string) => boolean> = {
  "claude-code": (text) => text.length <= 10_000,
  codex: (text) => Buffer.byteLength(text) <= 10_000,
  gemini: (text) => text.length <= 20_000,
  opencode: (text) => text.length <= 20_000,
};

export function fits(client: HookClient | "opencode", text: string): boolean {
  return CAPS[client](text);
}

export interface HookRun {
  client: HookClient;
  exitCode: number | null;
  stdout: string;
  stderr: string;
  tookMs: number;
  /** The hook's input, if it was JSON: the prompt and the result in it do not count as our text. */
  given?: Record<string, unknown> | undefined;
  /** For the report of a broken promise. */
  label: string;
}

export function countHook(tally: Tally, { client, exitCode, stdout, stderr, tookMs, given, label }: HookRun): void {
  tally.cases++;
  tally.longestMs = Math.max(tally.longestMs, tookMs);
  if (exitCode !== 0) {
    tally.badExits++;
    tell(tally, `exit ${exitCode}: ${label}`);
  }
  if (stderr !== "") {
    tally.noise++;
    tell(tally, `stderr ${JSON.stringify(stderr.slice(0, 200))}: ${label}`);
  }
  if (stdout === "") return;
  tally.answers++;
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch {
    tally.invalidJson++;
    tell(tally, `invalid JSON ${JSON.stringify(stdout.slice(0, 200))}: ${label}`);
    return;
  }
  if (addedTexts(answer, given).some((text) => !fits(client, text))) {
    tally.overCap++;
    tell(tally, `over the cap: ${label}`);
  }
}

export function tell(tally: Tally, text: string): void {
  if (tally.broken.length < 20) tally.broken.push(text);
}

/** The texts in an answer that Haversack adds. A prompt or a result that it extends holds the client's own text first. */
function addedTexts(answer: unknown, given: Record<string, unknown> = {}): string[] {
  const { systemMessage, reason, hookSpecificOutput = {} } = answer as Record<string, Record<string, unknown>>;
  const { additionalContext, permissionDecisionReason, updatedInput, tool_input, updatedToolOutput } =
    hookSpecificOutput as Record<string, Record<string, unknown>>;
  const input = (updatedInput ?? tool_input) as Record<string, unknown> | undefined;
  const own = (given["tool_input"] ?? {}) as Record<string, unknown>;
  const content = updatedToolOutput?.["content"] as { text?: string }[] | undefined;
  return [
    systemMessage,
    reason,
    additionalContext,
    permissionDecisionReason,
    ...(["prompt", "message"] as const).map((key) => textBehind(input?.[key], own[key])),
    content?.[0]?.text,
  ].filter((text) => typeof text === "string");
}

function textBehind(text: unknown, own: unknown): unknown {
  return typeof text === "string" && typeof own === "string" && text.startsWith(own) ? text.slice(own.length) : text;
}
