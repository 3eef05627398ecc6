/** Shared by `init` and `uninstall`: the place, the plan as text, and the confirmation. */
import { HaversackError } from "../base/errors.ts";
import { CLIENTS } from "../clients/table.ts";
import type { PlannedFile } from "../engine/init.ts";
import type { ProjectPaths } from "../engine/project.ts";
import type { Client, Scope, WiringPlace } from "../engine/wiring.ts";
import type { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { type Call, type ExitCode, flag, type Io, type OptionSpec, option, sayError, sayNote } from "./command.ts";
import { findInstalled } from "./installed.ts";
import { formatDiff, formatSummary, shortPath } from "./print-plan.ts";
import { ask } from "./terminal.ts";

export const WIRING_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  client: option("NAME", "Only this client, found or not (default: all that are found).", {
    choices: CLIENTS.map(({ name }) => name),
  }),
  project: flag("This project, in files that are not committed (default)."),
  user: flag("All your projects, in your own settings."),
  diff: flag("Show every added or removed line, not only a line per file."),
  "dry-run": flag("Show what would be written, write nothing."),
  yes: flag("Do not ask."),
};

export function scopeOf({ options }: Call): Scope {
  if (options["user"] && options["project"])
    throw new HaversackError("usage", "--user and --project cannot be used together");
  return options["user"] ? "user" : "project";
}

export function wiringPlace(call: Call, wishes: Pick<WiringPlace, "hasGuards" | "seesOutputs">): WiringPlace {
  return { scope: scopeOf(call), cwd: call.io.cwd, env: call.io.env, installed: findInstalled(), ...wishes };
}

/** Names this checkout, and in a linked worktree also the project. */
export function describeCheckout({ here, main }: { here: string; main: string }): string {
  return here === main ? shortPath(main) : `${shortPath(here)}, a worktree of ${shortPath(main)}`;
}

/** Where the receipt of this scope is kept. */
export function receiptFolder(scope: Scope, { user, state }: ProjectPaths): string {
  return scope === "user" ? user : state;
}

/** `others`: the clients that were not chosen. */
export function chosenClients(call: Call): { clients: Client[]; others: Client[]; isForced: boolean } {
  const name = call.options["client"];
  const isChosen = (client: Client) => !name || client.name === name;
  return {
    clients: CLIENTS.filter(isChosen),
    others: CLIENTS.filter((client) => !isChosen(client)),
    isForced: name !== undefined,
  };
}

/** Shows the plan to the user; with `--diff` every line of it. */
export function showPlan({ io, options }: Call, planned: readonly PlannedFile[], root: string): void {
  io.out(`${options["diff"] ? formatDiff(io, planned) : formatSummary(io, planned, root)}\n\n`);
}

export function showNotes(io: Io, notes: readonly string[]): void {
  sayNote(io, ...notes.map(shortPath));
}

/** Asks for confirmation. The user can also ask to see every line first. */
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

/** Reports that nothing was written because nobody confirmed. */
export function notWritten({ io }: Call, answer: "no" | "nobody", hint: string): ExitCode {
  if (answer === "no") sayError(io, "nothing was written");
  else sayError(io, "nothing was written: there is no terminal to ask in", hint);
  return 1;
}

/** How to see more, if not everything was shown. */
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
