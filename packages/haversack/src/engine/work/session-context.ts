/**
 * The state of a session in one small answer: what is started, what is blocked and why, what comes next, and one line to resume from. Tasks
 * of the asking session always come first, then tasks that nobody holds, then those of others with their holder.
 */
import type { Actor, Scope, TaskCounts } from "../../store/work-store.ts";
import { checkWhole } from "../../work/clean-input.ts";
import { fitList, tokensOf } from "../../work/fit-list.ts";
import { type Claim, isSettled, type Task, type TaskDetails } from "../../work/task.ts";
import { present, type View, viewCounts, viewTask } from "../../work/task-view.ts";
import { pickApart, readyCount, whatIsInTheWay } from "./next-batch.ts";
import { given, type WorkParts } from "./work-parts.ts";

export interface SessionContextInput {
  /** A limit for the whole answer. Default: 400. */
  maxTokens?: number | undefined;
  epicId?: string | undefined;
  storyId?: string | undefined;
}

export interface SessionContext {
  resume?: string;
  in_progress?: View[];
  blocked?: View[];
  suggested_next?: View;
  /** Tasks that could be started; "1000+" where counting stopped. */
  ready: number | string;
  /** What was left out, and how to get it. */
  more?: string;
}

const DEFAULT_TOKENS = 400;
const MOST_SHOWN = 3;
/** How many tasks to read: of the session's own, and of the others. */
const MOST_READ = 20;
const LINE_CHARS = 160;
/** Keys, brackets and `more`. */
const AROUND_TOKENS = 45;

export async function sessionContext(
  { maxTokens, epicId, storyId }: SessionContextInput,
  parts: WorkParts,
): Promise<{ view: SessionContext; resume?: string }> {
  const { store, by } = parts;
  const budget = checkWhole(maxTokens, { field: "max_tokens", fallback: DEFAULT_TOKENS });
  const scope: Scope = given({ epicId, storyId });
  const begun = await begunTasks(scope, parts);
  const stuck = await store.listTasks({ ...scope, status: "blocked", limit: MOST_SHOWN, at: by.at });
  const blocked = await Promise.all(stuck.items.map(({ id }) => store.getTask(id, by.at)));
  const next = await suggestedNext(scope, parts);

  let left = budget - AROUND_TOKENS;
  const whole = begun.tasks[0] && resumeLine(begun.tasks[0], by);
  const resume = whole && tokensOf(whole) <= left ? whole : undefined;
  left -= resume ? tokensOf(resume) : 0;
  const fit = <T>(items: readonly T[], view: (item: T) => View, keepTokens = 0) => {
    const maxTokens = Math.max(0, left - keepTokens);
    const { views } = fitList(items, { view, fields: "full", maxTokens, aroundTokens: 0 });
    for (const shown of views) left -= tokensOf(shown);
    return views;
  };
  const [first, ...others] = begun.tasks;
  const view = (task: TaskDetails) => viewBegun(task, { by, isResumed: task === first && resume !== undefined });
  const inProgress = first ? fit([first], view) : [];
  // The next task is worth more than a second task in progress.
  const nextTokens = next.task ? tokensOf(minimalNext(next.task, next.note)) : 0;
  if (inProgress.length > 0) inProgress.push(...fit(others, view, nextTokens));
  const suggested = next.task && fitNext(next.task, next.note, { left, blocked: tokensOf(blocked.map(viewBlocked)) });
  left -= suggested ? tokensOf(suggested) : 0;
  const blockedViews = fit(blocked, viewBlocked);
  const leftOut = { in_progress: begun.total - inProgress.length, blocked: stuck.total - blockedViews.length };
  const more = Object.entries(leftOut).flatMap(([status, count]) => (count > 0 ? `${count} more ${status}` : []));
  const context = present({
    resume,
    in_progress: inProgress,
    blocked: blockedViews,
    suggested_next: suggested,
    ready: readyCount(next.ready),
    more: more.length > 0 ? `get_tasks: ${more.join(", ")}` : undefined,
  }) as SessionContext;
  return { view: context, ...given({ resume }) };
}

async function begunTasks(scope: Scope, { store, by }: WorkParts): Promise<{ tasks: TaskDetails[]; total: number }> {
  const all = await store.listClaims({ at: by.at });
  const mine = await ownTasks(
    all.filter((claim) => isMine(claim, by)),
    { scope, store, by },
  );
  const query = { ...scope, limit: MOST_READ, at: by.at };
  const running = await store.listTasks({ ...query, status: "in_progress" });
  // WIP alone does not show that work was begun: anybody can write it into a task that was never claimed.
  const left = await store.listTasks({ ...query, hasWip: true, hasHolder: true });
  const found = new Map(
    [...mine, ...running.items, ...left.items]
      .filter(({ status }) => !isSettled(status) && status !== "blocked")
      .map((task) => [task.id, task]),
  );
  const claims = new Map(all.map((claim) => [claim.taskId, claim]));
  const ranked = [...found.keys()].sort((a, b) => rankOf(claims.get(a), by) - rankOf(claims.get(b), by));
  const tasks = await Promise.all(ranked.slice(0, MOST_SHOWN).map((id) => store.getTask(id, by.at)));
  // Tasks in progress come first, so any that were not read are in progress too.
  return { tasks, total: Math.max(found.size, running.total) };
}

