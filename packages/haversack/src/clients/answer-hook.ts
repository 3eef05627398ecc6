/**
 * Turns a client's payload into an answer: finds the project, opens its store, and lets the engine answer. Used by the process that a
 * client starts for an event, and by the MCP server that the client asks instead.
 *
 * It never disturbs the session: errors are logged, and the answer is empty.
 */
import { existsSync } from "node:fs";
import { checkTrust, untrustedNotice } from "../base/project-trust.ts";
import { answerEvents, noteProcess, recoverMissed } from "../engine/events/answer-event.ts";
import { type EventProject, eventProject, logFault, logLine, startIndexing } from "../engine/events/event-project.ts";
import { isOffForUser, isOffHere, isSetUp, type ProjectPaths, projectPaths } from "../engine/project.ts";
import type { ClientProfile } from "../skills/showing/activation.ts";
import type { StoreHandle } from "../store/sqlite/access.ts";
import type { ClientProcess } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { claudeCode } from "./claude-code/adapter.ts";
import type { ClientAdapter, Payload } from "./client-adapter.ts";
import { codex } from "./codex/adapter.ts";
import { gemini } from "./gemini/adapter.ts";
import { ownWiring } from "./own-wiring.ts";

const ADAPTERS: Readonly<Record<string, () => ClientAdapter>> = { "claude-code": claudeCode, codex, gemini };

/** The caller: a process for one event, or a long-lived server. */
export interface HookHost {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** The command that starts our CLI, without arguments. */
  cli: readonly string[];
  /** Called by the client's package, which does nothing if `init` has wired the client. Default: false. */
  isPackaged?: boolean;
  /** A long-lived server, which may have missed events. Default: false. */
  isServer?: boolean;
  /** Similarity of skills to the prompt, by id, if the user has an embedding endpoint. */
  judged?: ReadonlyMap<string, number> | undefined;
  openStore(paths: ProjectPaths, sessionId: string, warn: (text: string) => void): StoreHandle | undefined;
  /** The client's own process. Default: the one that the adapter finds. */
  process?(): ClientProcess | undefined;
  /** Called after the answer. */
  done?(handle: StoreHandle): void;
}

/** "" if there is nothing to say. */
export function answerHook(client: string, payload: unknown, host: HookHost): string {
  const adapter = Object.hasOwn(ADAPTERS, client) ? ADAPTERS[client]?.() : undefined;
  if (!adapter || typeof payload !== "object" || payload === null) return "";
  let paths: ProjectPaths | undefined;
  try {
    const base = adapter.readBase(payload as Payload, host.cwd);
    if (!base) return "";
    paths = projectPaths(base.cwd, host.env);
    // No folder: the project does not use Haversack.
    if (!existsSync(paths.state) || isOffForUser(paths, host.env)) return "";
    // A clone can contain this mark too. It must not suppress the warning about the clone's other files.
    if (isOffHere(paths)) return untrustedLine(paths, payload as Payload);
    const { root } = paths;
    if (host.isPackaged && ownWiring(client, { root, cwd: base.cwd, env: host.env })) return "";
    return answerIn(paths, { adapter, payload: payload as Payload, base, host });
  } catch (fault) {
    if (paths) logFault(paths, PART, fault);
    return "";
  }
}

const PART = "hook";

interface Asked {
  adapter: ClientAdapter;
  payload: Payload;
  base: NonNullable<ReturnType<ClientAdapter["readBase"]>>;
  host: HookHost;
}

function answerIn(paths: ProjectPaths, { adapter, payload, base, host }: Asked): string {
  const { env, cli, isServer = false, judged } = host;
  const warn = (text: string) => logLine(paths, { level: "warn", part: PART, text });
  const handle = host.openStore(paths, base.sessionId, warn);
  if (!handle) return withoutStore(paths, payload, host);
  const process = host.process ?? (() => adapter.process(env));
  const project = eventProject(paths, handle, { env, process, cli, part: PART, isServer, judged });
  const client = adapter.profile(paths.root, env);
  recover({ adapter, payload, base, host }, client, project);
  const events = adapter.readEvents(payload, { ...base, client }, project);
  const text = adapter.writeAnswer(payload, answerEvents(events, project));
  if (adapter.transcripts) noteProcess(events, project);
  host.done?.(handle);
  return text;
}

/** Recovers events that the server missed, from the client's transcripts. */
function recover({ adapter, payload, base, host }: Asked, client: ClientProfile, project: EventProject): void {
  const { readCalls } = adapter;
  const files = adapter.transcripts?.(payload, base) ?? [];
  if (!readCalls || files.length === 0) return;
  const eventsOf = (call: Payload) => {
    const caller = adapter.readBase(call, host.cwd);
    return caller ? adapter.readEvents(call, { ...caller, client }, project) : [];
  };
  const { sessionId } = base;
  recoverMissed({ sessionId, files, readCalls: (...read) => readCalls(payload, ...read), eventsOf }, project);
}

/** At a session's start: a line for the user, or a process that creates or upgrades the store. */
function withoutStore(paths: ProjectPaths, payload: Payload, { env, cli }: HookHost): string {
  if (payload["hook_event_name"] !== "SessionStart") return "";
  const { root, state, userState } = paths;
  if (checkTrust(state, userState).kind === "untrusted") return untrustedLine(paths, payload);
  // An older store, one that was deleted, or a fresh clone of a project with shared settings. Without this, nothing changes until somebody runs the CLI.
  if (isSetUp(paths)) startIndexing({ root, env, cli });
  return "";
}

/** For the user only: all clients that run hooks show it on screen and keep it from the model. */
function untrustedLine({ state, userState }: ProjectPaths, payload: Payload): string {
  const { hook_event_name: event, source } = payload;
  // Shown once, not again after each compaction or clear.
  if (event !== "SessionStart" || source === "compact" || source === "clear") return "";
  const trust = checkTrust(state, userState);
  return trust.kind === "untrusted" ? JSON.stringify({ systemMessage: untrustedNotice(trust, state) }) : "";
}
