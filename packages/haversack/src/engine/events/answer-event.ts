/**
 * The only place that interprets client events: what to record, and what to tell the model. The cold hook, the MCP server and the
 * opencode plugin all call it. Everything is synchronous and short. Errors are thrown; the caller logs them and answers nothing.
 */
import { statSync } from "node:fs";
import { readHead, readNewLines } from "../../base/clean-text.ts";
import { errorText } from "../../base/errors.ts";
import { processSpace } from "../../base/process-space.ts";
import { profileForAgent, sizeFor } from "../../skills/showing/activation.ts";
import {
  endSession,
  type ReadTranscript,
  readSessionTimes,
  Transcripts,
} from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { agentOfCall, PromptLedger } from "../../store/sqlite/skills/prompt-ledger.ts";
import { SkillRows, SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import { hasUnread, readTaskInHand } from "../../store/sqlite/work/events/running-session.ts";
import { mayHaveChanged, readHandoffBy, Spawns } from "../../store/sqlite/work/events/session-tasks.ts";
import { noteReading, watchReader } from "../artifacts/watch-reader.ts";
import { type DiscoverInput, discover } from "../discover.ts";
import { replaceOutput } from "../outputs/replace-output.ts";
import { discoverSettings } from "../project.ts";
import { isIndexStale } from "../refresh-index.ts";
import { leftEdits } from "../wake/left-edits.ts";
import { knownAs, wakeSession } from "../wake/make-packet.ts";
import { deliverMessages } from "../wake/messages.ts";
import { wakeAgain } from "../wake/wake-again.ts";
import { subAgentPacket } from "../wake/wake-sub-agent.ts";
import { givenName } from "../work/actor.ts";
import { noteGitChanges } from "../work/git-changes.ts";
import type { BeforeSpawn } from "../work/sub-agent.ts";
import type {
  ClientEvent,
  EventAnswer,
  EventBase,
  EventOf,
  LoggedCall,
  SessionTranscripts,
  ShownOutput,
  TranscriptFile,
} from "./client-event.ts";
import { type EventProject, leaseMs, startIndexing, storesOf, wakeParts, withRoomFor } from "./event-project.ts";
import { handleEvent } from "./later-events.ts";
import { recordTool } from "./record-tool.ts";
import { startSession } from "./start-session.ts";

export function answerEvent(event: ClientEvent, project: EventProject): EventAnswer {
  if (isPause(event)) noteChanges(event, project);
  return withMessages(answerKind(event, project), event, project);
}

/** Answers several events that came together, such as a start and its first prompt: one answer within one limit. */
export function answerEvents(events: readonly ClientEvent[], project: EventProject): EventAnswer {
  let whole: EventAnswer = {};
  for (const event of events) {
    const { context } = whole;
    const answer = answerEvent(context ? withRoomFor(context, event) : event, project);
    whole = { ...answer, ...joined(context, answer.context) };
  }
  return whole;
}

function answerKind(event: ClientEvent, project: EventProject): EventAnswer {
  switch (event.kind) {
    case "prompt":
      return answerPrompt(event, project);
    case "after-tool":
      if (event.tool) recordTool({ ...event, tool: event.tool }, project);
      if (event.agentId) noteReading(event, project);
      // `recordTool` marks the call as seen. Other calls need a mark only for sub-agents, whose reading is noted.
      if (!event.tool && event.agentId) noteSeen(event, project);
      return event.output ? shorten(event, event.output, project) : {};
    case "session-start":
      return start(event, project);
    case "opened":
      endKilled(event, project);
      checkIndex(project);
      return {};
    case "pause":
      // Skills may have changed in this turn. Nobody waits for the answer now.
      checkIndex(project);
      return {};
    case "other":
      return {};
    default: {
      const answer = handleEvent(event, laterParts(project));
      if (event.kind === "after-spawn") noteSeen(event, project);
      return event.receipts ? { ...answer, ...watchReader(event, answer, project) } : answer;
    }
  }
}

function answerPrompt({ prompt, promptId, command, ...base }: EventOf<"prompt">, project: EventProject): EventAnswer {
  if (!prompt) return {};
  if (command) noteCommand(command, base, project);
  return skillsFor({ ...base, prompt, ...(promptId !== undefined && { promptId }) }, project);
}

function skillsFor(input: Omit<DiscoverInput, "root" | "at" | "env">, project: EventProject): EventAnswer {
  const { root, env, handle, now, config, log } = project;
  const task = readTaskInHand(handle, input);
  const { text, slowPatterns } = discover(
    {
      ...input,
      ...(task && { taskType: task.type, taskTitle: task.title }),
      judged: project.judged,
      root,
      at: now,
      env,
      readHead: (path) => readHead(path.startsWith("/") ? path : `${root}/${path}`),
    },
    {
      index: new SqliteSkillIndex(handle.db),
      ledger: new PromptLedger(handle),
      settings: discoverSettings(config()),
    },
  );
  for (const source of slowPatterns) log("warn", `the pattern /${source}/ took too long and is left out from now on`);
  return text ? { context: text } : {};
}

/** Recorded under the starting call: the agent's ID is known only later, and then its window is found by the call. */
function skillsForAgent(start: BeforeSpawn, project: EventProject): string {
  const { sessionId, cwd, prompt, toolUseId, agentType, client } = start;
  const input = { sessionId, agentId: agentOfCall(toolUseId), cwd, prompt, client: profileForAgent(client, agentType) };
  return skillsFor(input, project).context ?? "";
}

/** For a prompt that starts with a skill's name as a command: the client puts the body into the window. */
function noteCommand(name: string, { sessionId, agentId, client }: EventBase, { handle, now }: EventProject): void {
  const card = new SkillRows(handle.db)
    .listCards()
    .find(({ id, folder, sourceKind: kind }) => id === name || (kind !== "plugin" && folder?.endsWith(`/${name}`)));
  if (!card || card.sourceKind === "rule" || !client.ownTool?.sees(card)) return;
  const ledger = new SkillLedger(handle);
  const { window, promptCount } = ledger.tracking({ sessionId, agentId });
  const load = { sessionId, agentId, at: now, window, promptNumber: promptCount + 1, by: "client" } as const;
  ledger.recordLoad({ ...load, skill: card.id, hash: card.hash, tokens: 0 });
}

/** The settings are read only for an output that is long enough. */
function shorten(event: EventBase, output: ShownOutput, project: EventProject): EventAnswer {
  const { length } = output.text;
  if (length < FEWEST_CHARS) return {};
  const over = replacedFrom(project);
  return over === 0 || length <= over ? {} : replaceOutput(event, output, project);
}

/** 0 if the settings cannot be read: the call was recorded, and messages may still come with the answer. */
function replacedFrom({ config, log }: EventProject): number {
  try {
    return config()["outputs.replace_over"];
  } catch (fault) {
    log("error", errorText(fault));
    return 0;
  }
}

/** The same as FEWEST_REPLACED_CHARS of kept-outputs.ts, which most events do not load. */
const FEWEST_CHARS = 2_000;

/** Marks the call as seen, so `recoverMissed` does not record it again. */
function noteSeen({ sessionId, toolUseId }: EventBase & { toolUseId?: string }, project: EventProject): void {
  const { handle, now, isServer } = project;
  if (isServer && toolUseId) new Transcripts(handle).noteSeen({ sessionId, toolUseId, at: now });
}

function start(event: EventOf<"session-start">, project: EventProject): EventAnswer {
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
  // A store that cannot be written records no start, so every prompt would look like the first one.
  return handle.standIn?.isKept === false && event.hasAnswered?.() ? {} : answer;
}

/** A killed session did not report its end. Its next prompt must count as a resume. */
function endKilled({ sessionId }: EventBase, { handle, now }: EventProject): void {
  const before = readSessionTimes(handle, sessionId);
  if (before && !before.endedAt) endSession(handle, sessionId, now);
}

/** Another process rebuilds a stale index while the session continues. Checking 300 files takes 3 ms; reading them takes longer. */
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
    replacesResults: () => config()["work.replace_results"],
    sessions: sessions(),
    settings: () => discoverSettings(config()),
    env,
    now,
  };
}

