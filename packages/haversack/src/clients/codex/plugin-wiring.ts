/** The plugin of Haversack in Codex, when it is enabled: what it registers, with its folder filled in as the client does. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/json.ts";
import { readText } from "../../engine/init.ts";
import type { RegisteredHook } from "../check-running.ts";
import type { ServerCommand } from "../claude-code/server-guard.ts";
import { listOf, objectOf } from "../json-settings.ts";
import type { CodexPlaces } from "./detect.ts";
import { simpleValue, tomlStatements } from "./toml-statements.ts";

export interface CodexPlugin {
  /** `haversack@MARKETPLACE`. */
  id: string;
  /** "": enabled, and not in the client's cache. */
  root: string;
  /** `path`: its place in the plugin's hooks, as trust.ts wants it. */
  hooks: (RegisteredHook & { path: (string | number)[] })[];
  server: ServerCommand | undefined;
}

export function readCodexPlugin({ codexHome, userConfig }: CodexPlaces): CodexPlugin | undefined {
  const enabled = tomlStatements(readText(userConfig) ?? "").find(
    ({ kind, path: [table, id, key], value }) =>
      kind === "key" &&
      table === "plugins" &&
      id?.startsWith(OWN) &&
      key === "enabled" &&
      simpleValue(value) === "true",
  );
  const id = enabled?.path[1];
  if (id === undefined) return undefined;
  const root = newest(join(codexHome, "plugins/cache", id.slice(OWN.length), "haversack"));
  if (root === undefined) return { id, root: "", hooks: [], server: undefined };
  const { command, args } = objectOf(objectOf(objectOf(jsonOf(join(root, ".mcp.json")))["mcpServers"])["haversack"]);
  return {
    id,
    root,
    hooks: hooksIn(root),
    server: typeof command === "string" ? { command, args: listOf(args).map(String) } : undefined,
  };
}

/** Where the client keeps the review of a plugin's hooks: trust.ts puts event and place behind it. */
export function trustFile({ id }: Pick<CodexPlugin, "id">): string {
  return `${id}:hooks/hooks.json`;
}

const OWN = "haversack@";

function hooksIn(root: string): CodexPlugin["hooks"] {
  const events = Object.entries(objectOf(objectOf(jsonOf(join(root, "hooks/hooks.json")))["hooks"]));
  return events.flatMap(([event, groups]) =>
    listOf(groups).flatMap((group, at) =>
      listOf(objectOf(group)["hooks"]).map((hook, place) => {
        const { command, timeout } = objectOf(hook);
        return {
          event,
          command: String(command).replaceAll("$" + "{CLAUDE_PLUGIN_ROOT}", root),
          timeout: typeof timeout === "number" ? timeout : undefined,
          path: ["hooks", event, at, "hooks", place],
        };
      }),
    ),
  );
}

/** The client keeps one folder for each version; the others go when it updates. */
function newest(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const versions = readdirSync(folder).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const last = versions.at(-1);
  return last === undefined ? undefined : join(folder, last);
}

function jsonOf(path: string): unknown {
  const text = readText(path);
  return text === undefined ? undefined : readJson(text).value;
}
