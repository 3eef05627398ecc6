/**
 * What a continuing session is told. After a compaction: the work that this window had in hand. After a resume or fork: only what
 * changed meanwhile, because its window still has the rest. A fork is also told who holds its tasks now. A separate chunk of the hook.
 */

import { gitPlace, workPlace } from "../../base/project-root.ts";
import { sizeFor } from "../../skills/showing/activation.ts";
import { readStore } from "../../store/sqlite/access.ts";
import type { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import type { Session, TouchedSession } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { noteInjection } from "../../store/sqlite/skills/injections.ts";
import type { SkillLedger, WindowEntry } from "../../store/sqlite/skills/skill-ledger.ts";
import {
  type Holder,
  hasLapsed,
  moveClaims,
  otherHolders,
  regain,
  takeBack,
} from "../../store/sqlite/work/events/session-claims.ts";
import { type SessionTasks, taskWip } from "../../store/sqlite/work/events/session-tasks.ts";
import { readNews } from "../../store/sqlite/work/events/wake-state.ts";
import { formatEvent } from "../../wake/packet-pieces.ts";
import { cutLine } from "../../wake/text.ts";
import { sessionName } from "../../work/agent-name.ts";
import type { Wip } from "../../work/wip/wip.ts";
import type { NotedSession, SessionAnswer, StartedSession } from "../events/start-session.ts";
import type { WakeRequest } from "./gather-wake.ts";
import { runningBeside, type SessionWakeParts, showPacket } from "./make-packet.ts";
import { deliverMessages } from "./messages.ts";
import { roleOfAgent } from "./wake-sub-agent.ts";

export function wakeAgain(
  event: StartedSession,
  { before, session }: NotedSession,
  given: SessionWakeParts,
  stores: CompactionStores,
): SessionAnswer {
  const parts = { isRunning: runningBeside(given), ...given };
  const { source, sessionId } = event;
  if (source === "compact") {
    if (!before) return { problems: [] };
    // The compacted window may have been quiet for longer than its lease.
    if (hasLapsed(parts.handle, event)) regain(parts.handle, event, { leaseMs: parts.leaseMs(), at: parts.now });
    return afterCompaction(event, { before, session }, parts, stores);
  }
  const told = source === "fork" ? ownFork(event, parts) : "";
  const regained =
    source === "resume" ? takeBack(parts.handle, { sessionId }, { leaseMs: parts.leaseMs(), at: parts.now }) : [];
  return newsOf(event, before, { ...parts, regained }, told);
}

// A fork takes over the tasks of its original session once that has ended. While the original runs, it keeps them: two
// sessions on one task would undo each other's work. Loaded by the hook.

type ForkParts = Pick<SessionWakeParts, "handle" | "name" | "process" | "isRunning" | "leaseMs" | "now">;

/** One line for the fork, or "" if its original holds nothing or is not known. */
export function ownFork(
  { sessionId, client, cwd, forkedFrom }: StartedSession,
  { handle, name, process, isRunning, leaseMs, now: at }: ForkParts,
): string {
  const holders = otherHolders(handle, { client: client.name, sessionId });
  if (holders.length === 0) return "";
  const isSameProcess = (holder: Holder) =>
    process !== undefined && holder.process?.id === process.id && holder.process.space === process.space;
  const isAlone = !MANY_SESSIONS.includes(client.name);
  const id = forkedFrom?.(holders.map((holder) => holder.sessionId));
  // A process with one session at a time has left the session that it forked from.
  const origin = holders.find((holder) =>
    id === undefined ? isAlone && isSameProcess(holder) : holder.sessionId === id,
  );
  if (!origin) return "";
  const tasks = origin.tasks
    .slice(0, MOST_TASKS)
    .map(({ id: task, title }) => `${task} "${cutLine(title, 100)}"`)
    .join(", ");
  const isGone = isSameProcess(origin) ? isAlone : origin.process && isRunning?.(origin.process) === false;
  if (!origin.isEnded && !isGone) {
    return `From Haversack: the session this one was forked from, @${cutLine(origin.agent, 60)}, is still open and holds ${tasks}.`;
  }
  const from = { sessionId: origin.sessionId, name: sessionName(client.name, origin) };
  const to = { sessionId, name: name || sessionName(client.name, { sessionId }) };
  moveClaims(handle, { from, to, place: { ...workPlace(cwd), client: client.name }, leaseMs: leaseMs(), at });
  return `From Haversack: this session was forked from one that is over, and now holds its tasks: ${tasks}.`;
}

/** Clients that can have several sessions open in one process. */
const MANY_SESSIONS = ["opencode"];

const MOST_TASKS = 5;

// The first text in a window after a compaction. Nothing comes twice: the client itself restores skills loaded by its own
// tool, and text given with the current prompt survives if the compaction came before its first answer. Loaded by the hook.

export interface CompactionStores {
  ledger: SkillLedger;
  state: SessionState;
  tasks: SessionTasks;
}

export function afterCompaction(
  event: StartedSession,
  { before, session }: Required<TouchedSession>,
  parts: SessionWakeParts,
  { ledger, state, tasks }: CompactionStores,
): SessionAnswer {
  const { index, handle, now: at } = parts;
  const { sessionId, agentId, agentType = "", client, promptId } = event;
  const key = { sessionId, agentId };
  const bound = tasks.taskOf(key);
  const wip = bound ? undefined : state.wip(key);
  const workedAt = bound ? readStore(handle, (db) => taskWip(db, bound.seq)?.updatedAt) : wip?.updatedAt;

  const entries = ledger.window({ ...key, window: before.window });
  // After work since the last prompt, the compaction came mid-turn, and the text given with that prompt is gone.
  const hasWorked =
    workedAt !== undefined && before.lastPromptAt !== undefined && Date.parse(workedAt) > before.lastPromptAt.getTime();
  const isAtPrompt = promptId !== undefined && promptId === ledger.lastPromptId(key) && !hasWorked;
  const kept = KEPT_FILES[client.name];
  const areFilesKept = kept !== undefined && ledger.tracking(key).files.length <= kept.files;
  const isKeptFile = (hash: string | null) => areFilesKept && (index.body(hash ?? "")?.length ?? 0) <= kept.maxChars;
  const isCarried = ({ shownAtPrompt, loadedHash, loadedBy }: WindowEntry) =>
    loadedBy === "client" ||
    (loadedBy === "read" && isKeptFile(loadedHash)) ||
    (isAtPrompt && shownAtPrompt === before.promptCount);
  const carried = entries.filter(isCarried);

  const role = agentId ? roleOfAgent(agentType, parts) : undefined;
  const { branch } = agentId ? {} : gitPlace(event.cwd);
  const request: WakeRequest = {
    key: {
      ...key,
      client: client.name,
      ...(role !== undefined && { role }),
      ...(branch !== undefined && { branch }),
      heardSince: before.startedAt,
    },
    reason: "compact",
    client,
    ...(wip && { sessionWip: { wip: wip.data as Wip, updatedAt: new Date(wip.updatedAt) } }),
    active: entries.flatMap((entry) =>
      entry.loadedHash && !carried.includes(entry) ? [{ skill: entry.skill, hash: entry.loadedHash }] : [],
    ),
    isCarried: (id) => carried.some(({ skill, loadedHash }) => skill === id && loadedHash !== null),
  };
  return showPacket(request, parts, { ...key, at, event: "compaction", carried, session });
}

/**
 * Clients that restore files after a compaction. Claude Code 2.1.325 restores five: one of 18,000 characters came back, one of
 * 22,000 did not. If there are more, we cannot predict which five; a skill shown twice is better than one that is lost.
 */
const KEPT_FILES: Readonly<Record<string, { files: number; maxChars: number }>> = {
  "claude-code": { files: 5, maxChars: 15_000 },
};

// What a resumed session does not know yet: changes of its tasks by others, and its messages. Loaded by the hook.

export function newsOf(
  { sessionId, client, source }: StartedSession,
  before: Session | undefined,
  { handle, name, now: at, regained }: SessionWakeParts & { regained: readonly { id: string; title: string }[] },
  /** A text to put before the news. */
  first = "",
): SessionAnswer {
  const holder = name || sessionName(client.name, { sessionId });
  const { activity, lost } = before
    ? readNews(handle, { sessionId, holder, since: before.lastSeenAt })
    : { activity: [], lost: [] };
  const isBack = (id: string | undefined) => regained.some((task) => task.id === id);
  // The task's own line already says that the claim expired and was regained just now.
  const told = activity.filter((event) => !isBack(event.subject) || (event.kind !== "claim-expired" && event.at < at));
  const lines = [
    ...regained.map(({ id, title }) => `${id} "${cutLine(title, 100)}" is yours again: its claim had expired.`),
    ...told.toReversed().map((event) => formatEvent(event, at)),
    ...lost.map(
      ({ id, title, status, agent }) =>
        `You no longer hold ${id} "${cutLine(title, 100)}" (${agent ? `@${cutLine(agent, 60)}, ` : ""}${status}). Claim it again before you go on with it.`,
    ),
  ];
  const head = told.length + lost.length > 0 ? HEAD : `${RESUMES}.`;
  const news = [...(first ? [first] : []), ...(lines.length > 0 ? [head, ...lines] : [])].join("\n");
  const room = { maxChars: client.maxChars - sizeFor(client, news) - 2, sizeOf: client.sizeOf };
  const delivery = { sessionId, ...room, isMentionOnly: false, event: source };
  const messages = deliverMessages(delivery, { handle, now: at });
  if (news) {
    const tasks = [...lost.map(({ id }) => id), ...activity.flatMap(({ subject }) => subject ?? [])];
    const since = (before?.lastSeenAt ?? at).toISOString();
    const because = { kind: "news" as const, since, tasks: [...new Set(tasks)] };
    noteInjection(handle, { sessionId }, { at, event: source, format: "news", text: news, because });
  }
  const context = [news, messages].filter(Boolean).join("\n\n");
  return { problems: [], ...(context && { context }) };
}

const RESUMES = "From Haversack, as this session resumes";
const HEAD = `${RESUMES}: what others did to its tasks meanwhile; times are UTC.`;
