/**
 * Collects everything a packet can contain: what the store, the plan and the skill index know about an agent's work. Only reads.
 * Loaded by the hook.
 */
import { extractSection } from "../../artifacts/extract-section.ts";
import { cleanLine, MAX_TEMPLATE_BYTES, readProjectText, shellWord } from "../../base/clean-text.ts";
import type { Config } from "../../base/config-schema.ts";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { trustRecord } from "../../base/project-trust.ts";
import { activationOf, type ClientProfile } from "../../skills/showing/activation.ts";
import { readTogether, type StoreHandle } from "../../store/sqlite/access.ts";
import type { ClientProcess } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import type { SkillLookup } from "../../store/sqlite/skills/skill-index.ts";
import { type OtherSession, otherSessions } from "../../store/sqlite/work/events/session-claims.ts";
import type { Ready } from "../../store/sqlite/work/events/wake-overview.ts";
import { readWake, type StoredWake, type WakeKey } from "../../store/sqlite/work/events/wake-state.ts";
import type { TreeTask, WakeMessage, WakePlan, WakeSkill, WakeState, WakeTask } from "../../wake/state.ts";
import { readSkillSettings, type SkillRules, skillsOfOrchestrator, skillsOfTask } from "../../wake/which-skill.ts";
import type { Wip } from "../../work/wip/wip.ts";

export interface WakeRequest {
  key: WakeKey;
  reason: WakeState["reason"];
  client: ClientProfile;
  /** Replaces the role's template. */
  template?: string;
  /** Default: the client's limit, in characters. */
  budget?: { size: number; unit: "chars" | "tokens"; count: (text: string) => number };
  newMessage?: WakeMessage;
  /** The session's own WIP, if it works on no task. */
  sessionWip?: { wip: Wip; updatedAt: Date };
  /** Skills, with version, that this window or the previous one had. The task's own skills come first. */
  active?: readonly { skill: string; hash: string }[];
  /** Whether the client already has the skill in the window. */
  isCarried?(skill: string): boolean;
  /** The agent continues in its window, so it still knows what it was told there. */
  isWindowKept?: boolean;
  /** The previous holder, if the task of the key is free. */
  leftBy?: WakeState["leftBy"];
  /** Other sessions of the agent, if already known. Default: those that hold tasks. */
  others?: readonly OtherSession[] | undefined;
}

export interface WakeParts {
  handle: StoreHandle;
  index: SkillLookup;
  root: string;
  settings: WakeSettings;
  /** Undefined: the file is missing or unreadable. */
  readText(path: string): string | undefined;
  now: Date;
  /** Undefined: cannot be determined from here. */
  isRunning?(process: ClientProcess): boolean | undefined;
}

export type WakeSettings = Partial<Pick<Config, Extract<keyof Config, `wake.${string}`>>>;

export interface Gathered {
  state: WakeState;
  /** The agent's row, if it has one, for marking messages as read. */
  agentSeq?: number;
  /** Tasks that could be next, if the agent holds none. */
  ready?: Ready;
  /** Problems with settings. */
  problems: string[];
}

export function gatherWake(request: WakeRequest, parts: WakeParts): Gathered {
  const { handle, index, root, settings, readText, now } = parts;
  const { key, reason, newMessage, sessionWip } = request;
  const stored = readTogether(handle, (db) => readWake(db, key));
  const { planFile, planSection, parents: _, pinned: __, agentSeq, isNamed, ready, unreadCount, ...known } = stored;
  const { isSolo: ___, name, ...agent } = known.agent;
  const messages = known.messages.filter(({ id }) => id !== newMessage?.id);
  const missing: string[] = [];
  const { rules, problems } = readSkillSettings(settings);
  const plan = planFile === undefined ? undefined : readPlan(planFile, planSection, { root, readText, missing });
  const state: WakeState = {
    ...known,
    ...(request.leftBy && known.task && returned(known.task, known.tree)),
    now,
    reason,
    ...(plan && { plan }),
    // An offered task has no holder yet.
    ...(request.leftBy && { leftBy: request.leftBy }),
    ...(request.leftBy && known.agent.isSolo && { agent: { ...agent, name: isNamed ? name : "", role: "" } }),
    ...(isNamed && elsewhere(name, request, parts)),
    ...(!stored.wip && sessionWip && { wip: sessionWip.wip, wipUpdatedAt: sessionWip.updatedAt }),
    ...(newMessage && { newMessage }),
    messages,
    ...(unreadCount !== undefined && { unreadCount: unreadCount - known.messages.length + messages.length }),
    ...(ready && { readyCount: ready.count }),
    ...(settings["wake.commit_steps"] && { commitsSteps: true }),
    ...(request.isWindowKept && { heard: [] }),
    skills: findSkills(stored, request, { index, rules, missing }),
    missing,
  };
  return { state, problems, ...(agentSeq !== undefined && { agentSeq }), ...(ready && { ready }) };
}

/** A task whose claim has ended is not `in_progress`, even before the work store returns it to the queue. */
function returned(task: WakeTask, tree: WakeState["tree"]): Pick<WakeState, "tree"> & { task: WakeTask } {
  const giveBack = <T extends TreeTask>({ agent: _, ...rest }: T) => ({ ...rest, status: "todo" as const });
  if (task.status !== "in_progress") return { task, tree };
  return { task: giveBack(task), tree: tree.map((each) => (each.id === task.id ? giveBack(each) : each)) };
}

