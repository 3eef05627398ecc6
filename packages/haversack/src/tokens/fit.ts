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
 * Both hold for parts without `tier` and `group`. Parts of one tier share the room: each first gets its smallest form, then
 * the better ones come, the most important first. Groups have shares of the room: see `shares`.
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
  /** Neighbours in rank with the same tier are small before any of them is large. Default: the part stands alone. */
  tier?: number | undefined;
  /** Whose share of the room it takes. Default: none, and it comes before all groups. */
  group?: string | undefined;
}

export interface FitOptions {
  /** The ceiling, in the unit of `count`: tokens or characters. */
  budget: number;
  count: (text: string) => number;
  /** Between two parts. Counted. Default: a blank line. */
  separator?: string;
  /**
   * End the text with one line on what was left out and how to get it, or with lines of one's own, the most telling first. The
   * first that takes no more than its share of the budget is used. Default: false.
   */
  footer?: boolean | readonly FormatLine[];
  /** Default: a quarter. */
  footerShare?: number;
  /**
   * What each group may take of the room that parts without a group leave, when not everything fits in full. In order: what
   * one does not use is the next one's, and what is left at the end goes to the most important parts. A group that is not
   * listed comes last.
   */
  shares?: Readonly<Record<string, number>>;
  /** Makes the text of the chosen forms. Default: they are joined. Nothing chosen must give no text. */
  assemble?: (chosen: readonly ChosenForm[], footer: string | undefined) => string;
  /** About what `assemble` adds to the forms and separators. Default: 0. */
  overhead?: number;
}

export interface ChosenForm {
  key: string;
  form: Form;
  text: string;
}

