/** Reads how full a session's window is from opencode's database (seen in 1.18.33). Never writes to it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/json.ts";
import type { Environment } from "../../engine/project.ts";
import type { FilledSession, WindowFill } from "../../engine/wiring.ts";
import { sqlite } from "../../store/sqlite/quiet.ts";
import { object } from "../client-adapter.ts";

export function opencodeDatabase(env: Environment): string {
  return join(env["XDG_DATA_HOME"] || join(env["HOME"] ?? "", ".local/share"), "opencode/opencode.db");
}

export function opencodeFill({ sessionId, agentId }: FilledSession, env: Environment): WindowFill | undefined {
  const file = opencodeDatabase(env);
  if (!existsSync(file)) return undefined;
  try {
    const db = new sqlite.DatabaseSync(file, { readOnly: true });
    try {
      const row = db.prepare(LAST).get(agentId || sessionId);
      const { tokens, mode, providerID, modelID } = object(readJson(String(row?.["data"] ?? "{}")).value);
      const { input, output, cache } = object(tokens);
      const { read, write } = object(cache);
      // After a compaction only the summary counts.
      const parts = mode === "compaction" ? [output] : [input, output, read, write];
      const usedTokens = parts.reduce<number>((sum, part) => sum + (Number(part) || 0), 0);
      if (usedTokens === 0) return undefined;
      const windowTokens = contextOf(String(providerID), String(modelID), env);
      const at = new Date(Number(row?.["at"]));
      return { usedTokens, ...(windowTokens !== undefined && { windowTokens }), at };
    } finally {
      db.close();
    }
  } catch {
    // Tables of another version, or an unreadable database: the fill is unknown.
    return undefined;
  }
}

const LAST = `SELECT data, time_updated AS at FROM message WHERE session_id = ? AND json_extract(data, '$.role') = 'assistant'
AND json_extract(data, '$.tokens.output') > 0 ORDER BY time_created DESC, id DESC LIMIT 1`;

/** From the client's list of models. Custom providers of the user are not in it. */
function contextOf(provider: string, model: string, env: Environment): number | undefined {
  const cache = env["XDG_CACHE_HOME"] || join(env["HOME"] ?? "", ".cache");
  const file = join(cache, "opencode/models.json");
  if (!existsSync(file)) return undefined;
  const { models } = object(object(readJson(readFileSync(file, "utf8")).value)[provider]);
  const { context } = object(object(object(models)[model])["limit"]);
  return typeof context === "number" && context > 0 ? context : undefined;
}
