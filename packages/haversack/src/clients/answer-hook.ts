/**
 * A client's payload in, its answer out: finds the project, opens its store, and lets the engine answer. For the process that a client
 * starts at an event, and for the MCP server that is asked instead.
 *
 * It never harms the session: whatever goes wrong is logged, and the answer is silence.
 */
import { existsSync } from "node:fs";
import { checkTrust, untrustedNotice } from "../base/project-trust.ts";
import { answerEvents } from "../engine/events/answer-event.ts";
import { type EventProject, eventProject, logFault, logLine, startIndexing } from "../engine/events/event-project.ts";
import { noteProcess, recoverMissed } from "../engine/events/recover-missed.ts";
import { isOffForUser, isOffHere, type ProjectPaths, projectPaths } from "../engine/project.ts";
import type { ClientProfile } from "../skills/showing/activation.ts";
import type { ClientProcess } from "../store/local-store.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { claudeCode } from "./claude-code/adapter.ts";
import type { ClientAdapter, Payload } from "./client-adapter.ts";
import { codex } from "./codex/adapter.ts";
import { gemini } from "./gemini/adapter.ts";
import { ownWiring } from "./own-wiring.ts";

const ADAPTERS: readonly ClientAdapter[] = [claudeCode, codex, gemini];

/** Who asks: a process for one event, or a server that stays. */
export interface HookHost {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** How our CLI is started, without its arguments. */
  cli: readonly string[];
  /** The client's package asks: it stands back where `init` has wired the client. Default: false. */
  isPackaged?: boolean;
  /** A server that stays, and may have missed events. Default: false. */
  isServer?: boolean;
  openStore(paths: ProjectPaths, sessionId: string, warn: (text: string) => void): StoreHandle | undefined;
  /** The client's own process; absent: as the adapter knows it. */
  process?(): ClientProcess | undefined;
  /** After the answer. */
  done?(handle: StoreHandle): void;
}

/** "" for silence. */
export function answerHook(client: string, payload: unknown, host: HookHost): string {
  const adapter = ADAPTERS.find((one) => one.client === client);
  if (!adapter || typeof payload !== "object" || payload === null) return "";
  let paths: ProjectPaths | undefined;
  try {
    const base = adapter.readBase(payload as Payload, host.cwd);
    if (!base) return "";
    paths = projectPaths(base.cwd, host.env);
    // No folder: the project does not use Haversack.
    if (!existsSync(paths.state) || isOffForUser(paths, host.env)) return "";
    // A clone can bring this mark too, and must not silence the line about what else it brings.
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
  const { env, cli, isServer = false } = host;
  const warn = (text: string) => logLine(paths, { level: "warn", part: PART, text });
  const handle = host.openStore(paths, base.sessionId, warn);
  if (!handle) return withoutStore(paths, payload, host);
  const process = host.process ?? (() => adapter.process(env));
  const project = eventProject(paths, handle, { env, process, cli, part: PART, isServer });
  const client = adapter.profile(paths.root, env);
  recover({ adapter, payload, base, host }, client, project);
  const events = adapter.readEvents(payload, { ...base, client }, project);
  const text = adapter.writeAnswer(payload, answerEvents(events, project));
  if (adapter.transcripts) noteProcess(events, project);
  host.done?.(handle);
  return text;
}

/** What the server was not told, from what the client has written down. */
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

/** At a session's start: a line for the person, or a process that makes or upgrades the store. */
function withoutStore(paths: ProjectPaths, payload: Payload, { env, cli }: HookHost): string {
  if (payload["hook_event_name"] !== "SessionStart") return "";
  const { root, state, store, config, userState } = paths;
  if (checkTrust(state, userState).kind === "untrusted") return untrustedLine(paths, payload);
  // A store of an older version, or a fresh clone of a project that shares its settings: without this it would stay so until somebody
  // calls the CLI.
  if (existsSync(store) || existsSync(config)) startIndexing({ root, env, cli });
  return "";
}

/** For the person alone: all clients that run hooks show it on their screen and keep it from the model. */
function untrustedLine({ state, userState }: ProjectPaths, payload: Payload): string {
  const { hook_event_name: event, source } = payload;
  // Told once: not after each time that the conversation was compacted or cleared.
  if (event !== "SessionStart" || source === "compact" || source === "clear") return "";
  const trust = checkTrust(state, userState);
  return trust.kind === "untrusted" ? JSON.stringify({ systemMessage: untrustedNotice(trust, state) }) : "";
}
