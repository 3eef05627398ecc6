/** Help texts, all generated from the command table and the specs. */
import type { CommandEntry, CommandSpec, OptionSpec } from "./command.ts";
import { allOptions } from "./parse.ts";

export function formatUsage(name: string, spec: CommandSpec): string {
  const words = (spec.arguments ?? []).map(({ name: word, required, many }) => {
    const shown = many ? `${word}…` : word;
    return required ? shown : `[${shown}]`;
  });
  return ["haversack", name, ...words, "[options]", ...(spec.rest ? [`[-- ${spec.rest.name}…]`] : [])].join(" ");
}

/** `short`: the command's short form. */
export function formatCommandHelp(name: string, spec: CommandSpec, short?: string): string {
  const usage = `Usage: ${formatUsage(name, spec)}`;
  const isShort = short !== undefined && name.split(" ")[1]?.split("|")[0] === short;
  const blocks = [isShort ? `${usage}\nShort: haversack ${short}` : usage, spec.about];
  const words = [...(spec.arguments ?? []), ...(spec.rest ? [spec.rest] : [])];
  if (words.length > 0) {
    blocks.push(`Arguments:\n${columns(words.map(({ name: word, about }) => [word, about]))}`);
  }
  blocks.push(
    `Options:\n${columns(Object.entries(allOptions(spec)).map(([option, entry]) => [optionLabel(option, entry), entry.about]))}`,
    `With --json: ${spec.json}`,
    `Examples:\n${columns(Object.entries(spec.examples))}`,
  );
  return `${blocks.join("\n\n")}\n`;
}

/** The exit codes of every command. */
export const EXIT_CODES =
  "Exit codes: 0 done; 1 refused, a problem was found in your files, or what you named does not exist; 2 wrong usage; 3 fault.";

/** One screen of 24 lines: the everyday commands, and the families. */
export function formatOverview(entries: readonly CommandEntry[]): string {
  const groups = Map.groupBy(entries, ({ group }) => group);
  const daily = entries.flatMap(({ short, summary }): [string, string][] =>
    short ? [[short, DAILY[short] ?? summary]] : [],
  );
  return [
    "Haversack: carry only the context your coding agent needs.",
    `Every day:\n${columns([["status", "Show where the work stands"], ...daily])}`,
    `All commands:\n${columns([...groups].map(([title, members]) => [title, families(members).join(", ")]))}`,
    `${columns([
      ["haversack help task", "the commands of a family"],
      ["haversack help all", "every command"],
      ["haversack COMMAND --help", "options and examples"],
    ])}\n`,
  ].join("\n\n");
}

/** Descriptions for short forms that do less than the table's entry. */
const DAILY: Readonly<Record<string, string>> = {
  claim: "Claim tasks, or the next one that is ready",
  done: "Mark tasks as done",
};

function families(members: readonly CommandEntry[]): string[] {
  return [...new Set(members.flatMap(({ name }) => name.split(" ")[0]!.split("|")))];
}

/** Every command with its line. */
export function formatAll(entries: readonly CommandEntry[]): string {
  const blocks = [...Map.groupBy(entries, ({ group }) => group)].map(
    ([title, members]) => `${title}:\n${columns(members.map(({ name, summary }) => [name, summary]))}`,
  );
  const shorts = entries.flatMap(({ name, short }) => (short ? [`${short} (${name.split("|")[0]})`] : []));
  return [...blocks, `Short forms: ${shorts.join(", ")}.`, `${EXIT_CODES}\n`].join("\n\n");
}

/** The commands of a family: `haversack help task`. */
export function formatFamily(family: string, entries: readonly CommandEntry[]): string {
  const members = entries.filter(({ name }) => name.includes(" ") && name.split(" ")[0]?.split("|").includes(family));
  const rows = members.map(({ name, summary, short, isDefault }): [string, string] => {
    const more = short ? ` (short: ${short})` : isDefault ? ` (the same as ${family} alone)` : "";
    return [`${family} ${name.split(" ")[1]}`, `${summary}${more}`];
  });
  return `Usage: haversack ${family} COMMAND [options]\n\n${columns(rows)}\n\n\`haversack ${family} COMMAND --help\` shows options and examples.\n`;
}

export function optionLabel(name: string, { short, type, value = "VALUE" }: OptionSpec): string {
  return `${short ? `-${short}, ` : ""}--${name}${type === "boolean" ? "" : ` ${value}`}`;
}

/** Two aligned columns, indented by two. If the first is too long, the second goes below it. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(44, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) => {
      const between = left.length > width ? `\n${" ".repeat(width + 4)}` : `${" ".repeat(width - left.length)}  `;
      return `  ${left}${right && between}${right}`;
    })
    .join("\n");
}
