import { initArtifacts } from "../../engine/artifacts/init-artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { findProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Writes .haversack/artifacts.json, which extends the shipped roles and is yours to change. A file that is there stays as it is.",
  examples: [{ run: "haversack artifacts init", says: "once per project, if the shipped roles do not fit" }],
  json: "{file, written}.",
};

export function run(call: Call): ExitCode {
  const { paths } = findProject(call);
  const { file, isWritten } = initArtifacts(paths);
  print(call, { file, written: isWritten }, () =>
    isWritten
      ? `Wrote ${file}; \`haversack artifacts check\` checks it.`
      : `${file} is there already; nothing was changed.`,
  );
  return isWritten ? 0 : 1;
}
