/**
 * The plugin as opencode loads it: scripts/build-opencode.mjs bundles this file. Whatever goes wrong while it starts, the client gets
 * a plugin that does nothing.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProjectRoot, STATE_FOLDER } from "../../base/project-root.ts";
import type { PluginHooks, PluginInput } from "./client-api.ts";
import { deferredIn } from "./deferred-skills.ts";
import { localEngine } from "./local-engine.ts";
import { addOwnConfig } from "./own-config.ts";
import { haversackPlugin } from "./plugin.ts";

/** `server`: how the MCP server is started; the file that `init` writes knows the runtime. */
export const Haversack = async (
  input: PluginInput,
  { server }: { server?: readonly string[] } = {},
): Promise<Partial<PluginHooks>> => {
  try {
    if (process.env["HAVERSACK"] === "0") return {};
    const { root } = findProjectRoot(input.directory);
    // Wired for all projects, it does nothing in one that does not use Haversack.
    if (!existsSync(join(root, STATE_FOLDER))) return {};
    const command = server ?? packagedServer();
    // The server is our CLI with the word `mcp`.
    const engine = localEngine({ root, env: process.env, cli: command.slice(0, -1) });
    engine.warmUp();
    return haversackPlugin(input, {
      engine,
      addTo: (config) => addOwnConfig(config, { server: command, deferred: hidden(root) }),
    });
  } catch {
    // Nobody to tell: there is no project, or none that can be read.
    return {};
  }
};

/** Nothing while Haversack is switched off: nobody would recommend what is hidden. */
function hidden(root: string): string[] {
  const { XDG_CONFIG_HOME: config, HOME: home = "" } = process.env;
  const marks = [join(root, STATE_FOLDER, "off"), join(config || join(home, ".config"), "haversack/off")];
  return marks.some((mark) => existsSync(mark)) ? [] : deferredIn(root);
}

/** Inside the package the program lies beside this file, and `node` is looked for on the PATH. */
function packagedServer(): string[] {
  const folder = dirname(fileURLToPath(import.meta.url));
  const [shell, bin] = [join(folder, "node.sh"), join(folder, "haversack.cjs")];
  return existsSync(shell) && existsSync(bin) ? ["sh", shell, "haversack.cjs", "mcp"] : [];
}
