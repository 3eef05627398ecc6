/** Golden files: each scenario's stored answers. `UPDATE_FREEZE=1` stores the current ones. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "./recorded.ts";
import type { Played } from "./scenario.ts";

const GOLDEN = join(import.meta.dirname, "golden");

export const isUpdate = process.env["UPDATE_FREEZE"] === "1";

function goldenFile(client: Client, name: string): string {
  return join(GOLDEN, client, `${name}.json`);
}

/** Long texts that a scenario makes up are cut; no real answer is this long. */
const MOST_CHARS = 12_000;

/** As stored in the file: after a round trip through JSON, with long texts cut. */
export function asKept(played: Played): Played {
  return JSON.parse(JSON.stringify(played), (_, value) =>
    typeof value === "string" && value.length > MOST_CHARS
      ? `${value.slice(0, 100)} (${value.length} characters, ${createHash("sha256").update(value).digest("hex")})`
      : value,
  );
}

/** Names of all golden files of a client. */
export function goldenNames(client: Client): string[] {
  return readdirSync(join(GOLDEN, client)).map((file) => file.replace(/\.json$/, ""));
}

export function readGolden(client: Client, name: string): Played | undefined {
  const file = goldenFile(client, name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Played) : undefined;
}

export function keepGolden(client: Client, name: string, played: Played): void {
  const file = goldenFile(client, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${formatted(played)}\n`);
}

const WIDTH = 120;

/** Values that fit on one line stay on one line. */
function formatted(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= WIDTH) return line;
  const deeper = `${indent} `;
  const members = Array.isArray(value)
    ? value.map((member) => `${deeper}${formatted(member, deeper)}`)
    : Object.entries(value).map(([key, member]) => `${deeper}${JSON.stringify(key)}: ${formatted(member, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${members.join(",\n")}\n${indent}${close}`;
}
