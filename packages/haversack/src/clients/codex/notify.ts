/**
 * The program that Codex starts at the end of every turn (`notify` in the user's config.toml), with a JSON object as its last word. It
 * needs no review by the person, so it is what can tell that hooks do not run: the client keeps silent about hooks that nobody
 * has trusted, or that changed since. It notes whether the turn's prompt was heard by a hook, for `doctor`; where it was not,
 * it keeps the tasks that the session claimed through the MCP server from going back to the queue. Nothing that it prints
 * reaches the model, so messages wait. Sub-agents' turns are told too, without `client` (seen in 0.166.0).
 */
import { existsSync, readFileSync } from "node:fs";
import { readConfigFiles } from "../../base/config-files.ts";
import { errorText } from "../../base/errors.ts";
import { appendLog } from "../../base/log.ts";
import { findProjectRoot, STATE_FOLDER } from "../../base/project-root.ts";
import { checkTrust, userStateFolder } from "../../base/project-trust.ts";
import { putFile } from "../../base/safe-write.ts";
import { readHookWorkSettings } from "../../engine/work/hook-work-settings.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { openForHook } from "../../store/sqlite/open-for-hook.ts";
import { takeBack } from "../../store/sqlite/session-claims.ts";

export interface EndedTurn {
  sessionId: string;
  turnId: string;
  cwd: string;
}

/** Of the last turn that ended in this project. */
export interface TurnNote {
  sessionId: string;
  /** ISO 8601. */
  at: string;
  /** A hook was given its prompt. */
  isHeard: boolean;
}

/** In `.haversack/`. */
export const TURN_FILE = "codex-turn.json";

/** Nobody waits for this program; what it cannot write goes into the spool. */
const BUSY_MS = 500;

/** `spool`: loaded when the store is locked; without it, a locked store is a line in the log. */
export function noteTurn(
  word: string | undefined,
  env: NodeJS.ProcessEnv,
  now: Date,
  spool?: () => Pick<typeof import("../hook-spool.ts"), "standInAfter">,
): void {
  const turn = env["HAVERSACK"] === "0" ? undefined : readEndedTurn(word);
  if (!turn) return;
  const { root } = findProjectRoot(turn.cwd);
  const state = `${root}/${STATE_FOLDER}`;
  const user = `${env["XDG_CONFIG_HOME"] || `${env["HOME"]}/.config`}/haversack`;
  if (!existsSync(state) || existsSync(`${state}/off`) || existsSync(`${user}/off`)) return;
  const userState = userStateFolder(env);
  if (checkTrust(state, userState).kind !== "trusted") return;
  try {
    const handle = openForHook(`${state}/haversack.db`, { busyMs: BUSY_MS, userState });
    if (!handle) return;
    const warn = (text: string) => appendLog(`${state}/log`, { at: now, level: "warn", part: "codex notify", text });
    handle.standInFor = (error) => spool?.().standInAfter(error, handle, { ...turn, warn });
    const isHeard = wasHeard(handle, turn);
    if (!isHeard)
      takeBack(handle, turn, {
        leaseMs: readHookWorkSettings(readConfigFiles({ state, user, userState })).leaseMs,
        at: now,
      });
    handle.db.close();
    const note: TurnNote = { sessionId: turn.sessionId, at: now.toISOString(), isHeard };
    putFile(`${state}/${TURN_FILE}`, `${JSON.stringify(note)}\n`, { within: root, mode: 0o600, isSynced: false });
  } catch (error) {
    appendLog(`${state}/log`, { at: now, level: "error", part: "codex notify", text: errorText(error) });
  }
}

/** Undefined: another notice, or a sub-agent's turn. */
export function readEndedTurn(word: string | undefined): EndedTurn | undefined {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(word ?? "") as Record<string, unknown>;
  } catch {
    // Somebody runs it by hand.
    return undefined;
  }
  const { type, client, "thread-id": sessionId, "turn-id": turnId, cwd } = fields ?? {};
  if (type !== "agent-turn-complete" || typeof client !== "string") return undefined;
  if (typeof sessionId !== "string" || typeof turnId !== "string" || typeof cwd !== "string") return undefined;
  return { sessionId, turnId, cwd };
}

/** Undefined: no turn has ended here since `notify` is set, or the file is half written. */
export function readTurnNote(state: string): TurnNote | undefined {
  try {
    const { sessionId, at, isHeard } = JSON.parse(readFileSync(`${state}/${TURN_FILE}`, "utf8")) as Partial<TurnNote>;
    if (typeof sessionId !== "string" || typeof at !== "string" || typeof isHeard !== "boolean") return undefined;
    return { sessionId, at, isHeard };
  } catch {
    // Not there, or not to be understood: nothing is known.
    return undefined;
  }
}

/** Hooks keep the client's name of the prompt's turn with the session. */
function wasHeard({ db }: StoreHandle, { sessionId, turnId }: EndedTurn): boolean {
  const row = db
    .prepare("SELECT last_prompt_id AS id FROM sessions WHERE session_id = ? AND agent_id = ''")
    .get(sessionId);
  return row?.["id"] === turnId;
}
