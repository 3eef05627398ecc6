/**
 * The plugin as opencode loads it: scripts/build-opencode.mjs bundles this file. Whatever goes wrong while it starts, the client gets
 * a plugin that does nothing.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProjectRoot, STATE_FOLDER } from "../../base/project-root.ts";
import type { PluginHooks, PluginInput } from "./client-api.ts";
import { deferredIn } from "./deferred-skills.ts";
import { localEngine } from "./local-engine.ts";
import { addOwnConfig } from "./own-config.ts";
import { haversackPlugin } from "./plugin.ts";
import { workingPluginFile } from "./which-plugin.ts";

/** The file that `init` writes says which file it is (as a URL), and how the MCP server is started: it knows the runtime. */
export const Haversack = async (
  input: PluginInput,
  { server, file }: { server?: readonly string[]; file?: string } = {},
): Promise<Partial<PluginHooks>> => {
  try {
    if (process.env["HAVERSACK"] === "0") return {};
    if (standsBack(input, { server, file })) return {};
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

/** A file that an older `init` wrote does not say which it is; it works. */
function standsBack(
  { directory }: PluginInput,
  { server, file }: { server: readonly string[] | undefined; file: string | undefined },
): boolean {
  if (server && !file) return false;
  const working = workingPluginFile({ directory, env: process.env });
  return working !== undefined && (!file || realpathSync(working) !== realpathSync(fileURLToPath(file)));
}

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
