/** Who holds which task, and until when. */

import { cleanLine } from "../../base/clean-text.ts";
import { gitPlace } from "../../base/project-root.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { roleAtWork } from "../../store/sqlite/work/events/wake-state.ts";
import type { ClaimOutcome, WorkStore } from "../../store/work-store.ts";
import { isAgentName } from "../../wake/text.ts";
import { readSkillSettings, type SkilledTask, skillsOfTask } from "../../wake/which-skill.ts";
import { checkChoice, cleanText, invalid } from "../../work/clean-input.ts";
import { type Claim, isSettled, type TaskBrief, type TaskDetails, type TaskPart } from "../../work/task.ts";
import { type ClaimShown, FIELD_SETS, type View, viewClaim, viewTask } from "../../work/task-view.ts";
import { freshenIndex } from "../refresh-index.ts";
import { keepStateAtClaim } from "./git-changes.ts";
import { given, type Refused, refused, type WorkParts } from "./work-parts.ts";

export interface ClaimInput {
  /** Default: the next ready task of the scope. */
  taskId?: string | undefined;
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Takes the task from its current holder. */
  stealReason?: string | undefined;
  isForced?: boolean | undefined;
  /** Default: standard. */
  fields?: string | undefined;
}

export type Claimed = Extract<ClaimOutcome, { kind: "claimed" }> & {
  /** Says that sub-tasks are open. */
  warning?: string;
  view: View;
};

export async function claimTask(
  { stealReason, fields, ...input }: ClaimInput,
  parts: WorkParts,
): Promise<Claimed | { kind: "nothing-ready"; text: string } | Refused> {
  const { store, by, settings } = parts;
  const set = checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "standard";
  await checkIsWithin(input, parts);
  const request = {
    leaseMs: settings.leaseMs,
    ...given({
      ...input,
      maxClaims: settings.maxClaims,
      stealReason: cleanText(stealReason, { field: "steal_reason", maxChars: REASON_MAX_CHARS }),
    }),
  };
  const outcome = await store.claim(request, by);
  if (outcome.kind === "claimed") {
    await afterClaim(outcome.task.id, parts);
    const { parts: subTasks } = outcome.task;
    const note = claimNote(outcome.note, subTasks);
    const warning = openPartsWarning(subTasks);
    return { ...outcome, ...given({ note, warning }), view: { ...viewTask(outcome.task, set), ...given({ warning }) } };
  }
  if (outcome.kind !== "nothing-ready") return refused(outcome, parts);
  const { epicId, storyId } = input;
  const where = storyId ? ` in story ${storyId}` : epicId ? ` in epic ${epicId}` : "";
  return { kind: "nothing-ready", text: `no task is ready${where}` };
}

/** For a named task the store does not look at the scope. */
async function checkIsWithin({ taskId, epicId, storyId }: ClaimInput, { store, by }: WorkParts): Promise<void> {
  if (taskId === undefined || (epicId === undefined && storyId === undefined)) return;
  const task = await store.getTask(taskId, by.at);
  const epic = epicId === undefined ? undefined : await store.getEpic(epicId);
  if (epic && epic.id !== task.epicId) throw invalid(`${task.id} is not in epic ${epic.id}`);
  const story = storyId === undefined ? undefined : await store.getStory(storyId);
  if (story && story.id !== task.storyId) throw invalid(`${task.id} is not in story ${story.id}`);
}

const REASON_MAX_CHARS = 2000;

export async function releaseTask(
  { taskId, reason }: { taskId: string; reason?: string | undefined },
  parts: WorkParts,
): Promise<{ kind: "released"; task: TaskBrief } | Refused> {
  const clean = cleanText(reason, { field: "reason", maxChars: REASON_MAX_CHARS });
  const outcome = await parts.store.release({ taskId, ...given({ reason: clean }) }, parts.by);
  if (outcome.kind === "released") return outcome;
  return refused(outcome.kind === "held" ? { ...outcome, wanted: "release" } : outcome, parts);
}

export interface ClaimView extends ClaimShown {
  id: string;
}

export async function heartbeat(
  { taskId }: { taskId?: string | undefined },
  parts: WorkParts,
): Promise<{ kind: "prolonged"; claims: Claim[]; views: ClaimView[] } | { kind: "none"; text: string } | Refused> {
  const { store, by, settings } = parts;
  const outcome = await store.heartbeat({ ...given({ taskId }), leaseMs: settings.leaseMs }, by);
  if (outcome.kind === "prolonged") return { ...outcome, views: outcome.claims.map(viewHeld) };
  if (outcome.kind === "none")
    return { kind: "none", text: `${by.isPerson ? "you hold" : `${by.name} holds`} no task.` };
  return refused(outcome, parts);
}

export async function listClaims(
  { agent }: { agent?: string | undefined },
  { store, by }: WorkParts,
): Promise<{ claims: Claim[]; views: ClaimView[] }> {
  const claims = await store.listClaims({ ...given({ agent }), at: by.at });
  return { claims, views: claims.map(viewHeld) };
}

function viewHeld(claim: Claim): ClaimView {
  return { id: claim.taskId, ...viewClaim(claim) };
}

// What a claim or the end of a task means for its sub-tasks, in one line.

