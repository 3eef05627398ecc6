/** All that a packet could say, as ranked pieces, and what there is too much of. */

import { BY_MESSAGE, FROM } from "../skills/showing/session.ts";
import { bestSections, coreSection, rankSections } from "../skills/showing/skill-sections.ts";
import { type Beyond, ownTexts, SOURCE } from "./frame.ts";
import { nextAction } from "./next-action.ts";
import { type Piece, type PieceOptions, Pieces } from "./piece.ts";
import type { WakeSkill, WakeState } from "./state.ts";
import { identityPieces, messagePieces, missingPieces, planPieces, UNREAD, unreadOf } from "./talk-pieces.ts";
import { handoffPieces, MOST_DECISIONS, MOST_HANDOFFS, taskPieces, wipPieces } from "./task-pieces.ts";
import { positionOf } from "./task-tree.ts";
import type { Template } from "./templates.ts";
import { cutLine, cutText, deepen, listOf, objectOf, Said, stemsOf, textOf } from "./text.ts";
import type { Workflow } from "./workflow.ts";

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

// The skills in use: a line that names each, and of their text what fits, the sections about the task first.

/** The line costs little and says what must be known. */
export function skillLines(skills: readonly WakeSkill[]): Piece[] {
  const pieces = new Pieces(["skill"]);
  for (const [index, { id, because, as, body, hasChanged, isCarried }] of skills.entries()) {
    if (body === undefined && !isCarried) continue;
    const use = `${as === "main" ? "You are using" : "Also in force:"} \`${cutLine(id, 100)}\``;
    const changed = hasChanged ? " This is the version you began with; its file has changed since." : "";
    const carried = isCarried ? " Its text is in your window." : "";
    pieces.add(6 + index / 100, `skill line ${id}`, `${use} (${cutLine(because, 120)}).${changed}${carried}`, {
      what: `skill ${cutLine(id, 100)}`,
      short: `${use}.`,
      order: index * 2,
    });
  }
  return pieces.list;
}

export interface BodyOptions {
  /** What is being done: sections are ranked by it. */
  query: string;
  /** What there is for all of them when not everything fits. */
  roomChars: number;
  /** A text that is longer cannot fit whole. */
  wholeChars: number;
}

/** A core is what half a page holds. One that its author marked may be longer, and is cut at its end. */
const CORE_CHARS = 900;
const MOST_CORE_CHARS = 1_500;
/** Of longer ones the rest is not read. 200,000 characters in 50 sections are ranked in 2 to 3 ms, in 2,000 sections in 10. */
const MOST_BODY_CHARS = 256_000;
/** Less room than this gives half a sentence: then the brief says more. */
const LEAST_CHARS = 300;

export function skillBodies(skills: readonly WakeSkill[], { query, roomChars, wholeChars }: BodyOptions): Piece[] {
  const pieces = new Pieces(["skill"], { group: "skill" });
  const weightOf = ({ as }: WakeSkill): number => (as === "main" ? 4 : 1);
  const shown = skills.filter(({ body, isCarried }) => body?.trim() && !isCarried);
  const weights = shown.reduce((sum, skill) => sum + weightOf(skill), 0);
  for (const skill of shown) {
    const { id, as, brief, activation } = skill;
    const body = skill.body?.trim() ?? "";
    const load = cutLine(activation, 300);
    const isMain = as === "main";
    const room = (roomChars * weightOf(skill)) / weights - load.length - 40;
    const inShort = brief ? `In short: ${cutLine(brief, 200)} All of it: ${load}` : "";
    const beginning = cutText(body, MOST_BODY_CHARS);
    const core = isMain ? undefined : coreSection(beginning);
    const maxChars = Math.floor(isMain ? room : Math.min(room, core ? MOST_CORE_CHARS : CORE_CHARS));
    const isWhole = body.length <= (isMain ? wholeChars : CORE_CHARS);
    let ranked: ReturnType<typeof rankSections> | undefined;
    // Two sizes: the first can miss its room by a few characters, and the brief alone would be a pity. There are three forms in
    // all: beside the whole text there is one.
    const [large, small] = [0.96, 0.6].map((share) => {
      const isNeeded = !isWhole || (share > 0.9 && body.length > maxChars * share);
      if (!isNeeded || maxChars * share < LEAST_CHARS) return "";
      if (core) return `\nIts core (all of it: ${load}):\n\n${deepen(cutText(core, Math.floor(maxChars * share)))}\n`;
      ranked ??= rankSections(beginning, query);
      const text = bestSections(ranked, beginning, Math.floor(maxChars * share));
      return `\nIts most relevant parts (all of it: ${load}):\n\n${deepen(text)}\n`;
    });
    const forms = [isWhole && `\n${deepen(beginning)}\n`, large, small, inShort].filter((form): form is string =>
      Boolean(form),
    );
    const index = skills.indexOf(skill);
    pieces.add((isMain ? 30 : 37) + index / 100, `skill:${id}`, forms[0] ?? "", {
      short: forms[1],
      name: forms[2],
      what: `skill ${cutLine(id, 100)}`,
      skill: isWhole ? { id, whole: "full" } : { id },
      order: index * 2 + 1,
      how: load,
    });
  }
  return pieces.list;
}
