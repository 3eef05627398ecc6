import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder, putNewFile } from "../../base/safe-write.ts";
import { ensureStateFolder } from "../../engine/project.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { findProject } from "../project.ts";
import { findWorkflow, skillFiles } from "../workflows.ts";

export const spec: CommandSpec = {
  about:
    "Copies a workflow's skills into .haversack/skills/, where they are yours to change and to commit. What is there already stays as it is.",
  arguments: [{ name: "NAME", about: "such as development; `haversack workflow list` has them all", required: true }],
  options: { "dry-run": { type: "boolean", about: "Show what would be copied, write nothing." } },
  examples: [
    { run: "haversack workflow add development", says: "from an idea to a merged branch" },
    { run: "haversack workflow add development --dry-run", says: "only show it" },
  ],
  json: "{name, folder, added?: [skill], kept?: [skill], same?: [skill], written}: kept ones differ from ours and were left alone.",
};

export function run(call: Call): ExitCode {
  const [wanted = ""] = call.arguments;
  const workflow = findWorkflow(wanted);
  const { paths } = findProject(call);
  const isDryRun = call.options["dry-run"] === true;
  const folder = join(paths.state, "skills");
  const added: string[] = [];
  const kept: string[] = [];
  const same: string[] = [];
  for (const skill of workflow.skills) {
    const files = skillFiles(workflow, skill);
    const place = join(folder, skill);
    if (existsSync(place)) (isSame(place, files) ? same : kept).push(skill);
    else {
      added.push(skill);
      if (isDryRun) continue;
      ensureStateFolder(paths);
      for (const { path, text } of files) {
        const file = join(place, path);
        makeFolder(dirname(file), { within: paths.root });
        putNewFile(file, text, { within: paths.root });
      }
    }
  }
  const data = {
    name: workflow.name,
    folder,
    ...(added.length > 0 && { added }),
    ...(kept.length > 0 && { kept }),
    ...(same.length > 0 && { same }),
    written: added.length > 0 && !isDryRun,
  };
  print(call, data, () =>
    [
      ...(added.length > 0 ? [`${isDryRun ? "Would add" : "Added"} to ${folder}: ${added.join(", ")}.`] : []),
      ...(kept.length > 0 ? [`Yours, left as they are: ${kept.join(", ")}.`] : []),
      ...(same.length > 0 ? [`There already: ${same.join(", ")}.`] : []),
      ...(isDryRun ? ["Nothing was written (--dry-run)."] : []),
    ].join("\n"),
  );
  return 0;
}

function isSame(place: string, files: readonly { path: string; text: string }[]): boolean {
  return files.every(({ path, text }) => {
    const file = join(place, path);
    return existsSync(file) && readFileSync(file, "utf8") === text;
  });
}