const MOST_NAMED = 5;

/** `2 sub-tasks are still open: T22 "Spec review" (in progress, held by rev), …`. Undefined: none is open. */
export function openPartsWarning(parts: readonly TaskPart[]): string | undefined {
  const open = parts.filter(({ status }) => !isSettled(status));
  if (open.length === 0) return undefined;
  // Sub-tasks with an agent come first: that work is lost or repeated if the caller thinks the task is over.
  const sorted = open.toSorted((a, b) => Number(b.agent !== undefined) - Number(a.agent !== undefined));
  const named = sorted.slice(0, MOST_NAMED).map(({ id, title, status, agent }) => {
    const holder = agent === undefined ? "" : `, held by ${cleanLine(agent)}`;
    return `${id} "${cleanLine(title)}" (${status.replaceAll("_", " ")}${holder})`;
  });
  const more = open.length > MOST_NAMED ? ` and ${open.length - MOST_NAMED} more` : "";
  return `${open.length === 1 ? "a sub-task is" : `${open.length} sub-tasks are`} still open: ${named.join(", ")}${more}`;
}

/** The task's own note; if all sub-tasks are done, also what remains to do. */
export function claimNote(note: string | undefined, parts: readonly TaskPart[]): string | undefined {
  const isClosing = parts.length > 0 && parts.every(({ status }) => isSettled(status));
  const closing = isClosing ? "All sub-tasks are done: check the task as a whole and close it." : undefined;
  return note && closing ? `${note.replace(/\.?$/, ".")} ${closing}` : (note ?? closing);
}

// After a claim: pins the versions of the task's skills, so the agent is woken with those it started with, and
// registers a named agent, so it can get messages. Done at the claim, not at the first packet, because the files may
// change in between. The index is updated first: a new or changed skill would otherwise not be pinned as it is now.

type AfterClaimParts = Pick<WorkParts, "store" | "by" | "project">;

function localStore({ handle }: WorkParts["project"]): StoreHandle {
  // Every open project has such a handle: see WorkProject.
  return handle as StoreHandle;
}

export async function afterClaim(taskId: string, parts: AfterClaimParts): Promise<void> {
  const { store, by, project } = parts;
  try {
    await makeKnown(parts);
    const task = await store.getTask(taskId, by.at);
    await pinSkills(task, parts);
    const place = { handle: localStore(project), cwd: project.cwd, at: by.at };
    keepStateAtClaim({ taskId: task.id, hasWip: task.wip !== undefined }, place);
  } catch {
    // The claim itself is saved, so do not report it as failed. Without this step the packet shows the current skill, and
    // the agent is registered at its next start.
  }
}

async function makeKnown({ store, by, project }: AfterClaimParts): Promise<void> {
  const { name, sessionId, agentId, place } = by;
  if (!by.isNamed || agentId || !isAgentName(name)) return;
  await store.seeAgent({ name, ...gitPlace(project.cwd), ...given({ client: place?.client, sessionId }) }, by.at);
}

async function pinSkills(task: TaskDetails, parts: AfterClaimParts): Promise<void> {
  const { store, by, project } = parts;
  const handle = localStore(project);
  const { rules } = readSkillSettings(project.config);
  const parents = await parentsOf(task, store, by.at);
  const { name, sessionId, agentId } = by;
  const role = roleAtWork(handle.db, { name, ...(sessionId && { sessionId }), ...(agentId && { agentId }) });
  const options = { ...rules, parents, isSubAgent: Boolean(agentId), role };
  const find = (isThorough: boolean) => {
    tryFreshen(project, isThorough);
    const found = new SqliteSkillIndex(handle.db);
    return { index: found, wanted: skillsOfTask(task, { ...options, findInstalled: (id) => found.idOf(id) }) };
  };
  let { index, wanted } = find(false);
  if (wanted.some(({ isMissing }) => isMissing)) ({ index, wanted } = find(true));
  if (wanted.length === 0) return;
  const known = await store.skillHistory({ taskId: task.id, limit: 50 });
  for (const { id, because, isMissing } of wanted) {
    const hash = isMissing ? undefined : index.card(id)?.hash;
    // If the holder claims again, keep the version that it started with.
    const isPinned = known.find(({ skill }) => skill === id)?.agent === by.name;
    if (hash === undefined || isPinned) continue;
    await store.recordSkill({ agent: by.name, taskId: task.id, skill: id, hash, because }, by.at);
  }
}

function tryFreshen(project: WorkParts["project"], isThorough: boolean): void {
  const { paths, env, config } = project;
  try {
    freshenIndex(localStore(project), { root: paths.root, env, folders: config["skills.folders"] }, { isThorough });
  } catch {
    // The store is locked or full, or a folder cannot be read: the indexed version is better than none.
  }
}

/** Nobody nests tasks deeper than this. */
const MOST_PARENTS = 10;

async function parentsOf(task: TaskDetails, store: WorkStore, at: Date): Promise<SkilledTask[]> {
  const parents: TaskDetails[] = [];
  for (let above = task.parentId; above !== undefined && parents.length < MOST_PARENTS; ) {
    const parent = await store.getTask(above, at);
    parents.push(parent);
    above = parent.parentId;
  }
  return parents;
}
