/**
 * Events that a client sends to our running MCP server (unlisted tool `hook`) instead of starting a process for each. Stores stay open
 * between events, one per project.
 */
import { existsSync } from "node:fs";
import { findProjectRoot } from "../base/project-root.ts";
import { clientProcess, keptOpen, logFault, logLine } from "../engine/events/event-project.ts";
import { Judge } from "../engine/judge.ts";
import { isOffForUser, isOffHere, loadConfig, type ProjectPaths, projectPaths } from "../engine/project.ts";
import { matchSkills } from "../skills/matching/match-skills.ts";
import type { StoreHandle } from "../store/sqlite/access.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { answerHook, type HookHost } from "./answer-hook.ts";
import { eventsOfProcesses } from "./own-wiring.ts";

/** `isPackaged`: the server of the client's package, which does nothing if `init` has wired the client. */
type HookServerOptions = Required<Pick<HookHost, "env" | "cwd" | "cli" | "isPackaged">>;

/** How long to wait for the store's lock, in milliseconds. After that the event goes into the spool. */
const BUSY_MS = 200;
/** A server normally serves one project, but the client may move between several. */
const MOST_STORES = 8;

/**
 * The answer to a call, in the client's format; `{}` means no answer. `meta`: the client's data about the call itself. The answer is a
 * promise only if the user has an embedding endpoint and the event is a prompt.
 */
export function hookServer(options: HookServerOptions): (input: unknown, meta?: Fields) => string | Promise<string> {
  const { env, cwd } = options;
  const stores = new Map<string, (sessionId: string) => StoreHandle | undefined>();
  const eventsOf = eventsOfProcesses();
  const openStore: HookHost["openStore"] = ({ store, userState }, sessionId, warn) => {
    let open = stores.get(store);
    if (!open) {
      if (stores.size >= MOST_STORES) stores.clear();
      open = keptOpen(store, { busyMs: BUSY_MS, userState, warn });
      stores.set(store, open);
    }
    return open(sessionId);
  };
  const judge = promptJudge({ env, openStore });
  return (input, meta) => {
    const { client, ...payload } = readPayload(input, meta);
    const { hook_event_name: event, cwd: folder } = payload;
    const { root } = findProjectRoot(typeof folder === "string" ? folder : cwd);
    if (client === "claude-code" && eventsOf({ root, env }).has(String(event))) return "{}";
    const answer = (judged?: ReadonlyMap<string, number>) =>
      answerHook(String(client), payload, {
        ...options,
        isServer: true,
        judged,
        // The client starts the server, so the parent process is the client.
        process: () => clientProcess(Number(env["CLAUDE_PID"]) || process.ppid),
        openStore,
      }) || "{}";
    const judging =
      event === "UserPromptSubmit" ? judge(payload, typeof folder === "string" ? folder : cwd) : undefined;
    return judging ? judging.then(answer) : answer();
  };
}

/** Asks the user's embedding endpoint about the skills that match a prompt by words. Undefined: there is none, or nothing to ask. */
function promptJudge({ env, openStore }: Pick<HookHost, "env" | "openStore">) {
  const judges = new Map<string, Judge>();
  return (
    { prompt, session_id: session }: Fields,
    cwd: string,
  ): Promise<ReadonlyMap<string, number> | undefined> | undefined => {
    if (typeof prompt !== "string") return undefined;
    let paths: ProjectPaths | undefined;
    try {
      paths = projectPaths(cwd, env);
      if (!existsSync(paths.state) || isOffForUser(paths, env) || isOffHere(paths)) return undefined;
      const { config } = loadConfig(paths);
      const { "skills.judge_url": url, "skills.judge_model": model, "skills.judge_key_env": keyName } = config;
      if (url === "") return undefined;
      const warn = (text: string) => logLine(paths!, { level: "warn", part: "judge", text });
      const handle = openStore(paths, String(session), warn);
      if (!handle) return undefined;
      const { matches } = matchSkills({ prompt }, new SqliteSkillIndex(handle.db));
      const key = keyName === "" ? undefined : env[keyName];
      const name = JSON.stringify([url, model, key]);
      const judge = judges.get(name) ?? new Judge({ url, model, key }, { log: warn });
      judges.clear();
      judges.set(name, judge);
      return judge.ask(
        prompt,
        matches.filter(({ excluded }) => !excluded).map(({ card }) => card),
      );
    } catch (fault) {
      if (paths) logFault(paths, "judge", fault);
      return undefined;
    }
  };
}

type Fields = Record<string, unknown>;

/**
 * A client fills in the fields of the call by name. Claude Code (2.1.325) sends objects and booleans as text and missing values as "".
 * Codex (0.166.0) sends values unchanged, and with the call its thread: the session's or a sub-agent's.
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
    // A plain-text tool answer.
    return value;
  }
}
