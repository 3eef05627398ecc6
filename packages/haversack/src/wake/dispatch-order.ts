/**
 * Who is sent to a task next, in the order of the workflow's roles: each starts when the one before it has passed. Of one task, and
 * of all that is under way in several stories.
 */
import type { Verdict } from "../work/handoff.ts";
import { isSettled } from "../work/task.ts";
import type { TreeTask, WakeHandoff, WakeState, WakeStory } from "./state.ts";
import { cutLine, hasPhrase } from "./text.ts";
import type { Workflow, WorkflowRole } from "./workflow.ts";

/** waits: somebody is at it. acts: something is to be sent, marked or reported. passed: every role has passed. */
export interface Dispatch {
  kind: "waits" | "acts" | "passed";
  says: string[];
}

export interface DispatchOptions {
  tree: readonly TreeTask[];
  handoffs: readonly WakeHandoff[];
  agent: { name: string };
  /** The task in hand. */
  task?: { id: string } | undefined;
  /** It was left, and is in the queue again. */
  leftBy?: WakeState["leftBy"];
  /** Whoever asks works on the task itself. Default: false. */
  isOwn?: boolean;
  workflow: Workflow;
}

/** `subject`: the task itself, not its review. */
export function reviewOf(subject: TreeTask, options: DispatchOptions): Dispatch {
  const { handoffs, isOwn = false, workflow } = options;
  const { roles, fixer } = workflow;
  const said: string[] = [];
  let passed: Standing | undefined;
  for (const { role, words } of roles) {
    const standing = standingOf(subject, { ...options, role, words });
    const { verdict, part, attempt, summary, at } = standing;
    if (verdict === "PASS") {
      passed = standing;
      continue;
    }
    if (passed?.part && !isSettled(passed.part.status)) said.push(`Mark ${label(passed.part)} done: it passed.`);
    if (verdict === "BLOCKED") {
      said.push(`${role} is blocked on ${subject.id}: ${summary}. Resolve it, else report it and take the next task.`);
    } else if (verdict === "FAIL") {
      const fixes = handoffs.filter((handoff) => handoff.taskId === subject.id && handoff.role === fixer.role);
      const mended = fixes.some(({ status, at: mendedAt }) => status === "PASS" && mendedAt > at);
      if (mended) said.push(`Dispatch ${role} for ${subject.id} again (attempt ${attempt + 1}): the fixer is done.`);
      else if (fixes.length >= fixer.mostAttempts)
        said.push(`Block ${subject.id} and report it: ${fixes.length} attempts did not mend what ${role} found.`);
      else
        said.push(
          `Dispatch ${fixer.role} for ${subject.id}, attempt ${fixes.length + 1} of ${fixer.mostAttempts}. ${role} found: ${summary}`,
        );
    } else if (part?.status === "in_progress" || part?.status === "review") {
      said.push(`Check whether ${part.agent ? `@${name(part.agent)}` : role} has finished ${label(part)}.`);
      return { kind: said.length > 1 ? "acts" : "waits", says: said };
    } else if (role === roles[0]?.role && isBegun(subject, options) && (isOwn || isOthers(subject, options))) {
      if (!isOwn) said.push(`Check whether @${name(subject.agent ?? "")} has finished ${label(subject)}.`);
      return { kind: "waits", says: said };
    } else said.push(`Dispatch ${role} for ${label(subject)}.`);
    return { kind: "acts", says: said };
  }
  return { kind: "passed", says: [`Mark ${subject.id} done: every review passed.`] };
}

/** So many tasks to wait for are named. */
const MOST_NAMED = 3;

