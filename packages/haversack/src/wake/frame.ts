/** Puts the chosen pieces into the places of a template. */
import { stripControl } from "../base/clean-text.ts";
import type { ChosenForm, Form, FormatLine, LeftOut } from "../tokens/fit.ts";
import { type Piece, Pieces } from "./piece.ts";
import { type Placeholder, renderTemplate, type Template } from "./templates.ts";
import { withoutGaps } from "./text.ts";

/** The line on where the packet comes from: below the title, whatever the template. */
export const SOURCE = "source";

/** Sections of the template that are only text, by their number. */
const OWN = "template ";

export class Frame {
  /** Those that the template has a place for. */
  readonly pieces: readonly Piece[];
  readonly #byKey: ReadonlyMap<string, Piece>;
  readonly #template: Template;

  constructor(pieces: readonly Piece[], template: Template) {
    this.#template = template;
    this.pieces = pieces.filter((each) => isFramed(each.key) || this.slotOf(each) !== undefined);
    this.#byKey = new Map(this.pieces.map((each) => [each.key, each]));
  }

  piece(key: string): Piece {
    return this.#byKey.get(key)!;
  }

  slotOf({ slots }: Piece): Placeholder | undefined {
    for (let at = 0; at < slots.length; at++) if (this.#template.placeholders.has(slots[at]!)) return slots[at];
    return undefined;
  }

  /** Nothing chosen gives no text. */
  assemble(chosen: readonly ChosenForm[], footer?: string): string {
    if (chosen.length === 0) return "";
    const lines = new Map<Placeholder, string[]>();
    const framed = new Map<string, string>();
    chosen.forEach(({ key, text }) => {
      const each = this.piece(key);
      const slot = this.slotOf(each);
      if (slot === undefined) framed.set(key, text);
      else {
        let into = lines.get(slot);
        if (!into) lines.set(slot, (into = []));
        if (each.label && !into.includes(each.label)) into.push(each.label);
        into.push(text);
      }
    });
    const texts = new Map([...lines].map(([slot, into]) => [slot, into.join("\n")]));
    const [first = "", ...sections] = renderTemplate(this.#template, {
      textOf: (slot) => texts.get(slot) ?? "",
      hasOwn: (section) => framed.has(`${OWN}${section}`),
    });
    const [title = ""] = first.startsWith("# ") ? first.split("\n", 1) : [];
    const below = first.slice(title.length).trim();
    const head = [title, framed.get(SOURCE), below.startsWith("#") ? `\n${below}` : below].filter(Boolean).join("\n");
    const text = withoutGaps([head, ...sections].join("\n\n"));
    // Ids come as they are stored; this is the last gate.
    return stripControl(footer ? `${text}\n\n${footer}` : text);
  }

  /** Places that have text, and each skill whose text is there. full: all of it. */
  included(chosen: readonly { key: string; form: Form }[]): { key: string; form: Form }[] {
    const forms = new Map<string, Form>();
    for (const { key, form } of chosen) {
      const each = this.piece(key);
      const slot = this.slotOf(each);
      if (slot && forms.get(slot) !== "short") forms.set(slot, form === "full" ? "full" : "short");
      if (each.skill) forms.set(key, each.skill.whole === form ? "full" : "short");
    }
    return [...forms].map(([key, form]) => ({ key, form }));
  }

  /** Characters by the same keys. A skill's text counts for the skill and not for the place. */
  sizes(chosen: readonly { key: string; form: Form }[]): Record<string, number> {
    const sizes: Record<string, number> = {};
    for (const { key, form } of chosen) {
      const each = this.piece(key);
      const into = each.skill ? key : this.slotOf(each);
      if (into) sizes[into] = (sizes[into] ?? 0) + (each[form] ?? each.full).length;
    }
    return sizes;
  }
}

function isFramed(key: string): boolean {
  return key === SOURCE || key.startsWith(OWN);
}

/** A template's own text is expected to be there; a long one takes its turn with the task's. */
const OWN_SHARE = 0.1;

export function ownTexts({ sections }: Template, budgetChars: number): Piece[] {
  const pieces = new Pieces([]);
  for (const [index, { text, placeholders }] of sections.entries()) {
    if (placeholders.length > 0) continue;
    const [heading = ""] = text.split("\n", 1);
    const isLong = text.length > budgetChars * OWN_SHARE;
    pieces.add(isLong ? 23 : 8, `${OWN}${index}`, text, {
      what: heading.replace(/^#+ /, "").toLowerCase().slice(0, 60),
      group: isLong ? "work" : undefined,
    });
  }
  return pieces.list;
}

// What a packet leaves out: as a list, and as its last line.

/** Things that there are too many of to be pieces: only counted. */
export interface Beyond {
  what: string;
  count: number;
  how: string;
}

export interface LeftOutThing {
  /** `decision`, `unread message`, `skill:ID`. */
  key: string;
  count: number;
  how?: string;
}

export function leftOutThings(leftOut: readonly LeftOut[], frame: Frame, beyond: readonly Beyond[]): LeftOutThing[] {
  const found = new Map<string, LeftOutThing>();
  const add = (key: string, how: string | undefined, count = 1): void => {
    const thing = found.get(key);
    if (thing) thing.count += count;
    else found.set(key, { key, count, ...(how !== undefined && { how }) });
  };
  for (const { key, how } of leftOut) {
    const { skill, what } = frame.piece(key);
    add(skill ? key : what, how);
  }
  for (const { what, how, count } of beyond) add(what, how, count);
  return [...found.values()];
}

/** The most telling first: how many of what, and the way to each; the most important and one way to all; how many and that way; only how many. */
export function footersFor(frame: Frame, { beyond, more }: { beyond: readonly Beyond[]; more: string }): FormatLine[] {
  // Nobody asks for past events.
  const things = (missing: readonly LeftOut[]): LeftOutThing[] =>
    leftOutThings(missing, frame, beyond).filter(({ key }) => key !== "event");
  const words = ({ key, count }: LeftOutThing): string => plural(key.replace("skill:", "skill "), count);
  return [
    (missing, reduced) => {
      const ways = new Map<string, string[]>();
      const add = (what: string, how = ""): void => void ways.set(how, [...(ways.get(how) ?? []), what]);
      for (const thing of things(missing)) add(words(thing), thing.how);
      for (const key of reduced) {
        const { rest, how } = frame.piece(key);
        if (rest) add(rest, how);
      }
      const groups = [...ways].map(([how, whats]) => `${whats.join(", ")}${how && ` (${how})`}`);
      return groups.length > 0 ? `Left out: ${groups.join("; ")}` : "";
    },
    (missing) => {
      const few = inFew(things(missing), words);
      return few.length > 0 ? `Left out: ${few.join(", ")} (${more})` : "";
    },
    (missing) => (missing.length > 0 ? `${missing.length} left out (${more})` : ""),
    (missing) => (missing.length > 0 ? `${missing.length} left out` : ""),
  ];
}

function inFew(all: readonly LeftOutThing[], words: (thing: LeftOutThing) => string): string[] {
  const shown = all.slice(0, 5).map(words);
  return all.length > shown.length ? [...shown, "and more"] : shown;
}

function plural(what: string, count: number): string {
  if (count === 1) return what;
  return `${count} ${what === "criterion" ? "criteria" : what.endsWith("s") ? what : `${what}s`}`;
}
