/** When a run stops: limits of sessions, tokens, money and time, and signs that it makes no progress. */
import type { Usage } from "../clients/stream-event.ts";
import type { Call, SessionEnd } from "./client-session.ts";

export interface RunLimits {
  maxChains: number;
  maxTokens?: number;
  maxCostUsd?: number;
  maxMinutes?: number;
}

export interface RunTotals {
  /** Sessions that took tasks. Fixers and reviewers have their own limits. */
  chains: number;
  usage: Usage;
  /** Time awake: sleep of the machine does not count. */
  workedMs: number;
}

export type StopReason =
  | "done"
  | "blocked"
  | "max-chains"
  | "max-tokens"
  | "max-cost"
  | "max-minutes"
  | "no-progress"
  | "model-errors"
  | "client-fails"
  | "stopped"
  /** Its machine takes no new tasks. */
  | "drained"
  /** Uncommitted changes could not be kept, or nothing could be merged. */
  | "cannot-keep"
  /** The test command cannot be run at all. */
  | "no-tests"
  | "nothing-ready"
  /** Its file was removed or replaced: what sessions do would be lost. */
  | "store-gone";

/** Undefined: continue. */
export function brakeOf(limits: RunLimits, { chains, usage, workedMs }: RunTotals): StopReason | undefined {
  const { maxChains, maxTokens = Infinity, maxCostUsd = Infinity, maxMinutes = Infinity } = limits;
  if (chains >= maxChains) return "max-chains";
  if (tokensOf(usage) >= maxTokens) return "max-tokens";
  if ((usage.costUsd ?? 0) >= maxCostUsd) return "max-cost";
  if (workedMs >= maxMinutes * 60_000) return "max-minutes";
  return undefined;
}

export function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/** Eight hours, where nothing else limits it. */
export const DEFAULT_MINUTES = 480;

const CIRCLE_CALLS = 10;

/** Whether the last calls only repeat one or two calls, exactly: edits of one file and its tests by turns are work. */
export function isCircling(calls: readonly Pick<Call, "key">[], most = CIRCLE_CALLS): boolean {
  const last = calls.slice(-most);
  return last.length === most && new Set(last.map(({ key }) => key)).size <= 2;
}

/** Whether the session ended by itself, or as the runner asked it to: then it had its chance to get something done. */
export function isSound({ kind, reason }: Pick<SessionEnd, "kind" | "reason">): boolean {
  return reason === "max-turns" || kind === "completed" || kind === "window-full" || kind === "circling";
}

/** After this many in a row, the run gives up. */
export const MOST_IDLE_SESSIONS = 2;
export const MOST_CRASHES = 3;
export const MOST_MODEL_ERRORS = 6;

const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 600_000;

/** Doubles with every error in a row. Adds up to a quarter at random, so several runners do not retry at once. */
export function backOffMs(errorsInARow: number, random: () => number = Math.random): number {
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, errorsInARow - 1));
  return Math.round(wait * (1 + random() / 4));
}

/** Translates a session's end into a batch outcome, which sets the next batch size. */
export function batchOutcome(
  end: Pick<SessionEnd, "kind">,
  tasks: { done: number; failed: number; blocked: number; open: number },
): "completed" | "interrupted" | "failed" | "blocked" {
  if (tasks.failed > 0) return "failed";
  if (end.kind === "stopped") return "interrupted";
  if (tasks.open > 0 || end.kind === "crashed" || end.kind === "hung") return "interrupted";
  return tasks.blocked > 0 ? "blocked" : "completed";
}
