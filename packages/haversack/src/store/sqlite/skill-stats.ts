/** What was shown and what was then used, per project. */
import { readStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

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
