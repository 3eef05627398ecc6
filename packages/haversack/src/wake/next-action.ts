/**
 * What comes next, in a few sentences, looked up from statuses and verdicts: a table of rows, read from the top. Each row says
 * nothing, one sentence or several. They continue what was going on: what nobody asked for (fixing a test, a commit) is a fact
 * of the work in progress and no sentence here. Loaded by the hook.
 */
import { isSettled } from "../work/task.ts";
import { cutLine, textOf } from "./cut-text.ts";
import { type Dispatch, nextDispatches, reviewOf, roleOfPart, subjectOf } from "./dispatch-order.ts";
import { speakerOf } from "./message.ts";
import { Said } from "./piece.ts";
import type { WakeState, WakeTask } from "./state.ts";
import { hasWork } from "./state.ts";
import { bareName } from "./which-skill.ts";
import type { Workflow, WorkflowRole } from "./workflow.ts";

/** More than this is a plan, not a next action. */
const MOST_SENTENCES = 6;
const MOST_CHARS = 300;

export function nextAction(state: WakeState, workflow: Workflow): string[] {
  const facts = factsOf(state, workflow);
  const sentences: string[] = [];
  for (const row of TABLE) {
    for (const sentence of row(facts)) {
      if (sentences.length < MOST_SENTENCES) sentences.push(sentence);
      facts.said.add(sentence);
    }
  }
  return sentences;
}

interface Facts {
  state: WakeState;
  workflow: Workflow;
  /** The one in hand, unless it is over. */
  task: WakeTask | undefined;
  isOrchestrator: boolean;
  /** It works on the task itself: it holds it, has begun, and coordinates nobody. */
  isOwn: boolean;
  role: WorkflowRole | undefined;
  /** Told above why it cannot go on: nothing below says that it should. */
  isHeld: boolean;
  /** Its work was handed off as passed after the last of its work in progress: what was red then is not any more. */
  isPassed: boolean;
  /** By the rows above. */
  said: Said;
}
type Row = (facts: Facts) => string[];

const LEFT_BECAUSE: Readonly<Record<NonNullable<WakeState["leftBy"]>["because"], string>> = {
  gone: "client is gone",
  ended: "session has ended",
  expired: "claim has expired",
};

const TABLE: readonly Row[] = [
  ({ state: { reason, newMessage } }) =>
    reason === "message" && newMessage
      ? [`Deal with the new message from ${speakerOf({ ...newMessage, from: name(newMessage.from) })} first.`]
      : [],
  ({ state: { leftBy }, task }) =>
    leftBy && task
      ? [
          `To go on with ${label(task)}, claim it with update_task_status in_progress: it was @${name(leftBy.agent)}'s, whose ${LEFT_BECAUSE[leftBy.because]}.`,
        ]
      : [],
  blocked,
  review,
  ({ state, workflow }) => nextDispatches(state, workflow),
  found,
  ({ task, role }) => (task && role?.does ? [role.does] : []),
  goOn,
  ({ state: { commitsSteps }, task, role, isOrchestrator }) =>
    commitsSteps && task && !role?.does && !isOrchestrator ? ["Commit after each step."] : [],
  step,
  storyDone,
  nothingInHand,
];

function factsOf(state: WakeState, workflow: Workflow): Facts {
  const { task, agent, wip, wipUpdatedAt, handoffs, leftBy, isCoordinating } = state;
  const last = newest(handoffs.filter(({ taskId }) => taskId === task?.id));
  const inHand = task && !isSettled(task.status) ? task : undefined;
  return {
    state,
    workflow,
    task: inHand,
    isHeld: blocked({ task: inHand }).length > 0,
    isOrchestrator: agent.role === "orchestrator",
    isOwn: !isCoordinating && hasWork(wip) && (leftBy !== undefined || task?.agent === agent.name),
    role: roleAt(inHand, agent.role, workflow),
    isPassed: last?.status === "PASS" && wipUpdatedAt !== undefined && last.at > wipUpdatedAt,
    said: new Said(),
  };
}

/**
 * What a reviewer is told to do follows from the sub-task: a project's own `reviewer` on "Spec review" reviews the spec. Where the task
 * names no kind of review, the role says it; a project's own reviewer then has the last one.
 */
function roleAt(task: WakeTask | undefined, own: string, { roles }: Workflow): WorkflowRole | undefined {
  const known = roles.find(({ role }) => role === own);
  if (!own.endsWith("reviewer")) return known;
  const named = task && roleOfPart(known ? task : { ...task, parentId: "" }, roles);
  return named?.does ? named : (known ?? roles.findLast(({ does }) => does));
}

