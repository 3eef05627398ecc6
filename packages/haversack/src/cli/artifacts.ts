/** Shared by the artifact commands: the store, the actor, options, and number formats. */
import { HaversackError } from "../base/errors.ts";
import { type ArtifactParts, artifactParts } from "../engine/artifacts/artifact-parts.ts";
import { actorForCli, sessionOfShell } from "../engine/work/actor.ts";
import { type ArgumentSpec, type Call, type ExitCode, type OptionSpec, option } from "./command.ts";
import { openProject } from "./project.ts";
import { workOf } from "./work.ts";

export const ROLE: ArgumentSpec = {
  name: "ROLE",
  about: "a role of the map, such as spec-reviewer",
  required: true,
};

export const FEATURE: OptionSpec = option("FOLDER", "Required: the feature's folder, or its name in docs/features.");

export const PHASE: OptionSpec = option(
  "PHASE",
  "The set, where several have that role, such as design for phase-reviewer (default: the one in .meta.json).",
);

export async function runArtifacts(
  call: Call,
  { isWrite }: { isWrite: boolean },
  action: (parts: ArtifactParts) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { io, options } = call;
  // Reading creates no folder and no store: in a project without one, nothing was dispatched or recorded.
  const project = openProject(call, { access: isWrite ? "save" : "look", durability: "full" });
  const { handle } = project;
  const agent = options["agent"] as string | undefined;
  const client = options["client"] as string | undefined;
  try {
    const by = actorForCli(io.env, { at: new Date(), agent, session: sessionOfShell(io.env, { handle }) });
    return await action(
      await artifactParts(handle, { ...project, work: (await workOf(call, project)).store, by, client }),
    );
  } finally {
    project.close();
  }
}

export function requireOption({ name: command, options }: Call, name: string, value: string): string {
  const given = options[name];
  if (typeof given === "string" && given !== "") return given;
  throw new HaversackError("usage", `${command} needs --${name} ${value}`);
}

export function formatNumber(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function formatShare(share: number): string {
  return `${Math.round(share * 100)}%`;
}
