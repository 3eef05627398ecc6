/**
 * The packet: what an agent needs to continue, ranked by the next action and cut to the room its client gives. If everything fits, it is
 * shown in full. Otherwise identity, position and next action come first, and the rest is shared: skill 40%, task and WIP 30%, plan 15%,
 * messages 15%. The last line says what was left out and how to get it. If there is nothing to resume, the packet is empty.
 *
 * It never exceeds the budget, whatever the state.
 */

import { stripControl } from "../base/clean-text.ts";
import { type ChosenForm, type Form, type FormatLine, fit, type LeftOut, type Part, roomTaken } from "../tokens/fit.ts";
import { gatherPieces } from "./packet-pieces.ts";
import { isNothing, type WakeState } from "./state.ts";
import { type Placeholder, renderTemplate, type Template, templateFor } from "./templates.ts";
import { cutLine, type Said, withoutGaps } from "./text.ts";

export interface PacketOptions {
  /** The project's own template for the role. Default: the shipped one. */
  template?: string | undefined;
  /** The ceiling, in the unit of `count`. */
  budget: number;
  count: (text: string) => number;
  unit: "chars" | "tokens";
  /** How to get what was left out in this client. Default: CLI commands. */
  how?: Partial<PieceOptions["how"]> | undefined;
}

export interface Packet {
  text: string;
  /** Placeholders with text, and `skill:ID` for each skill whose text is included. full: all of it. */
  included: { key: string; form: Form }[];
  /** Characters of each included part, without headings. Absent: the packet is empty. */
  sizes?: Readonly<Record<string, number>>;
  leftOut: LeftOutThing[];
  /** IDs of the messages that are included whole; these may be marked as read. */
  messages: string[];
  /** For the log and `doctor`, one line each. What the agent must know is also in the text. */
  problems: string[];
  isEmpty: boolean;
  used: number;
}

export function assemblePacket(state: WakeState, given: PacketOptions): Packet {
  const options = { ...given, count: given.unit === "tokens" ? countingOnce(given.count) : given.count };
  const { budget, count, unit } = options;
  if (isNothing(state))
    return { text: "", included: [], leftOut: [], messages: [], problems: [], isEmpty: true, used: 0 };
  // Guidelines are only for agents that were given the role.
  const template = templateFor(state.agent.isSolo ? "" : state.agent.role, options.template);
  const budgetChars = budget > 0 ? budget * (unit === "tokens" ? CHARS_PER_TOKEN : 1) : 0;
  const { pieces, bodies, beyond } = gatherPieces(state, { ...options, template, budgetChars });

  const { overhead, skillShare } = roomFor(new Frame(pieces, template), options);
  const roomChars = budgetChars * skillShare;
  // A text 50% longer than its room in characters cannot fit, even if its words need few tokens.
  const wholeChars = roomChars * (unit === "tokens" ? 1.5 : 1.1);
  const frame = new Frame([...pieces, ...bodies({ roomChars, wholeChars })], template);
  const fitted = fit(frame.pieces, {
    budget,
    count,
    separator: "\n",
    shares: SHARES,
    overhead,
    assemble: (chosen, footer) => frame.assemble(chosen, footer),
    footer: footersFor(frame, { beyond, more: moreOf(state) }),
    footerShare: 0.12,
  });
  // The source line alone is not worth showing.
  const isEmpty = fitted.included.every(({ key }) => key === SOURCE);
  return {
    text: isEmpty ? "" : fitted.text,
    included: frame.included(fitted.included),
    sizes: frame.sizes(fitted.included),
    leftOut: leftOutThings(fitted.leftOut, frame, beyond),
    messages: fitted.included.flatMap(({ key, form }) => {
      const { message } = frame.piece(key);
      return message?.whole === form ? message.id : [];
    }),
    problems: [...template.problems, ...(options.template?.trim() ? unshown(pieces, template) : [])],
    isEmpty,
    used: isEmpty ? 0 : fitted.used,
  };
}

/** One command that shows everything left out. */
function moreOf({ agent: { name, sessionId }, task }: WakeState): string {
  if (name) return `haversack wake ${cutLine(name, 60)} --budget 8000`;
  if (task) return `haversack task show ${task.id} --fields full`;
  return `haversack wake${sessionId ? ` --session ${cutLine(sessionId, 64)}` : ""} --budget 8000`;
}