function blocked({ task }: Pick<Facts, "task">): string[] {
  if (!task) return [];
  const instead = "Other tasks: `haversack next`.";
  const reason = task.blockers.at(-1);
  if (reason !== undefined) return [`${task.id} is blocked: ${short(reason)}. ${instead}`];
  if (task.status === "blocked") return [`${task.id} is blocked. ${instead}`];
  const [open] = task.waitsFor;
  return open ? [`${task.id} waits for ${label(open)} (${open.status}). ${instead}`] : [];
}

/** The orchestrator: who is sent next, from the verdicts of those before. */
function review({ state, task, isOrchestrator, isOwn, isHeld, workflow }: Facts): string[] {
  if (!isOrchestrator || !task || isHeld) return [];
  const subject = subjectOf(task, state.tree, workflow.roles);
  const next: Dispatch = reviewOf(subject, { ...state, isOwn, workflow });
  if (next.kind !== "passed") return next.says;
  const after = state.tree.find(
    ({ status, id, parentId }) => status === "todo" && id !== subject.id && parentId !== subject.id,
  );
  return [...next.says, ...(after ? [`Then go on with ${label(after)}.`] : [])];
}

/** Who builds or mends: what the last review of the task found, unless it was mended since. */
function found({ state: { handoffs, agent }, task, isOrchestrator, role, said }: Facts): string[] {
  if (!task || isOrchestrator || role?.does) return [];
  const latest = newest(handoffs.filter(({ taskId }) => taskId === task.id));
  if (latest?.status !== "FAIL" || latest.role === agent.role || said.has(short(latest.summary))) return [];
  return [`${latest.role} found (attempt ${latest.attempt}): ${short(latest.summary)}`];
}

function goOn(facts: Facts): string[] {
  const { state, task, role, isOrchestrator, isOwn } = facts;
  if (role?.does || facts.isHeld || !task) return [];
  const next = facts.isPassed ? "" : textOf(state.wip?.next_step);
  if (next) return facts.said.has(short(next)) ? [] : [`Go on with: ${short(next)}`];
  if (isOrchestrator && (!isOwn || review(facts).length > 0)) return [];
  const at = task.steps.findIndex(({ done }) => !done);
  if (at !== -1) return [`Step ${at + 1} of ${task.steps.length}: ${short(task.steps[at]!.text)}`];
  if (task.steps.length > 0) return [`All steps are done: check ${task.id} against its criteria and hand it off.`];
  // How to go on with a task that was left is told above.
  if (state.leftBy) return [];
  if (!state.wip) return [`Start ${task.id}: nothing is recorded as done yet.`];
  return hasWork(state.wip) ? [`Go on with ${label(task)} from its work in progress.`] : [];
}

/** Where the skill in use stands in the workflow, and what follows. Tasks that roles work on have their own rows. */
function step({ state: { skills, agent }, task, workflow, isHeld }: Facts): string[] {
  if (isHeld) return [];
  const main = skills.find(({ as }) => as === "main");
  const current = main && workflow.steps.find(({ skill }) => skill === bareName(main.id));
  if (!task || !current || current.isPerTask || workflow.roles.some(({ role }) => role === agent.role)) return [];
  const next = workflow.steps.filter(({ id }) => current.next?.includes(id)).map(({ skill }) => skill);
  const choices = current.choices ? [`ask which: ${or(current.choices)}`] : [];
  const then = [
    ...(current.output ? [`save it to ${current.output}`] : []),
    ...(current.batch ? [`report after every ${current.batch} tasks`] : []),
    ...choices,
    ...(next.length > 0 ? [`then ${or(next)}`] : []),
  ];
  return [`${current.title}${then.length > 0 ? `; ${then.join("; ")}` : ""}.`];
}

function storyDone({ state: { story }, task, workflow }: Facts): string[] {
  if (task || !story || story.total === 0 || story.done < story.total) return [];
  const last = workflow.steps.find(({ next }) => !next);
  if (!last) return [];
  const choices = last.choices ? ` (${or(last.choices)})` : "";
  return [`Story ${story.id} is complete. The workflow's last step is ${last.skill}${choices}.`];
}

function nothingInHand({ state: { task: held, suggested, readyCount, agent }, task }: Facts): string[] {
  if (task || !suggested) return [];
  const over = held ? `${held.id} is ${held.status}. ` : "";
  const others = readyCount && readyCount > 1 ? ` (${readyCount} are ready)` : "";
  return [
    `${over}Next could be ${label(suggested)}${others}: \`haversack claim ${suggested.id} --agent ${name(agent.name)}\``,
  ];
}

function newest<T extends { at: Date }>(entries: readonly T[]): T | undefined {
  return entries.reduce<T | undefined>((best, entry) => (best && best.at >= entry.at ? best : entry), undefined);
}

function label({ id, title }: { id: string; title: string }): string {
  return `${id} "${cutLine(title, 100)}"`;
}

function short(text: string): string {
  return cutLine(text, MOST_CHARS);
}

function name(agent: string): string {
  return cutLine(agent, 60);
}

function or(words: readonly string[]): string {
  return words.join(" | ");
}