/** `reduced`: keys of the parts that are not in full. */
export type FormatLine = (missing: readonly LeftOut[], reduced: readonly string[]) => string;

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
  const { budget, count, separator = "\n\n", footerShare = 0.25 } = options;
  const ranked = rank(parts, count);
  const hasPlaces = parts.some(({ order }) => order !== undefined);
  const inOrder = hasPlaces ? ranked.toSorted((a, b) => a.place - b.place) : ranked;
  const separatorSize = count(separator);
  const room = { budget: budget - (options.overhead ?? 0), separatorSize, shares: options.shares ?? {} };

  choose(ranked, room);
  const footers = options.footer === true ? FOOTERS : options.footer || [];
  const formatLine = reserveFooter(ranked, { ...room, footers, footerShare, count });

  const render = (withFooter = true): string => {
    const chosen = inOrder.flatMap(({ part, chosen: form }) =>
      form ? { key: part.key, form: form.form, text: form.text } : [],
    );
    const line = (withFooter && formatLine?.(missing(ranked), reduced(ranked))) || undefined;
    if (options.assemble) return options.assemble(chosen, line);
    const texts = chosen.map(({ text }) => text);
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
    const { chosen: before } = candidate;
    for (let at = 0; ; at++) {
      const better = candidate.form(at);
      if (!better || better === before) break;
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

/** About what these parts would take of a budget. */
export function roomTaken(
  parts: readonly Part[],
  { budget, count, separator, shares }: Required<Pick<FitOptions, "budget" | "count" | "separator" | "shares">>,
): number {
  const ranked = rank(parts, count);
  const separatorSize = count(separator);
  choose(ranked, { budget, separatorSize, shares });
  let taken = 0;
  for (const { chosen } of ranked) if (chosen) taken += chosen.size + separatorSize;
  return Math.max(0, taken - separatorSize);
}

function rank(parts: readonly Part[], count: (text: string) => number): Candidate[] {
  // Sorting keeps the order of equal ones.
  return parts.map((part) => new Candidate(part, count)).sort((a, b) => a.rank - b.rank);
}

interface SizedForm {
  form: Form;
  text: string;
  size: number;
}

/** Of a hundred parts, in a process that has just started: so no generators, and no list where three fields do. */
class Candidate {
  readonly part: Part;
  readonly rank: number;
  readonly place: number;
  chosen: SizedForm | undefined;
  readonly #count: (text: string) => number;
  #first: SizedForm | undefined;
  #second: SizedForm | undefined;
  #third: SizedForm | undefined;
  /** Forms looked at so far: full, short, name. */
  #seen = 0;

  constructor(part: Part, count: (text: string) => number) {
    this.part = part;
    this.rank = part.rank;
    this.place = part.order ?? part.rank;
    this.#count = count;
  }

  /** Best first; empty ones are none. Counted when asked for: short and name are rarely needed. */
  form(at: number): SizedForm | undefined {
    for (;;) {
      const found = at === 0 ? this.#first : at === 1 ? this.#second : at === 2 ? this.#third : undefined;
      if (found || this.#seen === FORMS.length) return found;
      const form = FORMS[this.#seen++]!;
      const text = this.part[form];
      if (!text) continue;
      const sized = { form, text, size: this.#count(text) };
      if (!this.#first) this.#first = sized;
      else if (!this.#second) this.#second = sized;
      else this.#third = sized;
    }
  }

  /** The next smaller form, or none. */
  reduce(): void {
    if (this.chosen)
      this.chosen =
        this.chosen === this.#first ? this.form(1) : this.chosen === this.#second ? this.form(2) : undefined;
  }

  isEmpty(): boolean {
    return !this.form(0);
  }

  leftOut(): LeftOut {
    const { key, how } = this.part;
    const reason = this.isEmpty() ? "empty" : "over-budget";
    return how === undefined ? { key, reason } : { key, reason, how };
  }
}

const FORMS = ["full", "short", "name"] as const;

interface Room {
  budget: number;
  separatorSize: number;
  shares: Readonly<Record<string, number>>;
}

function choose(ranked: readonly Candidate[], { budget, separatorSize, shares }: Room): void {
  // The first part has no separator before it.
  let left = budget + separatorSize;
  let whole = 0;
  ranked.forEach((candidate) => {
    candidate.chosen = candidate.form(0);
    if (candidate.chosen) whole += candidate.chosen.size + separatorSize;
  });
  // Shares hold only when the ceiling is reached.
  if (whole <= left) return;
  const groups = new Map<string, Candidate[]>([["", []]]);
  for (const group of Object.keys(shares)) groups.set(group, []);
  ranked.forEach((candidate) => {
    candidate.chosen = undefined;
    (groups.get(candidate.part.group ?? "") ?? groups.get("")!).push(candidate);
  });
  left -= chooseWithin(groups.get("")!, { room: left, separatorSize });
  let unused = 0;
  for (const [group, share] of Object.entries(shares)) {
    const room = Math.max(0, left) * share + unused;
    unused = room - chooseWithin(groups.get(group)!, { room, separatorSize });
  }
}

/** Gives back what it took. */
function chooseWithin(
  ranked: readonly Candidate[],
  { room, separatorSize }: { room: number; separatorSize: number },
): number {
  let left = room;
  const take = (candidate: Candidate, form: SizedForm): boolean => {
    const cost = form.size - (candidate.chosen ? candidate.chosen.size : -separatorSize);
    if (cost > left) return false;
    candidate.chosen = form;
    left -= cost;
    return true;
  };
  for (let from = 0; from < ranked.length; ) {
    const { tier } = ranked[from]!.part;
    let to = from + 1;
    while (tier !== undefined && ranked[to]?.part.tier === tier) to++;
    if (to - from > 1) for (let at = from; at < to; at++) takeSmallest(ranked[at]!, take);
    for (let at = from; at < to; at++) takeBest(ranked[at]!, take);
    from = to;
  }
  return room - left;
}

type Take = (candidate: Candidate, form: SizedForm) => boolean;

function takeSmallest(candidate: Candidate, take: Take): void {
  for (let at = FORMS.length - 1; at >= 0; at--) {
    const form = candidate.form(at);
    if (form && take(candidate, form)) return;
  }
}

function takeBest(candidate: Candidate, take: Take): void {
  const { chosen: before } = candidate;
  for (let at = 0; ; at++) {
    const form = candidate.form(at);
    if (!form || form === before || take(candidate, form)) return;
  }
}

function reduceLeastImportant(ranked: readonly Candidate[]): boolean {
  const last = ranked.findLast((candidate) => candidate.chosen);
  last?.reduce();
  return last !== undefined;
}

/** Most telling first. The last one still says that something is missing. */
const FOOTERS: readonly FormatLine[] = [
  (missing) =>
    missing.length > 0 ? `Left out: ${missing.map(({ key, how }) => (how ? `${key} (${how})` : key)).join(", ")}` : "",
  (missing) => (missing.length > 0 ? `Left out: ${missing.map(({ key }) => key).join(", ")}` : ""),
  (missing) => (missing.length > 0 ? `${missing.length} left out` : ""),
];

/**
 * Finds the most telling footer that has room and chooses the forms again beside it. Room for the footer can push out one
 * more part, which makes the footer longer: so it is repeated until the line fits what was kept for it.
 */
function reserveFooter(
  ranked: readonly Candidate[],
  {
    footers,
    footerShare,
    count,
    ...room
  }: Room & { footers: readonly FormatLine[]; footerShare: number; count: (text: string) => number },
): FormatLine | undefined {
  const { budget, separatorSize } = room;
  for (const format of footers) {
    let reserved = 0;
    for (;;) {
      const line = format(missing(ranked), reduced(ranked));
      const needed = line ? count(line) + separatorSize : 0;
      if (needed <= reserved) return format;
      if (!(needed <= budget * footerShare)) break;
      reserved = needed;
      choose(ranked, { ...room, budget: budget - reserved });
    }
    choose(ranked, room);
  }
  return undefined;
}

function reduced(ranked: readonly Candidate[]): string[] {
  return ranked.flatMap(({ part, chosen }) => (chosen && chosen.form !== "full" ? part.key : []));
}

function missing(ranked: readonly Candidate[]): LeftOut[] {
  return ranked
    .filter((candidate) => !candidate.chosen && !candidate.isEmpty())
    .map((candidate) => candidate.leftOut());
}
