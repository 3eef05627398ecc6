/** What the work commands begin with: the store, who is asking, the settings of claims, and texts from standard input. */
import { HaversackError, isFault } from "../base/errors.ts";
import { workPlace } from "../base/git-place.ts";
import { retireOldState } from "../engine/open-project.ts";
import { actorForCli, clientAbove, sessionOfShell } from "../engine/work/actor.ts";
import type { WorkParts } from "../engine/work/work-parts.ts";
import { workSettings } from "../engine/work/work-parts.ts";
import { SqliteWorkStore } from "../store/sqlite/work/sqlite-work-store.ts";
import type { Call, ExitCode } from "./command.ts";
import { makeCompiledFolder } from "./compiled-folder.ts";
import { type OpenProject, openProject } from "./project.ts";
import { readNamedFile } from "./read-file.ts";

export interface OpenWork extends WorkParts, OpenProject {}

/**
 * Runs a command of the work part. What the store calls an invalid field is, at the command line, wrong usage: exit 2,
 * as for an option that the parser itself refuses.
 */
export function withWork(
  call: Call,
  action: (work: OpenWork) => Promise<ExitCode>,
  { isDryRun = false }: { isDryRun?: boolean } = {},
): Promise<ExitCode> {
  return runWork(call, action, isDryRun ? "try" : "save");
}

/** The same for a command that stores nothing: it makes no store, and one that tries to save without one fails. */
export function readWork(call: Call, action: (work: OpenWork) => Promise<ExitCode>): Promise<ExitCode> {
  return runWork(call, action, "read");
}

/** try: everything is taken back, so an empty store in memory will do. */
type Access = "save" | "read" | "try";

async function runWork(call: Call, action: (work: OpenWork) => Promise<ExitCode>, access: Access): Promise<ExitCode> {
  try {
    return await action(openWork(call, access));
  } catch (error) {
    if (!isFault(error, "input-invalid")) throw error;
    throw new HaversackError("usage", error.message, { ...(error.hint && { hint: error.hint }), cause: error });
  }
}

function openWork(call: Call, access: Access): OpenWork {
  const { options, io } = call;
  if (options["agent"] === "") throw new HaversackError("usage", "--agent must not be empty");
  const agent = options["agent"] as string | undefined;
  const lease = options["lease"] as number | undefined;
  const project = openProject(call, { access: access === "save" ? "save" : "look", durability: "full" });
  const { handle, paths, config } = project;
  // Nobody may be told that something is saved which is in memory.
  if (access === "read" && project.isMemory) handle.db.exec("PRAGMA query_only = ON");
  if (access === "save") {
    makeCompiledFolder(io.env);
    retireOldState(handle, { paths, days: config["store.retentionDays"], now: new Date() });
  }
  const session = sessionOfShell(io.env, { handle });
  const by = {
    ...actorForCli(io.env, {
      at: new Date(),
      agent,
      session,
      clientAbove: () => clientAbove(handle),
    }),
    place: workPlace(io.cwd),
  };
  return {
    ...project,
    project,
    store: new SqliteWorkStore(handle),
    by,
    settings: { ...workSettings(config), ...(lease !== undefined && { leaseMs: lease * 60_000 }) },
    for: by.isPerson ? "person" : "shell",
  };
}

/** An outcome that was to be expected and is no success: one line, and nothing on standard output. */
export function refuse({ io }: Call, { text }: { text: string }): ExitCode {
  io.err(`haversack: ${text}\n`);
  return 1;
}

/** The text of an option or argument: itself, or with `-` what comes on standard input. */
export async function readText(call: Call, given: string | undefined): Promise<string | undefined> {
  return given === "-" ? readAllStdin(call) : given;
}

/** A file's text, or with `-` what comes on standard input. */
export async function readFileOrStdin(call: Call, file: string): Promise<string> {
  if (file === "-") return readAllStdin(call);
  return readNamedFile(call, file, { hint: "name a file, or - for standard input" });
}

const readBefore = new WeakSet<Call>();

async function readAllStdin(call: Call): Promise<string> {
  if (readBefore.has(call)) throw new HaversackError("usage", "only one text can come from standard input");
  readBefore.add(call);
  const text = await call.io.readStdin();
  if (text.trim() === "") throw new HaversackError("usage", "- reads standard input, but nothing came");
  return text;
}

/** Values of an option that may be repeated and may hold several, separated by commas. */
export function readList(given: unknown): string[] | undefined {
  if (given === undefined) return undefined;
  return (given as string[]).flatMap((value) => value.split(",").map((part) => part.trim())).filter(Boolean);
}

/** The engine's input out of the options that were given: per field the option's name. Types are what the parser has made sure of. */
export function inputOf<Input extends object>(
  { options }: Call,
  names: { readonly [Field in keyof Input]?: string },
): Partial<Input> {
  const entries = Object.entries(names as Record<string, string>).map(([field, name]) => [field, options[name]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<Input>;
}

/** What every list takes. */
export const LIST_INPUT = { limit: "limit", offset: "offset", fields: "fields", maxTokens: "max-tokens" } as const;

/** Whether a list was asked for only a part: an empty one then says nothing of the whole. */
export function isNarrowed({ options }: Call): boolean {
  const paging = new Set<string>(Object.values(LIST_INPUT));
  return Object.keys(options).some((name) => !paging.has(name));
}
