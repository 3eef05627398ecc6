/**
 * What to do next, in a few sentences, looked up from statuses and verdicts: a table of rows, read from the top. Each row says
 * nothing, one sentence or several. Loaded by the hook.
 */
import type { Verdict } from "../work/handoff.ts";
import { isSettled } from "../work/task.ts";
import { cutLine, listOf, objectOf, textOf } from "./cut-text.ts";
import { hasWork } from "./has-work.ts";
import { hasPhrase } from "./phrase.ts";
import { Said } from "./said.ts";
import type { TreeTask, WakeState, WakeTask } from "./state.ts";
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
    reason === "message" && newMessage ? [`Deal with the new message from @${name(newMessage.from)} first.`] : [],
  ({ state: { leftBy }, task }) =>
    leftBy && task
      ? [
          `Claim ${label(task)} first, with update_task_status in_progress: it was @${name(leftBy.agent)}'s, whose ${LEFT_BECAUSE[leftBy.because]}.`,
        ]
      : [],
  blocked,
  failingTest,
  newestError,
  review,
  found,
  ({ task, role }) => (task && role?.does ? [role.does] : []),
  goOn,
  commit,
  ({ state: { messages } }) => {
    const callers = [...new Set(messages.flatMap(({ isMention, from }) => (isMention ? `@${name(from)}` : [])))];
    return callers.length > 0 ? [`Deal with the unread mentions of ${and(callers.slice(0, 5))}.`] : [];
  },
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
    role:
      workflow.roles.find(({ role }) => role === agent.role) ??
      // A project's own reviewer is none who builds.
      (agent.role.endsWith("reviewer") ? workflow.roles.findLast(({ does }) => does) : undefined),
    isPassed: last?.status === "PASS" && wipUpdatedAt !== undefined && last.at > wipUpdatedAt,
    said: new Said(),
  };
}

function blocked({ task }: Pick<Facts, "task">): string[] {
  if (!task) return [];
  const instead = "report it, or take the next task (`haversack next`)";
  const reason = task.blockers.at(-1);
  if (reason !== undefined) return [`${task.id} is blocked: ${short(reason)}. Resolve it, else ${instead}.`];
  if (task.status === "blocked") return [`${task.id} is blocked: ${instead}.`];
  const [open] = task.waitsFor;
  return open ? [`${task.id} waits for ${label(open)} (${open.status}): ${instead}.`] : [];
}

/** What is red is the builder's to mend; a reviewer has it among the work in progress. */
function failingTest({ state: { wip }, isPassed, role }: Facts): string[] {
  if (isPassed || role?.does) return [];
  const tests = objectOf(wip?.test_results);
  const failing = textOf(tests["failing_test"]);
  const failed = tests["failed"];
  if (!failing && !(typeof failed === "number" && failed > 0)) return [];
  const command = textOf(tests["command"]);
  return [
    `Fix ${failing ? `the failing test first: ${short(failing)}` : `the ${failed} failing tests first`}${command ? ` (run: ${short(command)})` : ""}`,
  ];
}

function newestError({ state: { wip }, isPassed, role, said }: Facts): string[] {
  if (isPassed || role?.does) return [];
  const error = objectOf(listOf(wip?.errors).at(-1));
  const message = textOf(error["message"]);
  const file = textOf(error["file"]);
  if (!message) return [];
  // Often it is the failing test's own.
  if (said.has(short(message))) return file && !said.has(file) ? [`The error is in ${short(file)}`] : [];
  return [`Newest error: ${[file, short(message)].filter(Boolean).join(": ")}`];
}

