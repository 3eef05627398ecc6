/**
 * Runs untrusted regular expressions on a text under one time budget: all of them in one `vm` call (one call per
 * pattern costs half a process start more), which goes on after an offender that used up its share.
 *
 * The budget holds under Node. Under Bun a vm time-out fires late or never, so there only patterns proven to run in
 * linear time may run; the others are skipped and reported.
 */
import { runInThisContext } from "node:vm";

export interface RunnablePattern {
  source: string;
  flags: string;
  linear: boolean;
}

export interface PatternRun {
  /** Positions of the patterns that matched. */
  hits: number[];
  /** Positions of patterns that ran out of time. They should not be run again. */
  slow: number[];
  /** Positions of patterns that were not run at all: the budget was gone, or this runtime cannot stop them. */
  skipped: number[];
}

/** What a prompt may cost in patterns, all together, of this process's time. */
export const PATTERN_BUDGET_MS = 50;

/** A pattern counts as slow only when it alone had this much time. A usual one takes microseconds. */
const GUILTY_MS = 5;

/**
 * The budget is CPU time: on a busy machine this process mostly waits, and waiting must not silence rules or brand a good
 * pattern as slow for ever. By the clock it may take this many times as long (one second).
 */
const MOST_WAITING = 20;

/** Where time and time-outs come from; tests bring their own. */
export interface PatternHost {
  /** CPU time of this process so far. */
  cpuMs(): number;
  /** The clock. */
  nowMs(): number;
  /** Runs it for at most so long by the clock. False when it was stopped, or when the time-out fired just after its end. */
  runFor(run: () => void, timeoutMs: number): boolean;
}

/** Longer texts are cut: a pattern speaks of what a person typed, not of what they pasted. */
const MAX_HEAD = 15_000;
const MAX_TAIL = 5000;

export interface RunOptions {
  /** In milliseconds. Default: PATTERN_BUDGET_MS. */
  budgetMs?: number;
  canStop?: boolean;
  host?: PatternHost;
}

export function runPatterns(
  patterns: readonly RunnablePattern[],
  texts: readonly string[],
  options: RunOptions = {},
): PatternRun {
  const { pairs, slow, skipped } = execute(patterns, texts, { ...options, isAll: false });
  return { hits: pairs.map(([pattern]) => pattern), slow, skipped };
}

/** Every pattern on every text: which pattern matched which text, as positions. */
export function matchEach(
  patterns: readonly RunnablePattern[],
  texts: readonly string[],
  options: RunOptions = {},
): { pairs: [pattern: number, text: number][]; slow: number[]; skipped: number[] } {
  return execute(patterns, texts, { ...options, isAll: true });
}

function execute(
  patterns: readonly RunnablePattern[],
  texts: readonly string[],
  {
    budgetMs = PATTERN_BUDGET_MS,
    canStop = !process.versions["bun"],
    host = VM_HOST,
    isAll,
  }: RunOptions & { isAll: boolean },
): { pairs: [number, number][]; slow: number[]; skipped: number[] } {
  const run = { pairs: [] as [number, number][], slow: [] as number[], skipped: [] as number[] };
  if (patterns.length === 0 || texts.length === 0) return run;
  const work = {
    patterns: patterns.map(({ source, flags, linear }) => (canStop || linear ? { source, flags } : undefined)),
    texts: texts.map(cutText),
    at: 0,
    /** The last pattern that began and may be blamed, and the CPU time at that moment. */
    began: { at: -1, cpuMs: 0 },
    begin: () => {
      // 2 µs; what is proven linear is never blamed.
      if (!patterns[work.at]!.linear) work.began = { at: work.at, cpuMs: host.cpuMs() };
    },
    pairs: run.pairs,
    isAll,
  };
  patterns.forEach((_, at) => {
    if (!work.patterns[at]) run.skipped.push(at);
  });

  const step = runInThisContext(SCRIPT) as (work: unknown) => void;
  const startCpuMs = host.cpuMs();
  const deadlineMs = host.nowMs() + budgetMs * MOST_WAITING;
  // How often in a row the pattern at `at` was stopped before it had its share of CPU time.
  let stopped = { at: -1, times: 0 };
  while (work.at < patterns.length) {
    const leftCpuMs = budgetMs - (host.cpuMs() - startCpuMs);
    const leftMs = deadlineMs - host.nowMs();
    if (leftCpuMs < 1 || leftMs < 1) {
      for (; work.at < patterns.length; work.at++) if (work.patterns[work.at]) run.skipped.push(work.at);
      break;
    }
    const times = stopped.at === work.at ? stopped.times : 0;
    // Half of what is left, so that one offender leaves time for the rest; twice as long each time that it was not enough.
    const timeoutMs = Math.min(leftMs, Math.max(1, leftCpuMs / 2) * 2 ** times);
    if (host.runFor(() => step(work), Math.ceil(timeoutMs))) break;
    const { at, began } = work;
    // The time-out can fire when the last pattern is already done.
    if (at >= patterns.length) break;
    if (began.at === at && host.cpuMs() - began.cpuMs >= GUILTY_MS) {
      run.slow.push(at);
      work.at++;
    } else {
      // The time went to those before it, or to other processes: it is tried again.
      stopped = { at, times: times + 1 };
      run.pairs.splice(0, run.pairs.length, ...run.pairs.filter(([pattern]) => pattern !== at));
    }
  }
  return run;
}

const VM_HOST: PatternHost = {
  cpuMs: () => process.cpuUsage().user / 1000,
  nowMs: () => performance.now(),
  runFor(run, timeoutMs) {
    const key = "__haversackPatterns";
    const scope = globalThis as Record<string, unknown>;
    scope[key] = run;
    try {
      runInThisContext(`${key}()`, { timeout: timeoutMs });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      return false;
    } finally {
      delete scope[key];
    }
  },
};

function cutText(text: string): string {
  return text.length <= MAX_HEAD + MAX_TAIL ? text : `${text.slice(0, MAX_HEAD)}\n${text.slice(-MAX_TAIL)}`;
}

// A pattern that does not compile here was reported when it was indexed; it matches nothing.
const SCRIPT = `(function (work) {
  for (; work.at < work.patterns.length; work.at++) {
    var pattern = work.patterns[work.at];
    if (!pattern) continue;
    work.begin();
    var expression;
    try { expression = new RegExp(pattern.source, pattern.flags); } catch (error) { continue; }
    for (var t = 0; t < work.texts.length; t++) {
      expression.lastIndex = 0;
      if (expression.test(work.texts[t])) {
        work.pairs.push([work.at, t]);
        if (!work.isAll) break;
      }
    }
  }
})`;
