/**
 * Keeps the plugin from harming the session that it runs in: every fault is caught and logged, and a plugin that faults again and
 * again, or takes too long, stops by itself until the client is started again. In one process with the client nothing can be
 * interrupted from outside, so slowness can only be noticed afterwards.
 */
export interface GuardOptions {
  log(level: "warn" | "error", text: string): void;
  now?: () => number;
}

/** The part of a call that is ours may take this long. A prompt usually takes 1 to 3 ms. */
const SLOW_MS = 250;
const MAX_SLOW = 3;
const MAX_FAULTS = 10;

/** A refusal is an answer, not a fault: the client shows its text to the model as the tool's error. */
export class Refusal extends Error {}

export class Guard {
  readonly #log: GuardOptions["log"];
  readonly #now: () => number;
  #slow = 0;
  #faults = 0;

  constructor({ log, now = () => performance.now() }: GuardOptions) {
    this.#log = log;
    this.#now = now;
  }

  get isStopped(): boolean {
    return this.#slow >= MAX_SLOW || this.#faults >= MAX_FAULTS;
  }

  /** Runs a call into the engine. Undefined after a fault. */
  call<T>(what: string, action: () => T): T | undefined {
    if (this.isStopped) return undefined;
    const startedAt = this.#now();
    try {
      return action();
    } catch (fault) {
      this.#note(what, fault);
      return undefined;
    } finally {
      const tookMs = this.#now() - startedAt;
      if (tookMs > SLOW_MS) {
        this.#slow++;
        this.#tell(
          "warn",
          `${what} took ${Math.round(tookMs)} ms${this.isStopped ? "; Haversack stops in this process" : ""}`,
        );
      }
    }
  }

  /** Wraps a hook of the plugin: nothing but a refusal ever leaves it. */
  hook<Args extends unknown[]>(what: string, run: (...args: Args) => Promise<void>): (...args: Args) => Promise<void> {
    return async (...args) => {
      if (this.isStopped) return;
      try {
        await run(...args);
      } catch (fault) {
        if (fault instanceof Refusal) throw fault;
        this.#note(what, fault);
      }
    };
  }

  #note(what: string, fault: unknown): void {
    this.#faults++;
    const text = fault instanceof Error ? fault.message : String(fault);
    this.#tell("error", `opencode ${what}: ${text}${this.isStopped ? "; Haversack stops in this process" : ""}`);
  }

  #tell(level: "warn" | "error", text: string): void {
    try {
      this.#log(level, text);
    } catch {
      // The log itself cannot be written: nobody is left to tell.
    }
  }
}
