/**
 * The packet: what an agent needs to go on, ranked by the next action and cut to the room its client gives. Everything in
 * full while that fits; when it does not, shares hold (skill 40%, task and WIP 30%, plan 15%, messages 15% of what who, where
 * and what next leave), and the last line says what was left out and how to get it. Nothing to resume: no text.
 *
 * Never over the budget, whatever the state. Loaded by the hook.
 */
import { type Form, type FormatLine, fit, type LeftOut, roomTaken } from "../tokens/fit.ts";
import { cutLine, listOf, objectOf, textOf } from "./cut-text.ts";
import { Frame, ownTexts, SOURCE } from "./frame.ts";
import { nextAction } from "./next-action.ts";
import { BY_MESSAGE, FROM } from "./packet-sign.ts";
import { stemsOf } from "./phrase.ts";
import { type Piece, type PieceOptions, Pieces, Said, SHARES } from "./piece.ts";
import { type BodyOptions, skillBodies, skillLines } from "./skill-pieces.ts";
import { isNothing, type WakeState } from "./state.ts";
import { identityPieces, messagePieces, missingPieces, planPieces, UNREAD, unreadOf } from "./talk-pieces.ts";
import { handoffPieces, MOST_DECISIONS, MOST_HANDOFFS, taskPieces, wipPieces } from "./task-pieces.ts";
import { positionOf } from "./task-tree.ts";
import { type Template, templateFor } from "./templates.ts";
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

// All that a packet could say, as ranked pieces, and what there is too much of. Loaded by the hook.

export interface PacketPieces {
  pieces: Piece[];
  /** The skills' texts, when it is known how much room there is. */
  bodies: (room: Omit<BodyOptions, "query">) => Piece[];
  beyond: Beyond[];
}

export interface GatherOptions {
  template: Template;
  workflow: Workflow;
  budgetChars: number;
  how?: Partial<PieceOptions["how"]> | undefined;
}

export function gatherPieces(
  state: WakeState,
  { template, workflow, budgetChars, how: given }: GatherOptions,
): PacketPieces {
  const { task, agent, skills, handoffs, wip } = state;
  const sentences = template.placeholders.has("next_action") ? nextAction(state, workflow) : [];
  const said = new Said();
  said.add(...sentences);
  // The position says all of a task that stands alone.
  const hasTree = template.placeholders.has("tasks") && state.tree.length > 1;
  const step = task?.steps.find(({ done }) => !done)?.text;
  const isLeftSaid = state.leftBy !== undefined && sentences.length > 0;
  const isStepSaid = step !== undefined && said.has(cutLine(step, 200));
  const position = positionOf(state, { hasTree, isStepSaid, isLeftSaid });
  said.add(position, state.newMessage?.text.slice(0, 1_000));
  const query = [
    ...sentences,
    position,
    ...redTexts(state),
    task?.title,
    task?.description?.slice(0, 2_000),
    task?.acceptanceCriteria?.slice(0, 2_000),
  ].join("\n");
  const how: PieceOptions["how"] = {
    task: task ? `haversack task show ${task.id} --fields full` : "haversack task list",
    wip: task
      ? `haversack wip show ${task.id}`
      : `haversack wip show${agent.sessionId ? ` --session ${agent.sessionId}` : ""}`,
    handoffs: task ? `haversack handoff show ${task.id}` : "haversack handoff list",
    tree: "haversack tree",
    messages: `haversack inbox ${cutLine(agent.name, 60)}`,
    activity: "haversack activity",
    ...given,
  };
  const options: PieceOptions = {
    budgetChars,
    said,
    position,
    about: stemsOf(query),
    hasTree,
    hasTask: template.placeholders.has("task"),
    isLeftSaid,
    how,
  };
  const gone = skills.filter(({ body, isCarried }) => body === undefined && !isCarried);
  const missing = [
    ...gone.map(({ id, because }) => `skill ${id} (${because}) is not installed`),
    ...state.missing.filter((line) => !gone.some(({ id }) => line.includes(id))),
    // Which ones there are helps whoever writes it, not the agent.
    ...template.problems.map((problem) => problem.replace(/; known are .*/, "")),
  ];
  const head = new Pieces([]);
  head.add(0.5, SOURCE, `${FROM}${REASONS[state.reason] ?? "as asked"}; times are UTC.`, {
    name: "From Haversack.",
  });
  const next = new Pieces(["next_action"], {
    what: "next action",
    label: YIELDS.has(state.reason) ? YIELD : undefined,
  });
  for (const [index, sentence] of sentences.entries()) {
    const number = sentences.length > 1 ? `${index + 1}. ` : "";
    next.add(2 + index / 10, `next ${index}`, number + sentence, { short: number + cutLine(sentence, 140) });
  }
  const messages = messagePieces(state, options);
  const beyond: Beyond[] = [
    {
      what: UNREAD,
      count: (state.unreadCount ?? unreadOf(state).length) - messages.filter(({ what }) => what === UNREAD).length,
      how: how.messages,
    },
    { what: "handoff", count: handoffs.length - MOST_HANDOFFS, how: how.handoffs },
    {
      what: "decision",
      count: (Array.isArray(wip?.decisions) ? wip.decisions.length : 0) - MOST_DECISIONS,
      how: how.wip,
    },
  ];
  return {
    pieces: eachOnce([
      ...head.list,
      ...identityPieces(state),
      ...next.list,
      ...missingPieces(missing),
      ...skillLines(skills),
      ...taskPieces(state, options),
      ...wipPieces(state, options),
      ...handoffPieces(state, options),
      ...messages,
      ...planPieces(state, options),
      ...ownTexts(template, budgetChars),
    ]),
    bodies: (room) => skillBodies(skills, { query, ...room }),
    beyond: beyond.filter(({ count }) => count > 0),
  };
}

/** What is red is what is being done, though nobody orders it: of a skill the sections count that have these words. */
function redTexts({ wip }: WakeState): string[] {
  const failing = textOf(objectOf(wip?.test_results)["failing_test"]);
  const error = textOf(objectOf(listOf(wip?.errors).at(-1))["message"]);
  return [
    ...(failing ? [`Fix the failing test first: ${failing.slice(0, 300)}`] : []),
    ...(error ? [`Newest error: ${error.slice(0, 300)}`] : []),
  ];
}

/** Of pieces that say the same the most important one: the others would be left out later than it. */
function eachOnce(pieces: readonly Piece[]): Piece[] {
  const said = new Said();
  const doubles = new Set<Piece>();
  for (const piece of pieces.filter(({ says }) => says).sort((a, b) => a.rank - b.rank)) {
    const words = cutLine(piece.says ?? "", 300);
    // A message is somebody's: it is read when it was shown.
    if (!piece.message && said.has(words)) doubles.add(piece);
    else said.add(piece.says);
  }
  return pieces.filter((piece) => !doubles.has(piece));
}

/** A packet that nobody's prompt asked for must not compete with the next prompt. */
const YIELDS: ReadonlySet<WakeState["reason"]> = new Set(["startup", "resume", "clear", "compact", "asked"]);
const YIELD = "Unless you are asked for something else:";

const REASONS: Readonly<Record<WakeState["reason"], string>> = {
  startup: "at the start of this session",
  resume: "as this session resumes",
  clear: "after the window was cleared",
  compact: "after a compaction",
  "agent-start": "for a sub-agent",
  message: BY_MESSAGE,
  asked: "as asked",
};

// What a packet leaves out: as a list, and as its last line. Loaded by the hook.

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
