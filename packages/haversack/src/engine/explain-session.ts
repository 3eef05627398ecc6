/** The texts that were added to the windows of a session, newest first, with the reasons. For `why`. */
import { gitPlace } from "../base/project-root.ts";
import type { StoreHandle } from "../store/sqlite/access.ts";
import { type Session, SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import {
  type Because,
  type Injection,
  latestInjected,
  type PacketFacts,
  readInjections,
} from "../store/sqlite/skills/injections.ts";
import type { WorkStore } from "../store/work-store.ts";

export interface ExplainSessionInput {
  /** Default: the session that was last seen in the work tree of `cwd`, else in the project. */
  sessionId?: string | undefined;
  /** Only this sub-agent. Default: the main agent and all sub-agents. */
  agentId?: string | undefined;
  limit: number;
  cwd: string;
}

export interface ExplainedSession {
  sessionId: string;
  /** Absent: no event of the session was seen, only what was shown to it. */
  session?: Session;
  entries: (Injection & Explained)[];
  total: number;
  /** How many of `total` have a text; the others were answered with silence. */
  shown: number;
  tokens: number;
}

/** Undefined: no such session, or none at all. */
export async function explainSession(
  { sessionId: wanted, agentId, limit, cwd }: ExplainSessionInput,
  { handle, store }: { handle: StoreHandle; store: Pick<WorkStore, "listActivity"> },
): Promise<ExplainedSession | undefined> {
  const sessions = new SqliteLocalStore(handle);
  const sessionId = wanted ?? latestIn(cwd, sessions)?.sessionId ?? latestInjected(handle);
  if (sessionId === undefined) return undefined;
  const session = sessions.getSession({ sessionId });
  const { injections, total, shown, tokens } = readInjections(handle, { sessionId, agentId, limit });
  if (!session && total === 0) return undefined;
  const claims = await claimsOf(injections, store);
  const claimedAt: ExplainOptions["claimedAt"] = (taskId, { agent, before }) =>
    claims.find((claim) => claim.taskId === taskId && claim.agent === agent && claim.at <= before)?.at;
  const entries = injections.map((injection) => ({ ...injection, ...explainInjection(injection, { claimedAt }) }));
  return { sessionId, ...(session && { session }), entries, total, shown, tokens };
}

/** Sub-agents have their own rows, so one session can fill many. */
const MOST_ROWS = 2_000;

function latestIn(cwd: string, sessions: SqliteLocalStore): Session | undefined {
  const main = sessions.listSessions({ limit: MOST_ROWS }).filter(({ agentId }) => agentId === "");
  const place = gitPlace(cwd).worktree ?? cwd;
  return (
    main.find((session) => session.cwd !== "" && (gitPlace(session.cwd).worktree ?? session.cwd) === place) ?? main[0]
  );
}

/** When the tasks of these packets were claimed, newest first. */
async function claimsOf(
  injections: readonly Injection[],
  store: Pick<WorkStore, "listActivity">,
): Promise<{ taskId: string; agent: string; at: string }[]> {
  const ids = injections.flatMap(({ because }) =>
    because?.kind === "packet" && because.task?.holder ? because.task.id : [],
  );
  const pages = [...new Set(ids)].map(async (taskId) => {
    const { activity } = await store.listActivity({ subject: taskId, kind: "task-claimed", limit: 50 });
    return activity.map(({ actor, at }) => ({ taskId, agent: actor, at: at.toISOString() }));
  });
  return (await Promise.all(pages)).flat();
}

// Explains in words why a text was put into a window, from the facts recorded with it.

export interface ExplainedPart {
  /** `task`, `skill tdd`, `messages`. */
  part: string;
  because: string;
  tokens?: number;
  /** Only part of it fitted. */
  isCut?: boolean;
}

export interface Explained {
  /** What it was, in a few words: `packet after a compaction`. */
  what: string;
  parts: ExplainedPart[];
  leftOut: readonly { what: string; count: number }[];
}

export interface ExplainOptions {
  /** When the holder claimed the task, at the latest at `before`. Undefined: not known. */
  claimedAt?(taskId: string, claim: { agent: string; before: string }): string | undefined;
}

export function explainInjection(injection: Injection, options: ExplainOptions = {}): Explained {
  const { because } = injection;
  const what = titleOf(injection);
  if (because?.kind !== "packet") return { what, parts: because ? otherParts(because) : [], leftOut: [] };
  return { what, parts: packetParts(because, injection, options), leftOut: because.leftOut ?? [] };
}

function titleOf({ event, format, because }: Injection): string {
  const when = WHEN[event] ?? `at ${event}`;
  switch (because?.kind ?? format) {
    case "prompt":
      return "prompt";
    case "packet":
    case "restored":
      return `packet ${when}`;
    case "messages":
      return `messages ${when}`;
    case "news":
      return `news ${when}`;
    case "left":
      return `left work ${when}`;
    case "guard":
      return format === "refusal" ? "edit refused" : "warning before an edit";
    case "notice":
      return "warning before an edit";
    case "documents":
      return format === "send-back" ? "sub-agent sent back" : "documents added to a sub-agent's prompt";
    case "handoff":
      return "handoff shown in place of a sub-agent's answer";
    case "output":
      return "preview shown in place of a tool's output";
    default:
      return event === "prompt" ? "prompt" : `${format} at ${event}`;
  }
}

const WHEN: Readonly<Record<string, string>> = {
  startup: "at the start of the session",
  clear: "after the window was cleared",
  compaction: "after a compaction",
  "agent-start": "for a sub-agent",
  resume: "as the session resumed",
  fork: "as the session was forked",
  UserPromptSubmit: "with a prompt",
  BeforeAgent: "with a prompt",
  PostToolUse: "after a tool call",
  PostToolUseFailure: "after a tool call",
  AfterTool: "after a tool call",
  Stop: "at the end of a turn",
};

function packetParts(facts: PacketFacts, { event, at }: Injection, { claimedAt }: ExplainOptions): ExplainedPart[] {
  const { skills = [] } = facts;
  const reasons = reasonsOf(facts, { event, since: (id, agent) => claimedAt?.(id, { agent, before: at }) });
  const shown = facts.parts.flatMap(({ key, form, chars }): ExplainedPart[] => {
    const isCut = form !== "full";
    const size = { ...(chars !== undefined && { tokens: Math.ceil(chars / 4) }), ...(isCut && { isCut }) };
    if (key.startsWith("skill:")) {
      const id = key.slice("skill:".length);
      const skill = skills.find((each) => each.id === id);
      return [{ part: `skill ${id}`, because: skill ? skillReason(skill) : "in use before", ...size }];
    }
    // Lines that only name skills. Skills whose text is included are explained there.
    if (key === "skill") {
      return skills
        .filter(({ id }) => !facts.parts.some((each) => each.key === `skill:${id}`))
        .map((skill) => ({ part: `skill ${skill.id}`, because: skillReason(skill) }));
    }
    return [{ part: key.replaceAll("_", " "), because: reasons[key] ?? "part of the template for its role", ...size }];
  });
  return shown.sort((a, b) => placeOf(a) - placeOf(b));
}

/** In the order that a reader expects, not by rank. */
const ORDER = ["identity", "missing", "skill", "plan", "tasks", "task", "wip", "handoffs", "messages", "activity"];

function placeOf({ part }: ExplainedPart): number {
  const at = ORDER.indexOf(part.startsWith("skill ") ? "skill" : part);
  return at < 0 ? ORDER.length : at;
}

function skillReason({ because, hasChanged, isCarried }: NonNullable<PacketFacts["skills"]>[number]): string {
  return [
    because,
    ...(hasChanged ? ["pinned to the version that the task was begun with"] : []),
    ...(isCarried ? ["named only: its text was in the window already"] : []),
  ].join("; ");
}

/** By placeholder of the template. */
function reasonsOf(
  { agent, task, leftBy, isCoordinating, alsoHolds = [], plan, handoffs = [], messages = [], wipAt }: PacketFacts,
  { event, since }: { event: string; since(taskId: string, holder: string): string | undefined },
): Readonly<Record<string, string>> {
  const taskReason = () => {
    if (!task) return "tasks of this project: it holds none";
    const name = `${task.id} "${task.title}"`;
    if (leftBy) return `${name}: left by @${leftBy.agent}, whose session ${LEFT[leftBy.because] ?? leftBy.because}`;
    if (event === "agent-start") return `${name}: the call that started the sub-agent names it`;
    const { holder } = task;
    const held = holder === undefined ? undefined : since(task.id, holder);
    if (holder !== undefined) return `${name}: held by @${holder}${held ? ` since ${held}` : ""}`;
    return `${name}: ${isCoordinating ? "in the last batch of tasks that it was given" : "it works on this task"}`;
  };
  const also = alsoHolds.length > 0 ? `; it also holds ${alsoHolds.join(", ")}` : "";
  const inTask = task ? ` of ${task.id}` : "";
  return {
    identity: `who it is: ${agent.name ? `@${agent.name}, ` : ""}role ${agent.role}`,
    task: taskReason(),
    tasks: `${task ? "where it stands: " : ""}${taskReason()}${also}`,
    plan: plan ? `the task comes from ${plan.file}${plan.section ? `, section "${plan.section}"` : ""}` : "the plan",
    wip: `work in progress ${task ? inTask.trim() : "of the session"}${wipAt ? `, last changed ${wipAt}` : ""}`,
    handoffs: handoffs.length > 0 ? `handed off: ${handoffs.join(", ")}` : "handoffs around the task",
    messages:
      messages.length > 0
        ? `unread, from ${[...new Set(messages.map(({ from }) => `@${from}`))].join(", ")}`
        : "told in an earlier window, or cut to fit and still unread",
    new_message: messages[0] ? `the message from @${messages[0].from} that woke it` : "the message that woke it",
    activity: `what happened lately${task ? " around the task" : ""}`,
    next_action: `follows from the state${inTask || " of the session"}`,
    missing: "should be there and is not",
  };
}

const LEFT: Readonly<Record<string, string>> = { ended: "has ended", gone: "was killed or lost" };

function otherParts(because: Exclude<Because, { kind: "packet" }>): ExplainedPart[] {
  switch (because.kind) {
    case "prompt":
      return [];
    case "messages":
      return because.messages.map(({ id, from, to, at, subject }) => ({
        part: `message ${id}`,
        because: `from @${from} to @${to}, sent ${at}${subject ? `, about ${subject}` : ""}`,
      }));
    case "news": {
      const changes = `changes by others since ${because.since} to ${because.tasks.join(", ")}`;
      const fork = "who holds the tasks of the session that it was forked from";
      return [{ part: "news", because: because.tasks.length > 0 ? changes : fork }];
    }
    case "left":
      return because.session === undefined
        ? because.tasks.map((id) => ({ part: id, because: "it was begun, is not finished, and nobody works on it" }))
        : [{ part: "edits", because: `session ${because.session} ended with edits that belong to no task` }];
    case "guard": {
      const asks = `a rule with "${because.enforcement}" asks for it before ${because.path} is edited`;
      return [{ part: `skill ${because.skill}`, because: `${asks}, and the window does not have it` }];
    }
    case "documents":
      return because.files.map((file) => ({ part: file, because: `the role ${because.role} has to read it` }));
    case "handoff": {
      const stored = `sub-agent ${because.agentId} stored it for ${because.taskId}`;
      return [{ part: `handoff ${because.handoff}`, because: `${stored}, and work.replace_results is on` }];
    }
    case "output": {
      const long = `it has ${because.chars} characters, and outputs.replace_over is on`;
      return [{ part: `output ${because.handle} of ${because.source}`, because: long }];
    }
  }
}
