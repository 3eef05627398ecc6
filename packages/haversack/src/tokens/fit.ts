/**
 * Fits ranked parts into a budget. The budget is a ceiling, not a target: nothing is padded, and if everything fits, all parts are in full.
 * Otherwise each part, starting with the most important, gets the best of its forms (full, short, name) that still fits; the rest is left
 * out and listed.
 *
 * Guaranteed for every `count`: the text never exceeds the budget, and the same input gives the same result.
 *
 * Guaranteed for an additive `count` (the whole costs the sum of its pieces, as with characters):
 * - A part is never left out if its smallest form would fit in place of a less important part that is in full.
 * - Without `footer`, a larger budget never gives a worse result: going down from the most important part, the first part whose form changes
 *   gets a better one. Parts below it may lose, because it took their room.
 *
 * Both hold for parts without `tier` and `group`. Parts of one tier share the room: each first gets its smallest form, then they are
 * improved, the most important first. Groups get shares of the room: see `shares`.
 *
 * Tokens are only nearly additive, so the joined text is counted again, and parts are reduced or improved accordingly.
 */
export type Form = "full" | "short" | "name";

export interface Part {
  key: string;
  /** Lower is more important. Ties: the earlier in the list. */
  rank: number;
  full: string;
  short?: string | undefined;
  name?: string | undefined;
  /** Position in the text, lowest first. Default: `rank`. */
  order?: number | undefined;
  /** How to get the part if it was left out, e.g. `haversack skill show X`. */
  how?: string | undefined;
  /** Neighbours in rank with the same tier all get a small form before any gets a larger one. Default: no tier. */
  tier?: number | undefined;
  /** The group whose share of the room the part uses. Default: none; such parts come before all groups. */
  group?: string | undefined;
}

export interface FitOptions {
  /** The ceiling, in the unit of `count`: tokens or characters. */
  budget: number;
  count: (text: string) => number;
  /** Between two parts. Counted. Default: a blank line. */
  separator?: string;
  /**
   * End the text with one line on what was left out and how to get it. Custom lines: most informative first; the first that fits its share
   * of the budget is used. Default: false.
   */
  footer?: boolean | readonly FormatLine[];
  /** The footer's share of the budget. Default: a quarter. */
  footerShare?: number;
  /**
   * Each group's share of the room that parts without a group leave, used only if not everything fits in full. Groups are filled in order:
   * unused room passes to the next group, and what is left at the end goes to the most important parts. An unlisted group counts as no group.
   */
  shares?: Readonly<Record<string, number>>;
  /** Builds the text from the chosen forms. Default: joins them. With no forms it must return no text. */
  assemble?: (chosen: readonly ChosenForm[], footer: string | undefined) => string;
  /** Roughly how much `assemble` adds to the forms and separators. Default: 0. */
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
  /** In text order. */
  included: { key: string; form: Form }[];
  /** Most important first. Complete, even if the footer had no room for all. */
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
  // The joined text costs more than its pieces: reduce the least important part.
  while (!(used <= budget) && reduceLeastImportant(ranked)) {
    text = render();
    used = measure(text);
  }
  if (!(used <= budget)) {
    text = render(false);
    used = measure(text);
  }

  // The joined text costs less than its pieces: improve the most important reduced part.
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

/** Roughly how much of a budget these parts would take. */
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
  // `sort` is stable, so equal ranks keep their order.
  return parts.map((part) => new Candidate(part, count)).sort((a, b) => a.rank - b.rank);
}

interface SizedForm {
  form: Form;
  text: string;
  size: number;
}

class Candidate {
  readonly part: Part;
  readonly rank: number;
  readonly place: number;
  chosen: SizedForm | undefined;
  readonly #count: (text: string) => number;
  readonly #forms: SizedForm[] = [];
  /** How many of the forms (full, short, name) were looked at so far. */
  #seen = 0;

  constructor(part: Part, count: (text: string) => number) {
    this.part = part;
    this.rank = part.rank;
    this.place = part.order ?? part.rank;
    this.#count = count;
  }

  /** Best first; empty forms are skipped. Counted on demand, because short and name are rarely needed. */
  form(at: number): SizedForm | undefined {
    while (this.#forms.length <= at && this.#seen < FORMS.length) {
      const form = FORMS[this.#seen++]!;
      const text = this.part[form];
      if (text) this.#forms.push({ form, text, size: this.#count(text) });
    }
    return this.#forms[at];
  }

  /** Switches to the next smaller form, or to none. */
  reduce(): void {
    if (this.chosen) this.chosen = this.form(this.#forms.indexOf(this.chosen) + 1);
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
  // Shares apply only if not everything fits.
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

/** Returns the room it used. */
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

/** Most informative first. The last one still says that something is missing. */
const FOOTERS: readonly FormatLine[] = [
  (missing) =>
    missing.length > 0 ? `Left out: ${missing.map(({ key, how }) => (how ? `${key} (${how})` : key)).join(", ")}` : "",
  (missing) => (missing.length > 0 ? `Left out: ${missing.map(({ key }) => key).join(", ")}` : ""),
  (missing) => (missing.length > 0 ? `${missing.length} left out` : ""),
];

/**
 * Finds the most informative footer that fits, then chooses the forms again in the remaining room. Making room for the footer can push out
 * another part, which makes the footer longer, so this repeats until the line fits the room kept for it.
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
