/** Messages between agents: cleaned before they are stored and read in pages. Also notifies agents mentioned in handoffs. */

import { stripControl } from "../../base/clean-text.ts";
import { type ClientProfile, cutFor, sizeFor } from "../../skills/showing/activation.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { showUnread, type Waiting } from "../../store/sqlite/work/events/running-session.ts";
import type { SentMessage } from "../../store/work-store.ts";
import { clock } from "../../wake/packet-pieces.ts";
import { type Agent, cutLine, cutText, type Message, mentionsIn, speakerOf } from "../../wake/text.ts";
import { checkWhole, cleanText, invalid } from "../../work/clean-input.ts";
import { tokensOf } from "../../work/fit-list.ts";
import type { Handoff } from "../../work/handoff.ts";
import { present } from "../../work/task-view.ts";
import type { InboxRequest } from "../library-types.ts";
import { given, type WorkParts } from "../work/work-parts.ts";
import { requireAsking } from "./agents.ts";

const TEXT_MAX_CHARS = 20_000;

export interface SendMessageInput {
  /** Names, with or without @. */
  to: readonly string[];
  /** Agents mentioned with @ get it too. */
  text: string;
  /** The id of the task, story or handoff that it is about. */
  subject?: string | undefined;
  /** The sender's branch. */
  branch?: string | undefined;
  /** Send only to `to`, even if the text mentions others. Default: false. */
  isPrivate?: boolean | undefined;
}

/** Sends to nobody if one of them is unknown. */
export async function sendMessage(
  { to, text, subject, branch, isPrivate = false }: SendMessageInput,
  { store, by }: WorkParts,
): Promise<SentMessage & { text: string }> {
  const clean = cleanMessage(text);
  const about = subject === undefined ? undefined : (await store.findId(subject)).id;
  const mentions = isPrivate ? [] : mentionsIn(clean);
  const sent = await store.sendMessage({ to, mentions, text: clean, ...given({ subject: about, branch }) }, by);
  return { ...sent, text: clean };
}

export function cleanMessage(text: string): string {
  const instead = "put the rest into a file or a task, and name it";
  const clean = cleanText(text, { field: "text", maxChars: TEXT_MAX_CHARS, instead });
  if (clean === undefined) throw invalid("text must not be empty");
  return clean;
}

/** `agent`: by default the asker. */
export interface InboxInput extends InboxRequest {
  branch?: string | undefined;
  /** Default: no limit. */
  maxTokens?: number | undefined;
}

export interface Inbox {
  agent: Agent;
  messages: Message[];
  views: object[];
  total: number;
  /** How many come after the last one shown. */
  leftOut: number;
}

/** Unread messages, oldest first, or all messages, newest first. */
export async function readInbox(
  { agent: name, branch, includeRead = false, limit, maxTokens, keepUnread = false }: InboxInput,
  parts: WorkParts,
): Promise<Inbox> {
  const { store, by } = parts;
  const most = checkWhole(limit, { field: "limit", fallback: 20 });
  const room = maxTokens === undefined ? Number.POSITIVE_INFINITY : checkWhole(maxTokens, ROOM);
  const agent = await requireAsking({ agent: name, branch }, parts);
  const at = given({ branch: agent.branch });
  const { items, total } = await store.inbox({ agent: agent.name, ...at, includeRead, limit: most });
  const messages = firstThatFit(items, room);
  const unread = messages.filter(({ readAt }) => readAt === undefined).map(({ id }) => id);
  if (!keepUnread && unread.length > 0) await store.markRead({ name: agent.name, ...at, ids: unread }, by.at);
  return { agent, messages, views: messages.map(viewMessage), total, leftOut: total - messages.length };
}

const ROOM = { field: "max_tokens", fallback: 0 };

/** At least one: a message too long for any budget would otherwise stay unread forever. */
function firstThatFit(messages: readonly Message[], room: number): Message[] {
  let left = room;
  const end = messages.findIndex((message) => {
    left -= tokensOf(viewMessage(message));
    return left < 0;
  });
  return messages.slice(0, end < 0 ? messages.length : Math.max(1, end));
}

export function viewMessage({ id, from, isPerson, text, subject, at, readAt }: Message): object {
  return present({ id, from, from_user: isPerson, at, about: subject, text, read_at: readAt });
}

