/**
 * How each client is started so that its session can be followed: the arguments, the environment, how its prompt goes in, and who reads its
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
  /** As people call it. */
  title: string;
  /** On the PATH. */
  program: string;
  /** Earlier versions are refused before anything is spent. `needs`: what they lack. Absent: not asked. */
  oldest?: { version: string; needs: string };
  /** Before the user's own options. */
  begin: readonly string[];
  /** After the user's own options. */
  end: readonly string[];
  /** Options that choose the new session's id; absent: the client chooses. */
  chooseId?(sessionId: string): readonly string[];
  env: Readonly<Record<string, string>>;
  /**
   * `messages`: JSON lines on standard input, which stays open, so that the running session can be told something. `text`: the prompt, then
   * the end of the input; Codex and opencode would wait for it for ever.
   */
  input: "messages" | "text";
  /** A line for standard input that asks how large the window is; the answer comes in the stream. */
  askWindow?: string;
  /** The part of its window at which it compacts it by itself, where it does not say it. Default: when it is full. */
  compactsAt?: number;
  /** It tells of a tool call only when that has ended: long silence may be a tool that runs. */
  tellsToolsLate?: boolean;
  /** Options that end a session when it has cost this much, for a client that tells its cost only at the end of a turn. */
  limitCost?(usd: number): readonly [string, string];
  /** It never says what it costs, so a limit of cost could not hold. */
  tellsNoCost?: boolean;
  /** It need not say that it is done: its exit code does. */
  isResultOptional?: boolean;
  makeReader(): StreamReader;
  /** Where the stream does not say how full the window is. */
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
    // A shell in the background keeps the process alive for minutes after the last answer.
    env: { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1" },
    input: "messages",
    askWindow: `${JSON.stringify({ type: "control_request", request_id: "window", request: { subtype: "get_context_usage" } })}\n`,
    makeReader: claudeStream,
  },
  codex: {
    title: "Codex",
    program: "codex",
    // The earliest that was run with our reader.
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
    // It would start itself again, and the first process hands no signal on.
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
    // 1.17 has no --auto, which gives a run its permissions. The earliest that was run with our reader is 1.18.3.
    oldest: { version: "1.18.0", needs: "`opencode run --auto`" },
    begin: ["run", "--format", "json"],
    end: [],
    env: {},
    input: "text",
    tellsToolsLate: true,
    makeReader: opencodeStream,
  },
};

/** A command of the user's own: it reads the prompt on standard input and may print Claude Code's stream. */
export function userCommand(command: string): StreamedClient {
  return {
    title: "headless.command",
    program: "/bin/sh",
    // The options of a run come as the command's arguments.
    begin: ["-c", `${command} "$@"`, "sh"],
    end: [],
    env: {},
    input: "text",
    tellsToolsLate: true,
    isResultOptional: true,
    makeReader: claudeStream,
  };
}

/** A message for a client that takes them on standard input, as one line. */
export function messageLine(text: string): string {
  return `${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`;
}
