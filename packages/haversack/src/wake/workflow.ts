import type { Verdict } from "../work/handoff.ts";
import { isSettled } from "../work/task.ts";
import { hasWork, type TreeTask, type WakeHandoff, type WakeState, type WakeStory, type WakeTask } from "./state.ts";
import { cutLine, hasPhrase, Said, speakerOf, textOf } from "./text.ts";
import { bareName } from "./which-skill.ts";

/**
 * A workflow: plain data on how work goes from an idea to a merged branch, and who does what for each task. There is no engine:
 * `nextAction` below looks up what comes next from statuses and verdicts.
 */
interface Workflow {
  id: string;
  title: string;
  /** In their usual order. */
  steps: readonly WorkflowStep[];
  /** What happens to one task, in this order: each role starts after the previous one has passed. */
  roles: readonly WorkflowRole[];
  /** Who fixes what a review found, and how often before the task is blocked. */
  fixer: { role: string; mostAttempts: number };
}

interface WorkflowStep {
  id: string;
  title: string;
  skill: string;
  /** Where its result is saved: a path with placeholders in angle brackets. */
  output?: string;
  /** IDs of the possible next steps; more than one is a choice. Absent: it is the last step. */
  next?: readonly string[];
  /** The choices a person is offered at its end. */
  choices?: readonly string[];
  /** How many tasks are done between two reports. */
  batch?: number;
  /** The roles work on it, task by task. */
  isPerTask?: boolean;
}

export interface WorkflowRole {
  role: string;
  /** Phrases that identify a sub-task for this role. */
  words: readonly string[];
  /** The instruction it gets. Absent: the task's own steps say it. */
  does?: string;
}

// The shipped workflow, from an idea to a merged branch. Its skills are examples; a project may have its own skills of the same names.

export const DEVELOPMENT: Workflow = {
  id: "development",
  title: "From an idea to a merged branch",
  steps: [
    {
      id: "design",
      title: "Agree on a design",
      skill: "brainstorming",
      output: "docs/plans/<YYYY-MM-DD>-<topic>-design.md",
      next: ["workspace"],
    },
    {
      id: "workspace",
      title: "Set up a worktree and see its tests pass",
      skill: "using-git-worktrees",
      next: ["plan"],
    },
    {
      id: "plan",
      title: "Write the plan in small tasks",
      skill: "writing-plans",
      output: "docs/plans/<YYYY-MM-DD>-<feature>.md",
      next: ["sub-agents", "batches"],
    },
    {
      id: "sub-agents",
      title: "Carry out the plan with sub-agents",
      skill: "subagent-driven-development",
      isPerTask: true,
      next: ["finish"],
    },
    {
      id: "batches",
      title: "Carry out the plan in batches of 3",
      skill: "executing-plans",
      batch: 3,
      next: ["finish"],
    },
    {
      id: "finish",
      title: "Verify all tests, then finish the branch",
      skill: "finishing-a-development-branch",
      choices: ["merge", "PR", "keep", "discard"],
    },
  ],
  roles: [
    { role: "implementer", words: ["implementation", "implement"] },
    {
      role: "spec-reviewer",
      words: ["spec review"],
      does: "Hold the change against each acceptance criterion: nothing missing, nothing extra. Read the code, not the report.",
    },
    {
      role: "quality-reviewer",
      words: ["quality review", "code review"],
      does: "Review how the change is built: correctness, tests, names, errors. What it should do is settled.",
    },
  ],
  fixer: { role: "fixer", mostAttempts: 3 },
};
const { steps: STEPS, roles: ROLES, fixer: FIXER } = DEVELOPMENT;

// Who is dispatched to a task next, in the order of the workflow's roles: each starts after the previous one has passed. For one task, and
// for everything in progress in several stories.

/** waits: someone is working on it. acts: something has to be dispatched, marked or reported. passed: every role has passed. */
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
  /** Set if the task was left and is back in the queue. */
  leftBy?: WakeState["leftBy"];
  /** The caller works on the task itself. Default: false. */
  isOwn?: boolean;
}

