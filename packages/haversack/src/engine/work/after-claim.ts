/**
 * What follows from a claim: the versions of the task's skills are kept, so that the agent is woken with those it began with; and
 * an agent that has a name can be written to from now on. At the claim and not at the first packet: between the two the files
 * may change, and that is what the version is for. The index is brought up to date first: a skill that is not indexed yet, or that
 * changed since, would otherwise not be kept as it is now.
 */
import { gitPlace } from "../../base/git-place.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { roleAtWork } from "../../store/sqlite/work/events/wake-state.ts";
import type { WorkStore } from "../../store/work-store.ts";
import { isAgentName } from "../../wake/message.ts";
import { readSkillSettings, type SkilledTask, skillsOfTask } from "../../wake/which-skill.ts";
import type { TaskDetails } from "../../work/task.ts";
import { freshenIndex } from "../refresh-index.ts";
import { wakeSettings } from "../wake/gather-wake.ts";
import { keepStateAtClaim } from "./git-changes.ts";
import type { WorkParts } from "./work-parts.ts";

type AfterClaimParts = Pick<WorkParts, "store" | "by" | "project">;

export async function afterClaim(taskId: string, parts: AfterClaimParts): Promise<void> {
  try {
    await makeKnown(parts);
    const task = await parts.store.getTask(taskId, parts.by.at);
    await pinSkills(task, parts);
    const { handle, cwd } = parts.project;
    keepStateAtClaim({ taskId: task.id, hasWip: task.wip !== undefined }, { handle, cwd, at: parts.by.at });
  } catch {
    // The claim itself is saved, and whoever made it must not hear that it failed: without this the packet shows the skill as it
    // is then, and the agent is known at its next start.
  }
}

async function makeKnown({ store, by, project }: AfterClaimParts): Promise<void> {
  const { name, sessionId, agentId, at } = by;
  const client = by.place?.client;
  if (!by.isNamed || agentId || !isAgentName(name)) return;
  await store.seeAgent(
    { name, ...gitPlace(project.cwd), ...(client && { client }), ...(sessionId && { sessionId }) },
    at,
  );
}

async function pinSkills(task: TaskDetails, parts: AfterClaimParts): Promise<void> {
  const { store, by, project } = parts;
  const { handle, config } = project;
  const { rules } = readSkillSettings(wakeSettings(config));
  const parents = await parentsOf(task, store, by.at);
  const isSubAgent = Boolean(by.agentId);
  const { name, sessionId, agentId } = by;
  const role = roleAtWork(handle.db, { name, ...(sessionId && { sessionId }), ...(agentId && { agentId }) });
  const find = (isThorough: boolean) => {
    tryFreshen(project, isThorough);
    const found = new SqliteSkillIndex(handle.db);
    const findInstalled = (id: string) => found.idOf(id);
    return { index: found, wanted: skillsOfTask(task, { ...rules, parents, isSubAgent, role, findInstalled }) };
  };
  let { index, wanted } = find(false);
  if (wanted.some(({ isMissing }) => isMissing)) ({ index, wanted } = find(true));
  if (wanted.length === 0) return;
  const known = await store.skillHistory({ taskId: task.id, limit: 50 });
  for (const { id, because, isMissing } of wanted) {
    const hash = isMissing ? undefined : index.card(id)?.hash;
    // Claimed again by whoever has it: the version stays the one it began with.
    const isPinned = known.find(({ skill }) => skill === id)?.agent === by.name;
    if (hash === undefined || isPinned) continue;
    await store.recordSkill({ agent: by.name, taskId: task.id, skill: id, hash, because }, by.at);
  }
}

function tryFreshen({ handle, paths, env, config }: WorkParts["project"], isThorough: boolean): void {
  try {
    freshenIndex(handle, { root: paths.root, env, folders: config["skills.folders"] }, { isThorough });
  } catch {
    // The store is locked or full, or a folder cannot be read: the version that is indexed is better than none.
  }
}

/** More is no tree that anybody made. */
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
