/**
 * The file that `init` puts into opencode's plugin folder. It names the installed plugin and how the MCP server is started, and holds
 * no code of its own, so that an update of the package needs no new file. When the package is gone it does nothing.
 */
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Installed } from "../../engine/wiring.ts";
import { serverCommand } from "../claude-code/server-guard.ts";

export const PLUGIN_BUNDLE = "opencode-plugin.mjs";

export function pluginFileText({ node, hook, bin }: Installed): string {
  const { command, args } = serverCommand({ node, bin });
  return `// Written by \`haversack init\`; \`haversack uninstall\` takes it out. It names paths of this machine: do not commit it.
const plugin = ${JSON.stringify(pathToFileURL(pluginBundle(hook)).href)};
const server = ${JSON.stringify([command, ...args])};

export const Haversack = async (input) => {
  try {
    const { Haversack } = await import(plugin);
    return await Haversack(input, { server, file: import.meta.url });
  } catch {
    // The package is gone: opencode goes on without it.
    return {};
  }
};
`;
}

/** Beside the hook in the package. */
export function pluginBundle(hook: string): string {
  return join(dirname(hook), PLUGIN_BUNDLE);
}

/** The installed plugin that a file of ours names. */
export function bundleNamedIn(text: string): string | undefined {
  const url = /^const plugin = "(file:[^"]+)";$/m.exec(text)?.[1];
  return url === undefined ? undefined : decodeURIComponent(new URL(url).pathname);
}