/** `subject`: the task itself, not its review task. */
export function reviewOf(subject: TreeTask, options: DispatchOptions): Dispatch {
  const { handoffs, agent, task, leftBy, isOwn = false } = options;
  // A task whose claim has ended is back in the queue, but still counts as begun.
  const isBegun = subject.status === "in_progress" || (leftBy !== undefined && subject.id === task?.id);
  const isOthers = subject.agent !== undefined && subject.agent !== agent.name && !leftBy;
  const said: string[] = [];
  let passed: Standing | undefined;
  for (const { role, words } of ROLES) {
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
      const fixes = handoffs.filter((handoff) => handoff.taskId === subject.id && handoff.role === FIXER.role);
      const mended = fixes.some(({ status, at: mendedAt }) => status === "PASS" && mendedAt > at);
      if (mended) said.push(`Dispatch ${role} for ${subject.id} again (attempt ${attempt + 1}): the fixer is done.`);
      else if (fixes.length >= FIXER.mostAttempts)
        said.push(`Block ${subject.id} and report it: ${fixes.length} attempts did not fix what ${role} found.`);
      else
        said.push(
          `Dispatch ${FIXER.role} for ${subject.id}, attempt ${fixes.length + 1} of ${FIXER.mostAttempts}. ${role} found: ${summary}`,
        );
    } else if (part?.status === "in_progress" || part?.status === "review") {
      said.push(`Check whether ${part.agent ? `@${name(part.agent)}` : role} has finished ${label(part)}.`);
      return { kind: said.length > 1 ? "acts" : "waits", says: said };
    } else if (role === ROLES[0]?.role && isBegun && (isOwn || isOthers)) {
      if (!isOwn) said.push(`Check whether @${name(subject.agent ?? "")} has finished ${label(subject)}.`);
      return { kind: "waits", says: said };
    } else said.push(`Dispatch ${role} for ${label(subject)}.`);
    return { kind: "acts", says: said };
  }
  return { kind: "passed", says: [`Mark ${subject.id} done: every review passed.`] };
}

/** How many of the tasks to wait for are named. */
const MOST_NAMED = 3;

/** For all stories in progress: what to do first, then whom to dispatch, then whom to wait for. */
export function nextDispatches({ stories = [], handoffs, agent }: WakeState): string[] {
  const acts: string[] = [];
  const waits: string[] = [];
  const ready: TreeTask[] = [];
  for (const story of stories) {
    // Tasks in progress, themselves or through one of their parts.
    const isPart = (task: TreeTask) =>
      roleOfPart(task) !== undefined && story.tree.some(({ id }) => id === task.parentId);
    const isSubject = (task: TreeTask) => !isSettled(task.status) && !isPart(task) && isUnderWay(task, story);
    for (const subject of story.tree.filter(isSubject)) {
      if (subject.status === "blocked") continue;
      const { kind, says } = reviewOf(subject, { tree: story.tree, handoffs, agent });
      (kind === "waits" ? waits : acts).push(...says);
    }
    ready.push(...story.ready.filter((task) => !roleOfPart(task) && !isUnderWay(task, story)));
  }
  const first = ROLES[0]?.role ?? "implementer";
  const named = ready.slice(0, MOST_NAMED).map(label).join(", ");
  const more = ready.length > MOST_NAMED ? `; \`haversack next\` has more` : "";
  return [...acts, ...(named ? [`Dispatch ${first} for what is ready: ${named}${more}.`] : []), ...waits];
}

function isUnderWay({ id, status }: TreeTask, { tree }: Pick<WakeStory, "tree">): boolean {
  return status !== "todo" || tree.some((part) => part.parentId === id && part.status !== "todo");
}

/** The role that a sub-task is for. */
export function roleOfPart({ title, parentId }: Pick<TreeTask, "title" | "parentId">): WorkflowRole | undefined {
  return parentId === undefined ? undefined : ROLES.find(({ words }) => words.some((each) => hasPhrase(title, each)));
}

/** The first candidate whose turn it is. A review has to wait until all earlier roles have passed. */
export function firstInTurn(
  candidates: readonly TreeTask[],
  { tree, handoffs }: Pick<DispatchOptions, "tree" | "handoffs">,
): TreeTask | undefined {
  return candidates.find((task) => {
    const own = roleOfPart(task);
    const subject = tree.find(({ id }) => id === task.parentId);
    if (!own || !subject) return true;
    const before = ROLES.slice(0, ROLES.indexOf(own));
    return before.every((role) => standingOf(subject, { ...role, tree, handoffs }).verdict === "PASS");
  });
}

