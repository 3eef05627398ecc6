/** Haversack's package in the plugin format of Claude Code and Codex: what it registers, with its folder filled in as the client does. */
import { join } from "node:path";
import { readJson } from "../base/json.ts";
import { readText } from "../engine/init.ts";
import { allHooks } from "./hook-settings.ts";
import { objectOf } from "./json-settings.ts";
import type { JsonPath } from "./json-text.ts";
import { commandOf, type ServerCommand, serverEntry } from "./server-entry.ts";

/** A registered hook, from `init` or from a plugin. */
export interface RegisteredHook {
  event: string;
  command: string;
  /** In the client's unit. */
  timeout: number | undefined;
}

export interface PluginPackage {
  root: string;
  /** `path`: the hook's path in the package's file. */
  hooks: (RegisteredHook & { path: JsonPath })[];
  server: ServerCommand | undefined;
}

/** The prefix of our plugin's ids; the marketplace follows. */
export const OWN_PLUGIN = "haversack@";

export function readPackage(root: string): PluginPackage {
  const fill = (text: unknown) => String(text).replaceAll("$" + "{CLAUDE_PLUGIN_ROOT}", root);
  const hooks = allHooks(jsonIn(join(root, "hooks/hooks.json"))).map(({ event, path, hook: { command, timeout } }) => ({
    event,
    path,
    command: fill(command),
    timeout: typeof timeout === "number" ? timeout : undefined,
  }));
  const entry = serverEntry(jsonIn(join(root, ".mcp.json")), ["mcpServers"]);
  const { command, args } = commandOf(entry ?? {});
  return { root, hooks, server: entry?.["command"] ? { command: fill(command), args: args.map(fill) } : undefined };
}

/** The object in a JSON file; unreadable content is ignored. */
export function jsonIn(path: string): Record<string, unknown> {
  const text = readText(path);
  return objectOf(text === undefined ? undefined : readJson(text).value);
}