/**
 * Sends a handoff's summary to the agents it mentions with @, and returns their names. Storing the same handoff again notifies
 * nobody: it keeps the time of the first.
 */
export async function tellMentioned(
  { taskId, role, status, summary, createdAt }: Handoff,
  { store, by }: WorkParts,
): Promise<string[]> {
  if (createdAt.getTime() !== by.at.getTime()) return [];
  const named = mentionsIn(summary);
  if (named.length === 0) return [];
  const known = new Set((await store.listAgents()).map(({ name }) => name.toLowerCase()));
  const sender = by.name.toLowerCase();
  const mentions = named.filter((name) => known.has(name.toLowerCase()) && name.toLowerCase() !== sender);
  if (mentions.length === 0) return [];
  const text = `${status} as ${role}: ${summary}`;
  return (await store.sendMessage({ to: [], mentions, text, subject: taskId }, by)).to;
}

// Unread messages for the agent of a running session, as text: oldest first, as many whole ones as fit. Each reaches the
// session once; the rest waits for the next event. Loaded by the hook.

export interface Delivery {
  sessionId: string;
  maxChars: number;
  /** For a client that does not count in characters. */
  sizeOf?: ClientProfile["sizeOf"];
  isMentionOnly: boolean;
  /** The event it is delivered with, for the record. */
  event: string;
}

/** Do not start a message with less room than this. */
const LEAST_CHARS = 300;
/** Room for the line that says how many more are waiting. */
const REST_CHARS = 80;

export function deliverMessages(
  { sessionId, isMentionOnly, event, ...room }: Delivery,
  { handle, now }: { handle: StoreHandle; now: Date },
): string {
  if (room.maxChars < LEAST_CHARS) return "";
  return showUnread(handle, { sessionId, isMentionOnly, event, at: now }, (waiting) =>
    formatMessages(waiting, { ...room, now }),
  );
}

function formatMessages(
  { messages, total, newCount }: Waiting,
  { maxChars, now, ...client }: Pick<Delivery, "maxChars" | "sizeOf"> & { now: Date },
): { text: string; shown: number } {
  const [first] = messages;
  if (!first) return { text: "", shown: 0 };
  const to = [...new Set(messages.map((message) => message.to))];
  const whom = to.map((name) => `@${cutLine(name, 64)}`).join(", ");
  const parts = [`From Haversack: ${whatWaits(total, newCount)} for ${whom}; times are UTC.`];
  const cut = (text: string, most: number) =>
    client.sizeOf ? `${cutFor(client, cutText(text, most), most - 4)} …` : cutText(text, most);
  let room = maxChars - sizeFor(client, parts[0]!) - REST_CHARS;
  let shown = 0;
  for (const message of messages) {
    const about = message.subject ? ` on ${cutLine(message.subject, 64)}` : "";
    // Starts a line. The lines of a message are indented, so no agent can fake the user's mark at the start of a line.
    const who = speakerOf({ from: cutLine(message.from, 64), isPerson: message.isPerson === true });
    const head = `- ${clock(message.at, now)} ${who}${about}: `;
    const text = stripControl(message.text).trim().replaceAll("\n", "\n  ");
    const how = ` (cut: \`haversack agent inbox ${cutLine(message.to, 64)} --all\` has the rest)`;
    const whole = head + text;
    // The first message is shown even if it must be cut: it would never fit in any other answer either.
    const fitting =
      sizeFor(client, whole) + 1 <= room
        ? whole
        : shown === 0
          ? head + cut(text, room - sizeFor(client, head + how) - 1) + how
          : "";
    if (!fitting) break;
    parts.push(fitting);
    room -= sizeFor(client, fitting) + 1;
    shown++;
  }
  if (shown < total) parts.push(`${total - shown} more wait and come with the next event.`);
  return { text: parts.join("\n"), shown };
}

/** A message that was left out of a packet is not counted as new. */
function whatWaits(total: number, newCount: number): string {
  if (newCount === total) return total === 1 ? "a new message" : "new messages";
  const all = total === 1 ? "an unread message" : `${total} unread messages`;
  return newCount > 0 ? `${all} (${newCount} new)` : all;
}
