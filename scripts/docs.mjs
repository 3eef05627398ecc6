// Generates pages: commands, settings, MCP tools, library, agents (from the built types), client features, the layer table, the owners of tables.
// `node scripts/docs.mjs` writes them; `npm run check` fails if they are out of date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { whatIsWrong } from "../packages/haversack/src/base/config.ts";
import { SETTING_KEYS, SETTINGS } from "../packages/haversack/src/base/config-schema.ts";
import { EXIT_CODES, formatCommandHelp } from "../packages/haversack/src/cli/help.ts";
import * as table from "../packages/haversack/src/cli/table.ts";
import { WORK_READS, WORK_WRITES } from "../packages/haversack/src/engine/work/work-operations.ts";
import { TOOLS } from "../packages/haversack/src/mcp/tools.ts";
import { agentsPage } from "./agents-page.mjs";
import { ownersTable } from "./check-tables.mjs";
import { LAYERS } from "./layers.mjs";

const { COMMANDS, OLD_NAMES, namesOf } = table;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const CLIENTS = ["claude-code", "codex", "gemini", "opencode"];

async function pages() {
  return {
    "docs/reference/cli.md": await cliPage(),
    "docs/reference/config.md": configPage(),
    "docs/reference/mcp.md": mcpPage(),
    "docs/reference/library.md": libraryPage(),
    "docs/reference/agents.md": agentsPage(join(root, "packages/haversack/dist/types")),
    "docs/reference/clients.md": clientsPage(),
    ...Object.fromEntries([
      filled("docs/explanation/store.md", "tables", ownersTable()),
      filled("docs/explanation/architecture.md", "layers", layersTable()),
    ]),
  };
}

export async function staleDocs() {
  return Object.entries(await pages())
    .filter(([file, text]) => !existsSync(join(root, file)) || readFileSync(join(root, file), "utf8") !== text)
    .map(([file]) => `${file} is stale: npm run docs`);
}

async function cliPage() {
  const groups = [...new Set(COMMANDS.map(({ group }) => group))];
  const parts = await Promise.all(
    groups.map(async (group) => {
      const entries = COMMANDS.filter((entry) => entry.group === group);
      const rows = entries.map((entry) => {
        const also = entry.short ? `, \`${entry.short}\`` : "";
        return `| ${namesOf(entry)
          .map((name) => `\`${name}\``)
          .join(", ")}${also} | ${entry.summary} |`;
      });
      const helps = (await Promise.all(entries.map(helpOf))).flat();
      return `## ${group}\n\n| command | |\n|---|---|\n${rows.join("\n")}\n\n${helps.join("\n")}`;
    }),
  );
  const old = Object.entries(OLD_NAMES).map(([name, { now }]) => `| \`${name}\` | \`${now}\` |`);
  return `# Commands\n\nGenerated from each command's own help. \`npm run docs\` writes this page.\n\n${EXIT_CODES}\n\n${parts.join("\n")}\n## Old names\n\nNames of earlier versions still work. They print the new name on standard error.\n\n| old | new |\n|---|---|\n${old.join("\n")}\n`;
}

/** Names that share a spec, such as `task done|review`, get one section; all others get one each. */
async function helpOf(entry) {
  const names = namesOf(entry);
  const specs = await Promise.all(names.map(async (name) => (await entry.load(name)).spec));
  const section = (name, spec) =>
    `### haversack ${name}\n\n\`\`\`text\n${formatCommandHelp(name, spec, entry.short)}\`\`\`\n`;
  if (specs.every((spec) => spec === specs[0])) return [section(entry.name, specs[0])];
  return names.map((name, at) => section(name, specs[at]));
}

function configPage() {
  const rows = SETTING_KEYS.map((key) => {
    const setting = SETTINGS[key];
    const must = whatIsWrong(setting, undefined)?.replace(/^must be /, "");
    return `| \`${key}\` | \`${JSON.stringify(setting.default)}\` | ${must}${setting.unit ? ` (${setting.unit})` : ""} | ${setting.about} |`;
  });
  return `# Settings\n\nGenerated from \`src/base/config-schema.ts\`. \`npm run docs\` writes this page.\n\nSettings are read from \`.haversack/config.json\` (the project) and \`$XDG_CONFIG_HOME/haversack/config.json\` (you). The project's value wins. Nested keys and dotted keys mean the same: \`{"skills": {"KEY": 2}}\` and \`{"skills.KEY": 2}\`. The camelCase keys of earlier versions are still read. \`haversack config set\` changes a setting, and \`haversack config list\` shows where each value comes from. The package contains the JSON Schema as \`haversack/config.schema.json\`. A wrong value stops no command: a warning names it with its file, the default is used, and \`haversack doctor\` reports it. Only \`haversack work\` refuses to start with a wrong \`work\` or \`headless\` setting, and nothing is removed by age while \`store.retention_days\` is wrong. Some settings of a project count only after \`haversack trust\`: see [trust](../explanation/trust.md).\n\n| setting | default | value | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

/** The features that the pages of at least three clients describe, from the tables on those pages. */
function clientsPage() {
  const clients = CLIENTS.map((client) => {
    const text = readFileSync(join(root, `docs/reference/clients/${client}.md`), "utf8");
    const rows = [...text.matchAll(/^\| (.+?) \| (yes|partly|no) \| .+ \|$/gm)].map(([, what, works]) => ({
      what,
      works,
    }));
    const title = /^# (.+)$/m.exec(text)?.[1];
    const version = /^Tested with .+? (\d[\w.]*\w)/m.exec(text)?.[1];
    return { head: `[${title} ${version}](clients/${client}.md)`, rows };
  });
  const named = clients.flatMap(({ rows }) => rows.map(({ what }) => what));
  const shared = [...new Set(named)].filter((what) => named.filter((other) => other === what).length >= 3);
  const cell = (rows, what) => rows.find((row) => row.what === what)?.works ?? "see its page";
  const lines = shared.map((what) => `| ${what} | ${clients.map(({ rows }) => cell(rows, what)).join(" | ")} |`);
  return `# What works in which client\n\nGenerated from the clients' own pages. \`npm run docs\` writes this page.\n\nEach version was tested by running the real client against a scripted model server on 127.0.0.1 (\`npm run test:clients\`). The client's own page says how each thing works and what the client does not allow.\n\n| | ${clients.map(({ head }) => head).join(" | ")} |\n|---|${"---|".repeat(clients.length)}\n${lines.join("\n")}\n`;
}

