/**
 * The one place where an event of a client is understood: what is recorded, and what the model is told. The cold hook, the MCP server and
 * the opencode plugin all come here. Everything is synchronous and short; whatever fails is thrown, and who called logs it
 * and answers nothing.
 */

import { processSpace } from "../../base/process-space.ts";
import { readHead } from "../../base/read-text.ts";
import { profileForAgent, sizeFor } from "../../skills/showing/activation.ts";
import { discoverSettings } from "../../skills/showing/session.ts";
import { endSession, readSessionTimes } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { Transcripts } from "../../store/sqlite/sessions/transcripts.ts";
import { agentOfCall, PromptLedger } from "../../store/sqlite/skills/prompt-ledger.ts";
import { PromptIndex, SkillCards } from "../../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import { mayHaveChanged } from "../../store/sqlite/work/events/git-states.ts";
import { readHandoffBy, Spawns } from "../../store/sqlite/work/events/session-tasks.ts";
import { hasUnread } from "../../store/sqlite/work/events/unread-messages.ts";
import { type DiscoverInput, discover } from "../discover.ts";
import { isIndexStale } from "../index-freshness.ts";
import { leftEdits } from "../wake/left-edits.ts";
import { deliverMessages } from "../wake/messages.ts";
import { wakeAgain } from "../wake/wake-again.ts";
import { knownAs, wakeSession } from "../wake/wake-session.ts";
import { subAgentPacket } from "../wake/wake-sub-agent.ts";
import { givenName } from "../work/actor.ts";
import { noteGitChanges } from "../work/git-changes.ts";
import type { BeforeSpawn } from "../work/sub-agent.ts";
import type { ClientEvent, EventAnswer, EventBase } from "./client-event.ts";
import { type EventProject, leaseMs, startIndexing, storesOf, wakeParts } from "./event-project.ts";
import { handleEvent } from "./later-events.ts";
import { noteReading, watchReader } from "./receipts.ts";
import { recordTool } from "./record-tool.ts";
import { startSession } from "./start-session.ts";

export function answerEvent(event: ClientEvent, project: EventProject): EventAnswer {
  if (isPause(event)) noteChanges(event, project);
  return withMessages(answerKind(event, project), event, project);
}

/** Several that came as one: what a start says and what its first prompt says are one answer, with one cap. */
export function answerEvents(events: readonly ClientEvent[], project: EventProject): EventAnswer {
  let whole: EventAnswer = {};
  for (const event of events) {
    const { context } = whole;
    const answer = answerEvent(context ? withRoomBeside(context, event) : event, project);
    whole = { ...answer, ...joined(context, answer.context) };
  }
  return whole;
}

function answerKind(event: ClientEvent, project: EventProject): EventAnswer {
  switch (event.kind) {
    case "prompt":
      return answerPrompt(event, project);
    case "after-tool":
      if (event.tool) recordCall({ ...event, tool: event.tool }, project);
      if (event.agentId) noteReading(event, project);
      // What was recorded is noted with it; the rest only where it may have been read.
      if (!event.tool && event.agentId) noteSeen(event, project);
      return {};
    case "session-start":
      return start(event, project);
    case "opened":
      endKilled(event, project);
      checkIndex(project);
      return {};
    case "pause":
    case "other":
      return {};
    default: {
      const answer = handleEvent(event, laterParts(project));
      if (event.kind === "after-spawn") noteSeen(event, project);
      return event.receipts ? { ...answer, ...watchReader(event, answer, project) } : answer;
    }
  }
}

type Of<Kind extends ClientEvent["kind"]> = Extract<ClientEvent, { kind: Kind }>;

function answerPrompt({ prompt, promptId, command, ...base }: Of<"prompt">, project: EventProject): EventAnswer {
  if (!prompt) return {};
  if (command) noteCommand(command, base, project);
  return skillsFor({ ...base, prompt, ...(promptId !== undefined && { promptId }) }, project);
}

function skillsFor(input: Omit<DiscoverInput, "root" | "at" | "env">, project: EventProject): EventAnswer {
  const { root, env, handle, now, config, log } = project;
  const { text, slowPatterns } = discover(
    {
      ...input,
      root,
      at: now,
      env,
      readHead: (path) => readHead(path.startsWith("/") ? path : `${root}/${path}`),
    },
    {
      index: new PromptIndex(handle.db),
      ledger: new PromptLedger(handle),
      settings: discoverSettings(config()),
    },
  );
  for (const source of slowPatterns) log("warn", `the pattern /${source}/ took too long and is left out from now on`);
  return text ? { context: text } : {};
}

/** Recorded under the call: which agent it starts is known later, and then its window is found by the call. */
function skillsForAgent(start: BeforeSpawn, project: EventProject): string {
  const { sessionId, cwd, prompt, toolUseId, agentType, client } = start;
  const input = { sessionId, agentId: agentOfCall(toolUseId), cwd, prompt, client: profileForAgent(client, agentType) };
  return skillsFor(input, project).context ?? "";
}

/** A prompt that begins with a skill's name as a command: the window has the body from the client. */
function noteCommand(name: string, { sessionId, agentId, client }: EventBase, { handle, now }: EventProject): void {
  const card = new SkillCards(handle.db)
    .listCards()
    .find(({ id, folder, sourceKind: kind }) => id === name || (kind !== "plugin" && folder?.endsWith(`/${name}`)));
  if (!card || card.sourceKind === "rule" || !client.ownTool?.sees(card)) return;
  const ledger = new SkillLedger(handle);
  const { window, promptCount } = ledger.tracking({ sessionId, agentId });
  ledger.recordLoad({
    sessionId,
    agentId,
    at: now,
    window,
    promptNumber: promptCount + 1,
    skill: card.id,
    hash: card.hash,
    tokens: 0,
    by: "client",
  });
}

