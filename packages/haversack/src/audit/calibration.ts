/**
 * Counts tokens fast and nearly exactly. The first texts of each category, and then fewer and fewer, are counted exactly. All others are estimated,
 * and the estimate is corrected by its error in the category so far. A small audit is exact. In a large one the exact counter, which is fifty times
 * slower, gets a fixed amount of text.
 */
import type { TokenCounter } from "../tokens/count.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import { CATEGORY_COUNT } from "./categories.ts";

/** Characters per category that are counted exactly. After that, only texts whose number is a power of two. */
const BUDGET_CHARS = 120_000;
const MAX_SAMPLE_CHARS = 40_000;

export class Calibration {
  readonly #count: TokenCounter;
  readonly #chars = new Float64Array(CATEGORY_COUNT);
  readonly #texts = new Float64Array(CATEGORY_COUNT);
  readonly #exact = new Float64Array(CATEGORY_COUNT);
  readonly #estimated = new Float64Array(CATEGORY_COUNT);

  constructor(count: TokenCounter) {
    this.#count = count;
  }

  count(category: number, text: string): number {
    const place = ++this.#texts[category]!;
    const isSample = this.#chars[category]! < BUDGET_CHARS || Number.isInteger(Math.log2(place));
    if (isSample && text.length <= MAX_SAMPLE_CHARS) return this.#sample(category, text);
    if (isSample) this.#sample(category, text.slice(0, MAX_SAMPLE_CHARS));
    const estimated = this.#estimated[category]!;
    return estimateTokens(text) * (estimated > 0 ? this.#exact[category]! / estimated : 1);
  }

  #sample(category: number, sample: string): number {
    const exact = this.#count(sample);
    this.#chars[category]! += sample.length;
    this.#exact[category]! += exact;
    this.#estimated[category]! += estimateTokens(sample);
    return exact;
  }
}
