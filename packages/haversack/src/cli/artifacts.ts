/** Shared by the artifact commands: the store, the actor, options, and number formats. */
import { type ArtifactParts, artifactParts } from "../engine/artifacts/artifact-parts.ts";
import { actorForCli, sessionOfShell } from "../engine/work/actor.ts";
import { type ArgumentSpec, type Call, definesOn, option } from "./command.ts";
import { openProject } from "./project.ts";
import { workOf } from "./work.ts";

export const ROLE: ArgumentSpec = { name: "ROLE", about: "a role of the map, such as spec-reviewer", required: true };

export const FEATURE = option("FOLDER", "Required: the feature's folder, or its name in docs/features.", {
  needs: " DIR",
});

export const PHASE = option(
  "PHASE",
  "The set, where several have that role, such as design for phase-reviewer (default: the one in .meta.json).",
);

/** A command on the dispatches and reviews of documents. */
export const defineArtifacts = definesOn(openArtifacts);

export async function openArtifacts(
  call: Pick<Call, "options" | "io">,
  access: "read" | "save",
): Promise<ArtifactParts> {
  const { io } = call;
  const { agent, client } = call.options as { agent?: string; client?: string };
  // Reading creates no folder and no store: in a project without one, nothing was dispatched or recorded.
  const project = openProject(call, { access: access === "save" ? "save" : "look", durability: "full" });
  const { handle } = project;
  const by = actorForCli(io.env, { at: new Date(), agent, session: sessionOfShell(io.env, { handle }) });
  const { store: work } = await workOf(call, project);
  io.atEnd?.(async () => project.close());
  return artifactParts(handle, { ...project, work, by, client });
}
