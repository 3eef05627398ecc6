/** Payloads of the real clients, as test/clients recorded them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Client = "claude-code" | "codex" | "gemini" | "opencode";
export const CLIENTS: readonly Client[] = ["claude-code", "codex", "gemini", "opencode"];

export type Fields = Record<string, unknown>;

export interface Recorded {
  /** A hook's payload; opencode has `hook`, `input` and `output` instead. */
  payload?: Fields;
  envNames?: string[];
  hook?: string;
  input?: Fields;
  output?: Fields;
}

const FOLDER = join(import.meta.dirname, "../fixtures");

/** Messages from the client to an MCP server, which are not events. */
const NO_EVENTS = ["mcp-server.json"];

/** Names of all recorded events of a client, without `.json`. */
export function recordedNames(client: Client): string[] {
  const files = readdirSync(join(FOLDER, client)).filter((name) => name.endsWith(".json") && !NO_EVENTS.includes(name));
  return files.map((name) => name.slice(0, -".json".length)).sort();
}

export function recorded(client: Client, name: string): Recorded {
  return JSON.parse(recordedText(client, `${name}.json`)) as Recorded;
}

/** The text of a recorded file, for instance a transcript. */
export function recordedText(client: Client, file: string): string {
  return readFileSync(join(FOLDER, client, file), "utf8");
}

/** Merges `changes` into a recorded payload, field by field; undefined removes a field. */
export function merged<Value>(value: Value, changes: unknown): Value {
  if (!isObject(value) || !isObject(changes)) return changes as Value;
  const result: Fields = { ...value };
  for (const [key, change] of Object.entries(changes)) {
    if (change === undefined) delete result[key];
    else result[key] = key in result ? merged(result[key], change) : change;
  }
  return result as Value;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
