/**
 * How each client is started so that its session can be followed: arguments, environment, how it gets the prompt, and the reader of its
 * stream. Seen with Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0 and opencode 1.18.33 (test/clients/streams.test.ts).
 */
import type { Environment } from "../engine/project.ts";
import type { FilledSession, WindowFill } from "../engine/wiring.ts";
import { claudeStream } from "./claude-code/stream.ts";
import { codexFill } from "./codex/rollout.ts";
import { codexStream } from "./codex/stream.ts";
import { geminiStream } from "./gemini/stream.ts";
import { geminiFill } from "./gemini/transcript.ts";
import { opencodeStream } from "./opencode/stream.ts";
import type { StreamReader } from "./stream-event.ts";

export interface StreamedClient {
  /** The name that people use. */
  title: string;
  /** The program's name on the PATH. */
  program: string;
  /** Earlier versions are refused before the first session. `needs`: what they lack. Absent: no version is required. */
  oldest?: { version: string; needs: string };
  /** Before the user's own options. */
  begin: readonly string[];
  /** After the user's own options. */
  end: readonly string[];
  /** Options that set the new session's ID. Absent: the client chooses it. */
  chooseId?(sessionId: string): readonly string[];
  env: Readonly<Record<string, string>>;
  /**
   * `messages`: JSON lines on standard input, which stays open for later messages to the session. `text`: the prompt, then
   * the end of the input, because Codex and opencode wait for it.
   */
  input: "messages" | "text";
  /** A line for standard input that asks for the window's size; the answer comes in the stream. */
  askWindow?: string;
  /** The share of the window at which the client compacts, if it does not report that. Default: when the window is full. */
  compactsAt?: number;
  /** It reports a tool call only at its end, so a long silence may be a running tool. */
  tellsToolsLate?: boolean;
  /** Options that end a session at this cost, for a client that reports its cost only at the end of a turn. */
  limitCost?(usd: number): readonly [string, string];
  /** It never reports its cost, so a cost limit could not be kept. */
  tellsNoCost?: boolean;
  /** Its exit code says whether it succeeded; the stream need not. */
  isResultOptional?: boolean;
  makeReader(): StreamReader;
  /** Reads how full the window is, for a stream that does not say it. */
  fill?(session: FilledSession, env: Environment): WindowFill | undefined;
}

export const STREAMED: Readonly<Record<string, StreamedClient>> = {
  "claude-code": {
    title: "Claude Code",
    program: "claude",
    oldest: { version: "2.1.4", needs: "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS" },
    begin: ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
    end: [],
    chooseId: (id) => ["--session-id", id],
    limitCost: (usd) => ["--max-budget-usd", usd.toFixed(2)],
    // Otherwise a background shell keeps the process alive for minutes after the last answer.
    env: { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1" },
    input: "messages",
    askWindow: `${JSON.stringify({ type: "control_request", request_id: "window", request: { subtype: "get_context_usage" } })}\n`,
    makeReader: claudeStream,
  },
  codex: {
    title: "Codex",
    program: "codex",
    // The earliest version that was tested with our reader.
    oldest: { version: "0.140.0", needs: "the events of `codex exec --json`" },
    begin: ["exec", "--json"],
    end: ["-"],
    env: {},
    input: "text",
    tellsNoCost: true,
    makeReader: codexStream,
    fill: codexFill,
  },
  gemini: {
    title: "Gemini CLI",
    program: "gemini",
    // --session-id came in 0.41; 0.43 still hung in a headless session, 0.44 did not.
    oldest: { version: "0.44.0", needs: "headless sessions with --session-id" },
    begin: ["-o", "stream-json"],
    end: [],
    chooseId: (id) => ["--session-id", id],
    // Otherwise it starts itself again, and the first process does not forward signals.
    env: { GEMINI_CLI_NO_RELAUNCH: "true" },
    input: "text",
    compactsAt: 0.5,
    tellsNoCost: true,
    makeReader: geminiStream,
    fill: geminiFill,
  },
  opencode: {
    title: "opencode",
    program: "opencode",
    // 1.17 lacks --auto, which gives a run its permissions. The earliest version tested with our reader is 1.18.3.
    oldest: { version: "1.18.0", needs: "`opencode run --auto`" },
    begin: ["run", "--format", "json"],
    end: [],
    env: {},
    input: "text",
    tellsToolsLate: true,
    makeReader: opencodeStream,
  },
};

/** The user's own command. It reads the prompt from standard input and may print Claude Code's stream. */
export function userCommand(command: string): StreamedClient {
  return {
    title: "headless.command",
    program: "/bin/sh",
    // The run's options become the command's arguments.
    begin: ["-c", `${command} "$@"`, "sh"],
    end: [],
    env: {},
    input: "text",
    tellsToolsLate: true,
    isResultOptional: true,
    makeReader: claudeStream,
  };
}

/** One line with a message, for a client that reads messages from standard input. */
export function messageLine(text: string): string {
  return `${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`;
}
