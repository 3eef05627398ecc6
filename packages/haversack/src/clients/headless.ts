/**
 * How each client is started headless with a prompt on standard input, as data: a new session, or one that goes on. Standard input,
 * so that the prompt is neither parsed by a shell nor in the list of processes. Every line was seen with the real client
 * (test/clients/NAME/wake-prompt.test.ts): Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0, opencode 1.18.33.
 */

export interface HeadlessClient {
  /** As people call it. */
  title: string;
  /** On the PATH. */
  program: string;
  /** Before the user's own options. */
  begin: readonly string[];
  resume(sessionId: string): readonly string[];
  /** After the user's own options. */
  end: readonly string[];
}

export const HEADLESS: Readonly<Record<string, HeadlessClient>> = {
  "claude-code": {
    title: "Claude Code",
    program: "claude",
    begin: ["-p"],
    resume: (id) => ["-p", "--resume", id],
    end: [],
  },
  codex: {
    title: "Codex",
    program: "codex",
    begin: ["exec"],
    resume: (id) => ["exec", "resume", id],
    // The prompt comes on standard input.
    end: ["-"],
  },
  gemini: {
    title: "Gemini CLI",
    program: "gemini",
    // Headless because standard input is no terminal; -p would want a text of its own.
    begin: [],
    resume: (id) => ["--resume", id],
    end: [],
  },
  opencode: {
    title: "opencode",
    program: "opencode",
    begin: ["run"],
    resume: (id) => ["run", "--session", id],
    end: [],
  },
};

/** What clients tell their own children. Called from inside a session, the new one is none of that session's. */
export const OF_A_SESSION: readonly string[] = [
  "CLAUDECODE",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_PROJECT_DIR",
  "CODEX_SESSION_ID",
  "CODEX_THREAD_ID",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "GEMINI_CLI",
  "OPENCODE",
  "HAVERSACK_SESSION",
];
