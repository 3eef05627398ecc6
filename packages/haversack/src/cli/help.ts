/** Help texts, all derived from the specs. */
import type { CommandEntry, CommandSpec, OptionSpec } from "./command.ts";
import { allOptions } from "./parse.ts";

export function formatUsage(name: string, spec: CommandSpec): string {
  const words = (spec.arguments ?? []).map(({ name: word, required, many }) => {
    const shown = many ? `${word}…` : word;
    return required ? shown : `[${shown}]`;
  });
  return ["haversack", name, ...words, "[options]"].join(" ");
}

export function formatCommandHelp(name: string, spec: CommandSpec): string {
  const blocks = [`Usage: ${formatUsage(name, spec)}`, spec.about];
  if (spec.arguments?.length) {
    blocks.push(`Arguments:\n${columns(spec.arguments.map(({ name: word, about }) => [word, about]))}`);
  }
  blocks.push(
    `Options:\n${columns(Object.entries(allOptions(spec)).map(([option, entry]) => [optionLabel(option, entry), entry.about]))}`,
  );
  if (spec.json) blocks.push(`With --json: ${spec.json}`);
  blocks.push(`Examples:\n${columns(spec.examples.map(({ run, says }) => [run, says]))}`);
  return `${blocks.join("\n\n")}\n`;
}

export function formatOverview(entries: readonly CommandEntry[]): string {
  const groups = new Map<string, CommandEntry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  const width = Math.max(...entries.map(({ name }) => name.length));
  const blocks = [...groups].map(
    ([group, members]) =>
      `${group}:\n${columns(
        members.map(({ name, summary }) => [name, summary]),
        width,
      )}`,
  );
  return [
    "Haversack: carry only the context your coding agent needs.",
    "Usage: haversack COMMAND [options]",
    ...blocks,
    "haversack COMMAND --help shows a command's options and examples.\nExit codes: 0 ok, 1 a problem found, 2 wrong usage, 3 fault.\n",
  ].join("\n\n");
}

export function formatGroup(prefix: string, entries: readonly CommandEntry[]): string {
  return `Usage: haversack ${prefix} COMMAND [options]\n\n${columns(entries.map(({ name, summary }) => [name, summary]))}\n`;
}

export function optionLabel(name: string, { short, type, value = "VALUE" }: OptionSpec): string {
  return `${short ? `-${short}, ` : ""}--${name}${type === "boolean" ? "" : ` ${value}`}`;
}

/** Two aligned columns, indented by two. */
export function columns(rows: readonly (readonly [string, string])[], minimumWidth = 0): string {
  const width = Math.min(44, Math.max(minimumWidth, ...rows.map(([left]) => left.length)));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join("\n");
}
