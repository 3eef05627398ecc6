/** How much of a window is left before its session is asked to end, and how many tasks that room probably holds. */
import type { RunSession, RunTask } from "../store/run-store.ts";
import type { RunOptions } from "./run-parts.ts";

export interface Window {
  usedTokens: number;
  windowTokens: number;
  /** Where the client would compact it by itself, if it says so. */
  compactsAtTokens?: number;
}

interface WindowLimit {
  /** The share of the window at which a session is asked to end. */
  windowShare: number;
  /** The share at which the client compacts, if it does not say so. */
  compactsAt?: number | undefined;
}

const BELOW_COMPACTION = 0.9;

/** Always below the point where the client would compact the window: after that the session would continue with half its context. */
export function fullAt(
  { windowTokens, compactsAtTokens }: Omit<Window, "usedTokens">,
  { windowShare, compactsAt = 1 }: WindowLimit,
): number {
  return Math.min(windowShare * windowTokens, BELOW_COMPACTION * (compactsAtTokens ?? compactsAt * windowTokens));
}

/** What batches have used of their windows, and how many tasks they settled with it. */
export interface WindowUse {
  used: number;
  tasks: number;
}

export function windowUse(
  sessions: readonly Pick<RunSession, "purpose" | "usedTokens">[],
  tasks: Iterable<Pick<RunTask, "state">>,
): WindowUse {
  const batches = sessions.filter(({ purpose }) => purpose === "batch");
  return {
    used: batches.reduce((sum, { usedTokens = 0 }) => sum + usedTokens, 0),
    tasks: [...tasks].filter(({ state }) => state === "done" || state === "blocked").length,
  };
}

/** Tasks differ in size, so more is kept free than the mean. `npm run bench batches` shows what comes of it. */
const TASK_MARGIN = 1.5;

/** How many tasks `room` probably holds. Undefined: nothing is known about the size of tasks. */
function tasksThatFit(room: number, { used, tasks }: WindowUse): number | undefined {
  return used > 0 && tasks > 0 ? Math.max(0, Math.floor((room * tasks) / (TASK_MARGIN * used))) : undefined;
}

interface Sizing {
  /** By the outcomes of earlier batches, or the user's own. */
  size: number;
  window: Window;
  limit: WindowLimit;
  use: WindowUse;
}

/**
 * How many tasks a session gets. The user's own number is given whole or, to a session that has worked already, not at all. Isolated tasks have
 * a window each.
 */
export function batchSize(
  { size: wish, isIsolated }: Pick<RunOptions, "size" | "isIsolated">,
  { size, window, limit, use }: Sizing,
): number {
  const fitting = isIsolated
    ? size
    : Math.min(size, tasksThatFit(fullAt(window, limit) - window.usedTokens, use) ?? size);
  if (window.usedTokens > 0) return wish === "auto" || fitting === size ? fitting : 0;
  return wish === "auto" ? Math.max(1, fitting) : size;
}

/** The size that the last session reported: some clients tell it only at their end. */
export function lastWindowTokens(sessions: readonly Pick<RunSession, "windowTokens">[], otherwise: number): number {
  return sessions.findLast(({ windowTokens }) => windowTokens !== undefined)?.windowTokens ?? otherwise;
}
