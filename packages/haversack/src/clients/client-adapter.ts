/**
 * What the hook needs to know of a client: how its payloads are read and its answers written. There is one for each client that tells its
 * events to another program; opencode's plugin runs inside the client and makes events itself.
 */
import type { ClientEvent, EventAnswer, EventBase } from "../engine/events/client-event.ts";
import type { EventProject } from "../engine/events/event-project.ts";
import type { LoggedCalls, SessionTranscripts, TranscriptFile } from "../engine/events/recover-missed.ts";
import type { ClientProfile } from "../skills/showing/activation.ts";
import type { ClientProcess } from "../store/local-store.ts";

export type Payload = Record<string, unknown>;

/** What every payload says first. */
export type PayloadBase = Pick<EventBase, "sessionId" | "agentId" | "cwd">;

export interface ClientAdapter {
  client: string;
  /** Undefined: no payload of this client's. */
  readBase(payload: Payload, fallbackCwd: string): PayloadBase | undefined;
  profile(root: string, env: NodeJS.ProcessEnv): ClientProfile;
  /** Mostly one; a client may tell of two things at once. */
  readEvents(payload: Payload, base: EventBase, project: EventProject): ClientEvent[];
  /** What the client takes as an answer; "" for silence. */
  writeAnswer(payload: Payload, answer: EventAnswer): string;
  /**
   * For a client whose events the running MCP server answers, which may miss some: at an event that is a chance to look, the files that tell
   * of calls. The main agent's comes first. At any other event none.
   */
  transcripts?(payload: Payload, base: PayloadBase): TranscriptFile[];
  /** The ended calls in new lines of such a file. `payload`: of the event that brought us here. */
  readCalls?(payload: Payload, ...read: Parameters<SessionTranscripts["readCalls"]>): LoggedCalls;
  /** The client's own process, which lives as long as its session, as a process that it starts for an event knows it. */
  process(env: NodeJS.ProcessEnv): ClientProcess | undefined;
}
