/**
 * Which session a fork of Claude Code is of (seen in 2.1.325). The payload does not say, and the fork's transcript, written later,
 * has the fork's id in every line. The client's command line may name the session (`--resume ID --fork-session`). Else the payload
 * has the fill of the window that it goes on with, which the last answer in the other's transcript has too. Loaded by the hook, at
 * forks only.
 */
import { readFileSync } from "node:fs";
import { readTail } from "../../base/read-text.ts";
import { type Fields, object, text } from "./fields.ts";

const TAIL_BYTES = 262_144;

export function forkedFrom(
  payload: Fields,
  ids: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const words = commandLine(env["CLAUDE_PID"]);
  const named = ids.find((id) => words.includes(id));
  if (named) return named;
  const { context_tokens: fill } = payload;
  const folder = text(payload["transcript_path"])?.replace(/[^/]*$/, "");
  if (typeof fill !== "number" || fill <= 0 || !folder) return undefined;
  const alike = ids.filter((id) => /^[\w-]+$/.test(id) && lastFill(`${folder}${id}.jsonl`) === fill);
  return alike.length === 1 ? alike[0] : undefined;
}

function commandLine(processId: string | undefined): string[] {
  try {
    return readFileSync(`/proc/${Number(processId)}/cmdline`, "latin1").split("\0");
  } catch {
    // No /proc here: the transcripts tell.
    return [];
  }
}

/** Tokens of the last answer of the main agent. */
function lastFill(transcript: string): number | undefined {
  const lines = readTail(transcript, TAIL_BYTES)?.toString("utf8").split("\n") ?? [];
  for (const line of lines.reverse()) {
    if (!line.includes('"type":"assistant"') || line.includes('"isSidechain":true')) continue;
    const usage = usageOf(line);
    if (usage) return FIELDS.reduce((sum, field) => sum + (Number(usage[field]) || 0), 0);
  }
  return undefined;
}

const FIELDS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];

function usageOf(line: string): Fields | undefined {
  try {
    const { usage } = object(object(JSON.parse(line))["message"]);
    return usage === undefined ? undefined : object(usage);
  } catch {
    // The first line of the part is cut, and the last may be half written.
    return undefined;
  }
}