function recordCall(
  {
    tool,
    skill,
    toolUseId,
    startedBy = () => undefined,
    ...base
  }: Of<"after-tool"> & { tool: NonNullable<Of<"after-tool">["tool"]> },
  project: EventProject,
): void {
  const { root, handle, now, isServer } = project;
  recordTool(
    { ...base, client: base.client.name, tool, ...(skill && { skill }), ...(isServer && toolUseId && { toolUseId }) },
    {
      ...storesOf(handle),
      root,
      worktree: project.worktree(base.cwd),
      startedBy,
      leaseMs: () => leaseMs(project),
      now,
    },
  );
}

/** So that recover-missed.ts does not record the call again. */
function noteSeen({ sessionId, toolUseId }: EventBase & { toolUseId?: string }, project: EventProject): void {
  const { handle, now, isServer } = project;
  if (isServer && toolUseId) new Transcripts(handle).noteSeen({ sessionId, toolUseId, at: now });
}

function start(event: Of<"session-start">, project: EventProject): EventAnswer {
  const { handle, env, now, process, isAlive, config, log } = project;
  const client = process();
  const parts = () => ({
    ...wakeParts(project),
    name: givenName(env),
    isWoken: Boolean(env["HAVERSACK_WOKEN"]),
    process: client,
    isAlive,
    leaseMs: () => leaseMs(project),
  });
  const answer = startSession(event, {
    handle,
    settings: () => discoverSettings(config()),
    env,
    now,
    process: () => client,
    leftEdits: (started) => leftEdits(started, { handle, space: client?.space ?? processSpace(), isAlive, now }),
    becomeKnown: (started) => knownAs(givenName(env), started, now),
    wakeSession: (started, noted) => wakeSession(started, noted, parts()),
    wakeAgain: (started, noted) => wakeAgain(started, noted, parts(), storesOf(handle)),
    warn: (problem) => log("warn", problem),
    checkIndex: () => {
      if (!event.isPromptWaiting) checkIndex(project);
    },
  });
  // In a store that cannot be written no start is noted, so every prompt looks like the first.
  return handle.standIn?.isKept === false && event.hasAnswered?.() ? {} : answer;
}

/** A session that was killed has not said that it is over; its next prompt must see that it resumes. */
function endKilled({ sessionId }: EventBase, { handle, now }: EventProject): void {
  const before = readSessionTimes(handle, sessionId);
  if (before && !before.endedAt) endSession(handle, sessionId, now);
}

/** A stale index is rebuilt by another process while the session goes on: 300 files are 3 ms to look at, and more to read. */
function checkIndex(project: EventProject): void {
  // An index that cannot be written stays as it is.
  const isFixed = project.isRehearsal || project.handle.standIn?.isKept === false;
  if (!isFixed && isIndexStale(project.handle.db)) startIndexing(project);
}

function laterParts(project: EventProject): Parameters<typeof handleEvent>[1] {
  const { root, env, handle, now, config, sessions } = project;
  return {
    ...storesOf(handle),
    root,
    handle,
    spawns: new Spawns(handle),
    packetFor: (task, client) => subAgentPacket({ ...task, client }, wakeParts(project)),
    skillsFor: (start) => skillsForAgent(start, project),
    handoffBy: (agentId) => readHandoffBy(handle, agentId),
    replacesResults: () => config()["work.replaceResults"],
    sessions: sessions(),
    settings: () => discoverSettings(config()),
    env,
    now,
  };
}

/** Somebody stops here, or is told next what it had in hand: the events at which git may be asked what has changed. */
function isPause(event: ClientEvent): boolean {
  if (event.kind === "session-start") return event.source === "compact" || event.agentId !== "";
  return PAUSES.includes(event.kind);
}

const PAUSES: readonly string[] = ["pause", "agent-stop", "session-end"];

/** Whatever is wrong with git, the event is answered. */
function noteChanges(event: EventBase, project: EventProject): void {
  const { handle, root, now, log, isRehearsal } = project;
  if (isRehearsal || !mayHaveChanged(handle.db, event)) return;
  try {
    const parts = { handle, root, worktree: project.worktree(event.cwd), leaseMs: () => leaseMs(project), now };
    noteGitChanges({ ...event, client: event.client.name }, parts);
  } catch (fault) {
    log("error", fault instanceof Error ? fault.message : String(fault));
  }
}

/** A message that waits for the agent of this session comes with the answer. */
function withMessages(answer: EventAnswer, event: ClientEvent, { handle, now }: EventProject): EventAnswer {
  const { sessionId, agentId, client, messages: asked } = event;
  if (!asked || agentId) return answer;
  const isMentionOnly = asked.which === "mentions";
  if (!hasUnread(handle.db, sessionId, { isMentionOnly })) return answer;
  const { maxChars, sizeOf } = client;
  const room = { maxChars: maxChars - sizeFor(client, answer.context ?? "") - 2, ...(sizeOf && { sizeOf }) };
  const messages = deliverMessages({ sessionId, ...room, isMentionOnly, event: asked.event }, { handle, now });
  return { ...answer, ...joined(answer.context, messages) };
}

function joined(...texts: (string | undefined)[]): { context?: string } {
  const context = texts.filter(Boolean).join("\n\n");
  return context ? { context } : {};
}

function withRoomBeside<Event extends EventBase>(text: string, event: Event): Event {
  const { client } = event;
  return { ...event, client: { ...client, maxChars: client.maxChars - text.length - 2 } };
}
