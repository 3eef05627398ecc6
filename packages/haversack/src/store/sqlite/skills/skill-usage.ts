/** Which skills were shown and which of them were then used, per project. */
import type { DatabaseSync } from "node:sqlite";
import type { SkillUse } from "../../../skills/matching/match-skills.ts";
import { readStore, type StoreHandle, writeStore } from "../access.ts";
import { readMeta, writeMeta } from "../meta.ts";
import { agentOfCall } from "./prompt-ledger.ts";

export interface SkillStats {
  prompts: number;
  tokens: number;
  /** Shares of the prompts, by format. */
  answers: { none: number; names: number; incremental: number; full: number };
  /** used: showings followed by a load in the same window. loaded: all loads, requested or not. */
  skills: { id: string; shown: number; used: number; loaded: number; hitRate: number; tokens: number }[];
}

export function readSkillStats(handle: StoreHandle): SkillStats {
  return readStore(handle, (db) => {
    const formats = db
      .prepare(
        "SELECT format, count(*) AS count, sum(tokens) AS tokens FROM injections WHERE event = 'prompt' GROUP BY format",
      )
      .all();
    const prompts = formats.reduce((sum, row) => sum + Number(row["count"]), 0);
    const share = (format: string) =>
      prompts === 0 ? 0 : Number(formats.find((row) => row["format"] === format)?.["count"] ?? 0) / prompts;
    return {
      prompts,
      tokens: formats.reduce((sum, row) => sum + Number(row["tokens"]), 0),
      answers: { none: share("none"), names: share("names"), incremental: share("incremental"), full: share("full") },
      skills: skillUses(db),
    };
  });
}

/** The skills alone. The totals take a pass over every text that was added. */
export function readSkillUses(handle: StoreHandle): SkillStats["skills"] {
  return readStore(handle, skillUses);
}

function skillUses(db: DatabaseSync): SkillStats["skills"] {
  const rows = db.prepare(PER_SKILL).all();
  return rows.map((row) => ({
    id: String(row["skill"]),
    shown: Number(row["shown"]),
    used: Number(row["used"]),
    loaded: Number(row["loaded"]),
    hitRate: Number(row["shown"]) === 0 ? 0 : Number(row["used"]) / Number(row["shown"]),
    tokens: Number(row["tokens"]),
  }));
}

// A showing counts as used when the same window loaded the skill later. A body that came with the prompt counts as both.
const PER_SKILL = `
WITH last_loads AS (
  SELECT skill, session_id, agent_id, window, max(id) AS id FROM skill_uses WHERE event = 'loaded'
  GROUP BY skill, session_id, agent_id, window)
SELECT u.skill,
  sum(u.event IN ('shown', 'auto-loaded')) AS shown,
  sum(u.event IN ('loaded', 'auto-loaded')) AS loaded,
  sum(u.event = 'auto-loaded' OR (u.event = 'shown' AND u.id < coalesce(later.id, 0))) AS used,
  sum(u.tokens) AS tokens
FROM skill_uses u LEFT JOIN last_loads later USING (skill, session_id, agent_id, window)
GROUP BY u.skill ORDER BY shown DESC, u.skill`;

// The data for `skills.learn`: per window, whether a skill was shown and whether it was loaded.

export interface LearnedSkill extends Omit<SkillUse, "loaded"> {
  id: string;
}

export function readLearned(handle: StoreHandle): { since: string | null; skills: LearnedSkill[] } {
  return readStore(handle, (db) => {
    const since = readMeta(db, LEARNING_SINCE);
    const skills = db
      .prepare(LEARNED)
      .all(since ?? "")
      .map((row) => ({
        id: String(row["skill"]),
        used: Number(row["used"]),
        ignored: Number(row["ignored"]),
        searched: Number(row["searched"]),
      }));
    return { since: since ?? null, skills };
  });
}

/** Uses up to this time no longer count for learning. They stay in the statistics. */
export function forgetLearned(handle: StoreHandle, at: Date): void {
  writeStore(handle, (db) => writeMeta(db, LEARNING_SINCE, at.toISOString()));
}

const LEARNING_SINCE = "learning-since";

const LEARNED = `
SELECT skill, sum(shown AND loaded) AS used, sum(shown AND NOT loaded) AS ignored, sum(loaded AND NOT shown) AS searched
FROM (
  SELECT skill, max(event IN ('shown', 'named')) AS shown, max(event = 'loaded') AS loaded FROM skill_uses
  WHERE event <> 'auto-loaded' AND id > (SELECT max(id) FROM skill_uses) - 5000
  GROUP BY skill, session_id, agent_id, window HAVING max(at) > ?
) GROUP BY skill ORDER BY skill`;

// The tokens injected per session, compared with the client's own listing of the same skills.