/** The orchestrator: who is sent next, from the verdicts of those before. */
function review({ state, task, isOrchestrator, isOwn, isHeld, workflow: { roles, fixer } }: Facts): string[] {
  if (!isOrchestrator || !task || isHeld) return [];
  const subject = subjectOf(task, state.tree, roles);
  const said: string[] = [];
  let passed: Standing | undefined;
  for (const { role, words } of roles) {
    const standing = standingOf(subject, { role, words, state });
    const { verdict, part, attempt, summary, at } = standing;
    if (verdict === "PASS") {
      passed = standing;
      continue;
    }
    if (passed?.part && !isSettled(passed.part.status)) said.push(`Mark ${label(passed.part)} done: it passed.`);
    if (verdict === "BLOCKED") {
      said.push(`${role} is blocked on ${subject.id}: ${summary}. Resolve it, else report it and take the next task.`);
    } else if (verdict === "FAIL") {
      const fixes = state.handoffs.filter((handoff) => handoff.taskId === subject.id && handoff.role === fixer.role);
      const mended = fixes.some(({ status, at: mendedAt }) => status === "PASS" && mendedAt > at);
      if (mended) said.push(`Dispatch ${role} for ${subject.id} again (attempt ${attempt + 1}): the fixer is done.`);
      else if (fixes.length >= fixer.mostAttempts)
        said.push(`Block ${subject.id} and report it: ${fixes.length} attempts did not mend what ${role} found.`);
      else
        said.push(
          `Dispatch ${fixer.role} for ${subject.id}, attempt ${fixes.length + 1} of ${fixer.mostAttempts}. ${role} found: ${summary}`,
        );
    } else if (part?.status === "in_progress" || part?.status === "review") {
      said.push(`Check whether ${role} has finished ${label(part)}.`);
    } else if (role === roles[0]?.role && isBegun(subject, state) && (isOwn || isOthers(subject, state))) {
      if (!isOwn) said.push(`Check whether @${name(subject.agent ?? "")} has finished ${label(subject)}.`);
    } else said.push(`Dispatch ${role} for ${label(subject)}.`);
    return said;
  }
  const next = state.tree.find(
    ({ status, id, parentId }) => status === "todo" && id !== subject.id && parentId !== subject.id,
  );
  return [`Mark ${subject.id} done: every review passed.`, ...(next ? [`Then go on with ${label(next)}.`] : [])];
}

/** One whose claim has ended is in the queue again, and begun all the same. */
function isBegun({ status, id }: TreeTask, { task, leftBy }: WakeState): boolean {
  return status === "in_progress" || (leftBy !== undefined && id === task?.id);
}

function isOthers({ agent: holder }: TreeTask, { agent, leftBy }: WakeState): boolean {
  return holder !== undefined && holder !== agent.name && !leftBy;
}

/** A review is a part of the task above it. */
function subjectOf(task: WakeTask, tree: readonly TreeTask[], roles: readonly WorkflowRole[]): TreeTask {
  const isPart = roles.some(({ words }) => words.some((phrase) => hasPhrase(task.title, phrase)));
  return (isPart && tree.find(({ id }) => id === task.parentId)) || task;
}

interface Standing {
  verdict: Verdict | undefined;
  part: TreeTask | undefined;
  attempt: number;
  summary: string;
  at: Date;
}

function standingOf(
  subject: TreeTask,
  { role, words, state: { tree, handoffs } }: { role: string; words: readonly string[]; state: WakeState },
): Standing {
  const part = tree.find(
    ({ parentId, title }) => parentId === subject.id && words.some((each) => hasPhrase(title, each)),
  );
  const own = handoffs.filter((handoff) => handoff.role === role && [subject.id, part?.id].includes(handoff.taskId));
  const latest = newest(own);
  const byStatus = part ? isSettled(part.status) : role === "implementer" && subject.status === "review";
  return {
    verdict: latest?.status ?? part?.lastVerdict ?? (byStatus ? "PASS" : undefined),
    part,
    attempt: latest?.attempt ?? 1,
    summary: short(latest?.summary ?? "no summary"),
    at: latest?.at ?? new Date(0),
  };
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
  if (role?.does || facts.isHeld) return [];
  const next = facts.isPassed ? "" : textOf(state.wip?.next_step);
  if (next) return facts.said.has(short(next)) ? [] : [`Go on with: ${short(next)}`];
  if (!task || (isOrchestrator && (!isOwn || review(facts).length > 0))) return [];
  const at = task.steps.findIndex(({ done }) => !done);
  if (at !== -1) return [`Step ${at + 1} of ${task.steps.length}: ${short(task.steps[at]!.text)}`];
  if (task.steps.length > 0) return [`All steps are done: check ${task.id} against its criteria and hand it off.`];
  if (!state.wip) return [`Start ${task.id}: nothing is recorded as done yet.`];
  const isSaid = !hasWork(state.wip) || failingTest(facts).length + listOf(state.wip.errors).length > 0;
  return isSaid ? [] : [`Go on with ${label(task)} from its work in progress.`];
}

function commit({ state: { wip }, role }: Facts): string[] {
  if (role?.does) return [];
  const files = listOf(wip?.uncommitted_files).flatMap((file) => textOf(file) || []);
  if (files.length === 0)
    return wip?.uncommitted_changes === true ? ["Commit what is not committed once it is green."] : [];
  const more = files.length > 6 ? ` and ${files.length - 6} more` : "";
  return [
    `Commit once it is green: ${files
      .slice(-6)
      .map((file) => cutLine(file, 120))
      .join(", ")}${more}`,
  ];
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
  const choices = last.choices ? `; ask which: ${or(last.choices)}` : "";
  return [`Story ${story.id} is complete. ${last.title} with ${last.skill}${choices}.`];
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

function and(words: readonly string[]): string {
  return words.join(", ");
}

function or(words: readonly string[]): string {
  return words.join(" | ");
}
