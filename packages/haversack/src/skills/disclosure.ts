/**
 * The text a prompt brings: full, incremental, names, or nothing. Headings and structure are those of the design
 * this grew from; one line asks the model to decide per skill, because a plain suggestion is followed one time in
 * five and a YES/NO decision four times in five (200 tests on one model, docs/skills.md). Loaded by the hook.
 */
import { cutAt } from "../base/clean-text.ts";
import type { Priority } from "./types.ts";

export type Format = "full" | "incremental" | "names" | "none";

export interface Entry {
  id: string;
  /** Only where a rule sets one. */
  priority?: Priority;
  /** One line: the short description, else the beginning of the description. */
  brief: string;
  /** What the model must do to load it, in this client, for this skill. */
  activation: string;
  /** A rule's own message (warn, block, require). */
  notice?: string;
}

export interface DisclosureInput {
  fresh: readonly Entry[];
  known: readonly Entry[];
  /** How to search the rest, in this client; left out when everything installed is on the list. */
  searchHint?: string;
}

export interface Disclosure {
  format: Format;
  text: string;
}

export const ICONS: Record<Priority, string> = { critical: "🔴", high: "🟠", medium: "🟡", low: "🟢" };

export function formatFull({ fresh, searchHint }: DisclosureInput): Disclosure {
  const text = [
    "# Skill Recommendations",
    "",
    `${fresh.length > 1 ? `${DECIDE} each skill: does` : "Does"} the task need it? YES: activate it first. NO: go on without.`,
    "",
    ...fresh.flatMap((entry) => [...formatEntry(entry), ""]),
    ...(searchHint ? ["## Using Skills", "", searchHint] : []),
  ];
  return { format: "full", text: text.join("\n").trimEnd() };
}

export function formatIncremental({ fresh, known }: DisclosureInput): Disclosure {
  const text = [
    "# New Skills Available",
    "",
    ...fresh.flatMap((entry) => [...formatEntry(entry), ""]),
    `Previously recommended: ${formatNameList(known)}`,
    "",
    `${DECIDE} each: YES or NO; activate every YES first.`,
  ];
  return { format: "incremental", text: text.join("\n") };
}

export function formatNames({ known }: DisclosureInput): Disclosure {
  return { format: "names", text: `# Skills Available\n\n${formatNameList(known)}\n\n${howToActivate(known)}` };
}

/** One line for all where it is the same for all, else one for each: a line that does not work is worse than none. */
function howToActivate(entries: readonly Entry[]): string {
  const [first] = entries;
  const general = new Set(entries.map(({ id, activation }) => withPlaceholder(activation, id)));
  const [line] = general;
  if (entries.length > 1 && general.size === 1 && line) return `Use ${line} to activate.`;
  if (entries.length === 1) {
    const { activation } = first!;
    // `Read /…/SKILL.md` is no tool call but a sentence.
    return activation.startsWith(READ) ? `To activate: r${activation.slice(1)}` : `Use ${activation} to activate.`;
  }
  return entries.map(({ id, activation }) => `To activate ${id}: ${activation}`).join("\n");
}

const READ = "Read ";

/** `Skill(skill: "pdf")` → `Skill(skill: "name")`, `… show pdf` → `… show name`. Undefined for what has no such place. */
function withPlaceholder(activation: string, id: string): string | undefined {
  const quoted = `"${id}"`;
  const at = activation.lastIndexOf(quoted);
  if (at !== -1) return `${activation.slice(0, at)}"name"${activation.slice(at + quoted.length)}`;
  return activation.endsWith(` ${id}`) ? `${activation.slice(0, -id.length)}name` : undefined;
}

export const SILENCE: Disclosure = { format: "none", text: "" };

/** The beginning of a description, cut at a sentence or word. */
export function briefOf(description: string, maxLength = 160): string {
  const line = isOneLine(description) ? description : description.replace(/\s+/g, " ").trim();
  if (line.length <= maxLength) return line;
  const sentence = /^.{40,}?[.!?](?= )/.exec(line.slice(0, maxLength))?.[0];
  if (sentence) return sentence;
  // Chinese and Japanese have no spaces to cut at.
  const space = line.lastIndexOf(" ", maxLength - 1);
  const start = space > maxLength / 2 ? line.slice(0, space) : cutAt(line, maxLength - 1);
  return `${start.replace(/[,;:.]$/, "")}…`;
}

/** Printable ASCII without double spaces, as most are when they come from the index: no pattern is made for them. */
function isOneLine(text: string): boolean {
  let before = 32;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code > 126 || (code === 32 && before === 32)) return false;
    before = code;
  }
  return before !== 32;
}

const DECIDE = "Decide for";

function formatEntry({ id, priority, brief, activation, notice }: Entry): string[] {
  return [
    priority ? `## ${ICONS[priority]} ${id} (${priority} priority)` : `## ${id}`,
    ...(brief ? [`Brief: ${brief}`] : []),
    ...(notice ? [`Note: ${notice}`] : []),
    `Activate: ${activation}`,
  ];
}

function formatNameList(entries: readonly Entry[]): string {
  return entries.map(({ id, priority }) => (priority ? `${ICONS[priority]} ${id}` : id)).join(", ");
}
