/**
 * Runs untrusted regular expressions on a text under one time budget. All run in one `vm` call, because one call per pattern would cost half
 * a process start more. After a pattern has used up its share, the rest continue.
 *
 * The budget works under Node. Under Bun a vm time-out fires late or never, so only patterns proven to run in linear time may run there; the
 * others are skipped and reported.
 */
import { runInThisContext } from "node:vm";

export interface RunnablePattern {
  source: string;
  flags: string;
  linear: boolean;
}

export interface PatternRun {
  /** Indexes of the patterns that matched. */
  hits: number[];
  /** Indexes of patterns that ran out of time. Do not run them again. */
  slow: number[];
  /** Indexes of patterns that did not run, because the budget was used up or this runtime cannot stop them. */
  skipped: number[];
}

/** CPU time that all patterns together may take for one prompt. */
export const PATTERN_BUDGET_MS = 50;

/** A pattern counts as slow only if it alone had this much time. A typical one takes microseconds. */
const GUILTY_MS = 5;

/**
 * The budget is CPU time. On a busy machine this process mostly waits, and waiting must not disable rules or mark a good pattern as slow
 * forever. The wall-clock limit is this many times the budget (one second).
 */
const MOST_WAITING = 20;

/** Source of time and time-outs; tests pass their own. */
export interface PatternHost {
  /** CPU time of this process so far. */
  cpuMs(): number;
  /** Wall-clock time. */
  nowMs(): number;
  /** Runs it for at most this long by the wall clock. False if it was stopped, or if the time-out fired just after it ended. */
  runFor(run: () => void, timeoutMs: number): boolean;
}

/** Longer texts are cut: a pattern is meant for what a person typed, not for what they pasted. */
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

/** Runs every pattern on every text. Returns pairs of indexes: which pattern matched which text. */
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
    /** The last pattern started that may count as slow, and the CPU time at its start. */
    began: { at: -1, cpuMs: 0 },
    begin: () => {
      // Costs 2 µs. Patterns proven linear never count as slow.
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
  // How often in a row this pattern was stopped before it had its share of CPU time.
  let stopped = { at: -1, times: 0 };
  while (work.at < patterns.length) {
    const leftCpuMs = budgetMs - (host.cpuMs() - startCpuMs);
    const leftMs = deadlineMs - host.nowMs();
    if (leftCpuMs < 1 || leftMs < 1) {
      for (; work.at < patterns.length; work.at++) if (work.patterns[work.at]) run.skipped.push(work.at);
      break;
    }
    const times = stopped.at === work.at ? stopped.times : 0;
    // Half of the remaining time, so one slow pattern leaves time for the rest. Doubled each time that was not enough.
    const timeoutMs = Math.min(leftMs, Math.max(1, leftCpuMs / 2) * 2 ** times);
    if (host.runFor(() => step(work), Math.ceil(timeoutMs))) break;
    const { at, began } = work;
    // The time-out can fire after the last pattern is done.
    if (at >= patterns.length) break;
    if (began.at === at && host.cpuMs() - began.cpuMs >= GUILTY_MS) {
      run.slow.push(at);
      work.at++;
    } else {
      // Earlier patterns or other processes used the time, so try this one again.
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

// A pattern that does not compile here was reported during indexing; it matches nothing.
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