/** Pieces are counted twice, for the skills' room and for the packet, and counting tokens is expensive. */
function countingOnce(count: (text: string) => number): (text: string) => number {
  const sizes = new Map<string, number>();
  return (text) => {
    let size = sizes.get(text);
    if (size === undefined) sizes.set(text, (size = count(text)));
    return size;
  };
}

/** For prose with some code in it. */
const CHARS_PER_TOKEN = 4;

/** Roughly what headings and labels take, and the share of the budget left for the skills when all other groups use their shares. */
function roomFor(frame: Frame, { budget, count }: PacketOptions): { overhead: number; skillShare: number } {
  const skeleton = frame.assemble(frame.pieces.map(({ key }) => ({ key, form: "name", text: "-" })));
  const overhead = Math.min(Math.max(0, count(skeleton) - frame.pieces.length * 2), budget / 3);
  const head = frame.pieces.reduce((sum, { group, full }) => (group === undefined ? sum + count(full) + 1 : sum), 0);
  const { skill, ...others } = SHARES;
  const shares = Object.fromEntries(Object.entries(others).map(([group, share]) => [group, share / (1 - skill)]));
  const least = Math.max(0, budget - overhead - head) * skill;
  const taken = roomTaken(frame.pieces, { budget: budget - least - overhead, count, separator: "\n", shares });
  return { overhead, skillShare: budget > 0 ? Math.max(0, budget - taken - overhead) / budget : 0 };
}

/** Parts with content that a project's template has no placeholder for. */
function unshown(pieces: readonly Piece[], { placeholders }: Template): string[] {
  const hidden = pieces.flatMap(({ slots }) => (slots.some((slot) => placeholders.has(slot)) ? [] : slots.slice(0, 1)));
  return hidden.length > 0 ? [`the template has no place for ${[...new Set(hidden)].join(", ")}`] : [];
}

// A piece is the smallest thing that a packet keeps or leaves out, mostly one line. Its rank says how much it matters for the next action;
// its place is a placeholder of the template. Every ten ranks form a tier: within a tier, all pieces get a small form before any gets a
// larger one.
// 0 identity, next action, failures and blockers, position, the new message, what is missing · 1 unread mentions, review findings
// 2 decisions, the task's text and criteria, files · 3 the skill, the plan, the rest of the work in progress
// 4 handoffs of siblings · 5 the tree · 6 other messages · 7 activity

export interface Piece extends Part {
  /** It goes into the first of these that the template has. */
  slots: readonly Placeholder[];
  /** Shown once, before the first piece with this label in its place. */
  label?: string | undefined;
  /** The name used when it is left out, such as `decision`. */
  what: string;
  /** The name of the rest when it is not in full. Absent: the rest is not mentioned. */
  rest?: string | undefined;
  /** Its own words, to detect repetition. The piece is dropped if a more important one says the same. */
  says?: string | undefined;
  /** The skill that this text belongs to, and the form that has the whole text. */
  skill?: { id: string; whole?: Form } | undefined;
  /** The quoted message, and the form that has all of it. */
  message?: { id: string; whole?: Form } | undefined;
}

/**
 * Shares of the room left after identity, position and next action. Unused room passes to the next group. Messages get 15%: two thirds for
 * those that mention the agent, one third, after the work, for the rest and past events (`talk`).
 */
export const SHARES = { plan: 0.15, messages: 0.1, work: 0.3, talk: 0.05, skill: 0.4 } as const;

type More = Partial<Omit<Piece, "key" | "rank" | "tier" | "full" | "group">> & {
  group?: keyof typeof SHARES | undefined;
};

type Shared = Pick<More, "order" | "how" | "group" | "label" | "what">;

export class Pieces {
  readonly list: Piece[] = [];
  readonly #slots: readonly Placeholder[];
  readonly #shared: Shared;

  /** `slots`: the first one that the template has is used. `shared`: defaults for all pieces. */
  constructor(slots: readonly Placeholder[], shared: Shared = {}) {
    this.#slots = slots;
    this.#shared = shared;
  }

  /** Ignores empty text. */
  add(rank: number, key: string, full: string, more: More = {}): void {
    if (!full) return;
    const shared = this.#shared;
    // Field by field: for a hundred pieces, spreading objects costs a new process twice as much.
    this.list.push({
      key,
      rank,
      tier: Math.floor(rank / 10),
      full,
      short: more.short,
      name: more.name,
      order: more.order ?? shared.order,
      how: more.how ?? shared.how,
      group: "group" in more ? more.group : shared.group,
      slots: more.slots ?? this.#slots,
      label: more.label ?? shared.label,
      what: more.what ?? shared.what ?? key,
      rest: more.rest,
      says: more.says,
      skill: more.skill,
      message: more.message,
    });
  }
}

