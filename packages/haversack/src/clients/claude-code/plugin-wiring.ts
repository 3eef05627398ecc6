/** The plugin of Haversack, when it is enabled: what it registers, with its folder filled in as the client does. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/json.ts";
import { readText } from "../../engine/init.ts";
import type { RegisteredHook } from "../check-running.ts";
import { listOf, objectOf } from "../json-settings.ts";
import type { ServerCommand } from "./server-guard.ts";

export interface PluginWiring {
  root: string;
  hooks: RegisteredHook[];
  server: ServerCommand | undefined;
}

/** Is it enabled in one of the settings? */
export function isPluginEnabled(settings: readonly unknown[]): boolean {
  return settings.some((value) =>
    Object.entries(objectOf(objectOf(value)["enabledPlugins"])).some(
      ([id, isOn]) => id.startsWith(OWN) && isOn === true,
    ),
  );
}

/** Undefined: enabled, but not installed in this folder of the client's. */
export function readPlugin(configDir: string): PluginWiring | undefined {
  const installed = objectOf(objectOf(jsonOf(join(configDir, "plugins/installed_plugins.json")))["plugins"]);
  const entries = Object.entries(installed).flatMap(([id, list]) =>
    id.startsWith(OWN) && Array.isArray(list) ? list : [],
  );
  const root = entries.map((entry) => String(objectOf(entry)["installPath"])).find((path) => existsSync(path));
  if (root === undefined) return undefined;
  const fill = (text: unknown) => String(text).replaceAll("$" + "{CLAUDE_PLUGIN_ROOT}", root);

  const hooks: RegisteredHook[] = [];
  for (const [event, groups] of Object.entries(objectOf(objectOf(jsonOf(join(root, "hooks/hooks.json")))["hooks"]))) {
    for (const group of listOf(groups)) {
      for (const hook of listOf(objectOf(group)["hooks"])) {
        const { command, timeout } = objectOf(hook);
        hooks.push({
          event,
          command: fill(command),
          timeout: typeof timeout === "number" ? timeout : undefined,
        });
      }
    }
  }
  const { command, args } = objectOf(objectOf(objectOf(jsonOf(join(root, ".mcp.json")))["mcpServers"])["haversack"]);
  const server =
    command === undefined ? undefined : { command: fill(command), args: Array.isArray(args) ? args.map(fill) : [] };
  return { root, hooks, server };
}

const OWN = "haversack@";

function jsonOf(path: string): unknown {
  const text = readText(path);
  return text === undefined ? undefined : readJson(text).value;
}
