/** The complete ledger: loads, what a window knew, and the history of what was shown and why. */
import type { DatabaseSync } from "node:sqlite";
import { readStore, writeEvent, writeStore } from "../access.ts";
import type { Session, SessionKey } from "../sessions/sqlite-local-store.ts";
import { type Because, recordInjection, roughTokens } from "./injections.ts";
import { LEDGER, type LedgerRow, NOTE, NOTHING_NOTED, PromptLedger, toEntry, USE } from "./prompt-ledger.ts";
import { SkillRows } from "./skill-index.ts";

export interface SkillLoad extends SessionKey {
  at: Date;
  window: number;
  promptNumber: number;
  skill: string;
  hash: string;
  tokens: number;
  /** client: loaded by the client's own skill tool or command. read: the model read the skill's file. */
  by: "client" | "read" | "haversack";
}

export interface ShownSkill extends SessionKey {
  at: Date;
  window: number;
  promptNumber: number;
  skill: string;
  text: string;
  event: string;
  because: Because;
}

/** A session's skill tracking, as documented JSON. */
export interface SkillContext {
  recommended: string[];
  used: string[];
  sessionStart: string;
  sessionId: string;
  lastPromptTime: string | null;
  promptCount: number;
  domainHistory: string[];
}

export interface RecordedMatch {
  sessionId: string;
  agentId: string;
  promptNumber: number;
  at: string;
  prompt: string;
  explanation: unknown;
}

export class SkillLedger extends PromptLedger {
  /** Records that the model asked for a body and got it. */
  recordLoad(load: SkillLoad): void {
    writeEvent(this.handle, "load", saveLoad, load);
  }

  /** The skills that a window knew, the latest loaded first. */
  window({ sessionId, agentId = "", window }: SessionKey & { window: number }): WindowEntry[] {
    return readStore(
      this.handle,
      (db) => db.prepare(WINDOW).all(sessionId, agentId, window) as unknown as WindowEntry[],
    );
  }

  lastPromptId({ sessionId, agentId = "" }: SessionKey): string | undefined {
    const row = readStore(this.handle, (db) =>
      db
        .prepare("SELECT last_prompt_id AS id FROM sessions WHERE session_id = ? AND agent_id = ?")
        .get(sessionId, agentId),
    );
    return (row?.["id"] as string | null) ?? undefined;
  }

  /** Records a skill that was shown to the model outside of a prompt. */
  recordShown(shown: ShownSkill): void {
    writeEvent(this.handle, "shown", saveShown, shown);
  }

  /** Forgets what was shown in a session, as in a new window. Returns the number of sessions and agents reset. */
  reset(sessionId: string): number {
    return writeStore(this.handle, (db) => {
      db.prepare("DELETE FROM ledger WHERE session_id = ?").run(sessionId);
      const { changes } = db
        .prepare(
          "UPDATE sessions SET prompt_count = 0, last_prompt_at = NULL, domain_history = '[]', tracking_since = NULL, tracking_prompts = 0 WHERE session_id = ?",
        )
        .run(sessionId);
      return Number(changes);
    });
  }

  context({ sessionId, agentId = "" }: SessionKey): SkillContext | undefined {
    return readStore(this.handle, (db) => {
      const row = db.prepare("SELECT * FROM sessions WHERE session_id = ? AND agent_id = ?").get(sessionId, agentId);
      if (!row) return undefined;
      const entries = (db.prepare(LEDGER).all(sessionId, agentId, Number(row["window"])) as unknown as LedgerRow[]).map(
        toEntry,
      );
      return {
        recommended: entries.map(({ skill }) => skill),
        used: entries.filter(({ loadedHash }) => loadedHash).map(({ skill }) => skill),
        sessionStart: String(row["tracking_since"] ?? row["started_at"]),
        sessionId,
        lastPromptTime: (row["last_prompt_at"] as string | null) ?? null,
        promptCount: Number(row["tracking_prompts"]),
        domainHistory: JSON.parse(String(row["domain_history"])),
      };
    });
  }

  /** The last matches, newest first. */
  matches({ sessionId, limit }: { sessionId?: string | undefined; limit: number }): RecordedMatch[] {
    return readStore(this.handle, (db) => {
      const where = sessionId === undefined ? "" : "WHERE session_id = ?";
      const rows = db
        .prepare(`SELECT * FROM prompt_matches ${where} ORDER BY at DESC, prompt_number DESC LIMIT ?`)
        .all(...(sessionId === undefined ? [limit] : [sessionId, limit]));
      return rows.map((row) => ({
        sessionId: String(row["session_id"]),
        agentId: String(row["agent_id"]),
        promptNumber: Number(row["prompt_number"]),
        at: String(row["at"]),
        prompt: String(row["prompt"]),
        explanation: JSON.parse(String(row["data"])),
      }));
    });
  }
}

