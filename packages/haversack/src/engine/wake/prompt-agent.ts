/**
 * A message that wakes an agent. The message is stored first. Then the agent's session is resumed, or a new one started, with the
 * packet as its prompt. This file only decides; the surface starts the client. A running session is left alone: two processes
 * on one session would overwrite each other, and hooks deliver the message at its next event.
 */

import { isFolder } from "../../base/project-root.ts";
import { type ClientProcess, type Session, SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { processOfSession } from "../../store/sqlite/work/events/session-claims.ts";
import type { Actor } from "../../store/work-store.ts";
import type { WakeMessage } from "../../wake/state.ts";
import type { Agent } from "../../wake/text.ts";
import { invalid } from "../../work/clean-input.ts";
import { given } from "../work/work-parts.ts";
import { cleanMessage, sendMessage } from "./messages.ts";
import { type WakeAgentInput, type WakeAgentParts, type Woken, wakeAgent } from "./wake-agent.ts";

export interface PromptInput extends Pick<WakeAgentInput, "branch" | "client" | "budgetTokens"> {
  agent: string;
  text: string;
  /** Start a new session even if one could be resumed. Default: false. */
  isNew?: boolean | undefined;
}

export interface PromptParts extends WakeAgentParts {
  isAlive(process: ClientProcess): boolean | undefined;
}

export interface ReadyAgent {
  kind: "ready";
  agent: Agent;
  woken: Woken;
  /** The session to resume. Absent: start a new one. */
  resume?: string;
  /** The folder in which the client runs. */
  cwd: string;
}

export interface RunningAgent {
  kind: "running";
  agent: Agent;
  text: string;
}

/** Only makes the packet: stores nothing and wakes nobody. */
export async function previewPrompt({ text, ...input }: PromptInput, parts: WakeAgentParts): Promise<Woken> {
  const agent = await parts.store.getAgent({ name: input.agent, ...given({ branch: input.branch }) });
  const message = { id: "preview", ...senderOf(parts.by), text: cleanMessage(text), isMention: true };
  return wokenWith(message, { ...input, agent }, parts);
}

/** Stores the message and returns what to start. */
export async function promptAgent(
  { text, ...input }: PromptInput,
  parts: PromptParts,
): Promise<ReadyAgent | RunningAgent> {
  const agent = await parts.store.getAgent({ name: input.agent, ...given({ branch: input.branch }) });
  const { branch = input.branch } = agent;
  // Private, because a prompt may quote mentions in other texts ("Message from @june: …").
  const sent = await sendMessage({ to: [agent.name], text, branch, isPrivate: true }, parts);
  return readyAgent({ id: sent.id, text: sent.text }, { ...input, agent }, parts);
}

/** For a message that is stored already. */
export async function readyAgent(
  { id, text }: { id: string; text: string },
  input: Omit<PromptInput, "text" | "agent"> & { agent: Agent },
  parts: PromptParts,
): Promise<ReadyAgent | RunningAgent> {
  const { agent, isNew = false } = input;
  const { handle, by, paths } = parts;
  const { sessionId } = agent;
  const session = sessionId === undefined ? undefined : new SqliteLocalStore(handle).getSession({ sessionId });
  const running = session && whyRunning(session, parts);
  if (running) return { kind: "running", agent, text: `@${agent.name} is at work (${running})` };
  const message = { id, ...senderOf(by), text, isMention: true };
  const client = input.client ?? agent.client;
  // A session belongs to one client; another client cannot resume it.
  const isItsOwn = session !== undefined && (client === undefined || session.client === client);
  const resume = isNew || !isItsOwn ? undefined : agent.sessionId;
  const woken = await wokenWith(message, { ...input, isResumed: resume !== undefined }, parts);
  const folders = [session?.cwd, agent.worktree, paths.root];
  const cwd = folders.find((folder) => folder !== undefined && isFolder(folder)) ?? paths.root;
  return { kind: "ready", agent, woken, ...given({ resume }), cwd };
}

function senderOf({ name, isPerson, at }: Actor): Pick<WakeMessage, "from" | "isPerson" | "at"> {
  return { from: name, at, ...(isPerson && { isPerson }) };
}

/** The client has received the packet: marks the messages that were shown in full as read. */
export async function notePrompted({ agent, woken }: ReadyAgent, { store }: WakeAgentParts, at: Date): Promise<void> {
  const ids = woken.packet.messages;
  if (ids.length > 0) await store.markRead({ name: agent.name, ...given({ branch: agent.branch }), ids }, at);
}

async function wokenWith(
  newMessage: WakeMessage,
  { agent, ...options }: { agent: Agent } & Pick<WakeAgentInput, "client" | "budgetTokens" | "isResumed">,
  parts: WakeAgentParts,
): Promise<Woken> {
  const { client, budgetTokens, isResumed } = options;
  const { name, branch } = agent;
  const input = { agent: name, branch, client, budgetTokens, isResumed, newMessage, reason: "message" } as const;
  const woken = await wakeAgent(input, parts);
  // There is a message, so the packet is empty only if the budget is too small.
  if (woken.kind === "nothing") throw invalid(woken.text);
  return woken;
}

/** If no process is known, a session with an event this recent may still be working. */
const QUIET_MS = 60_000;

function whyRunning({ sessionId, endedAt, lastSeenAt }: Session, { handle, by: { at }, isAlive }: PromptParts) {
  if (endedAt) return undefined;
  const process = processOfSession(handle, sessionId);
  const alive = process && isAlive(process);
  if (alive !== undefined) return alive ? `process ${process?.id}` : undefined;
  const quietMs = at.getTime() - lastSeenAt.getTime();
  return quietMs < QUIET_MS ? `seen ${Math.max(0, Math.round(quietMs / 1000))} s ago` : undefined;
}
