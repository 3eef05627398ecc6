/**
 * The program that Codex starts at the end of every turn (`notify` in the user's config.toml), with a JSON object as its last word. It
 * needs no review by the person, so it is what can tell that hooks do not run: the client keeps silent about hooks that nobody
 * has trusted, or that changed since. It notes whether the turn's prompt was heard by a hook, for `doctor`; where it was not,
 * it keeps the tasks that the session claimed through the MCP server from going back to the queue. Nothing that it prints
 * reaches the model, so messages wait. Sub-agents' turns are told too, without `client` (seen in 0.166.0).
 */
import { existsSync } from "node:fs";
import { errorText } from "../../base/errors.ts";
import { checkTrust } from "../../base/project-trust.ts";
import { readBounded } from "../../base/read-text.ts";
import { putFile } from "../../base/safe-write.ts";
import { logLine } from "../../engine/events/event-project.ts";
import { keptOpen } from "../../engine/events/kept-store.ts";
import { loadConfig, offReason, projectPaths } from "../../engine/project.ts";
import { workSettings } from "../../engine/work/work-parts.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { takeBack } from "../../store/sqlite/work/events/session-claims.ts";

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

const TURN_MAX_BYTES = 10_000;

/** Undefined: no turn has ended here since `notify` is set, or the file is half written. */
export function readTurnNote(state: string): TurnNote | undefined {
  try {
    const text = readBounded(`${state}/${TURN_FILE}`, TURN_MAX_BYTES)?.text ?? "";
    const { sessionId, at, isHeard } = JSON.parse(text) as Partial<TurnNote>;
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
