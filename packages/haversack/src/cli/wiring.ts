/** Shared by `init` and `uninstall`: the place, the plan as text, and the confirmation. */
import { CLIENTS } from "../clients/table.ts";
import type { PlannedFile } from "../engine/init.ts";
import type { ProjectPaths } from "../engine/project.ts";
import type { Client, Scope, WiringPlace } from "../engine/wiring.ts";
import type { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { type Call, flag, type Io, type OptionsOf, option, print, type Refusal, sayNote } from "./command.ts";
import { findInstalled } from "./installed.ts";
import { formatDiff, formatSummary, shortPath } from "./print-plan.ts";
import { scopeOf } from "./project.ts";
import { ask } from "./terminal.ts";

export const WIRING_OPTIONS = {
  client: option("NAME", "Only this client, found or not (default: all that are found).", {
    choices: CLIENTS.map(({ name }) => name),
  }),
  project: flag("This project, in files that are not committed (default)."),
  user: flag("All your projects, in your own settings."),
  diff: flag("Show every added or removed line, not only a line per file."),
  "dry-run": flag("Show what would be written, write nothing."),
  yes: flag("Do not ask."),
};

/** A call of `init` or `uninstall`. */
type WiringCall = Pick<Call<OptionsOf<typeof WIRING_OPTIONS>>, "io" | "options" | "json">;

export function wiringPlace(call: WiringCall, wishes: Pick<WiringPlace, "hasGuards" | "seesOutputs">): WiringPlace {
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
export function chosenClients(call: WiringCall): { clients: Client[]; others: Client[]; isForced: boolean } {
  const name = call.options.client;
  const isChosen = (client: Client) => !name || client.name === name;
  return {
    clients: CLIENTS.filter(isChosen),
    others: CLIENTS.filter((client) => !isChosen(client)),
    isForced: name !== undefined,
  };
}

/** Shows the plan to the user; with `--diff` every line of it. */
export function showPlan({ io, options }: WiringCall, planned: readonly PlannedFile[], root: string): void {
  io.out(`${options.diff ? formatDiff(io, planned) : formatSummary(io, planned, root)}\n\n`);
}

export function showNotes(io: Io, notes: readonly string[]): void {
  sayNote(io, ...notes.map(shortPath));
}

/**
 * Asks for confirmation. The user can also ask to see every line first. Answers for the command if nobody confirmed: with the report that
 * nothing was written. `hint`: what writes without a question.
 */
export async function unconfirmed(
  call: WiringCall,
  planned: readonly PlannedFile[],
  { question, hint, report }: { question: string; hint: string; report: object },
): Promise<Refusal | undefined> {
  if (call.options.yes) return undefined;
  const isOpen = !call.options.diff && !call.json;
  for (;;) {
    const answer = await ask(call.io, `${question} [${isOpen ? "y/N, d shows every line" : "y/N"}] `);
    if (answer !== undefined && isOpen && /^d(?:iff)?$/i.test(answer)) {
      call.io.out(`\n${formatDiff(call.io, planned)}\n\n`);
      continue;
    }
    if (answer !== undefined && /^y(?:es)?$/i.test(answer)) return undefined;
    await print(call, { data: report, text: "" });
    if (answer !== undefined) return { text: "nothing was written" };
    return { text: "nothing was written: there is no terminal to ask in", hint };
  }
}

/** How to see more, if not everything was shown. */
export function moreLines({ options }: WiringCall): string {
  return options.diff ? "" : "; --diff shows every line";
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
