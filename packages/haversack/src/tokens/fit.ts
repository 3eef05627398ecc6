/**
 * Fits ranked parts into a budget. The budget is a ceiling, not a target: nothing is padded, and what fits in full is in
 * full. When room is short, each part, from the most important down, gets the best of its forms (full, short, name) for
 * which room is left; the rest is left out and listed.
 *
 * Promised for every `count`: the text never counts more than the budget, and the same input gives the same result.
 *
 * Promised for an additive `count` (the whole costs the sum of its pieces, as characters do):
 * - A part is never left out while a less important one is in full that is as large as its smallest form.
 * - Without `footer`, a larger budget never gives a worse result, read from the most important part down: the first part
 *   whose form changes gets a better one. Parts below it may lose, because it took their room.
 *
 * Tokens are nearly additive: the joined text is counted again, and parts are reduced or improved by what that shows.
 */
export type Form = "full" | "short" | "name";

export interface Part {
  key: string;
  /** Lower is more important. Equal ranks: the earlier in the list. */
  rank: number;
  full: string;
  short?: string | undefined;
  name?: string | undefined;
  /** Place in the text, lowest first. Default: `rank`. */
  order?: number | undefined;
  /** How to get the part when it was left out, e.g. `haversack skills show X`. */
  how?: string | undefined;
}

export interface FitOptions {
  /** The ceiling, in the unit of `count`: tokens or characters. */
  budget: number;
  count: (text: string) => number;
  /** Between two parts. Counted. Default: a blank line. */
  separator?: string;
  /** End the text with one line on what was left out and how to get it. It takes at most a quarter of the budget. Default: false. */
  footer?: boolean;
}

export interface LeftOut {
  key: string;
  /** `empty`: the part has no text in any form. */
  reason: "over-budget" | "empty";
  how?: string;
}

export interface Fitted {
  text: string;
  /** In the order of the text. */
  included: { key: string; form: Form }[];
  /** The most important first. Complete, also when the footer had no room for it. */
  leftOut: LeftOut[];
  used: number;
  budget: number;
}

export function fit(parts: readonly Part[], options: FitOptions): Fitted {
  const { budget, count, separator = "\n\n" } = options;
  const ranked = parts
    .map((part, index) => new Candidate(part, index, count))
    .sort((a, b) => a.part.rank - b.part.rank || a.index - b.index);
  const inOrder = [...ranked].sort((a, b) => a.place - b.place || a.part.rank - b.part.rank || a.index - b.index);
  const separatorSize = count(separator);

  choose(ranked, { room: budget, separatorSize });
  const formatLine = options.footer ? reserveFooter(ranked, { budget, separatorSize, count }) : undefined;

  const render = (withFooter = true): string => {
    const texts = inOrder.flatMap((candidate) => candidate.chosen?.text ?? []);
    const line = withFooter ? formatLine?.(missing(ranked)) : undefined;
    return (line ? [...texts, line] : texts).join(separator);
  };
  const measure = (text: string): number => (text === "" ? 0 : count(text));

  let text = render();
  let used = measure(text);
  // The join cost more than its pieces: the least important gives way.
  while (!(used <= budget) && reduceLeastImportant(ranked)) {
    text = render();
    used = measure(text);
  }
  if (!(used <= budget)) {
    text = render(false);
    used = measure(text);
  }

  // The join cost less than its pieces: the most important reduced part gains. With an additive count no test gets past the guess.
  for (const candidate of ranked) {
    for (const better of candidate.betterForms()) {
      const before = candidate.chosen;
      const guess = used + better.size - (before ? before.size : -separatorSize);
      if (guess > budget) continue;
      candidate.chosen = better;
      const improved = render();
      const improvedUsed = measure(improved);
      if (improvedUsed <= budget) {
        text = improved;
        used = improvedUsed;
        break;
      }
      candidate.chosen = before;
    }
  }

  return {
    text,
    included: inOrder.flatMap(({ part, chosen }) => (chosen ? { key: part.key, form: chosen.form } : [])),
    leftOut: ranked.filter(({ chosen }) => !chosen).map((candidate) => candidate.leftOut()),
    used,
    budget,
  };
}

