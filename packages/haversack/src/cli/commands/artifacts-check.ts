import { checkArtifacts } from "../../engine/artifacts/check-artifacts.ts";
import { asUsage, FEATURE } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { countProblems, formatProblems } from "../problems.ts";
import { findProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Checks .haversack/artifacts.json: wrong keys, roles without documents, documents that nobody reads, rubrics that are gone. Exit 1 when there is an error.",
  options: { feature: { ...FEATURE, about: "Also look at the documents of this feature." } },
  examples: [
    { run: "haversack artifacts check", says: "the map" },
    { run: "haversack artifacts check --feature 031-uploads", says: "and a feature's documents" },
  ],
  json: "{file, shipped, sets, roles, documents, findings: [{level, path, text}]}.",
};

export function run(call: Call): Promise<ExitCode> {
  return asUsage(() => {
    const { io, options } = call;
    const { paths } = findProject(call);
    const check = checkArtifacts({ feature: options["feature"] as string | undefined }, { cwd: io.cwd, paths });
    const { file, isShipped, sets, roles, documents, findings } = check;
    print(call, { file, shipped: isShipped, sets, roles, documents, findings }, () => {
      const source = isShipped ? "The shipped roles (`haversack artifacts init` writes a file to change them)" : file;
      const size = `${source}: ${roles} roles in ${sets} sets, ${documents} documents.`;
      if (findings.length === 0) return `${size} No problems.`;
      const problems = findings.map(({ level, path, text }) => ({ code: "role-map", level, text, where: path, file }));
      return `${size}\n${formatProblems(io, problems)}\n${countProblems(problems)}`;
    });
    return findings.some(({ level }) => level === "error") ? 1 : 0;
  });
}