/** For a review, the task it is about; otherwise the task itself. */
export function subjectOf(task: TreeTask, tree: readonly TreeTask[]): TreeTask {
  return (roleOfPart({ ...task, parentId: "" }) && tree.find(({ id }) => id === task.parentId)) || task;
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
  const latest = newest(own);
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

// What comes next, in a few sentences, looked up from statuses and verdicts. The rows of a table are evaluated from the top; each gives
// no sentence, one or several. They only continue what was going on. What nobody asked for (fixing a test, a commit) is shown as a fact
// in the work in progress, not as a sentence here.

/** More than this is a plan, not a next action. */
const MOST_SENTENCES = 6;
const SHORT_CHARS = 300;

export function nextAction(state: WakeState): string[] {
  const facts = factsOf(state);
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
  /** The task in hand, unless it is finished. */
  task: WakeTask | undefined;
  isOrchestrator: boolean;
  /** It works on the task itself: it holds the task, has begun it, and coordinates nobody. */
  isOwn: boolean;
  role: WorkflowRole | undefined;
  /** A row above said why it cannot continue, so no row below may tell it to. */
  isHeld: boolean;
  /** Its work was handed off as passed after the last WIP update, so failures recorded there no longer count. */
  isPassed: boolean;
  /** What the rows above said. */
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
  ({ state }) => nextDispatches(state),
  found,
  ({ task, role }) => (task && role?.does ? [role.does] : []),
  goOn,
  ({ state: { commitsSteps }, task, role, isOrchestrator }) =>
    commitsSteps && task && !role?.does && !isOrchestrator ? ["Commit after each step."] : [],
  step,
  storyDone,
  nothingInHand,
];

function factsOf(state: WakeState): Facts {
  const { task, agent, wip, wipUpdatedAt, handoffs, leftBy, isCoordinating } = state;
  const last = newest(handoffs.filter(({ taskId }) => taskId === task?.id));
  const inHand = task && !isSettled(task.status) ? task : undefined;
  return {
    state,
    task: inHand,
    isHeld: blocked({ task: inHand }).length > 0,
    isOrchestrator: agent.role === "orchestrator",
    isOwn: !isCoordinating && hasWork(wip) && (leftBy !== undefined || task?.agent === agent.name),
    role: roleAt(inHand, agent.role),
    isPassed: last?.status === "PASS" && wipUpdatedAt !== undefined && last.at > wipUpdatedAt,
    said: new Said(),
  };
}

/**
 * The sub-task decides what a reviewer does: a project's own `reviewer` on "Spec review" reviews the spec. If the task names no kind of
 * review, the role decides; a project's own reviewer then does the last kind.
 */
function roleAt(task: WakeTask | undefined, own: string): WorkflowRole | undefined {
  const known = ROLES.find(({ role }) => role === own);
  if (!own.endsWith("reviewer")) return known;
  const named = task && roleOfPart(known ? task : { ...task, parentId: "" });
  return named?.does ? named : (known ?? ROLES.findLast(({ does }) => does));
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

/** For the orchestrator: who is dispatched next, by the verdicts so far. */
function review({ state, task, isOrchestrator, isOwn, isHeld }: Facts): string[] {
  if (!isOrchestrator || !task || isHeld) return [];
  const subject = subjectOf(task, state.tree);
  const next: Dispatch = reviewOf(subject, { ...state, isOwn });
  if (next.kind !== "passed") return next.says;
  const after = state.tree.find(
    ({ status, id, parentId }) => status === "todo" && id !== subject.id && parentId !== subject.id,
  );
  return [...next.says, ...(after ? [`Then go on with ${label(after)}.`] : [])];
}

/** For the role that builds or fixes: the findings of the task's last review, unless they were fixed since. */
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
  // A row above already says how to continue a task that was left.
  if (state.leftBy) return [];
  if (!state.wip) return [`Start ${task.id}: nothing is recorded as done yet.`];
  return hasWork(state.wip) ? [`Go on with ${label(task)} from its work in progress.`] : [];
}

/** The position of the current skill in the workflow, and what follows. Tasks that roles work on have their own rows. */
function step({ state: { skills, agent }, task, isHeld }: Facts): string[] {
  if (isHeld) return [];
  const main = skills.find(({ as }) => as === "main");
  const current = main && STEPS.find(({ skill }) => skill === bareName(main.id));
  if (!task || !current || current.isPerTask || ROLES.some(({ role }) => role === agent.role)) return [];
  const next = STEPS.filter(({ id }) => current.next?.includes(id)).map(({ skill }) => skill);
  const then = [
    ...(current.output ? [`save it to ${current.output}`] : []),
    ...(current.batch ? [`report after every ${current.batch} tasks`] : []),
    ...(current.choices ? [`ask which: ${or(current.choices)}`] : []),
    ...(next.length > 0 ? [`then ${or(next)}`] : []),
  ];
  return [`${current.title}${then.length > 0 ? `; ${then.join("; ")}` : ""}.`];
}

function storyDone({ state: { story }, task }: Facts): string[] {
  if (task || !story || story.total === 0 || story.done < story.total) return [];
  const last = STEPS.find(({ next }) => !next);
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

function short(text: string): string {
  return cutLine(text, SHORT_CHARS);
}

function or(words: readonly string[]): string {
  return words.join(" | ");
}
