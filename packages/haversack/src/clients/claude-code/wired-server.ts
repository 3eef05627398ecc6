/** Whether the MCP server that `init` wired runs beside the plugin's: then the plugin's lists no tools, and the model sees each once. */
import { existsSync } from "node:fs";
import { readJson } from "../../base/json.ts";
import { findProjectRoot } from "../../base/project-root.ts";
import { readText } from "../../engine/init.ts";
import type { Environment } from "../../engine/project.ts";
import { ownWiring } from "../own-wiring.ts";
import { claudePlaces } from "./detect.ts";
import { isOwnCommand, unguarded } from "./server-guard.ts";
import { commandOf, serverEntry } from "./settings-mcp.ts";

export function isServerWired(cwd: string, env: Environment): boolean {
  const { root, state } = claudePlaces(cwd, env);
  // The plugin's hooks name the plugin's tools: without hooks of `init` they speak, and its server must have them.
  if (!ownWiring("claude-code", { root: findProjectRoot(cwd).root, cwd, env })) return false;
  const { value } = readJson(readText(state) ?? "{}");
  const entry = serverEntry(value, root) ?? serverEntry(value, undefined);
  if (!entry || !isOwnCommand(commandOf(entry))) return false;
  const { command, args } = unguarded(commandOf(entry));
  return [command, args[0] ?? ""].every((file) => existsSync(file));
}