function mcpPage() {
  const listed = (set) =>
    TOOLS.filter((tool) => tool.set === set)
      .map(({ name, description, inputSchema: { properties, required = [] } }) => {
        const words = Object.keys(properties).map((key) => (required.includes(key) ? `**\`${key}\`**` : `\`${key}\``));
        return `| \`${name}\` | ${description} | ${words.join(", ")} |`;
      })
      .join("\n");
  const head = "| tool | description | input |\n|---|---|---|\n";
  return `# MCP tools\n\nGenerated from \`src/mcp/\`. \`npm run docs\` writes this page.\n\n\`haversack mcp\` starts the server on standard input and output. \`haversack init\` adds it to your clients. Required input is bold. Descriptions are what a model reads, so they are short.\n\nLists take \`fields\` (\`minimal\`: ID and title; \`standard\`: what starting the work needs; \`full\`: with WIP and claim), \`limit\` and \`max_tokens\`, and say what they left out. IDs must be whole; a prefix is refused with the IDs that it matches. \`npm run bench work-tokens\` prints what the tools cost.\n\n## Listed by default\n\n${head}${listed("default")}\n\n## Listed where outputs.replace_over is set\n\n${head}${listed("outputs")}\n\n## Added by --tools all\n\n${head}${listed("all")}\n`;
}

/** The published types, and the names of the operations that the tables bind. */
function libraryPage() {
  const read = (file) => readFileSync(join(root, "packages/haversack/src", file), "utf8");
  const types = read("engine/library-types.ts");
  const code = types.slice(types.indexOf("export interface OpenOptions")).trim();
  const artifacts = /export interface ArtifactOperations \{[\s\S]*?\n\}/.exec(
    read("engine/artifacts/artifact-operations.ts"),
  )?.[0];
  const names = (cases) =>
    Object.keys(cases)
      .sort()
      .map((name) => `\`${name}\``)
      .join(", ");
  return `# Library\n\nGenerated from \`src/engine/library-types.ts\`. \`npm run docs\` writes this page. [Use Haversack from TypeScript](../how-to/use-the-library.md) has examples.\n\n\`\`\`ts\nimport { openProject } from "haversack";\n\nfunction openProject(folder?: string, options?: OpenOptions): Promise<Project>;\n\`\`\`\n\nThe package also exports the class \`HaversackError\` (with \`code\` and \`hint\`), \`estimateTokens(text)\`, \`version\`, and the types below.\n\n## Project, skills, agents and wake-up\n\n\`\`\`ts\n${code}\n\`\`\`\n\n## Work\n\nEach operation takes one object; the types name its fields. An ID may be a unique prefix, as on the command line. What cannot be done is a value: \`{ kind: "refused", text }\`.\n\n- Read: ${names(WORK_READS)}\n- Write: ${names(WORK_WRITES)}\n\n## Artifacts\n\n\`\`\`ts\n${artifacts}\n\`\`\`\n`;
}

function filled(file, mark, content) {
  return [file, replaceBetween(readFileSync(join(root, file), "utf8"), { mark, file, content })];
}

/** Throws if a page lacks its marks: it would never be updated. */
function replaceBetween(text, { mark, file, content }) {
  const [open, close] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`];
  const [start, end] = [text.indexOf(open), text.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`${file} has no ${open} … ${close} for what is generated there`);
  return `${text.slice(0, start + open.length)}\n${content}\n${text.slice(end)}`;
}

function layersTable() {
  const rows = LAYERS.map(([name, what, may]) => {
    const shown =
      may.length === 0
        ? "nothing of ours"
        : may.includes("*")
          ? "everything"
          : may.map((entry) => entry.replace("type:", "types of ")).join(", ");
    return `| \`${name}\` | ${what} | ${shown} |`;
  });
  return `| \`src/\` | what lives there | may import |\n|---|---|---|\n${rows.join("\n")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(await pages())) writeFileSync(join(root, file), text);
}
