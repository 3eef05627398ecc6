/**
 * What a session hears that goes on: after a compaction what this window had in hand; when it is resumed or forked only what
 * changed meanwhile, because its window still has the rest. A fork also hears whose its tasks are now. Loaded by the hook, apart from what new sessions need.
 */

import { gitPlace, workPlace } from "../../base/git-place.ts";
import { sizeFor } from "../../skills/showing/activation.ts";
import type { Session, TouchedSession } from "../../store/local-store.ts";
import { readStore, writeEvent } from "../../store/sqlite/access.ts";
import type { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { recordInjection } from "../../store/sqlite/skills/injections.ts";
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
import { formatEvent } from "../../wake/talk-pieces.ts";
import { cutLine } from "../../wake/text.ts";
import { sessionName } from "../../work/agent-name.ts";
import type { Wip } from "../../work/wip/wip.ts";
import type { NotedSession, SessionAnswer, StartedSession } from "../events/start-session.ts";
import type { WakeRequest } from "./gather-wake.ts";
import { showPacket } from "./make-packet.ts";
import { deliverMessages } from "./messages.ts";
import { runningBeside, type SessionWakeParts } from "./wake-session.ts";
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
    // The window that is compacted may have been quiet for longer than its lease.
    if (hasLapsed(parts.handle, event)) regain(parts.handle, event, { leaseMs: parts.leaseMs(), at: parts.now });
    return afterCompaction(event, { before, session }, parts, stores);
  }
  const told = source === "fork" ? ownFork(event, parts) : "";
  const regained =
    source === "resume" ? takeBack(parts.handle, { sessionId }, { leaseMs: parts.leaseMs(), at: parts.now }) : [];
  return newsOf(event, before, { ...parts, regained }, told);
}

// A fork goes on with what the session held that it was forked from, once that one is over. While it runs, the tasks
// stay where they are: two sessions on one task would undo each other's work. Loaded by the hook.

type ForkParts = Pick<SessionWakeParts, "handle" | "name" | "process" | "isRunning" | "leaseMs" | "now">;

/** What the fork is told: one line, or "" where its origin holds nothing or is not known. */
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
  // A process with one session at a time has left the one that it is forked from.
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

/** Clients whose process has several sessions open. */
const MANY_SESSIONS = ["opencode"];

const MOST_TASKS = 5;

// The first thing a window hears after a compaction. Nothing comes twice: a skill that the client's own tool loaded
// is brought back by the client, and what the prompt at hand was given survives when the compaction came before its
// first answer. Loaded by the hook.

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
  const isAtPrompt =
    promptId !== undefined && promptId === ledger.lastPromptId(key) && !hasWorkedSince(before, workedAt);
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
 * Clients that bring files back that were read. Claude Code 2.1.325: five, of which one of 18,000 characters came and one of
 * 22,000 did not; which five of more cannot be foretold, and a skill that comes twice is better than one that is lost.
 */
const KEPT_FILES: Readonly<Record<string, { files: number; maxChars: number }>> = {
  "claude-code": { files: 5, maxChars: 15_000 },
};

/** Work after the last prompt: then the compaction came in the middle of a turn, and what that prompt was given is gone. */
function hasWorkedSince({ lastPromptAt }: Session, updatedAt: string | undefined): boolean {
  return updatedAt !== undefined && lastPromptAt !== undefined && Date.parse(updatedAt) > lastPromptAt.getTime();
}

// What a resumed session has not heard yet: what others did to its tasks, and its messages. Loaded by the hook.

export function newsOf(
  { sessionId, client, source }: StartedSession,
  before: Session | undefined,
  { handle, name, now: at, regained }: SessionWakeParts & { regained: readonly { id: string; title: string }[] },
  /** What comes before it. */
  first = "",
): SessionAnswer {
  const holder = name || sessionName(client.name, { sessionId });
  const { activity, lost } = before
    ? readNews(handle, { sessionId, holder, since: before.lastSeenAt })
    : { activity: [], lost: [] };
  const isBack = (id: string | undefined) => regained.some((task) => task.id === id);
  // That it expired, and that it was taken back in this moment, is said in the line on the task.
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
  const room = {
    maxChars: client.maxChars - sizeFor(client, news) - 2,
    sizeOf: client.sizeOf,
    isMentionOnly: false,
    event: source,
  };
  const messages = deliverMessages({ sessionId, ...room }, { handle, now: at });
  if (news) {
    const tasks = [...lost.map(({ id }) => id), ...activity.flatMap(({ subject }) => subject ?? [])];
    const because = {
      kind: "news" as const,
      since: before?.lastSeenAt.toISOString() ?? at.toISOString(),
      tasks: [...new Set(tasks)],
    };
    writeEvent(handle, "injection", recordInjection, {
      sessionId,
      at,
      event: source,
      format: "news",
      text: news,
      because,
    });
  }
  const context = [news, messages].filter(Boolean).join("\n\n");
  return { problems: [], ...(context && { context }) };
}

const RESUMES = "From Haversack, as this session resumes";
const HEAD = `${RESUMES}: what others did to its tasks meanwhile; times are UTC.`;