interface SizedForm {
  form: Form;
  text: string;
  size: number;
}

class Candidate {
  readonly part: Part;
  readonly index: number;
  readonly place: number;
  chosen: SizedForm | undefined;
  readonly #count: (text: string) => number;
  #sized: SizedForm[] = [];

  constructor(part: Part, index: number, count: (text: string) => number) {
    this.part = part;
    this.index = index;
    this.place = part.order ?? part.rank;
    this.#count = count;
  }

  /** Best first; empty ones are none. Counted when asked for: short and name are rarely needed. */
  *forms(): Generator<SizedForm> {
    let at = 0;
    for (const form of ["full", "short", "name"] as const) {
      const text = this.part[form];
      if (text === undefined || text === "") continue;
      yield (this.#sized[at] ??= { form, text, size: this.#count(text) });
      at++;
    }
  }

  *betterForms(): Generator<SizedForm> {
    for (const form of this.forms()) {
      if (form === this.chosen) return;
      yield form;
    }
  }

  /** The next smaller form, or none. */
  reduce(): void {
    let seen = false;
    for (const form of this.forms()) {
      if (seen) {
        this.chosen = form;
        return;
      }
      seen = form === this.chosen;
    }
    this.chosen = undefined;
  }

  isEmpty(): boolean {
    return this.forms().next().done === true;
  }

  leftOut(): LeftOut {
    const { key, how } = this.part;
    const reason = this.isEmpty() ? "empty" : "over-budget";
    return how === undefined ? { key, reason } : { key, reason, how };
  }
}

function choose(ranked: readonly Candidate[], { room, separatorSize }: { room: number; separatorSize: number }): void {
  let left = room;
  let first = true;
  for (const candidate of ranked) {
    candidate.chosen = undefined;
    for (const form of candidate.forms()) {
      const cost = form.size + (first ? 0 : separatorSize);
      if (cost > left) continue;
      candidate.chosen = form;
      left -= cost;
      first = false;
      break;
    }
  }
}

function reduceLeastImportant(ranked: readonly Candidate[]): boolean {
  const last = ranked.findLast((candidate) => candidate.chosen);
  last?.reduce();
  return last !== undefined;
}

type FormatLine = (missing: readonly LeftOut[]) => string;

const FOOTER_SHARE = 0.25;

/** Most telling first. The last one still says that something is missing. */
const FOOTERS: readonly FormatLine[] = [
  (missing) => `Left out: ${missing.map(({ key, how }) => (how ? `${key} (${how})` : key)).join(", ")}`,
  (missing) => `Left out: ${missing.map(({ key }) => key).join(", ")}`,
  (missing) => `${missing.length} left out`,
];

/**
 * Finds the most telling footer that has room and chooses the forms again beside it. Room for the footer can push out one
 * more part, which makes the footer longer: so it is repeated until the line fits what was kept for it.
 */
function reserveFooter(
  ranked: readonly Candidate[],
  { budget, separatorSize, count }: { budget: number; separatorSize: number; count: (text: string) => number },
): FormatLine | undefined {
  if (missing(ranked).length === 0) return undefined;
  for (const format of FOOTERS) {
    let reserved = 0;
    for (;;) {
      const needed = count(format(missing(ranked))) + separatorSize;
      if (needed <= reserved) return (left) => (left.length === 0 ? "" : format(left));
      if (!(needed <= budget * FOOTER_SHARE)) break;
      reserved = needed;
      choose(ranked, { room: budget - reserved, separatorSize });
    }
    choose(ranked, { room: budget, separatorSize });
  }
  return undefined;
}

function missing(ranked: readonly Candidate[]): LeftOut[] {
  return ranked
    .filter((candidate) => !candidate.chosen && !candidate.isEmpty())
    .map((candidate) => candidate.leftOut());
}
