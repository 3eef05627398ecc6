// `node scripts/build-codex.mjs [FOLDER]` builds the Codex plugin from the built package, by default into dist/codex: a marketplace with
// one plugin, for `codex plugin marketplace add FOLDER`. It contains copies of the built files, because the client copies only the
// plugin's folder into its cache.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { codexPluginFiles, PLUGIN_FOLDER } from "../packages/haversack/src/clients/codex/plugin-files.ts";
import { copyProgram } from "./copy-program.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, "packages/haversack");
const dist = join(home, "dist");
// build.mjs imports this file and has its own arguments.
const folder = process.argv[1] === fileURLToPath(import.meta.url) ? process.argv[2] : undefined;
const market = resolve(folder ?? join(dist, "codex"));
const facts = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const plugin = join(market, PLUGIN_FOLDER);

if (!existsSync(join(dist, "hook.cjs"))) throw new Error("dist/hook.cjs is missing: run scripts/build.mjs first");
rmSync(market, { recursive: true, force: true });
mkdirSync(plugin, { recursive: true });

copyProgram(dist, plugin);
cpSync(join(home, "plugin/node.sh"), join(plugin, "node.sh"));
cpSync(join(home, "LICENSE"), join(plugin, "LICENSE"));
for (const { path, text } of codexPluginFiles(facts)) {
  mkdirSync(dirname(join(market, path)), { recursive: true });
  writeFileSync(join(market, path), text);
}
writeFileSync(
  join(plugin, "README.md"),
  `# Haversack

${facts.description} This plugin wires Haversack into Codex: hooks that recommend the skill a prompt needs, once, and bring back
what was in use after a compaction; and an MCP server whose tools find and load skills and work on the task queue.

Install it with \`codex plugin marketplace add FOLDER\` (the folder around this one) and \`codex plugin add haversack@haversack\`. Then start
\`codex\`, open /hooks and trust those of Haversack: Codex runs no hook that you have not reviewed, and says nothing about it. The
MCP server works without.

It needs Node 22.16 or newer on the PATH, and its hooks stay silent without it. It does nothing in a project until that project uses
Haversack: say \`$haversack:start\` there once. \`$haversack:doctor\` says whether everything works. \`$haversack:work\` works through
the task queue with sub-agents.

Nothing leaves your machine: state is one SQLite file in the project's \`.haversack/\`, there is no account and no telemetry.

Where \`haversack init\` has wired the client, this plugin stands back, so that no text comes twice. Rules that guard files before they
are edited work with \`haversack init\` only.
`,
);
