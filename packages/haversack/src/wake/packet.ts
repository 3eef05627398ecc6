/**
 * The packet: what an agent needs to go on, ranked by the next action and cut to the room its client gives. Everything in
 * full while that fits; when it does not, shares hold (skill 40%, task and WIP 30%, plan 15%, messages 15% of what who, where
 * and what next leave), and the last line says what was left out and how to get it. Nothing to resume: no text.
 *
 * Never over the budget, whatever the state.
 */
import { type Form, fit, roomTaken } from "../tokens/fit.ts";
import { Frame, footersFor, type LeftOutThing, leftOutThings, SOURCE } from "./frame.ts";
import { gatherPieces } from "./packet-pieces.ts";
import { type Piece, type PieceOptions, SHARES } from "./piece.ts";
import { isNothing, type WakeState } from "./state.ts";
import { type Template, templateFor } from "./templates.ts";
import { cutLine } from "./text.ts";
import type { Workflow } from "./workflow.ts";

export interface PacketOptions {
  /** The project's own template for the role. Default: the shipped one. */
  template?: string | undefined;
  workflow: Workflow;
  /** The ceiling, in the unit of `count`. */
  budget: number;
  count: (text: string) => number;
  unit: "chars" | "tokens";
  /** How things that were left out are got in this client. Default: commands of the CLI. */
  how?: Partial<PieceOptions["how"]> | undefined;
}

export interface Packet {
  text: string;
  /** Placeholders that have text, and `skill:ID` for each skill whose text is in it. full: all of it. */
  included: { key: string; form: Form }[];
  /** Characters of each that is included, without headings. Absent: the packet is empty. */
  sizes?: Readonly<Record<string, number>>;
  leftOut: LeftOutThing[];
  /** Ids of the messages that are in it whole: those may be marked as read. */
  messages: string[];
  /** For the log and `doctor`, one line each. What the agent must know of it is in the text too. */
  problems: string[];
  isEmpty: boolean;
  used: number;
}

export function assemblePacket(state: WakeState, given: PacketOptions): Packet {
  const options = { ...given, count: given.unit === "tokens" ? countingOnce(given.count) : given.count };
  const { budget, count, unit } = options;
  if (isNothing(state))
    return { text: "", included: [], leftOut: [], messages: [], problems: [], isEmpty: true, used: 0 };
  // Guidelines are for whom somebody gave the role.
  const template = templateFor(state.agent.isSolo ? "" : state.agent.role, options.template);
  const budgetChars = budget > 0 ? budget * (unit === "tokens" ? CHARS_PER_TOKEN : 1) : 0;
  const { pieces, bodies, beyond } = gatherPieces(state, { ...options, template, budgetChars });

  const { overhead, skillShare } = roomFor(new Frame(pieces, template), options);
  const roomChars = budgetChars * skillShare;
  // Text that is half as long again as its room's letters cannot fit, however few tokens its words have.
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
  // Who speaks is no news by itself.
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

/** One way to all that was left out. */
function moreOf({ agent: { name, sessionId }, task }: WakeState): string {
  if (name) return `haversack wake ${cutLine(name, 60)} --budget 8000`;
  if (task) return `haversack task show ${task.id} --fields full`;
  return `haversack wake${sessionId ? ` --session ${cutLine(sessionId, 64)}` : ""} --budget 8000`;
}

/** Pieces are counted for the skills' room and again for the packet; a token count is dear. */
function countingOnce(count: (text: string) => number): (text: string) => number {
  const sizes = new Map<string, number>();
  return (text) => {
    let size = sizes.get(text);
    if (size === undefined) sizes.set(text, (size = count(text)));
    return size;
  };
}

/** Of prose with some code in it. */
const CHARS_PER_TOKEN = 4;

/** About what headings and labels take, and the part of the budget that the skills may have when all others took their shares. */
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

/** What a project's template has no place for although there is something to show. */
function unshown(pieces: readonly Piece[], { placeholders }: Template): string[] {
  const hidden = pieces.flatMap(({ slots }) => (slots.some((slot) => placeholders.has(slot)) ? [] : slots.slice(0, 1)));
  return hidden.length > 0 ? [`the template has no place for ${[...new Set(hidden)].join(", ")}`] : [];
}
