/**
 * Facts about each client's program: its name, the tested version, and how it is started. The code that finds, checks and starts clients
 * reads this table. Every fact was seen with the real client (`test/clients/NAME`).
 */
export interface ClientFacts {
  /** The client's usual name. */
  title: string;
  /** The program's name on the PATH. */
  program: string;
  tested: string;
  /** Which part of the version must match: some clients change events in every patch. */
  upTo: "minor" | "patch";
  /** Variables that stop `--version` from updating or calling home. */
  quiet?: Readonly<Record<string, string>>;
  /** Names its home folder. Set where `--version` leaves files there. */
  homeVariable?: string;
  /** Another location of the program, below the home folder. */
  ownPlace?: string;
  /**
   * The first version whose hooks can ask a running MCP server (`mcp_tool`). An older one ignores all hooks of a file with such an entry
   * (Claude Code 2.1.90) or cannot parse the file (Codex 0.140), so such entries are written only if the version is known.
   */
  serverHooksSince?: string;
  /** Results that a hook can replace: of tools, a file read again among them, and a sub-agent's answer. */
  replaces: readonly ("output" | "sub-agent")[];
  headless: Headless;
}

/** How to start it with a prompt on standard input: no shell parses the prompt, and no process list shows it. */
export interface Headless {
  /** Before the user's own options. */
  begin: readonly string[];
  resume(sessionId: string): readonly string[];
  /** After the user's own options. */
  end: readonly string[];
}

export type ClientName = "claude-code" | "codex" | "gemini" | "opencode";

export const FACTS: Readonly<Record<ClientName, ClientFacts>> = {
  "claude-code": {
    title: "Claude Code",
    program: "claude",
    tested: "2.1.325",
    upTo: "patch",
    quiet: { DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    ownPlace: ".claude/local/claude",
    serverHooksSince: "2.1.120",
    replaces: ["output", "sub-agent"],
    headless: { begin: ["-p"], resume: (id) => ["-p", "--resume", id], end: [] },
  },
  codex: {
    title: "Codex",
    program: "codex",
    tested: "0.166.0",
    upTo: "minor",
    serverHooksSince: "0.166.0",
    replaces: ["output"],
    // `-`: the prompt comes on standard input.
    headless: { begin: ["exec"], resume: (id) => ["exec", "resume", id], end: ["-"] },
  },
  gemini: {
    title: "Gemini CLI",
    program: "gemini",
    tested: "0.61.0",
    upTo: "minor",
    homeVariable: "GEMINI_CLI_HOME",
    replaces: [],
    // Headless because standard input is no terminal; -p would need a prompt as its argument.
    headless: { begin: [], resume: (id) => ["--resume", id], end: [] },
  },
  opencode: {
    title: "opencode",
    program: "opencode",
    tested: "1.18.33",
    upTo: "minor",
    quiet: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    replaces: ["output", "sub-agent"],
    headless: { begin: ["run"], resume: (id) => ["run", "--session", id], end: [] },
  },
};

/** Variables that clients set for their child processes. A session started from inside another must not inherit them. */
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
