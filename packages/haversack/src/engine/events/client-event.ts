/**
 * Client events in one form for all clients. The adapters in `clients/` make them from payloads, and only `answerEvent` in
 * answer-event.ts interprets them.
 */
import type { Observation } from "../../artifacts/receipts.ts";
import type { FileLine } from "../../base/clean-text.ts";
import type { ClientProfile } from "../../skills/showing/activation.ts";
import type { ToolEvent } from "../../work/capture/capture.ts";

export interface EventBase {
  client: ClientProfile;
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  cwd: string;
}

export type ClientEvent = EventBase &
  EventTraits &
  (
    | ({ kind: "session-start" } & SessionStart)
    | ({ kind: "prompt" } & Prompt)
    | ({ kind: "after-tool" } & ToolCall)
    | {
        kind: "before-tool";
        toolName: string;
        toolUseId: string;
        isOwnTool: boolean;
        path?: string;
        /** All files, if an edit has several; `path` is the first. */
        paths?: readonly string[];
        /** For a sub-agent's call: the call that started the sub-agent, if the client reports it. */
        startedBy?(): string | undefined;
      }
    | {
        kind: "before-spawn";
        toolUseId: string;
        agentType: string;
        prompt: string;
        /** The client also reports this prompt from inside the sub-agent; skills are matched there. Default: false. */
        isPromptReported?: boolean;
      }
    | {
        kind: "after-spawn";
        toolUseId: string;
        /** The sub-agent's id. */
        childId: string;
        /** It has answered. False: it continues in the background. */
        isDone: boolean;
        /** This client has no other event that says which call started the agent. Default: false. */
        isOnlySign?: boolean;
      }
    | {
        kind: "agent-start";
        agentType: string;
        /** The coordinator's name for it, when nothing else about its task can be read. It may contain a task ID. */
        taskName?: string;
        /** The call that started it, if the client already reports it. */
        startedBy?(): string | undefined;
      }
    | ({ kind: "agent-stop" } & AgentStop)
    /** Work stops here: a turn ends, or a window is compacted. */
    | { kind: "pause" }
    | { kind: "session-end" }
    /** A session has begun, but its client takes no text yet. The text comes with its first prompt. */
    | { kind: "opened" }
    /** Needs no answer of ours, but messages may come with it. */
    | { kind: "other" }
  );

export type EventOf<Kind extends ClientEvent["kind"]> = Extract<ClientEvent, { kind: Kind }>;

/** What a client can do with the answer to an event. */
export interface EventTraits {
  /** Messages that the main agent's model gets with the answer; "mentions": only those that mention the agent. Absent: none. */
  messages?: { which: "all" | "mentions"; event: string };
  /**
   * Documents that a sub-agent must read: "named" in its prompt, or also "found" by the project's role map, which starts a process.
   * Absent: this client does not report what a sub-agent has read.
   */
  receipts?: "named" | "found";
}

export interface SessionStart {
  source: "startup" | "resume" | "fork" | "clear" | "compact";
  /** A prompt waits for the answer, so optional checks are skipped. Default: false. */
  isPromptWaiting?: boolean;
  /** Whether the model has answered already, so this is no start. For a store that cannot record starts. */
  hasAnswered?(): boolean;
  promptId?: string;
  /** For a fork: which of these sessions (all have tasks) it was forked from. Undefined: none, or the client does not say. */
  forkedFrom?(sessionIds: readonly string[]): string | undefined;
  /** The type of the sub-agent that was compacted. */
  agentType?: string;
}

export interface Prompt {
  /** The typed text; undefined if the prompt was not typed. */
  prompt: string | undefined;
  promptId?: string;
  /** `/NAME`: the client itself adds the body of this skill. */
  command?: string;
}

export interface ToolCall {
  /** Undefined: nothing to record. */
  tool: ToolEvent | undefined;
  /** If the client gives calls ids. */
  toolUseId?: string;
  /** The skill loaded by the client's own tool. */
  skill?: string;
  agentType?: string;
  startedBy?(): string | undefined;
  /** What the call showed the model from files. */
  observation?(): Observation | undefined;
  /** What the model is about to see, in a client that lets a hook replace it. Absent: it stays as it is. */
  output?: ShownOutput;
}

export interface ShownOutput {
  kind: "command" | "mcp" | "read";
  text: string;
  /** The command, the tool's name, or the file with the lines that were read. */
  source: string;
  exitCode?: number;
}

export interface AgentStop {
  agentType?: string;
  /** Its final answer. */
  answer?: string;
  startedBy?(): string | undefined;
  /** It can be told to continue. Default: false. */
  canGoOn?: boolean;
}

export interface EventAnswer {
  /** Text for the model; absent: no answer. */
  context?: string;
  /** Refuses the tool call, with this reason. */
  deny?: string;
  /** Starts the sub-agent with this prompt. */
  prompt?: string;
  /** Shown to the coordinator instead of the sub-agent's answer. */
  result?: string;
  /** Shown to the model instead of the tool's output. */
  output?: string;
  /** Keeps the sub-agent from ending; it continues with this text. */
  sendBack?: string;
}

// What a client's transcript contains, to recover calls that no event reported.

export interface TranscriptFile {
  path: string;
  /** "" for the main agent. */
  agentId: string;
}

/** A call that has ended. */
export interface LoggedCall {
  toolUseId: string;
  /** The offset of its first line. */
  from: number;
  at: Date;
  /** The payload of the event that should have reported it. */
  payload: Record<string, unknown>;
}

export interface LoggedCalls {
  /** In file order. */
  missed: LoggedCall[];
  /** The sub-agents' transcripts. */
  seen: Pick<LoggedCall, "toolUseId" | "from">[];
  /** The offset of the first call that may still get its result: reading continues there next time. */
  openFrom?: number;
}

/** The transcripts of a session, and how its client writes them. */
export interface SessionTranscripts {
  sessionId: string;
  /** The main agent's first, if it is among them. */
  files: readonly TranscriptFile[];
  readCalls(lines: readonly FileLine[], file: TranscriptFile, isSeen: (toolUseId: string) => boolean): LoggedCalls;
  eventsOf(payload: LoggedCall["payload"]): ClientEvent[];
}
