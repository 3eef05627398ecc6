/**
 * What a client tells us while it works, in one form for all clients. The adapters in `clients/` make these from payloads, and
 * `answerEvent` in answer-event.ts is the only place where they are understood.
 */
import type { Observation } from "../../artifacts/receipts.ts";
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
        /** All files of an edit of several; `path` is the first of them. */
        paths?: readonly string[];
        /** Of a sub-agent's call: the call that started it, where the client tells. */
        startedBy?(): string | undefined;
      }
    | {
        kind: "before-spawn";
        toolUseId: string;
        agentType: string;
        prompt: string;
        /** The client also reports this prompt from inside the sub-agent, where skills are matched. Default: false. */
        isPromptReported?: boolean;
      }
    | {
        kind: "after-spawn";
        toolUseId: string;
        childId: string;
        isDone: boolean;
        /** Nothing else of this client tells which call started the agent. Default: false. */
        isOnlySign?: boolean;
      }
    | {
        kind: "agent-start";
        agentType: string;
        /** What its coordinator calls it, where nothing else of its task can be read: a task's id may stand in it. */
        taskName?: string;
        /** The call that started it, where the client tells already. */
        startedBy?(): string | undefined;
      }
    | ({ kind: "agent-stop" } & AgentStop)
    /** Somebody stops here: a turn ends, a window is compacted. */
    | { kind: "pause" }
    | { kind: "session-end" }
    /** A session has begun whose client takes no text yet: it is told with its first prompt. */
    | { kind: "opened" }
    /** Something that is not ours to answer; messages may come with it. */
    | { kind: "other" }
  );

/** What a client can do with the answer to an event. */
export interface EventTraits {
  /** Messages that the main agent's model reads with the answer; "mentions": only those that name the agent. Absent: none. */
  messages?: { which: "all" | "mentions"; event: string };
  /**
   * Documents that a sub-agent has to read: "named" in its prompt, or also "found" by the project's role map, which takes a process. Absent: this
   * client does not tell what a sub-agent has read.
   */
  receipts?: "named" | "found";
}

export interface SessionStart {
  source: "startup" | "resume" | "fork" | "clear" | "compact";
  /** A prompt waits for the answer: nothing is looked at that can wait. Default: false. */
  isPromptWaiting?: boolean;
  /** Whether the model has answered already, so that this is no start: for a store that cannot note that there was one. */
  hasAnswered?(): boolean;
  promptId?: string;
  /** Of a fork: which of these sessions, all of them with tasks, it was forked from. Undefined: none, or the client does not tell. */
  forkedFrom?(sessionIds: readonly string[]): string | undefined;
  /** Of the sub-agent that was compacted. */
  agentType?: string;
}

export interface Prompt {
  /** What was typed; undefined for what nobody typed. */
  prompt: string | undefined;
  promptId?: string;
  /** `/NAME`: the client itself brings the body of this skill. */
  command?: string;
}

export interface ToolCall {
  /** Undefined: nothing that we keep. */
  tool: ToolEvent | undefined;
  /** Where the client gives calls ids. */
  toolUseId?: string;
  /** The skill that the client's own tool loaded. */
  skill?: string;
  agentType?: string;
  startedBy?(): string | undefined;
  /** What the call showed the model of files. */
  observation?(): Observation | undefined;
}

export interface AgentStop {
  agentType?: string;
  /** What it said at its end. */
  answer?: string;
  startedBy?(): string | undefined;
  /** It can be told to go on. Default: false. */
  canGoOn?: boolean;
}

export interface EventAnswer {
  /** Text for the model; absent: silence. */
  context?: string;
  /** The tool call is refused, with the reason. */
  deny?: string;
  /** The sub-agent is started with this prompt. */
  prompt?: string;
  /** The coordinator sees this in place of the sub-agent's answer. */
  result?: string;
  /** The sub-agent does not end yet; it goes on with this. */
  sendBack?: string;
}
