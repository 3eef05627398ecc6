/**
 * What a client tells us while it works, in one form for all clients. Adapters make these from payloads; `handle-event.ts`
 * answers them. Loaded by the hook.
 */
import type { ClientProfile } from "../skills/activation.ts";

export interface EventBase {
  client: ClientProfile;
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  cwd: string;
}

export type HookEvent = EventBase &
  (
    | ({ kind: "session-start" } & SessionStart)
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
    | { kind: "after-spawn"; toolUseId: string; childId: string; isDone: boolean }
    | {
        kind: "agent-start";
        agentType: string;
        /** What its coordinator calls it, where nothing else of its task can be read: a task's id may stand in it. */
        taskName?: string;
        /** The call that started it, where the client tells already. */
        startedBy?(): string | undefined;
      }
    | { kind: "agent-stop" }
    | { kind: "session-end" }
  );

export interface SessionStart {
  source: "startup" | "resume" | "fork" | "clear" | "compact";
  promptId?: string;
  /** Of a fork: which of these sessions, all of them with tasks, it was forked from. Undefined: none, or the client does not tell. */
  forkedFrom?(sessionIds: readonly string[]): string | undefined;
  /** Of the sub-agent that was compacted. */
  agentType?: string;
}

export interface HookAnswer {
  /** Text for the model; absent: silence. */
  context?: string;
  /** The tool call is refused, with the reason. */
  deny?: string;
  /** How many skills came into question for a prompt. */
  considered?: number;
  /** The sub-agent is started with this prompt. */
  prompt?: string;
  /** The coordinator sees this in place of the sub-agent's answer. */
  result?: string;
  /** The sub-agent does not end yet; it goes on with this. */
  sendBack?: string;
}
