/**
 * Milliseconds in which the machine was awake and this process ran. Nobody can answer during sleep, so a step between two looks counts for
 * ten seconds at most. Look at it about every second.
 */
import { performance } from "node:perf_hooks";

const MOST_STEP_MS = 10_000;

export class AwakeClock {
  readonly #read: () => number;
  #last: number;
  #total = 0;

  constructor(read: () => number = () => performance.now()) {
    this.#read = read;
    this.#last = read();
  }

  now(): number {
    const at = this.#read();
    this.#total += Math.min(MOST_STEP_MS, Math.max(0, at - this.#last));
    this.#last = at;
    return this.#total;
  }
}
