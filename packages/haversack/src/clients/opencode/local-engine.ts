/**
 * The engine of a project, inside opencode's own process: the same rules and stores as hook.cjs, without a process per event. The store
 * stays open between events; whatever fails is thrown, and the plugin's guard logs it and goes on in silence.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { appendLog } from "../../base/log.ts";
import { maskSecrets } from "../../base/mask.ts";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { readHead } from "../../base/read-head.ts";
import { discover } from "../../engine/discover.ts";
import { handleEvent } from "../../engine/handle-event.ts";
import type { EventBase, HookAnswer } from "../../engine/hook-event.ts";
import { readHookSettings } from "../../engine/hook-settings.ts";
import { isIndexStale } from "../../engine/index-freshness.ts";
import { recordTool } from "../../engine/record-tool.ts";
import { readHookWorkSettings } from "../../engine/work/hook-work-settings.ts";
import { combineMatches } from "../../skills/combine-matches.ts";
import { matchRules } from "../../skills/match-rules.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { readHandoffBy } from "../../store/sqlite/handoff-by.ts";
import { hasUnread } from "../../store/sqlite/has-unread.ts";
import { openForHook } from "../../store/sqlite/open-for-hook.ts";
import { PromptIndex } from "../../store/sqlite/prompt-index.ts";
import { PromptLedger } from "../../store/sqlite/prompt-ledger.ts";
import { SessionState } from "../../store/sqlite/session-state.ts";
import { SessionTasks } from "../../store/sqlite/session-tasks.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skill-index.ts";
import { SkillLedger } from "../../store/sqlite/skill-ledger.ts";
import { Spawns } from "../../store/sqlite/spawns.ts";
import { SqliteLocalStore } from "../../store/sqlite/sqlite-local-store.ts";
import { claudeProcess } from "../claude-code/client-process.ts";
import { makePacket } from "../hook-packet.ts";
import type { HookPlace } from "../hook-session.ts";
import * as wake from "../hook-wake.ts";
import type { HookEngine } from "./hook-engine.ts";

export interface LocalEngineOptions {
  root: string;
  env: Readonly<Record<string, string | undefined>>;
  /** How Node is started with our CLI, without its arguments; empty: not known. The client's own runtime cannot run it. */
  cli: readonly string[];
}

/** How long the store may be locked by others: the client's own screen waits as long. */
const BUSY_MS = 100;

