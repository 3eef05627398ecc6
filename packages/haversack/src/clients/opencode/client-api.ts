/** The few parts of opencode's plugin interface that we use, in the form of 1.18.33. */
import type { Permission } from "./own-config.ts";

export interface PluginInput {
  /** Where the session was started. */
  directory: string;
  worktree: string;
  client: {
    /** Absent in older versions. Only the user sees a toast. */
    tui?: {
      showToast(request: { body: { title?: string; message: string; variant: "warning" } }): Promise<unknown>;
    };
    session: {
      get(request: { path: { id: string } }): Promise<{ data?: { parentID?: string } }>;
      /** Oldest first. */
      messages(request: { path: { id: string } }): Promise<{ data?: { info?: { time?: { created?: number } } }[] }>;
      prompt(request: {
        path: { id: string };
        body: {
          noReply: true;
          agent?: string;
          model?: { providerID: string; modelID: string };
          parts: { type: "text"; text: string; synthetic: true }[];
        };
      }): Promise<unknown>;
    };
  };
}

export interface TextPart {
  id: string;
  sessionID: string;
  messageID: string;
  type: string;
  text?: string;
  /** Not typed by the person. */
  synthetic?: boolean;
}

export interface Config {
  mcp?: Record<string, unknown>;
  command?: Record<string, unknown>;
  agent?: Record<string, unknown>;
  permission?: Permission;
}

type Fields = Record<string, unknown>;

export interface PluginHooks {
  config(config: Config): Promise<void>;
  event(input: { event: { type: string; properties?: unknown } }): Promise<void>;
  "chat.message"(
    input: { sessionID: string; agent?: string; messageID?: string },
    output: { message: { id: string }; parts: TextPart[] },
  ): Promise<void>;
  "tool.execute.before"(
    input: { tool: string; sessionID: string; callID: string },
    output: { args: Fields },
  ): Promise<void>;
  "tool.execute.after"(
    input: { tool: string; sessionID: string; callID: string; args: Fields },
    output: Fields,
  ): Promise<void>;
  /** Variables for a shell of the client. A shell that the user opens has no session. */
  "shell.env"(
    input: { cwd: string; sessionID?: string; callID?: string },
    output: { env: Record<string, string> },
  ): Promise<void>;
  "experimental.compaction.autocontinue"(
    input: { sessionID: string; agent?: string; model?: { id: string; providerID: string } },
    output: unknown,
  ): Promise<void>;
  dispose(): Promise<void>;
}
