/** A session's start, for hook.cjs, with all that it takes to see whether there may be work to go on with; what then follows is in hook-wake.cjs. */
import { statSync } from "node:fs";
import { processSpace } from "../base/process-space.ts";
import type { HookAnswer } from "../engine/hook-event.ts";
import { isIndexStale } from "../engine/index-freshness.ts";
import { startSession } from "../engine/start-session.ts";
import { claudeProcess } from "./claude-code/client-process.ts";
import type { ClaudeBase } from "./claude-code/prompt-event.ts";
import { readClaudeStart } from "./claude-code/start-event.ts";
import type { HookPlace } from "./hook-place.ts";

export function answerEvent(payload: Record<string, unknown>, base: ClaudeBase, place: HookPlace): HookAnswer {
  const { adapter, handle, env, settings, now } = place;
  const event = (adapter ? adapter.event : readClaudeStart)(payload, { ...base, client: place.client() });
  if (event?.kind !== "session-start") return {};
  const process = adapter ? adapter.process?.() : claudeProcess(env);
  const answer = startSession(event, {
    handle,
    settings,
    env,
    now,
    process: () => process,
    leftEdits: (start) => place.wake().tellLeftEdits(start, process?.space ?? processSpace(), place),
    becomeKnown: (start) => (env["HAVERSACK_AGENT"] ? place.wake().becomeKnown(start, place) : undefined),
    wakeSession: (start, noted) => {
      // A hundred pages, each looked at once: a small cache uses their memory again, and new memory costs a process 3 µs a page.
      handle.db.exec("PRAGMA cache_size = 40");
      return place.wake().answerStart(start, { ...noted, process }, place);
    },
    wakeAgain: (start, noted) => place.again().answerAgain(start, { ...noted, process }, place),
    warn: (problem) => place.log().logLine(place.state, "warn", problem),
    checkIndex: () => {
      // Where a start is answered with the first prompt, hook-main.ts has looked at the client's own start.
      if (!adapter?.startBefore) checkIndex(place);
    },
  });
  // In a store that cannot be written no start is noted, so every prompt looks like the first.
  return handle.standIn?.isKept === false && adapter?.hasAnswered?.(payload) ? {} : answer;
}

export function checkIndex({ env, handle, root }: HookPlace): void {
  // An index that cannot be written stays as it is.
  if (handle.standIn?.isKept === false) return;
  // `doctor` sends a test event and wants no process to outlive it.
  if (!env["HAVERSACK_DOCTOR"] && isIndexStale(handle.db)) startIndexing(root);
}

/**
 * The one thing that needs a process: a stale index is rebuilt by the CLI, and an old store upgraded, detached, while the session
 * goes on. The module that starts processes is loaded only then, never on the way of a prompt or a tool.
 */
export function startIndexing(root: string): void {
  const cli = `${__dirname}/haversack.cjs`;
  if (!statSync(cli, { throwIfNoEntry: false })) return;
  const { spawn } = process.getBuiltinModule("node:child_process");
  spawn(process.execPath, [cli, "skills", "index", "--changed"], {
    cwd: root,
    detached: true,
    stdio: "ignore",
  }).unref();
}
