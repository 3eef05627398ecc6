/**
 * Tool calls that no event has told of. A client that asks our running MCP server goes on without an answer when the server has crashed, is
 * still connecting, is disabled or takes too long, and the event is lost. The client's transcript has the call: at the next prompt, pause,
 * start or end of the session, what was added to the transcript is read, and each call that was not seen is recorded, once.
 *
 * What a prompt or a sub-agent's start would have been told is over, and not made up for.
 */
import { statSync } from "node:fs";
import { errorText } from "../../base/errors.ts";
import { type FileLine, readNewLines } from "../../base/new-lines.ts";
import { type ReadTranscript, Transcripts } from "../../store/sqlite/sessions/transcripts.ts";
import { answerEvents } from "./answer-event.ts";
import type { ClientEvent } from "./client-event.ts";
import type { EventProject } from "./event-project.ts";

export interface TranscriptFile {
  path: string;
  /** "" for the main agent. */
  agentId: string;
}

/** A call that has ended. */
export interface LoggedCall {
  toolUseId: string;
  /** Where the first of its lines begins. */
  from: number;
  at: Date;
  /** The event that should have told of it, as the client would have sent it. */
  payload: Record<string, unknown>;
}

export interface LoggedCalls {
  /** In the order of the file. */
  missed: LoggedCall[];
  /** The others. */
  seen: Pick<LoggedCall, "toolUseId" | "from">[];
  /** Where the first call begins that has no result yet, and may still get one: its lines are read again next time. */
  openFrom?: number;
}

export interface SessionTranscripts {
  sessionId: string;
  /** The main agent's first, if it is among them. */
  files: readonly TranscriptFile[];
  readCalls(lines: readonly FileLine[], file: TranscriptFile, isSeen: (toolUseId: string) => boolean): LoggedCalls;
  eventsOf(payload: LoggedCall["payload"]): ClientEvent[];
}

/** What is read and recorded at one event; the rest waits for the next one. A client waits a few seconds for an answer. */
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
    // A process for each call misses none.
    if (isNews || (!project.isServer && main.toldBy === "process")) return;
    for (const file of files) catchUp(file, session, { main, store, project });
  } catch (fault) {
    project.log("error", `the transcript could not be read: ${errorText(fault)}`);
  }
}

/** The first that is heard of a session, or it has moved from processes to the server: what happened before was told, or is not ours. */
function beginWith(
  { sessionId, files }: SessionTranscripts,
  store: Transcripts,
  { now, isServer }: EventProject,
): void {
  const path = files.find(({ agentId }) => agentId === "")?.path;
  if (path === undefined) return;
  const toldBy = isServer ? "server" : "";
  store.save({ sessionId, agentId: "", path, offset: sizeOf(path) ?? 0, since: now.toISOString(), toldBy, at: now });
}

function catchUp(
  file: TranscriptFile,
  session: SessionTranscripts,
  { main, store, project }: { main: ReadTranscript; store: Transcripts; project: EventProject },
): void {
  const { sessionId } = session;
  const { path, agentId } = file;
  const size = sizeOf(path);
  const last = agentId === "" ? main : store.read({ sessionId, agentId });
  if (size === undefined || (last?.path === path && last.offset === size)) return;
  const isSame = last?.path === path && last.offset < size;
  // Another file in its place is read from its beginning; what it repeats was read in the old one.
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
    // Nobody reads the answer: messages wait for an event whose answer is read.
    const events = session.eventsOf(payload).map(({ messages: _, ...event }) => event as ClientEvent);
    answerEvents(events, { ...project, now, isServer: true });
  } catch (fault) {
    project.log("error", `the call ${toolUseId} in the transcript could not be recorded: ${errorText(fault)}`);
  }
}

/** A process tells of this session's calls: none is missed, and nothing has to be read. */
export function noteProcess(events: readonly ClientEvent[], { handle, now, isServer }: EventProject): void {
  const call = events.find(({ kind }) => kind === "after-tool" || kind === "after-spawn");
  // In a locked store it can wait for the next call.
  if (!call || isServer || handle.standIn) return;
  const store = new Transcripts(handle);
  const main = store.read({ sessionId: call.sessionId });
  if (main && main.toldBy !== "process") store.save({ ...main, toldBy: "process", at: now });
}

/** Undefined: no file to read, or not yet. */
function sizeOf(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : undefined;
}
