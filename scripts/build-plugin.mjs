// `node scripts/build-plugin.mjs [FOLDER]` builds the Claude Code plugin from the built package, by default into dist/plugin: a
// marketplace with one plugin, itself. It contains copies of the built files, because the client copies only the plugin's folder
// into its cache.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { copyProgram } from "./copy-program.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, "packages/haversack");
const dist = join(home, "dist");
// build.mjs imports this file and has its own arguments.
const folder = process.argv[1] === fileURLToPath(import.meta.url) ? process.argv[2] : undefined;
const plugin = resolve(folder ?? join(dist, "plugin"));
const { name, version, description, license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const source = (file) => import(pathToFileURL(join(home, "src/clients", file)).href);
const { hookGroups } = await source("hook-settings.ts");
const { CLAUDE_HOOKS } = await source("claude-code/settings.ts");
const { workFiles } = await source("work-files.ts");

if (!existsSync(join(dist, "hook.cjs"))) throw new Error("dist/hook.cjs is missing: run scripts/build.mjs first");
rmSync(plugin, { recursive: true, force: true });
mkdirSync(join(plugin, ".claude-plugin"), { recursive: true });

copyProgram(dist, plugin, { without: ["hook-codex-notify.cjs"] });
cpSync(join(home, "plugin"), plugin, { recursive: true });
for (const { path, text } of workFiles("plugin")) {
  mkdirSync(dirname(join(plugin, path)), { recursive: true });
  writeFileSync(join(plugin, path), text);
}
cpSync(join(home, "LICENSE"), join(plugin, "LICENSE"));
const author = { name: "Haversack" };
writeJson(".claude-plugin/plugin.json", {
  name,
  version,
  description,
  author,
  license,
  keywords: ["skills", "context", "hooks"],
});
writeJson(".claude-plugin/marketplace.json", {
  name,
  description: "Haversack as a plugin: the same hooks, MCP server and commands that `haversack init` wires.",
  owner: author,
  plugins: [{ name, source: "./", description, version, license }],
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it.
const pluginRoot = "${CLAUDE_PLUGIN_ROOT}";
// The last word tells the hook that it runs from a package, which does nothing if `init` has wired the client. Guard rules are per
// project, so the plugin does not watch edits beforehand.
const command = `haversack_sh="${pluginRoot}/node.sh"; [ -f "$haversack_sh" ] || exit 0; set -- hook.cjs claude-code plugin; . "$haversack_sh"`;
const groups = Object.entries(hookGroups(CLAUDE_HOOKS, command, { hasGuards: false })).map(([event, group]) => [
  event,
  [group],
]);
writeJson("hooks/hooks.json", { hooks: Object.fromEntries(groups) });
writeJson(".mcp.json", {
  mcpServers: { haversack: { command: "sh", args: [`${pluginRoot}/node.sh`, "haversack.cjs", "mcp", "--plugin"] } },
});

function writeJson(file, value) {
  mkdirSync(dirname(join(plugin, file)), { recursive: true });
  writeFileSync(join(plugin, file), `${JSON.stringify(value, null, 2)}\n`);
}
