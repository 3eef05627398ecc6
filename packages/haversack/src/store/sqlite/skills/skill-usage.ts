/** What was shown and what was then used, per project. */
import { readStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";
import { agentOfCall } from "./prompt-ledger.ts";

export interface SkillStats {
  prompts: number;
  tokens: number;
  /** Shares of the prompts, by format. */
  answers: { none: number; names: number; incremental: number; full: number };
  /** used: how many of the showings led to a load in the same window; loaded: all loads, asked for or not. */
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
      skills: db
        .prepare(PER_SKILL)
        .all()
        .map((row) => ({
          id: String(row["skill"]),
          shown: Number(row["shown"]),
          used: Number(row["used"]),
          loaded: Number(row["loaded"]),
          hitRate: Number(row["shown"]) === 0 ? 0 : Number(row["used"]) / Number(row["shown"]),
          tokens: Number(row["tokens"]),
        })),
    };
  });
}

// A showing was used when the same window loaded the skill after it. A body that came with the prompt is a showing and its use.
const PER_SKILL = `
SELECT skill,
  sum(event IN ('shown', 'auto-loaded')) AS shown,
  sum(event IN ('loaded', 'auto-loaded')) AS loaded,
  sum(event = 'auto-loaded' OR (event = 'shown' AND EXISTS (
    SELECT 1 FROM skill_uses later WHERE later.skill = u.skill AND later.session_id = u.session_id AND later.agent_id = u.agent_id
      AND later.window = u.window AND later.event = 'loaded' AND later.id > u.id))) AS used,
  sum(tokens) AS tokens
FROM skill_uses u GROUP BY skill ORDER BY shown DESC, skill`;

// What was injected per session, and what the client's own listing of the same skills would have cost.

export interface Cost {
  /** Paid in full, when the text is new in a window. */
  uncached: number;
  /** Paid again from the cache, in the later requests of that window: at least one request per prompt. */
  cached: number;
}

export interface SessionUsage {
  sessionId: string;
  agentId: string;
  /** As the session's last event named it: claude-code, codex, gemini, opencode. */
  client: string;
  prompts: number;
  windows: number;
  /** null: of a sub-agent, when it is not known which of the session's calls started it; see `calls`. */
  added: Cost | null;
  /** Of a main agent: what was added to the prompts of sub-agents that could not be told apart. Absent: nothing. */
  calls?: { count: number; tokens: number };
  native: Cost & { skills: number };
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
        `SELECT session_id, agent_id, client, prompt_count, window FROM sessions ${where} ORDER BY last_seen_at DESC LIMIT ?`,
      )
      .all(...(sessionId === undefined ? [limit] : [sessionId, limit]));
    const injections = db.prepare(
      "SELECT at, window, event, format, tokens, text FROM injections WHERE session_id = ? AND agent_id = ? ORDER BY id",
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
        prompts,
        windows,
        added: agentId !== "" && rows.length === 0 && calls.count > 0 ? null : addedCost(rows),
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

/** A call's texts are moved to the sub-agent that it started once the client says which that is. */
const UNPLACED = `SELECT count(DISTINCT agent_id) AS count, coalesce(sum(tokens), 0) AS tokens FROM injections
WHERE session_id = ? AND agent_id GLOB ? AND tokens > 0`;

/** A text is new once, and is read from the cache by every later prompt of its window. */
function addedCost(rows: readonly Record<string, unknown>[]): Cost {
  const cost: Cost = { uncached: 0, cached: 0 };
  rows.forEach((row, at) => {
    const tokens = Number(row["tokens"]);
    const later = rows
      .slice(at + 1)
      .filter((next) => next["event"] === "prompt" && next["window"] === row["window"]).length;
    cost.uncached += tokens;
    cost.cached += tokens * later;
  });
  return cost;
}
