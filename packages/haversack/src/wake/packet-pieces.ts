/** All that a packet could say, as ranked pieces, and what there is too much of. Loaded by the hook. */
import { cutLine, listOf, objectOf, textOf } from "./cut-text.ts";
import { ownTexts, SOURCE } from "./frame.ts";
import type { Beyond } from "./left-out.ts";
import { nextAction } from "./next-action.ts";
import { BY_MESSAGE, FROM } from "./packet-sign.ts";
import { stemsOf } from "./phrase.ts";
import { type Piece, type PieceOptions, Pieces } from "./piece.ts";
import { Said } from "./said.ts";
import { type BodyOptions, skillBodies, skillLines } from "./skill-pieces.ts";
import type { WakeState } from "./state.ts";
import { identityPieces, messagePieces, missingPieces, planPieces, UNREAD, unreadOf } from "./talk-pieces.ts";
import { handoffPieces, MOST_HANDOFFS, taskPieces } from "./task-pieces.ts";
import { positionOf } from "./task-tree.ts";
import type { Template } from "./templates.ts";
import { MOST_DECISIONS, wipPieces } from "./wip-pieces.ts";
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