/** What the functions that make pieces need. */
export interface PieceOptions {
  /** Approximate budget in characters. */
  budgetChars: number;
  /** What the next action, the position and the new message already say. */
  said: Said;
  /** The sentence on where the agent stands. */
  position: string;
  /** Stems of the words on what is being done. */
  about: ReadonlySet<string>;
  /** The template has a place for the tree, and so for the steps. */
  hasTree: boolean;
  /** The template has a place for the task. */
  hasTask: boolean;
  /** The next action says who left the task, and why. */
  isLeftSaid: boolean;
  /** How to get what was left out. */
  how: Readonly<Record<"task" | "wip" | "handoffs" | "tree" | "messages" | "activity", string>>;
}

// Puts the chosen pieces into the places of a template.

/** The line on the packet's source, below the title in every template. */
export const SOURCE = "source";

/** Key prefix of the template's text-only sections; the section's number follows. */
const OWN = "template ";

export class Frame {
  /** Pieces that the template has a place for. */
  readonly pieces: readonly Piece[];
  readonly #byKey: ReadonlyMap<string, Piece>;
  readonly #template: Template;

  constructor(pieces: readonly Piece[], template: Template) {
    this.#template = template;
    const isFramed = ({ key }: Piece) => key === SOURCE || key.startsWith(OWN);
    this.pieces = pieces.filter((each) => isFramed(each) || this.slotOf(each) !== undefined);
    this.#byKey = new Map(this.pieces.map((each) => [each.key, each]));
  }

  piece(key: string): Piece {
    return this.#byKey.get(key)!;
  }

  slotOf({ slots }: Piece): Placeholder | undefined {
    for (let at = 0; at < slots.length; at++) if (this.#template.placeholders.has(slots[at]!)) return slots[at];
    return undefined;
  }

  /** Returns no text if nothing is chosen. */
  assemble(chosen: readonly ChosenForm[], footer?: string): string {
    if (chosen.length === 0) return "";
    const lines = new Map<Placeholder, string[]>();
    const framed = new Map<string, string>();
    for (const { key, text } of chosen) {
      const each = this.piece(key);
      const slot = this.slotOf(each);
      if (slot === undefined) {
        framed.set(key, text);
        continue;
      }
      const into = lines.get(slot) ?? [];
      lines.set(slot, into);
      if (each.label && !into.includes(each.label)) into.push(each.label);
      into.push(text);
    }
    const texts = new Map([...lines].map(([slot, into]) => [slot, into.join("\n")]));
    const [first = "", ...sections] = renderTemplate(this.#template, {
      textOf: (slot) => texts.get(slot) ?? "",
      hasOwn: (section) => framed.has(`${OWN}${section}`),
    });
    const [title = ""] = first.startsWith("# ") ? first.split("\n", 1) : [];
    const below = first.slice(title.length).trim();
    const head = [title, framed.get(SOURCE), below.startsWith("#") ? `\n${below}` : below].filter(Boolean).join("\n");
    const text = withoutGaps([head, ...sections].join("\n\n"));
    // IDs arrive as stored, so clean the whole text here at the end.
    return stripControl(footer ? `${text}\n\n${footer}` : text);
  }

  /** Placeholders with text, and each skill whose text is there. full: all of it. */
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

  /** Characters by the same keys. A skill's text counts for the skill, not for the placeholder. */
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

/** A template's own text up to this share of the budget is always shown. A longer one competes with the task's text. */
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

// What a packet leaves out, as a list and as its last line.

/** Things too numerous to become pieces; only counted. */
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

/** Most informative first: counts with a command each; the most important and one command for all; the total and that command; the total. */
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
      const all = things(missing);
      const few = [...all.slice(0, MOST_NAMED).map(words), ...(all.length > MOST_NAMED ? ["and more"] : [])];
      return few.length > 0 ? `Left out: ${few.join(", ")} (${more})` : "";
    },
    (missing) => (missing.length > 0 ? `${missing.length} left out (${more})` : ""),
    (missing) => (missing.length > 0 ? `${missing.length} left out` : ""),
  ];
}

const MOST_NAMED = 5;

function plural(what: string, count: number): string {
  if (count === 1) return what;
  return `${count} ${what === "criterion" ? "criteria" : what.endsWith("s") ? what : `${what}s`}`;
}