export function localEngine({ root, env, cli }: LocalEngineOptions): HookEngine {
  const state = `${root}/${STATE_FOLDER}`;
  const file = `${state}/haversack.db`;
  const userFolder = `${env["XDG_CONFIG_HOME"] || `${env["HOME"]}/.config`}/haversack`;
  const configFiles = () => [`${userFolder}/config.json`, `${state}/config.json`].flatMap(readJsonFile);
  const log: HookEngine["log"] = (level, text) =>
    appendLog(`${state}/log`, { at: new Date(), level, part: "opencode", text });
  const store = keptOpen(file);

  /** Undefined when the project has no store that we may use, or Haversack is switched off. */
  const open = (): StoreHandle | undefined =>
    existsSync(`${state}/off`) || existsSync(`${userFolder}/off`) ? undefined : store();
  const startIndexing = () => {
    const [program, ...args] = cli;
    if (!program || env["HAVERSACK_DOCTOR"]) return;
    const child = spawn(program, [...args, "skills", "index", "--changed"], {
      cwd: root,
      detached: true,
      stdio: "ignore",
    });
    child.on("error", (fault) => log("warn", `the index was not rebuilt: ${fault.message}`)).unref();
  };
  const placeFor = (handle: StoreHandle, { client }: EventBase): HookPlace => ({
    root,
    state,
    env,
    handle,
    now: new Date(),
    client: () => client,
    settings: () => readHookSettings(configFiles()),
    configFiles,
    wake: () => wake,
    packet: () => ({ makePacket }),
    artifacts: () => {
      throw new Error("receipts are not watched in opencode");
    },
  });
  const leaseMs = () => readHookWorkSettings(configFiles()).leaseMs;

  warmUp(open, log);
  return {
    prompt(event) {
      const handle = open();
      if (!handle) return {};
      const place = placeFor(handle, event);
      const { text, skills, slowPatterns } = discover(
        {
          ...event,
          root,
          at: place.now,
          env,
          readHead: (path) => readHead(path.startsWith("/") ? path : `${root}/${path}`),
        },
        {
          index: new PromptIndex(handle.db),
          ledger: new PromptLedger(handle),
          settings: place.settings(),
          // On Bun it runs those patterns only that are proven linear: see run-patterns.ts.
          matchRules,
          maskSecrets,
        },
      );
      for (const source of slowPatterns)
        log("warn", `the pattern /${source}/ took too long and is left out from now on`);
      const context = [text, messagesFor(event, text.length, place)].filter(Boolean).join("\n\n");
      return { considered: skills.length, ...(context && { context }) };
    },

    tool({ client, ...event }) {
      const handle = open();
      if (!handle) return;
      const stores = storesOf(handle);
      const parts = { ...stores, root, startedBy: () => undefined, leaseMs, now: new Date() };
      recordTool({ ...event, client: client.name }, parts);
    },

    session(event): HookAnswer {
      const handle = open();
      if (!handle) {
        // Most likely of an older version: without this it would stay so until somebody calls the CLI.
        if (event.kind === "session-start" && existsSync(file)) startIndexing();
        return {};
      }
      const place = placeFor(handle, event);
      const stores = storesOf(handle);
      // Named as Claude Code names its own; here it is this very process.
      const process_ = () => claudeProcess({ CLAUDE_PID: String(process.pid) });
      return handleEvent(event, {
        ...stores,
        root,
        handle,
        spawns: new Spawns(handle),
        packetFor: (task) => wake.packetFor(task, stores, place),
        process: process_,
        wakeSession: (start, before) => {
          const { problems, ...answer } = wake.answerStart(start, { before, process: process_() }, stores, place);
          for (const problem of problems) log("warn", problem);
          return answer;
        },
        handoffBy: (agentId) => readHandoffBy(handle, agentId),
        workSettings: () => readHookWorkSettings(configFiles()),
        sessions: new SqliteLocalStore(handle),
        settings: place.settings,
        env,
        now: place.now,
        checkIndex: () => {
          if (isIndexStale(handle.db)) startIndexing();
        },
      });
    },

    log,
  };
}

function storesOf(handle: StoreHandle) {
  return {
    index: new SqliteSkillIndex(handle.db),
    ledger: new SkillLedger(handle),
    state: new SessionState(handle),
    tasks: new SessionTasks(handle),
  };
}

/** A message that waits for the agent of this session comes with its prompt. */
function messagesFor({ sessionId, agentId }: EventBase, used: number, place: HookPlace): string {
  if (agentId || !hasUnread(place.handle.db, sessionId, { isMentionOnly: false })) return "";
  return wake.messagesFor(sessionId, { event: "UserPromptSubmit", used: used + 2 }, place);
}

/** Opens the store at its first use, and anew when another file has taken its place. */
function keptOpen(file: string): () => StoreHandle | undefined {
  let kept: { handle: StoreHandle; inode: number } | undefined;
  return () => {
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    if (kept && kept.inode === inode) return kept.handle;
    kept?.handle.db.close();
    kept = undefined;
    const handle = openForHook(file, { busyMs: BUSY_MS });
    if (!handle || inode === undefined) return undefined;
    // A hook leaves the log to the next one; a process that stays has to shorten it itself.
    handle.db.exec("PRAGMA wal_autocheckpoint = 1000");
    kept = { handle, inode };
    return handle;
  };
}

/** The first prompt would pay for what is compiled and read at its first use; while the client starts nobody waits. */
function warmUp(open: () => StoreHandle | undefined, log: HookEngine["log"]): void {
  try {
    const handle = open();
    if (handle) combineMatches({ prompt: "warm up the index" }, new PromptIndex(handle.db), { matchRules });
  } catch (fault) {
    log("error", `opencode start: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
}

function readJsonFile(path: string): unknown[] {
  return existsSync(path) ? [JSON.parse(readFileSync(path, "utf8")) as unknown] : [];
}
