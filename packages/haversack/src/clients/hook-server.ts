/**
 * Events that a client tells our running MCP server, in place of a process for each: the server's unlisted tool `hook`. Stores stay open
 * between events, one for each project that is asked about.
 */
import { findProjectRoot } from "../base/project-root.ts";
import { clientProcess } from "../engine/events/client-process.ts";
import { keptOpen } from "../engine/events/kept-store.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { answerHook } from "./answer-hook.ts";
import { eventsOfProcesses } from "./own-wiring.ts";

export interface HookServerOptions {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** How our CLI is started, without its arguments. */
  cli: readonly string[];
  /** The server of the client's package: it stands back where `init` has wired the client. */
  isPackaged: boolean;
}

/** How long to wait for the store's lock, in milliseconds; then the event goes into the spool. */
const BUSY_MS = 200;
/** One server serves one project; a client that moves between some is served too. */
const MOST_STORES = 8;

/** The answer to a call, as the client takes it; `{}` is silence. `meta`: what the client says of the call itself. */
export function hookServer({
  env,
  cwd,
  cli,
  isPackaged,
}: HookServerOptions): (input: unknown, meta?: Fields) => string {
  const stores = new Map<string, (sessionId: string) => StoreHandle | undefined>();
  const eventsOf = eventsOfProcesses();
  return (input, meta) => {
    const { client, ...payload } = readPayload(input, meta);
    const { hook_event_name: event, cwd: folder } = payload;
    const { root } = findProjectRoot(typeof folder === "string" ? folder : cwd);
    if (client === "claude-code" && eventsOf({ root, env }).has(String(event))) return "{}";
    const text = answerHook(String(client), payload, {
      env,
      cwd,
      cli,
      isPackaged,
      isServer: true,
      // The server is the client's own child.
      process: () => clientProcess(Number(env["CLAUDE_PID"]) || process.ppid),
      openStore: ({ store, userState }, sessionId, warn) => {
        let open = stores.get(store);
        if (!open) {
          if (stores.size >= MOST_STORES) stores.clear();
          open = keptOpen(store, { busyMs: BUSY_MS, userState, warn });
          stores.set(store, open);
        }
        return open(sessionId);
      },
    });
    return text || "{}";
  };
}

type Fields = Record<string, unknown>;

/**
 * A client fills the fields of the call by name. Claude Code (2.1.325) gives objects and truth values as texts and what is missing as
 * "". Codex (0.166.0) gives all as they are, and with the call the thread that it is about: the session's or a sub-agent's.
 */
export function readPayload(input: unknown, { threadId }: Fields = {}): Fields {
  const given = typeof input === "object" && input !== null ? (input as Fields) : {};
  if (given["client"] !== "claude-code") return { ...given, ...(threadId !== undefined && { thread_id: threadId }) };
  const entries = Object.entries(given).filter(([, value]) => value !== "");
  return Object.fromEntries(entries.map(([key, value]) => [key, STRUCTURED.includes(key) ? parsed(value) : value]));
}

const STRUCTURED = ["tool_input", "tool_response", "stop_hook_active", "is_interrupt"];

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    // A tool's answer in plain words.
    return value;
  }
}