/** Found by their claims, so other tasks cannot crowd them out. */
async function ownTasks(
  claims: readonly Claim[],
  { scope, store, by }: { scope: Scope; store: WorkParts["store"]; by: Actor },
): Promise<Task[]> {
  const epic = scope.epicId === undefined ? undefined : (await store.findId(scope.epicId)).id;
  const story = scope.storyId === undefined ? undefined : (await store.findId(scope.storyId)).id;
  const tasks = await Promise.all(claims.slice(0, MOST_READ).map(({ taskId }) => store.getTask(taskId, by.at)));
  return tasks.filter(
    ({ epicId, storyId }) => (epic === undefined || epicId === epic) && (story === undefined || storyId === story),
  );
}

function rankOf(claim: Claim | undefined, by: Actor): number {
  return claim && isMine(claim, by) ? 0 : claim ? 2 : 1;
}

function isMine({ agent, sessionId }: Claim, by: Actor): boolean {
  return agent === by.name || (sessionId !== undefined && sessionId === by.sessionId);
}

/** A task that shares no files with running ones. If there is none, the first ready task with what it conflicts with. */
async function suggestedNext(
  scope: Scope,
  { store, by }: WorkParts,
): Promise<{ task?: Task | undefined; note?: string | undefined; ready: number }> {
  const { batch, heldBack, ready } = await pickApart({ scope, size: 1 }, { store, by });
  if (batch[0]) return { task: batch[0], ready };
  return { task: heldBack[0], note: await whatIsInTheWay(heldBack, { store, by }), ready };
}

/** In standard form if the blocked tasks still fit; otherwise only id, title and status. */
function fitNext(
  task: Task,
  note: string | undefined,
  { left, blocked }: { left: number; blocked: number },
): View | undefined {
  const standard = { ...viewTask(task, "standard"), ...(note !== undefined && { note }) };
  if (tokensOf(standard) <= left - blocked) return standard;
  const minimal = minimalNext(task, note);
  return tokensOf(minimal) <= left ? minimal : undefined;
}

function minimalNext(task: Task, note: string | undefined): View {
  return { ...viewTask(task, "minimal"), ...(note !== undefined && { note }) };
}

/** The resume line already has phase and next step of the first task. */
function viewBegun(task: TaskDetails, { by, isResumed }: { by: Actor; isResumed: boolean }): View {
  const { wip, claim } = task;
  return present({
    ...viewTask(task, "minimal"),
    ...(!isResumed && { phase: line(wip?.phase), next_step: nextStep(task) }),
    held_by: claim && !isMine(claim, by) ? claim.agent : undefined,
    note: line(task.note),
  });
}

function viewBlocked(task: TaskDetails): View {
  const reasons = task.blockers.map(({ reason }) => reason);
  return present({ ...viewTask(task, "minimal"), reason: line(reasons.join("; ")) });
}

/** "Resuming T4829 from testing, next: fix the failing test". A session does not resume a task that another holds. */
function resumeLine(task: TaskDetails, by: Actor): string {
  const phase = line(task.wip?.phase);
  const next = nextStep(task);
  const { claim } = task;
  const holder = claim && !isMine(claim, by) ? ` (held by ${claim.agent} until ${claim.leaseUntil.toISOString()})` : "";
  const verb = holder ? "In progress elsewhere:" : "Resuming";
  return `${verb} ${task.id}${phase ? ` from ${phase}` : ""}${next ? `, next: ${next}` : ""}${holder}`;
}

function nextStep({ wip, steps }: TaskDetails): string | undefined {
  const failing = wip?.test_results?.failing_test;
  return (
    line(wip?.next_step) ??
    (typeof failing === "string" && failing !== "" ? line(`fix the failing test ${failing}`) : undefined) ??
    line(wip?.plan?.current) ??
    line(steps.find(({ done }) => !done)?.text)
  );
}

/** Agents write anything into WIP: take one line of it, and only if it is text. */
function line(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.replace(/\s+/g, " ").trim();
  return text === "" ? undefined : text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS - 1)}…` : text;
}

// The state of the whole project in numbers.

export interface ProjectStatus {
  counts: TaskCounts;
  claims: Claim[];
  epics: number;
  stories: number;
  view: object;
}

export async function projectStatus(
  { epicId, storyId }: { epicId?: string | undefined; storyId?: string | undefined },
  { store, by }: WorkParts,
): Promise<ProjectStatus> {
  const counts = await store.countTasks(given({ epicId, storyId }), by.at);
  const claims = await store.listClaims({ at: by.at });
  const { total: epics } = await store.listEpics({ limit: 1 });
  const { total: stories } = await store.listStories({ ...given({ epicId }), limit: 1 });
  const { ready, archived, ...open } = counts;
  const all = Object.values(open).reduce((sum, count) => sum + count, 0);
  const view = present({
    // Keep a zero: it says that nothing can be started.
    tasks: { ...viewCounts(counts), ready: counts.ready },
    done_percent: all > 0 ? Math.floor((100 * counts.done) / all) : undefined,
    epics: epics || undefined,
    stories: stories || undefined,
    claims: claims.length || undefined,
  });
  return { counts, claims, epics, stories, view };
}
