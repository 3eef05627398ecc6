/** Messages between agents: cleaned before they are stored, read in pages, and what handoffs call out to others. */
import type { SentMessage } from "../../store/work-store.ts";
import { type Agent, type Message, mentionsIn } from "../../wake/message.ts";
import { checkWhole, invalid } from "../../work/check-value.ts";
import { cleanText } from "../../work/clean-input.ts";
import { tokensOf } from "../../work/fit-list.ts";
import type { Handoff } from "../../work/handoff.ts";
import { present } from "../../work/task-view.ts";
import { given, type WorkParts } from "../work/work-parts.ts";
import { requireAsking } from "./agents.ts";

const TEXT_MAX_CHARS = 20_000;

export interface SendMessageInput {
  /** Names, with or without @. */
  to: readonly string[];
  /** Whoever it names with an @ gets it too. */
  text: string;
  /** The id of the task, story or handoff that it is about. */
  subject?: string | undefined;
  /** The sender's. */
  branch?: string | undefined;
  /** Only to `to`, whoever else the text names. Default: false. */
  isPrivate?: boolean | undefined;
}

/** To nobody when one of them is unknown. */
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

export interface InboxInput {
  /** Default: whoever asks. */
  agent?: string | undefined;
  branch?: string | undefined;
  includeRead?: boolean | undefined;
  /** Default: 20. */
  limit?: number | undefined;
  /** Default: no limit. */
  maxTokens?: number | undefined;
  /** Show them again the next time. Default: what is shown is read. */
  keepUnread?: boolean | undefined;
}

export interface Inbox {
  agent: Agent;
  messages: Message[];
  views: object[];
  total: number;
  /** Behind the last one shown. */
  leftOut: number;
}

/** Unread ones, oldest first, or all of them, newest first. */
export async function readInbox(
  { agent: name, branch, includeRead = false, limit, maxTokens, keepUnread = false }: InboxInput,
  parts: WorkParts,
): Promise<Inbox> {
  const { store, by } = parts;
  const most = checkWhole(limit, { field: "limit", fallback: 20 });
  const room = maxTokens === undefined ? Number.POSITIVE_INFINITY : checkWhole(maxTokens, ROOM);
  const agent = await requireAsking({ agent: name, branch }, parts);
  const at = { ...given({ branch: agent.branch }) };
  const { items, total } = await store.inbox({ agent: agent.name, ...at, includeRead, limit: most });
  const messages = firstThatFit(items, room);
  const unread = messages.filter(({ readAt }) => readAt === undefined).map(({ id }) => id);
  if (!keepUnread && unread.length > 0) await store.markRead({ name: agent.name, ...at, ids: unread }, by.at);
  return { agent, messages, views: messages.map(viewMessage), total, leftOut: total - messages.length };
}

const ROOM = { field: "max_tokens", fallback: 0 };

/** Never none: a message that no room was enough for would stay unread for ever. */
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
 * Whoever the summary of a handoff names with an @ gets it as a message. Says who. The same handoff again tells nobody: its
 * time is that of the first.
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
