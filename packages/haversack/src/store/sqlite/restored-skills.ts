/** What came back into a new window without a prompt: in the record, and in the ledger of that window. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { Session, SessionKey } from "../local-store.ts";
import { type Because, recordInjection, roughTokens } from "./injections.ts";
import { NOTE, USE } from "./prompt-ledger.ts";

/** What one window knew of a skill. */
export interface WindowEntry {
  skill: string;
  shownAtPrompt: number | null;
  loadedHash: string | null;
  loadedBy: string | null;
}

export interface RestoredSkills extends SessionKey {
  at: Date;
  /** What brought it: `compaction`, or the source of a session's start. */
  event: string;
  text: string;
  /** Why this text: see `why`. */
  because: Because;
  /** isWhole: its body, and not only parts of it or its name. */
  skills: readonly { skill: string; hash: string; isWhole: boolean }[];
  /** What the new window has without us: the client brought it, or it survived. */
  carried: readonly WindowEntry[];
  /** The window, and its session's prompts so far. Default: as the store has them. */
  session?: Pick<Session, "window" | "promptCount"> | undefined;
}

export function recordRestored(db: DatabaseSync, restored: RestoredSkills): void {
  const { sessionId, agentId = "", at, event, text, because, skills, carried } = restored;
  const { window, promptCount } = restored.session ?? sessionOf(db, sessionId, agentId);
  const time = at.toISOString();
  const key = { sessionId, agentId, window, shown: promptCount, named: null };
  if (text) recordInjection(db, { sessionId, agentId, at, window, event, format: "restored", text, because });
  const note = carried.length + skills.length > 0 ? db.prepare(NOTE) : undefined;
  for (const { skill, loadedHash, loadedBy } of carried) {
    note?.run({ ...key, skill, hash: loadedHash, loadedAt: loadedHash && time, by: loadedBy });
  }
  const use = skills.length > 0 ? db.prepare(USE) : undefined;
  const share = Math.round(roughTokens(text) / skills.length);
  for (const { skill, hash, isWhole } of skills) {
    const loaded = isWhole ? { hash, loadedAt: time, by: "haversack" } : { hash: null, loadedAt: null, by: null };
    note?.run({ ...key, skill, ...loaded });
    use?.run(time, sessionId, agentId, window, skill, isWhole ? "restored" : "shown", share, hash);
  }
}

function sessionOf(db: DatabaseSync, sessionId: string, agentId: string): Pick<Session, "window" | "promptCount"> {
  const row = db
    .prepare("SELECT window, prompt_count FROM sessions WHERE session_id = ? AND agent_id = ?")
    .get(sessionId, agentId);
  return { window: Number(row?.["window"] ?? 1), promptCount: Number(row?.["prompt_count"] ?? 0) };
}