/** For callers that hold the write lock already. The same holds for the next function. */
export function saveLoad(db: DatabaseSync, load: SkillLoad): void {
  const { sessionId, agentId = "", at, window, promptNumber, skill, hash, tokens, by } = load;
  const time = at.toISOString();
  // A skill may be loaded before the first hook event. Without a session row its window could never end.
  db.prepare(MEET).run(sessionId, agentId, time, time);
  new SkillRows(db).keepBody(hash);
  const loaded = { shown: promptNumber, hash, loadedAt: time, by };
  db.prepare(NOTE).run({ ...NOTHING_NOTED, sessionId, agentId, window, skill, ...loaded });
  db.prepare(USE).run(time, sessionId, agentId, window, skill, "loaded", tokens, hash);
}

export function saveShown(db: DatabaseSync, shown: ShownSkill): void {
  const { sessionId, agentId = "", at, window, promptNumber, skill, text, event, because } = shown;
  const time = at.toISOString();
  const tokens = roughTokens(text);
  recordInjection(db, { sessionId, agentId, at, window, event, format: "notice", text, because });
  db.prepare(NOTE).run({ ...NOTHING_NOTED, sessionId, agentId, window, skill, shown: promptNumber });
  db.prepare(USE).run(time, sessionId, agentId, window, skill, "shown", tokens, null);
}

const MEET =
  "INSERT OR IGNORE INTO sessions (session_id, agent_id, client, cwd, started_at, last_seen_at) VALUES (?, ?, 'unknown', '', ?, ?)";

const WINDOW = `
SELECT skill, shown_at_prompt AS shownAtPrompt, loaded_hash AS loadedHash, loaded_by AS loadedBy FROM ledger
WHERE session_id = ? AND agent_id = ? AND window = ? ORDER BY loaded_at DESC, skill`;

// Skills that were restored into a new window without a prompt. Recorded in the history and in that window's ledger.

/** What one window knew about a skill. */
export interface WindowEntry {
  skill: string;
  shownAtPrompt: number | null;
  loadedHash: string | null;
  loadedBy: string | null;
}

export interface RestoredSkills extends SessionKey {
  at: Date;
  /** What triggered it: `compaction`, or the source of a session's start. */
  event: string;
  text: string;
  /** Why this text was chosen: see `why`. */
  because: Because;
  /** isWhole: the whole body, not only parts of it or its name. */
  skills: readonly { skill: string; hash: string; isWhole: boolean }[];
  /** Skills that are in the new window without our help: the client restored them, or they survived. */
  carried: readonly WindowEntry[];
  /** The window, and the session's prompt count so far. Default: from the store. */
  session?: Pick<Session, "window" | "promptCount"> | undefined;
}

export function recordRestored(db: DatabaseSync, restored: RestoredSkills): void {
  const { sessionId, agentId = "", at, event, text, because, skills, carried } = restored;
  const { window, promptCount } = restored.session ?? sessionOf(db, sessionId, agentId);
  const time = at.toISOString();
  const key = { ...NOTHING_NOTED, sessionId, agentId, window, shown: promptCount };
  if (text) recordInjection(db, { sessionId, agentId, at, window, event, format: "restored", text, because });
  const note = carried.length + skills.length > 0 ? db.prepare(NOTE) : undefined;
  for (const { skill, loadedHash, loadedBy } of carried) {
    note?.run({ ...key, skill, hash: loadedHash, loadedAt: loadedHash && time, by: loadedBy });
  }
  const use = skills.length > 0 ? db.prepare(USE) : undefined;
  const share = Math.round(roughTokens(text) / skills.length);
  for (const { skill, hash, isWhole } of skills) {
    if (isWhole) new SkillRows(db).keepBody(hash);
    note?.run({ ...key, skill, ...(isWhole && { hash, loadedAt: time, by: "haversack" }) });
    use?.run(time, sessionId, agentId, window, skill, isWhole ? "restored" : "shown", share, hash);
  }
}

function sessionOf(db: DatabaseSync, sessionId: string, agentId: string): Pick<Session, "window" | "promptCount"> {
  const row = db
    .prepare("SELECT window, prompt_count FROM sessions WHERE session_id = ? AND agent_id = ?")
    .get(sessionId, agentId);
  return { window: Number(row?.["window"] ?? 1), promptCount: Number(row?.["prompt_count"] ?? 0) };
}
