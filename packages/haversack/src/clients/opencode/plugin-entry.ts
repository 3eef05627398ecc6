/**
 * The plugin as opencode loads it; scripts/build-opencode.mjs bundles this file. If anything fails during startup, the client gets a plugin that
 * does nothing.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProjectRoot, STATE_FOLDER } from "../../base/project-root.ts";
import type { PluginHooks, PluginInput } from "./client-api.ts";
import { localEngine } from "./local-engine.ts";
import { addOwnConfig, deferredIn } from "./own-config.ts";
import { workingPluginFile } from "./places.ts";
import { haversackPlugin } from "./plugin.ts";

/** The file that `init` writes passes its own URL (`file`) and the command of the MCP server (`server`), because it knows the runtime. */
export const Haversack = async (
  input: PluginInput,
  { server, file }: { server?: readonly string[]; file?: string } = {},
): Promise<Partial<PluginHooks>> => {
  try {
    if (process.env["HAVERSACK"] === "0") return {};
    if (standsBack(input, { server, file })) return {};
    const { root } = findProjectRoot(input.directory);
    // The plugin may be wired for all projects, including those that do not use Haversack.
    if (!existsSync(join(root, STATE_FOLDER))) return {};
    const command = server ?? packagedServer();
    // The server is our CLI with the argument `mcp`.
    const engine = localEngine({ root, env: process.env, cli: command.slice(0, -1) });
    engine.warmUp();
    return haversackPlugin(input, {
      engine,
      addTo: (config) => addOwnConfig(config, { server: command, deferred: hidden(root) }),
    });
  } catch {
    // There is no readable project, so there is no log to write to.
    return {};
  }
};

/** A file that an older `init` wrote does not pass `file`; it never stands back. */
function standsBack(
  { directory }: PluginInput,
  { server, file }: { server: readonly string[] | undefined; file: string | undefined },
): boolean {
  if (server && !file) return false;
  const working = workingPluginFile({ directory, env: process.env });
  return working !== undefined && (!file || realpathSync(working) !== realpathSync(fileURLToPath(file)));
}

/** Empty while Haversack is off, because then nothing would recommend the hidden skills. */
function hidden(root: string): string[] {
  const { XDG_CONFIG_HOME: config, HOME: home = "" } = process.env;
  const marks = [join(root, STATE_FOLDER, "off"), join(config || join(home, ".config"), "haversack/off")];
  return marks.some((mark) => existsSync(mark)) ? [] : deferredIn(root);
}

/** In the package, the program is next to this file, and node.sh finds `node` on the PATH. */
function packagedServer(): string[] {
  const folder = dirname(fileURLToPath(import.meta.url));
  const [shell, bin] = [join(folder, "node.sh"), join(folder, "haversack.cjs")];
  return existsSync(shell) && existsSync(bin) ? ["sh", shell, "haversack.cjs", "mcp"] : [];
}