/** Over all stories under way: what to do first, then who can be sent, then whom to wait for. */
export function nextDispatches(state: WakeState, workflow: Workflow): string[] {
  const { stories = [], handoffs, agent } = state;
  const acts: string[] = [];
  const waits: string[] = [];
  const ready: TreeTask[] = [];
  for (const story of stories) {
    const options = { tree: story.tree, handoffs, agent, workflow };
    for (const subject of subjectsOf(story, workflow.roles)) {
      if (subject.status === "blocked") continue;
      const { kind, says } = reviewOf(subject, options);
      (kind === "waits" ? waits : acts).push(...says);
    }
    ready.push(...story.ready.filter((task) => !roleOfPart(task, workflow.roles) && !isUnderWay(task, story)));
  }
  const first = workflow.roles[0]?.role ?? "implementer";
  const named = ready.slice(0, MOST_NAMED).map(label).join(", ");
  const more = ready.length > MOST_NAMED ? `; \`haversack next\` has more` : "";
  return [...acts, ...(named ? [`Dispatch ${first} for what is ready: ${named}${more}.`] : []), ...waits];
}

/** Tasks that somebody has begun, themselves or by one of their parts. */
function subjectsOf(story: WakeStory, roles: readonly WorkflowRole[]): TreeTask[] {
  return story.tree.filter(
    (task) => !isSettled(task.status) && !isPartOf(task, story.tree, roles) && isUnderWay(task, story),
  );
}

function isUnderWay({ id, status }: TreeTask, { tree }: Pick<WakeStory, "tree">): boolean {
  return status !== "todo" || tree.some((part) => part.parentId === id && part.status !== "todo");
}

function isPartOf(task: TreeTask, tree: readonly TreeTask[], roles: readonly WorkflowRole[]): boolean {
  return roleOfPart(task, roles) !== undefined && tree.some(({ id }) => id === task.parentId);
}

/** The role whose work a sub-task is. */
export function roleOfPart({ title, parentId }: TreeTask, roles: readonly WorkflowRole[]): WorkflowRole | undefined {
  return parentId === undefined
    ? undefined
    : roles.find(({ words }) => words.some((phrase) => hasPhrase(title, phrase)));
}

/** The first whose turn it is: a review is not, before the roles before it have passed. */
export function firstInTurn(
  candidates: readonly TreeTask[],
  { tree, handoffs, workflow: { roles } }: Pick<DispatchOptions, "tree" | "handoffs" | "workflow">,
): TreeTask | undefined {
  return candidates.find((task) => {
    const own = roleOfPart(task, roles);
    const subject = tree.find(({ id }) => id === task.parentId);
    if (!own || !subject) return true;
    const before = roles.slice(0, roles.indexOf(own));
    return before.every((role) => standingOf(subject, { ...role, tree, handoffs }).verdict === "PASS");
  });
}

/** One whose claim has ended is in the queue again, and begun all the same. */
function isBegun({ status, id }: TreeTask, { task, leftBy }: DispatchOptions): boolean {
  return status === "in_progress" || (leftBy !== undefined && id === task?.id);
}

function isOthers({ agent: holder }: TreeTask, { agent, leftBy }: DispatchOptions): boolean {
  return holder !== undefined && holder !== agent.name && !leftBy;
}

/** A review is a part of the task above it. */
export function subjectOf(task: TreeTask, tree: readonly TreeTask[], roles: readonly WorkflowRole[]): TreeTask {
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
  { role, words, tree, handoffs }: Pick<DispatchOptions, "tree" | "handoffs"> & Pick<WorkflowRole, "role" | "words">,
): Standing {
  const part = tree.find(
    ({ parentId, title }) => parentId === subject.id && words.some((each) => hasPhrase(title, each)),
  );
  const own = handoffs.filter((handoff) => handoff.role === role && [subject.id, part?.id].includes(handoff.taskId));
  const latest = own.reduce<WakeHandoff | undefined>(
    (best, each) => (best && best.at >= each.at ? best : each),
    undefined,
  );
  const byStatus = part ? isSettled(part.status) : role === "implementer" && subject.status === "review";
  return {
    verdict: latest?.status ?? part?.lastVerdict ?? (byStatus ? "PASS" : undefined),
    part,
    attempt: latest?.attempt ?? 1,
    summary: cutLine(latest?.summary ?? "no summary", 300),
    at: latest?.at ?? new Date(0),
  };
}

function label({ id, title }: { id: string; title: string }): string {
  return `${id} "${cutLine(title, 100)}"`;
}

function name(agent: string): string {
  return cutLine(agent, 60);
}