export interface Cost {
  /** Tokens paid in full, when the text is new in a window. */
  uncached: number;
  /** Tokens read from the cache by later requests of that window: at least one request per prompt. */
  cached: number;
}

export interface SessionUsage {
  sessionId: string;
  agentId: string;
  /** As the session's last event named it: claude-code, codex, gemini, opencode. */
  client: string;
  lastSeenAt: string;
  prompts: number;
  windows: number;
  /** null: a sub-agent for which the starting call is unknown; see `calls`. */
  added: Cost | null;
  /** For a main agent: what was added to the prompts of sub-agents that could not be identified. Absent: nothing. */
  calls?: { count: number; tokens: number };
  native: Cost & { skills: number };
  /** Tool outputs that were replaced by a preview, and about how many tokens this saved. Absent: none. */
  shortened?: { count: number; tokens: number };
  injections?: { at: string; event: string; format: string; tokens: number; text: string }[];
}

export interface UsageQuery {
  limit: number;
  sessionId?: string;
  /** What the client's own listing costs in one window. */
  listing(client: string): { tokens: number; skills: number };
}

export function readUsage(handle: StoreHandle, { limit, sessionId, listing }: UsageQuery): SessionUsage[] {
  return readStore(handle, (db) => {
    const where = sessionId === undefined ? "" : "WHERE session_id = ?";
    const sessions = db
      .prepare(
        `SELECT session_id, agent_id, client, last_seen_at, window FROM sessions ${where} ORDER BY last_seen_at DESC LIMIT ?`,
      )
      .all(...(sessionId === undefined ? [limit] : [sessionId, limit]));
    // The texts are most of the store, and only those of one session are shown.
    const text = sessionId === undefined ? "" : "text,";
    const injections = db.prepare(
      `SELECT at, window, event, format, tokens, ${text} because FROM injections WHERE session_id = ? AND agent_id = ? ORDER BY id`,
    );
    const unplaced = db.prepare(UNPLACED);
    return sessions.map((row) => {
      const agentId = String(row["agent_id"]);
      const calls = unplaced.get(row["session_id"]!, `${agentOfCall("")}*`) as { count: number; tokens: number };
      const rows = injections.all(row["session_id"]!, row["agent_id"]!);
      const windows = Number(row["window"]);
      const prompts = rows.filter(({ event }) => event === "prompt").length;
      const client = String(row["client"]);
      const { tokens, skills } = listing(client);
      return {
        sessionId: String(row["session_id"]),
        agentId,
        client,
        lastSeenAt: String(row["last_seen_at"]),
        prompts,
        windows,
        added: agentId !== "" && rows.length === 0 && calls.count > 0 ? null : addedCost(rows),
        ...shortened(rows),
        ...(agentId === "" && calls.count > 0 && { calls: { ...calls } }),
        native: {
          uncached: tokens * windows,
          cached: tokens * Math.max(0, prompts - windows),
          skills,
        },
        ...(sessionId !== undefined && {
          injections: rows.map(({ at, event, format, tokens, text }) => ({
            at: String(at),
            event: String(event),
            format: String(format),
            tokens: Number(tokens),
            text: String(text),
          })),
        }),
      };
    });
  });
}

/** A call's texts move to the sub-agent that it started once the client reports which one that is. */
const UNPLACED = `SELECT count(DISTINCT agent_id) AS count, coalesce(sum(tokens), 0) AS tokens FROM injections
WHERE session_id = ? AND agent_id GLOB ? AND tokens > 0`;

/** A preview replaces a longer text, so it does not count as added. */
function isPreview({ event, format }: Record<string, unknown>): boolean {
  return event === "after-tool" && format === "preview";
}

function shortened(rows: readonly Record<string, unknown>[]): Pick<SessionUsage, "shortened"> {
  const previews = rows.filter(isPreview);
  if (previews.length === 0) return {};
  const tokens = previews.reduce((sum, { because, tokens }) => {
    const { chars = 0 } = JSON.parse(String(because)) as { chars?: number };
    return sum + Math.ceil(chars / 4) - Number(tokens);
  }, 0);
  return { shortened: { count: previews.length, tokens } };
}

/** Each text is paid in full once, and read from the cache by every later prompt of its window. */
function addedCost(rows: readonly Record<string, unknown>[]): Cost {
  const cost: Cost = { uncached: 0, cached: 0 };
  const laterPrompts = new Map<unknown, number>();
  for (const row of rows.toReversed()) {
    const later = laterPrompts.get(row["window"]) ?? 0;
    if (row["event"] === "prompt") laterPrompts.set(row["window"], later + 1);
    if (isPreview(row)) continue;
    cost.uncached += Number(row["tokens"]);
    cost.cached += Number(row["tokens"]) * later;
  }
  return cost;
}
