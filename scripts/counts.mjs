// Counts what users see: commands, options, settings, MCP tools, pages and words of docs; and the tokens of texts that models read. `node scripts/counts.mjs [COMMIT]` prints
// the counts of this checkout and, beside them, of the commit.
import "./pinned-node.mjs";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

async function count(folder) {
  const load = (file) => import(pathToFileURL(join(folder, "packages/haversack/src", file)).href);
  const { COMMANDS, namesOf = ({ name }) => [name] } = await load("cli/table.ts");
  const { SETTING_KEYS } = await load("base/config-schema.ts");
  const names = COMMANDS.flatMap((entry) => namesOf(entry).map((name) => ({ entry, name })));
  const specs = new Set(await Promise.all(names.map(async ({ entry, name }) => (await entry.load(name)).spec)));
  const options = [...specs].flatMap((spec) => Object.keys(spec.options ?? {}));
  const pages = ["README.md", ...filesIn(join(folder, "docs")).map((file) => `docs/${file}`)];
  const words = (chosen) =>
    chosen.reduce((sum, page) => sum + readFileSync(join(folder, page), "utf8").split(/\s+/).filter(Boolean).length, 0);
  const written = pages.filter((page) => !page.startsWith("docs/reference/"));
  return {
    "families and single commands": new Set(names.map(({ name }) => name.split(" ")[0])).size,
    commands: COMMANDS.length,
    "names that can be typed": names.length,
    "short forms": COMMANDS.filter(({ short }) => short).length,
    options: options.length,
    "different options": new Set(options).size,
    settings: SETTING_KEYS.length,
    "settings in camelCase": SETTING_KEYS.filter((key) => /[A-Z]/.test(key)).length,
    "MCP tools": await toolCount(load),
    "docs pages": pages.length,
    "words, written by hand": words(written),
    "words, generated": words(pages) - words(written),
    ...(await modelTexts(folder, load)),
  };
}

/** Tools without `recall`, which is listed only once long outputs are kept. Packets and prompts as the golden files have them. */
async function modelTexts(folder, load) {
  const { toolsOf } = await load("mcp/tools.ts");
  const { loadCounter } = await load("tokens/count.ts");
  const count = await loadCounter();
  const tools = toolsOf("default").filter(({ name }) => name !== "recall");
  const listing = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const golden = (path, isGolden) => {
    const files = filesIn(join(folder, path)).filter(isGolden);
    const sum = files.reduce((tokens, file) => tokens + count(readFileSync(join(folder, path, file), "utf8")), 0);
    return `${sum} (${files.length})`;
  };
  return {
    "tokens: listed MCP tools": count(JSON.stringify(listing)),
    "tokens: wake-up packets": golden("packages/haversack/src/wake", (file) => file.endsWith(".golden.md")),
    "tokens: prompts of roles": golden("packages/haversack/src/artifacts/golden", () => true),
    "tokens: /work in Claude Code, Codex, Gemini CLI": (await workTexts(load)).map(count).join(", "),
  };
}

/** What `/work` and its roles say, in each client. Older commits have a file for each client. */
async function workTexts(load) {
  const first = async (...files) => {
    for (const file of files) {
      try {
        return await load(file);
      } catch (error) {
        if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
      }
    }
  };
  const of = (client) => first("clients/work-files.ts", `clients/${client}/work-files.ts`);
  const [claude, codex, gemini] = [await of("claude-code"), await of("codex"), await of("gemini")];
  const files = [claude.workFiles("project"), codex.codexWorkFiles("$work"), gemini.geminiWorkFiles()];
  return files.map((texts) => texts.map(({ text }) => text).join("\n"));
}

async function toolCount(load) {
  const { toolsOf } = await load("mcp/tools.ts");
  return `${toolsOf("default").length} (all: ${toolsOf("all").length})`;
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".md"));
}

/** The commit's files in a separate folder, with this checkout's libraries. */
async function countCommit(commit) {
  const folder = mkdtempSync(join(tmpdir(), "haversack-counts-"));
  try {
    const files = execFileSync("git", ["archive", commit, "README.md", "docs", "packages", "package.json"], {
      cwd: root,
      maxBuffer: 1e9,
    });
    execFileSync("tar", ["-x", "-C", folder], { input: files });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    return await count(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [commit] = process.argv.slice(2);
const now = await count(root);
const before = commit ? await countCommit(commit) : undefined;
const rows = Object.entries(now).map(([what, value]) => [what, ...(before ? [before[what]] : []), value].map(String));
const table = [["", ...(before ? [commit] : []), "now"], ...rows];
const widths = table[0].map((_, at) => Math.max(...table.map((row) => row[at].length)));
for (const row of table)
  console.log(row.map((cell, at) => (at ? cell.padStart(widths[at]) : cell.padEnd(widths[at]))).join("  "));
