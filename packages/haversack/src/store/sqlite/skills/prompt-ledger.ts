/**
 * What the model has been shown of skills, per window: the half that a prompt needs. A prompt's answer is recorded in one
 * transaction, so parallel hooks lose nothing. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import type { LedgerEntry } from "../../../skills/showing/disclosure.ts";
import { readTogether, type StoreHandle, writeEvent, writeStore } from "../access.ts";
import type { SessionKey } from "../sessions/sqlite-local-store.ts";
import { INJECT } from "./injections.ts";
import { SkillRows } from "./skill-index.ts";

/** What discovery must know about a session before it answers. */
export interface SkillTracking {
  window: number;
  /** Prompts since the session began, without the next one. */
  promptCount: number;
  /** No prompt was answered in this window yet. After a compaction the model has also forgotten how to search. */
  isNewWindow: boolean;
  lastPromptAt?: string;
  domainHistory: string[];
  ledger: LedgerEntry[];
  /** Files the session touched, newest first, at most 50. */
  files: string[];
}

export interface PromptAnswer extends SessionKey {
  client: string;
  cwd: string;
  at: Date;
  window: number;
  /** The client's own prompt ID, if it has one. */
  promptId?: string | undefined;
  /** Tracking starts over: skills that were shown but not loaded count as not shown. */
  isFreshStart: boolean;
  domainHistory: readonly string[];
  format: string;
  text: string;
  tokens: number;
  shown: readonly { skill: string; tokens: number }[];
  named: readonly { skill: string; tokens: number }[];
  /** hash: null when only part of the body fit. */
  loaded: readonly { skill: string; hash: string | null; tokens: number }[];
  /** For `why`, with secrets masked. */
  prompt: string;
  explanation: unknown;
}

export class PromptLedger {
  protected readonly handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.handle = handle;
  }

  tracking({ sessionId, agentId = "" }: SessionKey): SkillTracking {
    // Read in one transaction. Otherwise another hook's answer could come between the count and the ledger, and its skills would
    // be taken for old ones and forgotten.
    return readTogether(this.handle, (db) => {
      const row = db.prepare(SESSION).get(sessionId, agentId);
      const window = Number(row?.["window"] ?? 1);
      const entries = db.prepare(LEDGER).all(sessionId, agentId, window) as unknown as LedgerRow[];
      const files = db.prepare(
        "SELECT path FROM session_files WHERE session_id = ? AND agent_id = ? ORDER BY at DESC LIMIT 50",
      );
      const lastPromptAt = row?.["last_prompt_at"];
      return {
        window,
        promptCount: Number(row?.["prompt_count"] ?? 0),
        isNewWindow: row?.["answered"] !== window,
        ...(typeof lastPromptAt === "string" && { lastPromptAt }),
        domainHistory: JSON.parse(String(row?.["domain_history"] ?? "[]")),
        ledger: entries.map(toEntry),
        files: files.all(sessionId, agentId).map(({ path }) => String(path)),
      };
    });
  }

  /** The latest prompts, newest first, with secrets masked. */
  recentPrompts({ sessionId, agentId = "" }: SessionKey, limit: number): string[] {
    return readTogether(this.handle, (db) =>
      db
        .prepare(
          "SELECT prompt FROM prompt_matches WHERE session_id = ? AND agent_id = ? ORDER BY prompt_number DESC LIMIT ?",
        )
        .all(sessionId, agentId, limit)
        .map(({ prompt }) => String(prompt)),
    );
  }

  recordAnswer(answer: PromptAnswer): void {
    writeEvent(this.handle, "answer", saveAnswer, answer);
  }

  recordSlowPatterns(sources: readonly string[], at: Date): void {
    if (sources.length === 0) return;
    writeStore(this.handle, (db) => {
      const insert = db.prepare("INSERT OR IGNORE INTO slow_patterns (source, at) VALUES (?, ?)");
      for (const source of sources) insert.run(source, at.toISOString());
    });
  }
}

/** A temporary ID for a sub-agent whose ID is still unknown, made from the call that starts it. Its prompt's skills are stored under it. */
export function agentOfCall(toolUseId: string): string {
  return `call:${toolUseId}`;
}

/**
 * The number of the prompt in its session. A sub-agent without an ID gets no session row: the call may still be refused, and then
 * the sub-agent never exists.
 */
function countPrompt(db: DatabaseSync, answer: PromptAnswer): number {
  const { agentId = "" } = answer;
  if (agentId.startsWith(agentOfCall(""))) return 1;
  const row = db.prepare(COUNT_PROMPT).get({
    sessionId: answer.sessionId,
    agentId,
    client: answer.client,
    cwd: answer.cwd,
    at: answer.at.toISOString(),
    window: answer.window,
    fresh: answer.isFreshStart ? 1 : 0,
    domains: JSON.stringify(answer.domainHistory),
    promptId: answer.promptId ?? null,
  });
  return Number(row?.["number"]);
}

