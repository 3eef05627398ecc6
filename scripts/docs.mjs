// Generated pages: the CLI reference, the settings, the layer table. `node scripts/docs.mjs` writes them,
// `npm run check` fails when they drift.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { whatIsWrong } from "../packages/haversack/src/base/config.ts";
import { SETTING_KEYS, SETTINGS } from "../packages/haversack/src/base/config-schema.ts";
import { formatCommandHelp } from "../packages/haversack/src/cli/help.ts";
import { COMMANDS } from "../packages/haversack/src/cli/table.ts";
import { CODEX } from "../packages/haversack/src/clients/codex/capabilities.ts";
import { GEMINI } from "../packages/haversack/src/clients/gemini/capabilities.ts";
import { OPENCODE } from "../packages/haversack/src/clients/opencode/capabilities.ts";
import { LAYERS } from "./layers.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

async function pages() {
  return {
    "docs/reference/cli.md": await cliPage(),
    "docs/reference/config.md": configPage(),
    "docs/reference/clients.md": clientsPage(),
    "docs/ARCHITECTURE.md": withLayers(readFileSync(join(root, "docs/ARCHITECTURE.md"), "utf8")),
  };
}

export async function staleDocs() {
  return Object.entries(await pages())
    .filter(([file, text]) => !existsSync(join(root, file)) || readFileSync(join(root, file), "utf8") !== text)
    .map(([file]) => `${file} is stale: npm run docs`);
}

async function cliPage() {
  const parts = await Promise.all(
    COMMANDS.map(
      async ({ name, load }) =>
        `## haversack ${name}\n\n\`\`\`text\n${formatCommandHelp(name, (await load()).spec)}\`\`\`\n`,
    ),
  );
  return `# Commands\n\nGenerated from the commands' own help; \`npm run docs\` writes it.\n\nExit codes: 0 ok, 1 a problem found, 2 wrong usage, 3 fault.\n\n${parts.join("\n")}`;
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
  const table = (title, rows) =>
    `## ${title}\n\n| what | works | how |\n|---|---|---|\n${rows.map(({ what, works, how }) => `| ${what} | ${works} | ${how.replaceAll("|", "\\|")} |`).join("\n")}\n`;
  const parts = [
    table(`${CODEX.title} ${CODEX.seenIn}`, CODEX.rows),
    table("Gemini CLI 0.61.0", GEMINI),
    table("opencode 1.18.33", OPENCODE),
  ];
  return `# What works in which client\n\nGenerated from \`src/clients/*/capabilities.ts\`; \`npm run docs\` writes it. Seen by running each client against a scripted model server. Claude Code has [a page of its own](../claude-code.md).\n\n${parts.join("\n")}`;
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
  const table = `<!-- layers -->\n| \`src/\` | what lives there | may import |\n|---|---|---|\n${rows.join("\n")}\n<!-- /layers -->`;
  return text.replace(/<!-- layers -->[\s\S]*<!-- \/layers -->/, table);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(await pages())) writeFileSync(join(root, file), text);
}
