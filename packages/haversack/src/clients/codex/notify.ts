/**
 * The program that Codex starts at the end of every turn (`notify` in the user's config.toml), with a JSON object as the last argument. It needs
 * no review by the user, so it can detect that hooks do not run: Codex silently skips hooks that are untrusted or have changed. It records for
 * `doctor` whether a hook received the turn's prompt. If none did, it keeps the session's claims (made through the MCP server) from returning to
 * the queue. Its output does not reach the model, so messages wait. Codex also reports sub-agents' turns, without `client` (seen in 0.166.0).
 */
import { existsSync } from "node:fs";
import { readBounded } from "../../base/clean-text.ts";
import { errorText } from "../../base/errors.ts";
import { checkTrust } from "../../base/project-trust.ts";
import { putFile } from "../../base/safe-write.ts";
import { keptOpen, logLine } from "../../engine/events/event-project.ts";
import { loadConfig, offReason, projectPaths } from "../../engine/project.ts";
import { workSettings } from "../../engine/work/work-parts.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { takeBack } from "../../store/sqlite/work/events/session-claims.ts";
import { parsed } from "../client-adapter.ts";

export interface EndedTurn {
  sessionId: string;
  turnId: string;
  cwd: string;
}

/** The last turn that ended in this project. */
export interface TurnNote {
  sessionId: string;
  /** ISO 8601. */
  at: string;
  /** A hook received the turn's prompt. */
  isHeard: boolean;
}

/** In `.haversack/`. */
export const TURN_FILE = "codex-turn.json";

/** Nobody waits for this program; what it cannot write goes into the spool. */
const BUSY_MS = 500;

export function noteTurn(word: string | undefined, env: NodeJS.ProcessEnv, now: Date): void {
  const turn = readEndedTurn(word);
  if (!turn) return;
  const paths = projectPaths(turn.cwd, env);
  const { root, state, store, userState } = paths;
  if (!existsSync(state) || offReason(paths, env)) return;
  if (checkTrust(state, userState).kind !== "trusted") return;
  const log = (level: "warn" | "error", text: string) => logLine(paths, { level, text, part: "codex notify", at: now });
  try {
    const open = keptOpen(store, { busyMs: BUSY_MS, userState, warn: (text) => log("warn", text), isForOne: true });
    const handle = open(turn.sessionId);
    if (!handle) return;
    const isHeard = wasHeard(handle, turn);
    if (!isHeard) takeBack(handle, turn, { leaseMs: workSettings(loadConfig(paths).config).leaseMs, at: now });
    handle.db.close();
    const note: TurnNote = { sessionId: turn.sessionId, at: now.toISOString(), isHeard };
    putFile(`${state}/${TURN_FILE}`, `${JSON.stringify(note)}\n`, { within: root, mode: 0o600, isSynced: false });
  } catch (error) {
    log("error", errorText(error));
  }
}

/** Undefined for other notices and for a sub-agent's turn. */
export function readEndedTurn(word: string | undefined): EndedTurn | undefined {
  const { type, client, "thread-id": sessionId, "turn-id": turnId, cwd } = parsed(word);
  if (type !== "agent-turn-complete" || typeof client !== "string") return undefined;
  if (typeof sessionId !== "string" || typeof turnId !== "string" || typeof cwd !== "string") return undefined;
  return { sessionId, turnId, cwd };
}

const TURN_MAX_BYTES = 10_000;

/** Undefined if no turn has ended here since `notify` was set, or if the file is half written. */
export function readTurnNote(state: string): TurnNote | undefined {
  const { sessionId, at, isHeard } = parsed(readBounded(`${state}/${TURN_FILE}`, TURN_MAX_BYTES)?.text);
  if (typeof sessionId !== "string" || typeof at !== "string" || typeof isHeard !== "boolean") return undefined;
  return { sessionId, at, isHeard };
}

/** Hooks store the turn ID of the last prompt with the session. */
function wasHeard({ db }: StoreHandle, { sessionId, turnId }: EndedTurn): boolean {
  const row = db
    .prepare("SELECT last_prompt_id AS id FROM sessions WHERE session_id = ? AND agent_id = ''")
    .get(sessionId);
  return row?.["id"] === turnId;
}
