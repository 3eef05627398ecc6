/** What `init` and `uninstall` share: the place, the plan as text, and the question whether to go on. */
import { homedir } from "node:os";
import { HaversackError } from "../base/errors.ts";
import { CLIENTS } from "../clients/table.ts";
import type { PlannedFile } from "../engine/init.ts";
import type { ProjectPaths } from "../engine/project.ts";
import type { Client, Scope, WiringPlace } from "../engine/wiring.ts";
import type { Call, Io, OptionSpec } from "./command.ts";
import { confirm } from "./confirm.ts";
import { findInstalled } from "./installed.ts";
import { paint } from "./terminal.ts";

export const WIRING_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  client: {
    type: "string",
    value: "NAME",
    choices: CLIENTS.map(({ name }) => name),
    about: "This client, found or not (default: all that are found).",
  },
  project: { type: "boolean", about: "This project, in files that are not committed (default)." },
  user: { type: "boolean", about: "All your projects, in your own settings." },
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

export function chosenClients(call: Call): { clients: readonly Client[]; isForced: boolean } {
  const name = call.options["client"];
  return { clients: CLIENTS.filter((client) => !name || client.name === name), isForced: name !== undefined };
}

export function formatPlan(io: Io, planned: readonly PlannedFile[]): string {
  return planned
    .map(({ path, about, kind, diff }) => {
      const lines = diff.map(({ sign, text }) => {
        const line = `  ${sign} ${text}`;
        return sign === "+" ? paint(io, "green", line) : sign === "-" ? paint(io, "red", line) : paint(io, "dim", line);
      });
      return [`${paint(io, "bold", `${kind} ${shortPath(path)}`)} (${about})`, ...lines].join("\n");
    })
    .join("\n\n");
}

/** Goes on, or says why not. */
export async function mayWrite(call: Call, question: string): Promise<"yes" | "no" | "nobody"> {
  if (call.options["yes"]) return "yes";
  const answer = await confirm(call.io, question);
  return answer === undefined ? "nobody" : answer ? "yes" : "no";
}

/** For `--json`: the plan without its functions. */
export function planData(planned: readonly PlannedFile[]) {
  return planned.map(({ client, path, about, kind, diff }) => ({
    client,
    path,
    about,
    kind,
    lines: diff.filter(({ sign }) => sign !== " ").map(({ sign, text }) => `${sign} ${text}`),
  }));
}

function shortPath(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
