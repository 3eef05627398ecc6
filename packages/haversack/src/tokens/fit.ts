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
  const { budget, count, separator = "\n\n" } = options;
  const ranked = parts
    .map((part, index) => new Candidate(part, index, count))
    .sort((a, b) => a.part.rank - b.part.rank || a.index - b.index);
  const inOrder = [...ranked].sort((a, b) => a.place - b.place || a.part.rank - b.part.rank || a.index - b.index);
  const separatorSize = count(separator);
  const { footerShare = 0.25 } = options;
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

  best(): SizedForm | undefined {
    for (const form of this.forms()) return form;
    return undefined;
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

interface Room {
  budget: number;
  separatorSize: number;
  shares: Readonly<Record<string, number>>;
}

function choose(ranked: readonly Candidate[], { budget, separatorSize, shares }: Room): void {
  for (const candidate of ranked) candidate.chosen = undefined;
  const groupOf = ({ part: { group = "" } }: Candidate): string => (Object.hasOwn(shares, group) ? group : "");
  // The first part has no separator before it.
  let left = budget + separatorSize;
  // Shares hold only when the ceiling is reached.
  const best = ranked.flatMap((candidate) => candidate.best() ?? []);
  if (best.reduce((sum, { size }) => sum + size + separatorSize, 0) <= left) {
    for (const candidate of ranked) candidate.chosen = candidate.best();
    return;
  }
  left -= chooseWithin(
    ranked.filter((candidate) => groupOf(candidate) === ""),
    { room: left, separatorSize },
  );
  let unused = 0;
  for (const [group, share] of Object.entries(shares)) {
    const room = Math.max(0, left) * share + unused;
    unused =
      room -
      chooseWithin(
        ranked.filter((candidate) => groupOf(candidate) === group),
        { room, separatorSize },
      );
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
    const tier = ranked[from]!.part.tier;
    let to = from + 1;
    while (tier !== undefined && ranked[to]?.part.tier === tier) to++;
    const peers = ranked.slice(from, to);
    if (peers.length > 1) for (const peer of peers) [...peer.forms()].reverse().some((form) => take(peer, form));
    for (const peer of peers) for (const form of peer.betterForms()) if (take(peer, form)) break;
    from = to;
  }
  return room - left;
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
