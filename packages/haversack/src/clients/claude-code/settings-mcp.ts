/**
 * The MCP server's entry in `.claude.json`, the client's own state file, never committed: for one project under
 * `projects[root].mcpServers` (what `claude mcp add --scope local` writes), for all under `mcpServers`. The key of a
 * project is the main repository's root, from sub-folders and worktrees too (seen in 2.1.325).
 */
import { HaversackError } from "../../base/errors.ts";
import { isEmpty, type Merged, objectOf, pointer, prune, valueAt } from "../json-settings.ts";
import { isOwnCommand, type ServerCommand, type ServerFiles, serverCommand } from "./server-guard.ts";
import { readSettings } from "./settings.ts";
import { type JsonPath, removeIn, setIn } from "./settings-text.ts";

export const SERVER = "haversack";

/** Where the servers of this scope stand; no root: the user's. */
export function serversPath(root: string | undefined): JsonPath {
  return root === undefined ? ["mcpServers"] : ["projects", root, "mcpServers"];
}

export function mergeServer(
  text: string,
  { file, root, ...files }: { file: string; root: string | undefined } & ServerFiles,
): Merged {
  const settings = readSettings(text, file);
  const path = serversPath(root);
  const entry = { type: "stdio", ...serverCommand(files) };
  const before = serverEntry(settings, root);
  if (before && !isOwnCommand(commandOf(before))) {
    throw new HaversackError("input-invalid", `${file}: another MCP server is called "${SERVER}" already`, {
      hint: `rename or remove it: \`claude mcp get ${SERVER}\` shows it`,
    });
  }
  const isSame = before?.["command"] === entry.command && JSON.stringify(before["args"]) === JSON.stringify(entry.args);
  const keep = before
    ? []
    : path.map((_, at) => path.slice(0, at + 1)).filter((part) => isEmpty(valueAt(settings, part)));
  return {
    // A foreign `env` or `alwaysLoad` of the user's stays.
    text: isSame ? text : setIn(text, [...path, SERVER], { ...before, ...entry }),
    keep: keep.map(pointer),
  };
}

export function unmergeServer(
  text: string,
  { file, root, keep }: { file: string; root: string | undefined; keep: readonly string[] },
): string {
  const path = serversPath(root);
  const entry = serverEntry(readSettings(text, file), root);
  if (!entry || !isOwnCommand(commandOf(entry))) return text;
  return prune(removeIn(text, [...path, SERVER]), path, { keep });
}

export function serverEntry(settings: unknown, root: string | undefined): Record<string, unknown> | undefined {
  const value = valueAt(settings, [...serversPath(root), SERVER]);
  return value === undefined ? undefined : objectOf(value);
}

export function commandOf({ command, args }: Record<string, unknown>): ServerCommand {
  return { command: String(command), args: Array.isArray(args) ? args.map(String) : [] };
}
