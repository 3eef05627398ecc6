import { artifactRefs } from "../../engine/artifacts/artifact-refs.ts";
import { viewDocument } from "../../engine/artifacts/views.ts";
import { asUsage, FEATURE, PHASE, ROLE, requireOption, warn } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { findProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Prints the reference block of a role alone, for a prompt that you write yourself: which files must be read, where they are, how long they are.",
  arguments: [ROLE],
  options: { feature: FEATURE, phase: PHASE },
  examples: [
    { run: "haversack artifacts refs design-reviewer --feature docs/features/031-uploads", says: "what it must read" },
  ],
  json: "{role, phase, block, documents: [{file, name, path, state, lines?, sha256?}], problems?}.",
};

export function run(call: Call): Promise<ExitCode> {
  const [role = ""] = call.arguments;
  const feature = requireOption(call, "artifacts refs", "feature", "DIR");
  return asUsage(() => {
    const { paths } = findProject(call);
    const phase = call.options["phase"] as string | undefined;
    const refs = artifactRefs({ role, feature, phase }, { cwd: call.io.cwd, paths });
    const { problems } = refs;
    print(
      call,
      {
        role: refs.role,
        phase: refs.phase,
        block: refs.block,
        documents: refs.documents.map(viewDocument),
        ...(problems.length > 0 && { problems }),
      },
      () => refs.block || `${refs.role} of ${refs.phase} has nothing to read besides its prompt.`,
    );
    if (!call.json) warn(call, problems);
    return 0;
  });
}
