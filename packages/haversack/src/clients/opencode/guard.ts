/**
 * Keeps the plugin from harming the session that it runs in. Every fault is caught and logged. After many faults, or several slow
 * calls, the plugin pauses and then tries again: a locked disk or a broken settings file should not switch it off until the client is
 * restarted. Inside the client's process nothing can be interrupted from outside, so slowness is only noticed afterwards.
 */
export interface GuardOptions {
  log(level: "warn" | "error", text: string): void;
  now?: () => number;
}

/** The part of a call that is ours may take this long. A prompt usually takes 1 to 3 ms. */
const SLOW_MS = 250;
/** How many slow calls or faults within RECENT_MS start a pause. During the RECENT_MS after a pause, one is enough. */
const MAX_SLOW = 3;
const MAX_FAULTS = 10;
const RECENT_MS = 600_000;
/** The first pause. Each one that follows within RECENT_MS is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 600_000;

/** A refusal is an answer, not a fault: the client shows its text to the model as the tool's error. */
export class Refusal extends Error {}

export class Guard {
  readonly #log: GuardOptions["log"];
  readonly #now: () => number;
  #slowTimes: number[] = [];
  #faultTimes: number[] = [];
  #pauseMs = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor({ log, now = () => performance.now() }: GuardOptions) {
    this.#log = log;
    this.#now = now;
  }

  get isPaused(): boolean {
    return this.#now() < this.#pausedUntil;
  }

  /** Runs a call into the engine. Undefined after a fault. */
  call<T>(what: string, action: () => T): T | undefined {
    if (this.isPaused) return undefined;
    const startedAt = this.#now();
    try {
      return action();
    } catch (fault) {
      this.#note(what, fault);
      return undefined;
    } finally {
      const tookMs = this.#now() - startedAt;
      if (tookMs > SLOW_MS) {
        const pause = this.#count(this.#slowTimes, MAX_SLOW);
        this.#tell("warn", `${what} took ${Math.round(tookMs)} ms${pause}`);
      }
    }
  }

  /** Wraps a hook of the plugin: only a refusal is ever thrown out of it. */
  hook<Args extends unknown[]>(what: string, run: (...args: Args) => Promise<void>): (...args: Args) => Promise<void> {
    return async (...args) => {
      if (this.isPaused) return;
      try {
        await run(...args);
      } catch (fault) {
        if (fault instanceof Refusal) throw fault;
        this.#note(what, fault);
      }
    };
  }

  #note(what: string, fault: unknown): void {
    const pause = this.#count(this.#faultTimes, MAX_FAULTS);
    const text = fault instanceof Error ? fault.message : String(fault);
    this.#tell("error", `opencode ${what}: ${text}${pause}`);
  }

  /** Counts one more fault or slow call. Starts a pause if there were too many, and returns text for the log. */
  #count(times: number[], most: number): string {
    const now = this.#now();
    const recent = times.filter((time) => now - time < RECENT_MS);
    times.splice(0, times.length, ...recent, now);
    const wasPaused = now - this.#pausedUntil < RECENT_MS;
    // Calls that ran at the same time may report after the pause has begun.
    if (now < this.#pausedUntil || (times.length < most && !wasPaused)) return "";
    this.#pauseMs = wasPaused ? Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    this.#pausedUntil = now + this.#pauseMs;
    this.#slowTimes = [];
    this.#faultTimes = [];
    return `; Haversack pauses for ${this.#pauseMs / 60_000} min`;
  }

  #tell(level: "warn" | "error", text: string): void {
    try {
      this.#log(level, text);
    } catch {
      // The log itself cannot be written, so there is nowhere to report it.
    }
  }
}