/** For callers that hold the write lock already. */
export function saveAnswer(db: DatabaseSync, answer: PromptAnswer): void {
  const { sessionId, agentId = "", window, shown, named, loaded, format, text, tokens } = answer;
  const at = answer.at.toISOString();
  // Counted here, under the lock, because parallel hooks may have read the same number before.
  const promptNumber = countPrompt(db, answer);
  if (answer.isFreshStart && promptNumber > 1) {
    db.prepare("DELETE FROM ledger WHERE session_id = ? AND agent_id = ? AND window = ? AND loaded_hash IS NULL").run(
      sessionId,
      agentId,
      window,
    );
  }
  db.prepare(INJECT).run(
    at,
    sessionId,
    agentId,
    window,
    "prompt",
    format,
    tokens,
    text,
    `{"kind":"prompt","number":${promptNumber}}`,
  );
  const use = db.prepare(USE);
  const note = db.prepare(NOTE);
  const key = { ...NOTHING_NOTED, sessionId, agentId, window };
  for (const { skill, tokens: cost } of shown) {
    note.run({ ...key, skill, shown: promptNumber });
    use.run(at, sessionId, agentId, window, skill, "shown", cost, null);
  }
  for (const { skill, tokens: cost } of named) {
    note.run({ ...key, skill, named: promptNumber });
    use.run(at, sessionId, agentId, window, skill, "named", cost, null);
  }
  for (const { skill, hash, tokens: cost } of loaded) {
    if (hash) new SkillRows(db).keepBody(hash);
    note.run({ ...key, skill, shown: promptNumber, hash, loadedAt: hash && at, by: hash && "haversack" });
    use.run(at, sessionId, agentId, window, skill, "auto-loaded", cost, hash);
  }
  db.prepare("INSERT OR REPLACE INTO prompt_matches VALUES (?, ?, ?, ?, ?, ?)").run(
    sessionId,
    agentId,
    promptNumber,
    at,
    answer.prompt,
    JSON.stringify(answer.explanation),
  );
  if (promptNumber > KEPT_MATCHES) {
    db.prepare("DELETE FROM prompt_matches WHERE session_id = ? AND agent_id = ? AND prompt_number <= ?").run(
      sessionId,
      agentId,
      promptNumber - KEPT_MATCHES,
    );
  }
}

/** How many prompts per session `why` can show. */
const KEPT_MATCHES = 20;

export const LEDGER =
  "SELECT skill, shown_at_prompt, named_at_prompt, loaded_hash FROM ledger WHERE session_id = ? AND agent_id = ? AND window = ? ORDER BY shown_at_prompt, skill";

/** answered: the window of the last answer to a prompt. */
const SESSION = `
SELECT window, prompt_count, last_prompt_at, domain_history, (
  SELECT i.window FROM injections i WHERE i.session_id = s.session_id AND i.agent_id = s.agent_id AND i.event = 'prompt'
  ORDER BY i.id DESC LIMIT 1
) AS answered FROM sessions s WHERE session_id = ? AND agent_id = ?`;

const COUNT_PROMPT = `
INSERT INTO sessions (session_id, agent_id, client, cwd, started_at, last_seen_at, window, prompt_count, last_prompt_at,
  domain_history, tracking_since, tracking_prompts, last_prompt_id)
VALUES (:sessionId, :agentId, :client, :cwd, :at, :at, :window, 1, :at, :domains, :at, 1, :promptId)
ON CONFLICT DO UPDATE SET
  client = excluded.client, cwd = excluded.cwd, last_seen_at = max(last_seen_at, :at), last_prompt_at = :at, ended_at = NULL,
  prompt_count = prompt_count + 1, last_prompt_id = excluded.last_prompt_id,
  domain_history = excluded.domain_history,
  tracking_since = CASE WHEN :fresh OR tracking_since IS NULL THEN :at ELSE tracking_since END,
  tracking_prompts = CASE WHEN :fresh THEN 1 ELSE tracking_prompts + 1 END
RETURNING prompt_count AS number`;

export const USE =
  "INSERT INTO skill_uses (at, session_id, agent_id, window, skill, event, tokens, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

export const NOTE = `
INSERT INTO ledger (session_id, agent_id, window, skill, shown_at_prompt, named_at_prompt, loaded_hash, loaded_at, loaded_by)
VALUES (:sessionId, :agentId, :window, :skill, :shown, :named, :hash, :loadedAt, :by)
ON CONFLICT DO UPDATE SET
  shown_at_prompt = coalesce(excluded.shown_at_prompt, shown_at_prompt),
  named_at_prompt = coalesce(excluded.named_at_prompt, named_at_prompt),
  loaded_hash = coalesce(excluded.loaded_hash, loaded_hash),
  loaded_at = coalesce(excluded.loaded_at, loaded_at),
  loaded_by = coalesce(excluded.loaded_by, loaded_by)`;

/** The values of a `NOTE` that leave the row as it is. */
export const NOTHING_NOTED = { shown: null, named: null, hash: null, loadedAt: null, by: null };

export interface LedgerRow {
  skill: string;
  shown_at_prompt: number | null;
  named_at_prompt: number | null;
  loaded_hash: string | null;
}

export function toEntry(row: LedgerRow): LedgerEntry {
  return {
    skill: row.skill,
    shownAtPrompt: row.shown_at_prompt ?? row.named_at_prompt ?? 0,
    ...(row.shown_at_prompt === null && row.loaded_hash === null && { isNamedOnly: true }),
    ...(row.loaded_hash !== null && { loadedHash: row.loaded_hash }),
  };
}
