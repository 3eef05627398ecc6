/** What `init` and `uninstall` share: the place, the plan as text, and the question whether to go on. */
import { HaversackError } from "../base/errors.ts";
import { CLIENTS } from "../clients/table.ts";
import type { PlannedFile } from "../engine/init.ts";
import type { ProjectPaths } from "../engine/project.ts";
import type { Client, Scope, WiringPlace } from "../engine/wiring.ts";
import type { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import type { Call, Io, OptionSpec } from "./command.ts";
import { findInstalled } from "./installed.ts";
import { formatDiff, formatSummary, shortPath } from "./print-plan.ts";
import { ask } from "./terminal.ts";
import { wrapText } from "./wrap-text.ts";

export const WIRING_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  client: {
    type: "string",
    value: "NAME",
    choices: CLIENTS.map(({ name }) => name),
    about: "This client, found or not (default: all that are found).",
  },
  project: { type: "boolean", about: "This project, in files that are not committed (default)." },
  user: { type: "boolean", about: "All your projects, in your own settings." },
  diff: { type: "boolean", about: "Show every line that comes or goes, not only a line per file." },
  "dry-run": { type: "boolean", about: "Show what would be written, write nothing." },
  yes: { type: "boolean", about: "Do not ask." },
};

export function scopeOf({ options }: Call): Scope {
  if (options["user"] && options["project"])
    throw new HaversackError("usage", "--user and --project exclude each other");
  return options["user"] ? "user" : "project";
}

export function wiringPlace(call: Call, hasGuards: boolean): WiringPlace {
  return { scope: scopeOf(call), cwd: call.io.cwd, env: call.io.env, installed: findInstalled(), hasGuards };
}

/** Where the receipt of this scope is kept. */
export function receiptFolder(scope: Scope, { user, state }: ProjectPaths): string {
  return scope === "user" ? user : state;
}

/** `others`: those that were not chosen. */
export function chosenClients(call: Call): { clients: Client[]; others: Client[]; isForced: boolean } {
  const name = call.options["client"];
  const isChosen = (client: Client) => !name || client.name === name;
  return {
    clients: CLIENTS.filter(isChosen),
    others: CLIENTS.filter((client) => !isChosen(client)),
    isForced: name !== undefined,
  };
}

/** The plan for a person; with `--diff` every line of it. */
export function showPlan({ io, options }: Call, planned: readonly PlannedFile[], root: string): void {
  io.out(`${options["diff"] ? formatDiff(io, planned) : formatSummary(io, planned, root)}\n\n`);
}

export function showNotes(io: Io, notes: readonly string[]): void {
  for (const note of notes) {
    const lines = wrapText(`haversack: note: ${shortPath(note)}`, io.width === undefined ? undefined : io.width - 2);
    io.err(`${lines.join("\n  ")}\n`);
  }
}

/** Goes on, or says why not. Who wants to see every line first asks for it here. */
export async function mayWrite(
  call: Call,
  question: string,
  planned: readonly PlannedFile[],
): Promise<"yes" | "no" | "nobody"> {
  if (call.options["yes"]) return "yes";
  const isOpen = !call.options["diff"] && !call.json;
  for (;;) {
    const answer = await ask(call.io, `${question} [${isOpen ? "y/N, d shows every line" : "y/N"}] `);
    if (answer === undefined) return "nobody";
    if (!isOpen || !/^d(?:iff)?$/i.test(answer)) return /^y(?:es)?$/i.test(answer) ? "yes" : "no";
    call.io.out(`\n${formatDiff(call.io, planned)}\n\n`);
  }
}

/** How to see more, for who has not. */
export function moreLines({ options }: Call): string {
  return options["diff"] ? "" : "; --diff shows every line";
}

/** For `--json`: the plan without its functions. */
export function planData(planned: readonly PlannedFile[]) {
  return planned.map(({ clients, path, about, kind, diff }) => ({
    clients,
    path,
    about,
    kind,
    lines: diff.filter(({ sign }) => sign !== " ").map(({ sign, text }) => `${sign} ${text}`),
  }));
}

export function guardCount(index: SqliteSkillIndex): number {
  const keys = new Set(index.patterns(["path"]).map(({ skill }) => skill));
  return index.cards([...keys]).filter(({ rule }) => rule?.enforcement === "block" || rule?.enforcement === "require")
    .length;
}
