/** Help texts, all derived from the specs. */
import type { CommandEntry, CommandSpec, OptionSpec } from "./command.ts";
import { allOptions } from "./parse.ts";

export function formatUsage(name: string, spec: CommandSpec): string {
  const words = (spec.arguments ?? []).map(({ name: word, required, many }) => {
    const shown = many ? `${word}…` : word;
    return required ? shown : `[${shown}]`;
  });
  return ["haversack", name, ...words, "[options]", ...(spec.rest ? [`[-- ${spec.rest.name}…]`] : [])].join(" ");
}

export function formatCommandHelp(name: string, spec: CommandSpec): string {
  const blocks = [`Usage: ${formatUsage(name, spec)}`, spec.about];
  const words = [...(spec.arguments ?? []), ...(spec.rest ? [spec.rest] : [])];
  if (words.length > 0) {
    blocks.push(`Arguments:\n${columns(words.map(({ name: word, about }) => [word, about]))}`);
  }
  blocks.push(
    `Options:\n${columns(Object.entries(allOptions(spec)).map(([option, entry]) => [optionLabel(option, entry), entry.about]))}`,
  );
  if (spec.json) blocks.push(`With --json: ${spec.json}`);
  blocks.push(`Examples:\n${columns(spec.examples.map(({ run, says }) => [run, says]))}`);
  return `${blocks.join("\n\n")}\n`;
}

/** What most people use, in the order in which they meet it. */
const FIRST = [
  "init",
  "doctor",
  "status",
  "import plan",
  "task create",
  "next",
  "claim",
  "skills list",
  "discover",
  "off",
];

/** For who types the name alone: the whole list is longer than a screen. */
export function formatFirstScreen(entries: readonly CommandEntry[]): string {
  const rows = FIRST.flatMap((name) => entries.filter((entry) => entry.name === name));
  return [
    TITLE,
    USAGE,
    columns(rows.map(({ name, summary }) => [name, summary])),
    "`haversack init` in a repository is the beginning. `haversack help` lists every command, `haversack COMMAND --help` shows\nits options and examples.\n",
  ].join("\n\n");
}

const TITLE = "Haversack: carry only the context your coding agent needs.";
const USAGE = "Usage: haversack COMMAND [options]";

/** What every command answers with. */
export const EXIT_CODES =
  "Exit codes: 0 done; 1 refused, a problem was found, or what you named (a task, a file, a folder) does not exist; 2 wrong usage; 3 fault.";

/** Commands of one family (`task create`, `task list`) share a line: the whole list has to fit a screen. */
export function formatOverview(entries: readonly CommandEntry[]): string {
  const rows = new Map<string, { group: string; name: string; text: string }>();
  for (const { name, group, summary } of entries) {
    const [first = name] = name.split(" ");
    const family = entries.filter((entry) => entry.name.startsWith(`${first} `));
    // `config` is a command and the first word of others: then it has two lines.
    const line = `${first} …`;
    if (family.length < 2 || name === first) rows.set(name, { group, name, text: summary });
    else if (!rows.has(line)) {
      const seconds = family.map((entry) => entry.name.slice(first.length + 1));
      rows.set(line, { group, name: line, text: seconds.join(", ") });
    }
  }
  const shown = [...rows.values()];
  const width = Math.max(...shown.map(({ name }) => name.length));
  const blocks = [...new Set(shown.map(({ group }) => group))].map((group) => {
    const members = shown.filter((row) => row.group === group);
    return `${group}:\n${columns(
      members.map(({ name, text }) => [name, text]),
      width,
    )}`;
  });
  return [
    TITLE,
    USAGE,
    ...blocks,
    `haversack COMMAND --help shows a command's options and examples, and what the commands of a family do.\n${EXIT_CODES}\n`,
  ].join("\n\n");
}

export function formatGroup(prefix: string, entries: readonly CommandEntry[]): string {
  return `Usage: haversack ${prefix} COMMAND [options]\n\n${columns(entries.map(({ name, summary }) => [name, summary]))}\n`;
}

export function optionLabel(name: string, { short, type, value = "VALUE" }: OptionSpec): string {
  return `${short ? `-${short}, ` : ""}--${name}${type === "boolean" ? "" : ` ${value}`}`;
}

/** Two aligned columns, indented by two. What is too long for the first has the second below it. */
export function columns(rows: readonly (readonly [string, string])[], minimumWidth = 0): string {
  const width = Math.min(44, Math.max(minimumWidth, ...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) => {
      const between = left.length > width ? `\n${" ".repeat(width + 4)}` : `${" ".repeat(width - left.length)}  `;
      return `  ${left}${right && between}${right}`;
    })
    .join("\n");
}
