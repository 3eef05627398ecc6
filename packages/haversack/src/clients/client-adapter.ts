/**
 * What the hook needs for a client: reading its payloads and writing its answers. There is one adapter for each client that sends events to
 * another program. opencode's plugin runs inside the client and makes events itself.
 */
import { statSync } from "node:fs";
import type {
  ClientEvent,
  EventAnswer,
  EventBase,
  EventTraits,
  LoggedCalls,
  SessionStart,
  SessionTranscripts,
  TranscriptFile,
} from "../engine/events/client-event.ts";
import type { EventProject } from "../engine/events/event-project.ts";
import type { ClientProfile } from "../skills/showing/activation.ts";
import type { ClientProcess } from "../store/sqlite/sessions/sqlite-local-store.ts";

export type Payload = Record<string, unknown>;

/** Untrusted fields of a payload, read by hand: a schema library would cost more than the whole hook. */
export type Fields = Record<string, unknown>;

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function object(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** {} if the JSON is cut off or not an object. */
export function parsed(json: unknown): Fields {
  try {
    return object(JSON.parse(String(json)));
  } catch {
    return {};
  }
}

/** The fields that every payload has. */
export type PayloadBase = Pick<EventBase, "sessionId" | "agentId" | "cwd">;

export interface ClientAdapter {
  client: string;
  /** Undefined: not a payload of this client. */
  readBase(payload: Payload, fallbackCwd: string): PayloadBase | undefined;
  profile(root: string, env: NodeJS.ProcessEnv): ClientProfile;
  /** Usually one event; a client may report two things at once. */
  readEvents(payload: Payload, base: EventBase, project: EventProject): ClientEvent[];
  /** The answer in the client's format; "" for none. */
  writeAnswer(payload: Payload, answer: EventAnswer): string;
  /**
   * For a client whose events go to the running MCP server, which may miss some: the transcript files to check at this event, the main
   * agent's first. Empty for events at which nothing is checked.
   */
  transcripts?(payload: Payload, base: PayloadBase): TranscriptFile[];
  /** The finished calls in new lines of such a file. `payload`: the current event. */
  readCalls?(payload: Payload, ...read: Parameters<SessionTranscripts["readCalls"]>): LoggedCalls;
  /** The client's own process, which lives as long as its session. Called in a process that the client started for an event. */
  process(env: NodeJS.ProcessEnv): ClientProcess | undefined;
}

/** Longer ids are not from a client. */
const MAX_ID_CHARS = 200;

/** In the form that most clients use. Undefined: no valid session, such as an unfilled placeholder (`${session_id}`). */
export function readBase(payload: Payload, fallbackCwd: string): PayloadBase | undefined {
  const sessionId = text(payload["session_id"]);
  if (!sessionId || sessionId.length > MAX_ID_CHARS || sessionId.startsWith("${")) return undefined;
  return { sessionId, agentId: text(payload["agent_id"]) ?? "", cwd: text(payload["cwd"]) ?? fallbackCwd };
}

/** Undefined: an unknown source. */
export function readSource({ source }: Payload): SessionStart["source"] | undefined {
  return SOURCES.find((known) => known === source);
}

const SOURCES = ["startup", "resume", "fork", "clear", "compact"] as const;

/** The events whose answer the main agent's model reads at once. At the end of a turn it causes one more turn. */
export function messagesWith({ hook_event_name: event, stop_hook_active: isGoingOn }: Payload): EventTraits {
  if (event === "Stop") return isGoingOn === true ? {} : { messages: { which: "mentions", event } };
  return TALKING.includes(String(event)) ? { messages: { which: "all", event: String(event) } } : {};
}

const TALKING = ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "BeforeAgent", "AfterTool"];

/** Clients report paths as the model wrote them, often relative to the session's folder. */
export function resolvePath(path: string, cwd: string | undefined): string {
  if (!cwd || path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)) return path;
  return `${cwd}/${path.replace(/^(?:\.\/)+/, "")}`;
}

/** The top folder of the repository that contains this one; without a repository, the folder itself. */
export function repositoryRoot(root: string): string {
  for (let folder = root; folder !== ""; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    if (statSync(`${folder}/.git`, { throwIfNoEntry: false })) return folder;
  }
  return root;
}