/** Events at which git is asked what changed: the agent stops, or is about to be told what it was working on. */
function isPause(event: ClientEvent): boolean {
  if (event.kind === "session-start") return event.source === "compact" || event.agentId !== "";
  return PAUSES.includes(event.kind);
}

const PAUSES: readonly string[] = ["pause", "agent-stop", "session-end"];

/** Problems with git never prevent an answer. */
function noteChanges(event: EventBase, project: EventProject): void {
  const { handle, root, now, log, isRehearsal } = project;
  if (isRehearsal || !mayHaveChanged(handle.db, event)) return;
  try {
    const parts = { handle, root, worktree: project.worktree(event.cwd), leaseMs: () => leaseMs(project), now };
    noteGitChanges({ ...event, client: event.client.name }, parts);
  } catch (fault) {
    log("error", errorText(fault));
  }
}

/** Adds waiting messages for this session's agent to the answer. */
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

// Recovers tool calls that no event reported. A client that asks our running MCP server continues without an answer when the server has crashed, is
// still connecting, is disabled or takes too long. The event is then lost, but the client's transcript has the call. At the next prompt, pause,
// start or end of the session, the new part of the transcript is read, and each unseen call is recorded once.
// The answer to a lost prompt or sub-agent's start is not repeated.

/** Limits what is read and recorded at one event, because a client waits only a few seconds. The next event continues. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_CALLS = 200;

/** Never throws: the event that comes with it must be answered. */
export function recoverMissed(session: SessionTranscripts, project: EventProject): void {
  try {
    const { sessionId, files } = session;
    const store = new Transcripts(project.handle);
    const main = store.read({ sessionId });
    const isNews = !main || (project.isServer === true && main.toldBy === "process");
    if (isNews) beginWith(session, store, project);
    // With a process for each call, none is missed.
    if (isNews || (!project.isServer && main.toldBy === "process")) return;
    for (const file of files) catchUp(file, session, { main, store, project });
  } catch (fault) {
    project.log("error", `the transcript could not be read: ${errorText(fault)}`);
  }
}