/** Tasks of the agent's other sessions. Sessions whose process has ended do not count. */
function elsewhere(
  name: string,
  { key: { sessionId = "", agentId }, others: known }: WakeRequest,
  { handle, isRunning }: WakeParts,
): Pick<WakeState, "elsewhere"> {
  // A sub-agent that is about to start has no name.
  if (!name || agentId) return {};
  const others = (known ?? otherSessions(handle.db, name, sessionId)).filter(
    ({ process }) => !process || isRunning?.(process) !== false,
  );
  const sessions = [...new Set(others.map(({ sessionId: id }) => id))];
  return sessions.length === 0 ? {} : { elsewhere: { sessions, taskIds: others.flatMap(({ taskIds }) => taskIds) } };
}

function findSkills(
  { task, agent, stories, parents, pinned }: StoredWake,
  { key, reason, client, active = [], isCarried }: WakeRequest,
  { index, rules, missing }: { index: SkillLookup; rules: SkillRules; missing: string[] },
): WakeSkill[] {
  const isSubAgent = reason === "agent-start" || Boolean(key.agentId);
  const findInstalled = (name: string): string | undefined => index.idOf(name);
  const wanted = task
    ? skillsOfTask(task, { ...rules, parents, isSubAgent, role: agent.role, findInstalled })
    : stories
      ? skillsOfOrchestrator({ ...rules, findInstalled })
      : [];
  const rest = active.filter(({ skill }) => !wanted.some(({ id }) => id === skill));
  const all = [
    ...wanted,
    ...rest.map(({ skill }) => ({ id: skill, because: "in use before", as: "main" as const, isMissing: undefined })),
  ];
  return all.flatMap(({ id, because, as, isMissing }) => {
    const card = isMissing ? undefined : index.card(id);
    const begun = pinned.find(({ skill }) => skill === id)?.hash ?? active.find(({ skill }) => skill === id)?.hash;
    const kept = begun === undefined ? undefined : index.body(begun);
    // An import has the version's hash but not its text.
    const hash = kept === undefined ? undefined : begun;
    if (card && begun !== undefined && kept === undefined && begun !== card.hash) {
      missing.push(
        `The version of ${cleanLine(id, { maxChars: 80 })} that the task was begun with; its present text is here.`,
      );
    }
    const body = kept || (card && index.body(card.hash)) || undefined;
    if (!card && !body) {
      missing.push(`The skill ${cleanLine(id, { maxChars: 80 })} (${because}) is not installed.`);
      return [];
    }
    if (!card)
      missing.push(`The file of ${cleanLine(id, { maxChars: 80 })} is gone; the version you began with is here.`);
    const version =
      hash === undefined ? card && { hash: card.hash } : { hash, hasChanged: card !== undefined && card.hash !== hash };
    return [
      {
        id,
        because,
        as,
        ...(body !== undefined && { body }),
        ...(card && { brief: card.brief }),
        ...version,
        // Without a file the skill cannot be loaded any more.
        activation: card ? activationOf(card, client) : `haversack skill show ${shellWord(id)}`,
        isCarried: isCarried?.(id) ?? false,
      },
    ];
  });
}

function readPlan(
  file: string,
  section: string | undefined,
  { root, readText, missing }: Pick<WakeParts, "root" | "readText"> & { missing: string[] },
): WakePlan {
  const plan = { file, ...(section !== undefined && { section }) };
  // A plan outside the project is named but not read, because its path comes from untrusted text.
  const isInside = !file.startsWith("/") && !(file.includes("..") && file.split(/[\\/]/).includes(".."));
  const text = isInside ? readText(`${root}/${file}`) : undefined;
  if (text === undefined) {
    missing.push(`The plan ${cleanLine(file, { maxChars: 200 })} cannot be read.`);
    return plan;
  }
  if (section === undefined) return { ...plan, text: planStart(text), lineCount: lineCount(text) };
  const found = extractSection(text, section);
  if (found.kind === "missing") {
    const [guess] = found.nearest;
    missing.push(
      `${cleanLine(file, { maxChars: 200 })} has no section "${cleanLine(section, { maxChars: 100 })}"${guess ? `; nearest: "${cleanLine(guess, { maxChars: 100 })}"` : ""}.`,
    );
    return { ...plan, lineCount: lineCount(text) };
  }
  const { text: part } = found.kind === "found" ? found : found.first;
  return { ...plan, text: part, lineCount: lineCount(text) };
}

/** Without a section: the start of a plan says what it is about. Its tasks are listed separately. */
function planStart(text: string): string {
  // The title is already shown as the story's.
  const start = text.slice(0, PLAN_START_CHARS).replace(/^\s*# .*\n?/, "");
  const tasks = start.search(/^#{1,6} +Task +#?\d/im);
  return tasks >= 0 ? start.slice(0, tasks) : start;
}

const PLAN_START_CHARS = 4000;

function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

// Reads a plan or a template: a file of the project, up to a size limit. Loaded by the hook.

const MOST_BYTES = 4_000_000;

/**
 * Reads a file of the project for a packet. A project template replaces Haversack's own instructions, so it counts only in the
 * version that the user accepted; any other version is ignored.
 */
export function readForPacket(root: string, path: string, userState: string | undefined): string | undefined {
  const folder = `${root}/${STATE_FOLDER}/templates/`;
  if (!path.startsWith(folder)) return readProjectText(path, { root, maxBytes: MOST_BYTES, mayLinkInside: true })?.text;
  const text = readProjectText(path, { root, maxBytes: MAX_TEMPLATE_BYTES })?.text;
  if (text === undefined) return undefined;
  const accepted = trustRecord(`${root}/${STATE_FOLDER}`, userState)?.templates ?? {};
  const role = path.slice(folder.length, -".md".length);
  return Object.hasOwn(accepted, role) && accepted[role] === text ? text : undefined;
}
