// Generated pages: the CLI reference, the settings, the layer table, the owners of tables, what works in each client, the text of the schema. `node scripts/docs.mjs` writes them,
// `npm run check` fails when they drift.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { whatIsWrong } from "../packages/haversack/src/base/config.ts";
import { SETTING_KEYS, SETTINGS } from "../packages/haversack/src/base/config-schema.ts";
import { EXIT_CODES, formatCommandHelp } from "../packages/haversack/src/cli/help.ts";
import { COMMANDS } from "../packages/haversack/src/cli/table.ts";
import { CLAUDE_CODE } from "../packages/haversack/src/clients/claude-code/capabilities.ts";
import { TESTED_VERSION as CLAUDE_VERSION } from "../packages/haversack/src/clients/claude-code/detect.ts";
import { CODEX } from "../packages/haversack/src/clients/codex/capabilities.ts";
import { TESTED_VERSION as CODEX_VERSION } from "../packages/haversack/src/clients/codex/detect.ts";
import { GEMINI } from "../packages/haversack/src/clients/gemini/capabilities.ts";
import { TESTED_VERSION as GEMINI_VERSION } from "../packages/haversack/src/clients/gemini/detect.ts";
import { OPENCODE } from "../packages/haversack/src/clients/opencode/capabilities.ts";
import { TESTED_VERSION as OPENCODE_VERSION } from "../packages/haversack/src/clients/opencode/detect.ts";
import { migrations } from "../packages/haversack/src/store/sqlite/migrations.ts";
import { expectedSchema, latestVersion } from "../packages/haversack/src/store/sqlite/schema.ts";
import { ownersTable } from "./check-tables.mjs";
import { LAYERS } from "./layers.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const CLIENTS = [
  { page: "docs/claude-code.md", title: "Claude Code", version: CLAUDE_VERSION, rows: CLAUDE_CODE },
  { page: "docs/codex.md", title: "Codex", version: CODEX_VERSION, rows: CODEX },
  { page: "docs/gemini.md", title: "Gemini CLI", version: GEMINI_VERSION, rows: GEMINI },
  { page: "docs/opencode.md", title: "opencode", version: OPENCODE_VERSION, rows: OPENCODE },
];

async function pages() {
  return {
    "docs/reference/cli.md": await cliPage(),
    "docs/reference/config.md": configPage(),
    "docs/reference/clients.md": clientsPage(),
    ...Object.fromEntries(CLIENTS.map((client) => [client.page, withCapabilities(client)])),
    "packages/haversack/src/store/sqlite/schema-text.ts": schemaFile(),
    "docs/store.md": replaceBetween(readFileSync(join(root, "docs/store.md"), "utf8"), {
      mark: "tables",
      file: "docs/store.md",
      content: ownersTable(),
    }),
    "docs/ARCHITECTURE.md": withLayers(readFileSync(join(root, "docs/ARCHITECTURE.md"), "utf8")),
  };
}

export async function staleDocs() {
  return Object.entries(await pages())
    .filter(([file, text]) => !existsSync(join(root, file)) || readFileSync(join(root, file), "utf8") !== text)
    .map(([file]) => `${file} is stale: npm run docs`);
}

/** From a copy of the list: for the list itself the answer is this very file. */
function schemaFile() {
  const text = expectedSchema([...migrations], latestVersion(migrations)).replace(/[\\`]|\$\{/g, "\\$&");
  return `/** Every entry of the newest schema, as the migrations leave it; see schema.ts. \`npm run docs\` writes this file. */\nexport const SCHEMA_TEXT = \`${text}\`;\n`;
}

async function cliPage() {
  const parts = await Promise.all(
    COMMANDS.map(
      async ({ name, load }) =>
        `## haversack ${name}\n\n\`\`\`text\n${formatCommandHelp(name, (await load()).spec)}\`\`\`\n`,
    ),
  );
  return `# Commands\n\nGenerated from the commands' own help; \`npm run docs\` writes it.\n\n${EXIT_CODES}\n\n${parts.join("\n")}`;
}

function configPage() {
  const rows = SETTING_KEYS.map((key) => {
    const setting = SETTINGS[key];
    const must = whatIsWrong(setting, undefined)?.replace(/^must be /, "");
    return `| \`${key}\` | \`${JSON.stringify(setting.default)}\` | ${must}${setting.unit ? ` (${setting.unit})` : ""} | ${setting.about} |`;
  });
  return `# Settings\n\nGenerated from \`src/base/config-schema.ts\`; \`npm run docs\` writes it. They live in \`.haversack/config.json\` (the project's) and \`$XDG_CONFIG_HOME/haversack/config.json\` (yours); the project's beat yours. Nested (\`{"skills": {"maxSkills": 2}}\`) and dotted (\`{"skills.maxSkills": 2}\`) keys mean the same. The JSON Schema is \`haversack/config.schema.json\` in the package.\n\n| setting | default | value | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

function clientsPage() {
  const parts = CLIENTS.map(({ title, version, rows }) => `## ${title} ${version}\n\n${capabilityTable(rows)}\n`);
  return `# What works in which client\n\nGenerated from \`src/clients/*/capabilities.ts\`; \`npm run docs\` writes it. Seen by running each client against a scripted model server.\n\n${parts.join("\n")}`;
}

function capabilityTable(rows) {
  const cell = (text) => text.replaceAll("|", "\\|");
  return `| what | works | how |\n|---|---|---|\n${rows.map(({ what, works, how }) => `| ${cell(what)} | ${works} | ${cell(how)} |`).join("\n")}`;
}

/** The client's own page has the same table, between marks. */
function withCapabilities({ page, rows }) {
  const text = readFileSync(join(root, page), "utf8");
  return replaceBetween(text, { mark: "capabilities", file: page, content: capabilityTable(rows) });
}

/** A page without its marks would never go stale, so that is a fault. */
function replaceBetween(text, { mark, file, content }) {
  const [open, close] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`];
  const [start, end] = [text.indexOf(open), text.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`${file} has no ${open} … ${close} for what is generated there`);
  return `${text.slice(0, start + open.length)}\n${content}\n${text.slice(end)}`;
}

function withLayers(text) {
  const rows = LAYERS.map(([name, what, may]) => {
    const shown =
      may.length === 0
        ? "nothing of ours"
        : may.includes("*")
          ? "everything"
          : may.map((entry) => entry.replace("type:", "types of ")).join(", ");
    return `| \`${name}\` | ${what} | ${shown} |`;
  });
  const content = `| \`src/\` | what lives there | may import |\n|---|---|---|\n${rows.join("\n")}`;
  return replaceBetween(text, { mark: "layers", file: "docs/ARCHITECTURE.md", content });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(await pages())) writeFileSync(join(root, file), text);
}