/** Starts reading at the end of the transcript: for a new session, and for one whose events now reach the server. Earlier calls were reported already. */
function beginWith(
  { sessionId, files }: SessionTranscripts,
  store: Transcripts,
  { now, isServer }: EventProject,
): void {
  const path = files.find(({ agentId }) => agentId === "")?.path;
  if (path === undefined) return;
  const toldBy = isServer ? "server" : "";
  store.save({ sessionId, agentId: "", path, offset: fileSize(path) ?? 0, since: now.toISOString(), toldBy, at: now });
}

function catchUp(
  file: TranscriptFile,
  session: SessionTranscripts,
  { main, store, project }: { main: ReadTranscript; store: Transcripts; project: EventProject },
): void {
  const { sessionId } = session;
  const { path, agentId } = file;
  const size = fileSize(path);
  const last = agentId === "" ? main : store.read({ sessionId, agentId });
  if (size === undefined || (last?.path === path && last.offset === size)) return;
  const isSame = last?.path === path && last.offset < size;
  // A new file in its place is read from its start. Calls that it repeats were recorded from the old one.
  const since = isSame || !last ? main.since : last.at.toISOString();
  const { lines, end } = readNewLines(path, isSame ? last.offset : 0, MOST_BYTES);
  const calls = session.readCalls(lines, file, (id) => store.isSeen(sessionId, id));
  const on = project.onSince();
  const begin = on > since ? on : since;
  const ours = calls.missed.filter(({ at }) => !(at.toISOString() < begin));
  const taken = ours.slice(0, MOST_CALLS);
  for (const call of taken) record(call, session, project);

  const offset = Math.min(end, calls.openFrom ?? end, ours[MOST_CALLS]?.from ?? end);
  if (isSame && offset === last.offset) return;
  const passed = [...calls.seen, ...taken].filter(({ from }) => from < offset).map(({ toolUseId }) => toolUseId);
  const toldBy = project.isServer ? "server" : main.toldBy;
  store.save({ sessionId, agentId, path, offset, since, toldBy, at: project.now, passed });
}

function record({ toolUseId, at, payload }: LoggedCall, session: SessionTranscripts, project: EventProject): void {
  const now = at < project.now ? at : project.now;
  try {
    // Nobody reads the answer: messages wait for an event whose answer is read, and no output is replaced.
    const events = session.eventsOf(payload).map(({ messages: _, ...event }) => {
      return (event.kind === "after-tool" ? { ...event, output: undefined } : event) as ClientEvent;
    });
    answerEvents(events, { ...project, now, isServer: true });
  } catch (fault) {
    project.log("error", `the call ${toolUseId} in the transcript could not be recorded: ${errorText(fault)}`);
  }
}

/** A process reports this session's calls, so none is missed and nothing has to be read. */
export function noteProcess(events: readonly ClientEvent[], { handle, now, isServer }: EventProject): void {
  const call = events.find(({ kind }) => kind === "after-tool" || kind === "after-spawn");
  // If the store is locked, this waits for the next call.
  if (!call || isServer || handle.standIn) return;
  const store = new Transcripts(handle);
  const main = store.read({ sessionId: call.sessionId });
  if (main && main.toldBy !== "process") store.save({ ...main, toldBy: "process", at: now });
}

/** Undefined: no file to read, or not yet. */
function fileSize(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : undefined;
}
