/** What the commands of artifacts share: the store, who is asking, options, and how numbers are written. */
import { HaversackError, isFault } from "../base/errors.ts";
import { type ArtifactParts, artifactParts } from "../engine/artifacts/artifact-parts.ts";
import { actorForCli, sessionOfShell } from "../engine/work/actor.ts";
import type { ArgumentSpec, Call, ExitCode, OptionSpec } from "./command.ts";
import { openProject } from "./project.ts";

export const ROLE: ArgumentSpec = {
  name: "ROLE",
  about: "a role of the map, such as spec-reviewer",
  required: true,
};

export const FEATURE: OptionSpec = {
  type: "string",
  value: "DIR",
  about: "Required: the feature's folder, or its name in docs/features.",
};

export const PHASE: OptionSpec = {
  type: "string",
  value: "PHASE",
  about: "The set, where several have that role, such as design for phase-reviewer (default: the one in .meta.json).",
};

/** Wrong input is wrong usage at the command line: exit 2. */
export async function runArtifacts(
  call: Call,
  { isWrite }: { isWrite: boolean },
  action: (parts: ArtifactParts) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { io, options } = call;
  // Reading makes no folder and no store: in a project without one, nothing was dispatched and nothing recorded.
  const project = openProject(call, { access: isWrite ? "save" : "look", durability: "full" });
  const { handle } = project;
  const agent = options["agent"] as string | undefined;
  const client = options["client"] as string | undefined;
  try {
    return await asUsage(async () => {
      const by = actorForCli(io.env, { at: new Date(), agent, session: sessionOfShell(io.env, { handle }) });
      return action(await artifactParts(handle, { ...project, by, client }));
    });
  } finally {
    project.close();
  }
}

export async function asUsage(action: () => Promise<ExitCode> | ExitCode): Promise<ExitCode> {
  try {
    return await action();
  } catch (error) {
    if (!isFault(error, "input-invalid")) throw error;
    throw new HaversackError("usage", error.message, { ...(error.hint && { hint: error.hint }), cause: error });
  }
}

export function requireOption({ options }: Call, command: string, name: string, value: string): string {
  const given = options[name];
  if (typeof given === "string" && given !== "") return given;
  throw new HaversackError("usage", `${command} needs --${name} ${value}`);
}

/** One line each, on standard error: they are about the output, not part of it. */
export function warn({ io }: Call, lines: readonly string[]): void {
  for (const line of lines) io.err(`haversack: ${line}\n`);
}

export function formatNumber(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function formatShare(share: number): string {
  return `${Math.round(share * 100)}%`;
}
