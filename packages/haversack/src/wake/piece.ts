/**
 * A piece: the smallest thing that a packet keeps or leaves out, mostly one line. Its rank says how much it matters for the
 * next action, its place is a placeholder of the template. Ranks in tens are tiers: within one all are small before any is
 * large.
 *
 * 0 who you are, what to do next, what is red or blocked, where you stand, the new message, what is missing · 1 unread mentions,
 * what a review found · 2 what was decided, the task's text and criteria, files · 3 the skill, the plan, the rest of the
 * work in progress · 4 handoffs of siblings · 5 the tree · 6 other messages · 7 activity
 */
import type { Form, Part } from "../tokens/fit.ts";
import type { Placeholder } from "./templates.ts";

export interface Piece extends Part {
  /** The first of these that the template has. */
  slots: readonly Placeholder[];
  /** Stands once, before the first piece in its place that has it. */
  label?: string | undefined;
  /** What it is called when it is left out: `decision`. */
  what: string;
  /** What it is called when it is not in full. Absent: nobody misses the rest. */
  rest?: string | undefined;
  /** What it says in the user's own words: left out where something more important says the same. */
  says?: string | undefined;
  /** The skill it is the text of, and the form that is its whole text. */
  skill?: { id: string; whole?: Form } | undefined;
  /** The message it quotes, and the form that has all of it. */
  message?: { id: string; whole?: Form } | undefined;
}

/**
 * Shares of the room that is left when who, where and what next are told. What one does not use is the next one's. Messages
 * have 15%: those that call the agent two thirds, the rest and past events (`talk`) one, after the work.
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

  /** `slots`: the first that the template has. `shared`: what all of them have unless they say otherwise. */
  constructor(slots: readonly Placeholder[], shared: Shared = {}) {
    this.#slots = slots;
    this.#shared = shared;
  }

  /** Empty text is no piece. */
  add(rank: number, key: string, full: string, more: More = {}): void {
    if (!full) return;
    const shared = this.#shared;
    // Field by field: of a hundred pieces, copying objects into objects costs a new process twice as much.
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

/** What pieces are made with. */
export interface PieceOptions {
  /** The budget in characters, about. */
  budgetChars: number;
  /** What the next action, the position and the new message say already. */
  said: Said;
  /** The sentence on where the agent stands. */
  position: string;
  /** What is being done, in stems. */
  about: ReadonlySet<string>;
  /** The template has a place for the tree, and with it for the steps. */
  hasTree: boolean;
  /** The template has a place for the task. */
  hasTask: boolean;
  /** The next action says who left the task, and why. */
  isLeftSaid: boolean;
  /** How to get what was left out. */
  how: Readonly<Record<"task" | "wip" | "handoffs" | "tree" | "messages" | "activity", string>>;
}

/**
 * What a packet says already, so that nothing is said twice: whatever its case and punctuation, in the same words and order. Loaded
 * by the hook.
 */
export class Said {
  #text = "";

  add(...texts: (string | undefined)[]): void {
    for (const text of texts) if (text) this.#text += `${plain(text)}\n`;
  }

  has(text: string): boolean {
    const wanted = plain(text);
    return wanted.length > 2 && this.#text.includes(wanted);
  }
}

/** Of longer ones the beginning tells. */
const MOST_CHARS = 4_000;

/**
 * Words between single spaces: a part of a word is no word. The box of a step is no word either. ASCII's signs only: a class of
 * all letters is compiled in every hook, and that costs more than all the rest here.
 */
function plain(text: string): string {
  const start = text.slice(0, MOST_CHARS);
  const words = start.includes("] ") ? start.replace(/^\s*[-*] \[[ xX]\] /gm, "") : start;
  return ` ${words
    .toLowerCase()
    .replace(/[\s!-/:-@[-^`{-~]+/g, " ")
    .trim()} `;
}
