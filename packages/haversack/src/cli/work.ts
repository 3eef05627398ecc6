/** What the work commands share: the store, the actor, the claim settings, and texts from standard input. */
import { HaversackError } from "../base/errors.ts";
import { workPlace } from "../base/project-root.ts";
import { actorForCli, clientAbove, sessionOfShell } from "../engine/work/actor.ts";
import { type WorkParts, workSettings } from "../engine/work/work-parts.ts";
import { openWorkOf, type ProjectWork } from "../engine/work-of.ts";
import { type ArgumentSpec, type Call, definesOn, type Io, sayNote } from "./command.ts";
import { type OpenProject, openProject, readNamedFile, retireOld } from "./project.ts";

export interface OpenWork extends WorkParts, Omit<OpenProject, "close">, Omit<ProjectWork, "store" | "close"> {}

/**
 * save: for a command that saves work. read: for one that only reads; it creates no store, and fails if it tries to save without one. try: for a
 * dry run, which is rolled back, so an in-memory store is enough.
 */
type Access = "save" | "read" | "try";

export async function openWork(call: Pick<Call, "options" | "io">, access: Access): Promise<OpenWork> {
  const { io } = call;
  const { agent, lease } = call.options as { agent?: string; lease?: number };
  if (agent === "") throw new HaversackError("usage", "--agent must not be empty");
  const project = openProject(call, { access: access === "save" ? "save" : "look", durability: "full" });
  const { handle, config } = project;
  const work = await workOf(call, project);
  // Never report something as saved that is only in memory.
  if (access === "read" && project.isMemory && work.shared === undefined) handle.db.exec("PRAGMA query_only = ON");
  if (access === "save") retireOld(project);
  const session = sessionOfShell(io.env, { handle });
  const who = actorForCli(io.env, { at: new Date(), agent, session, clientAbove: () => clientAbove(handle) });
  const by = { ...who, place: workPlace(io.cwd) };
  return {
    ...project,
    ...work,
    project,
    by,
    settings: { ...workSettings(config), ...(lease !== undefined && { leaseMs: lease * 60_000 }) },
    for: by.isPerson ? "person" : "shell",
  };
}

/** A command on the project's work. */
export const defineWork = definesOn(openWork);

/** The project's work, closed when the command ends. */
export async function workOf({ io }: Pick<Call, "io">, project: OpenProject): Promise<ProjectWork> {
  const work = await openWorkOf(project, { note: (text) => sayNote(io, text) });
  io.atEnd?.(() => work.close());
  return work;
}

/** The text of an option or argument; `-` reads standard input. */
export async function readText(call: Pick<Call, "io">, given: string | undefined): Promise<string | undefined> {
  return given === "-" ? readAllStdin(call) : given;
}

/** The text of a file; `-` reads standard input. */
export async function readFileOrStdin(call: Pick<Call, "io">, file: string): Promise<string> {
  if (file === "-") return readAllStdin(call);
  return readNamedFile(call, file, { hint: "name a file, or - for standard input" });
}

const readBefore = new WeakSet<object>();
/** For several ids the text is read once. */
const readFor = new WeakMap<Io, string>();

async function readAllStdin(call: Pick<Call, "io">): Promise<string> {
  if (readBefore.has(call)) throw new HaversackError("usage", "only one text can come from standard input");
  readBefore.add(call);
  const text = readFor.get(call.io) ?? (await call.io.readStdin());
  if (text.trim() === "") throw new HaversackError("usage", "- reads standard input, but nothing came");
  readFor.set(call.io, text);
  return text;
}

/** Values of an option that may be repeated and may contain several values, separated by commas. */
export function readList(given: unknown): string[] | undefined {
  if (given === undefined) return undefined;
  return (given as string[]).flatMap((value) => value.split(",").map((part) => part.trim())).filter(Boolean);
}

/** Options whose field in the engine's input has another name. The names of all others are alike. */
const FIELD_OF = {
  all: "includeRead",
  archived: "includeArchived",
  before: "beforeId",
  budget: "budgetTokens",
  context: "contextSummary",
  criteria: "acceptanceCriteria",
  details: "includeDetails",
  "dry-run": "isDryRun",
  epic: "epicId",
  estimate: "estimateHours",
  force: "isForced",
  new: "isNew",
  "max-cost": "maxCostUsd",
  parent: "parentId",
  plan: "traceabilityRef",
  sequential: "isSequential",
  session: "sessionId",
  steal: "stealReason",
  step: "steps",
  story: "storyId",
  task: "taskId",
  wip: "hasWip",
} as const;

function fieldOf(option: string): string {
  const renamed: Readonly<Record<string, string>> = FIELD_OF;
  return renamed[option] ?? option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

type Camel<Name> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type FieldOf<Name> = Name extends keyof typeof FIELD_OF ? (typeof FIELD_OF)[Name] : Camel<Name>;

/** The engine's input from the options that were given: from all, or from those with these names. */
export function inputOf<Options extends object, Name extends keyof Options & string = keyof Options & string>(
  { options }: Pick<Call<Options>, "options">,
  ...names: readonly Name[]
): { [Option in Name as FieldOf<Option>]?: Exclude<Options[Option], undefined> } {
  const given = (names.length > 0 ? names : (Object.keys(options) as Name[])).filter(
    (name) => options[name] !== undefined,
  );
  return Object.fromEntries(given.map((name) => [fieldOf(name), options[name]])) as never;
}

/** `-` reads any of these from standard input. */
const TEXTS = new Set(["title", "description", "criteria", "context", "handoff-notes", "source"]);

/** The fields to save: `inputOf` with texts and lists read, and null for what `--clear` names. */
export async function changesOf(call: Call, ...names: readonly string[]): Promise<Record<string, unknown>> {
  const { options } = call;
  const changes: Record<string, unknown> = inputOf<Call["options"], string>(call, ...names);
  for (const name of names) {
    const value = options[name];
    if (typeof value === "string" && TEXTS.has(name)) changes[fieldOf(name)] = await readText(call, value);
  }
  for (const name of (options["clear"] as string[] | undefined) ?? []) {
    if (fieldOf(name) in changes) throw new HaversackError("usage", `${name} cannot be both given and cleared`);
    changes[fieldOf(name)] = null;
  }
  return changes;
}

export function requireChanges({ name }: Pick<Call, "name">, changes: object): void {
  if (Object.keys(changes).length > 0) return;
  throw new HaversackError("usage", "give at least one field to change", {
    hint: `\`haversack ${name} --help\` lists the fields`,
  });
}

/** Whether filters were given: then an empty list says nothing about the whole. */
export function isNarrowed({ options }: Pick<Call, "options">): boolean {
  return Object.keys(options).some((name) => !["limit", "offset", "fields", "max-tokens"].includes(name));
}

export const TASK: ArgumentSpec = { name: "TASK", about: "task ID or a unique prefix (3+ digits)", required: true };

/** For commands that take several. */
export const TASKS: ArgumentSpec = { ...TASK, many: true };
