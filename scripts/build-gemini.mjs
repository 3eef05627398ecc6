// `node scripts/build-gemini.mjs [FOLDER]` builds the Gemini CLI extension from the built package, by default into dist/gemini, for
// `gemini extensions install FOLDER`. It contains copies of the built files, because the client copies only that folder.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { copyProgram } from "./copy-program.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, "packages/haversack");
const dist = join(home, "dist");
// build.mjs imports this file and has its own arguments.
const folder = process.argv[1] === fileURLToPath(import.meta.url) ? process.argv[2] : undefined;
const extension = resolve(folder ?? join(dist, "gemini"));
const { name, version, description } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const source = (file) => import(pathToFileURL(join(home, "src/clients", file)).href);
const { hookGroups } = await source("hook-settings.ts");
const { GEMINI_HOOKS } = await source("gemini/settings.ts");
const { geminiWorkFiles } = await source("work-files.ts");

if (!existsSync(join(dist, "hook.cjs"))) throw new Error("dist/hook.cjs is missing: run scripts/build.mjs first");
rmSync(extension, { recursive: true, force: true });
mkdirSync(extension, { recursive: true });

copyProgram(dist, extension, { without: ["hook-codex-notify.cjs"] });
cpSync(join(home, "plugin/node.sh"), join(extension, "node.sh"));
cpSync(join(home, "LICENSE"), join(extension, "LICENSE"));
for (const { path, text } of geminiWorkFiles()) write(path, text);

// biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it.
const extensionPath = "${extensionPath}";
writeJson("gemini-extension.json", {
  name,
  version,
  description,
  mcpServers: { haversack: { command: "sh", args: [`${extensionPath}/node.sh`, "haversack.cjs", "mcp"] } },
});
// The last word tells the hook that it runs from a package. Guard rules are per project, so the extension does not watch edits beforehand.
const command = `haversack_sh="${extensionPath}/node.sh"; [ -f "$haversack_sh" ] || exit 0; set -- hook.cjs gemini extension; . "$haversack_sh"`;
const groups = Object.entries(hookGroups(GEMINI_HOOKS, command, { hasGuards: false })).map(([event, group]) => [
  event,
  [group],
]);
writeJson("hooks/hooks.json", { hooks: Object.fromEntries(groups) });

// A command cannot use ${extensionPath}, but extensions have a fixed folder. The client asks before it runs the line.
// biome-ignore lint/suspicious/noTemplateCurlyInString: the shell replaces it.
const installed = '"${GEMINI_CLI_HOME:-$HOME}/.gemini/extensions/haversack/node.sh"';
writeCommand("start", {
  about: "Use Haversack in this project (makes .haversack/ and indexes the skills)",
  line: `sh ${installed} haversack.cjs skill index`,
  after: "Tell the person in one sentence what was indexed, and that Haversack works from the next session on.",
});
writeCommand("doctor", {
  about: "Check that Haversack works here",
  line: `sh ${installed} haversack.cjs doctor || true`,
  after: "Tell the person what failed and what to do about it; when nothing failed, say so in one sentence.",
});
write(
  "README.md",
  `# Haversack

${description} This extension wires Haversack into Gemini CLI: hooks that recommend the skill a prompt needs, once, and an MCP server
whose tools find and load skills and work on the task queue.

Install it with \`gemini extensions install FOLDER\`. It needs Node 22.16 or newer on the PATH, and stays silent without it. It does
nothing in a project until that project uses Haversack: type \`/haversack:start\` there once. \`/haversack:doctor\` says whether
everything works, and \`/work\` works through the task queue.

An extension cannot allow its own MCP tools: the client asks before a call, and a headless session has them only with
\`--approval-mode yolo\` or a policy of yours.

Nothing leaves your machine: state is one SQLite file in the project's \`.haversack/\`, there is no account and no telemetry.

Where \`haversack init\` has wired the client, this extension stands back, so that no text comes twice. Rules that guard files before they
are edited work with \`haversack init\` only.
`,
);

function writeCommand(word, { about, line, after }) {
  write(
    `commands/haversack/${word}.toml`,
    `description = ${JSON.stringify(about)}\nprompt = '''\n!{${line}}\n\n${after}\n'''\n`,
  );
}

function writeJson(file, value) {
  write(file, `${JSON.stringify(value, null, 2)}\n`);
}

function write(file, text) {
  mkdirSync(dirname(join(extension, file)), { recursive: true });
  writeFileSync(join(extension, file), text);
}
