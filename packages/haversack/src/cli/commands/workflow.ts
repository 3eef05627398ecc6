/** Example workflows that can be copied into a project. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { makeFolder, putNewFile } from "../../base/safe-write.ts";
import { ensureStateFolder } from "../../engine/project.ts";
import { DEVELOPMENT } from "../../wake/workflow.ts";
import { type Command, eachOne, flag, print, several } from "../command.ts";
import { findInstalled } from "../installed.ts";
import { findProject } from "../project.ts";

interface ShippedWorkflow {
  name: string;
  title: string;
  /** In folder order. */
  skills: string[];
  folder: string;
}

const KNOWN = [DEVELOPMENT];

function shippedWorkflows(): ShippedWorkflow[] {
  const folder = join(dirname(findInstalled().bin), "examples/workflows");
  return KNOWN.flatMap(({ id, title }) => {
    const place = join(folder, id);
    return existsSync(place) ? [{ name: id, title, skills: readdirSync(place).sort(), folder: place }] : [];
  });
}

function findWorkflow(name: string): ShippedWorkflow {
  const all = shippedWorkflows();
  const found = all.find((workflow) => workflow.name === name);
  if (found) return found;
  const names = all.map((workflow) => workflow.name);
  const [guess = names[0]] = nearest(name, names);
  throw new HaversackError("not-found", `there is no workflow "${name}"${guess ? `; did you mean ${guess}?` : ""}`, {
    ...(!guess && { hint: "install haversack again" }),
  });
}

/** Every file of a skill, relative to its folder. */
function skillFiles({ folder }: ShippedWorkflow, skill: string): { path: string; text: string }[] {
  const place = join(folder, skill);
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return { path: file.slice(place.length + 1), text: readFileSync(file, "utf8") };
    });
}

const workflowList: Command = {
  spec: {
    about: "Lists the example workflows that come with Haversack: skills that work together, for you to change.",
    examples: [{ run: "haversack workflow list", says: "what can be added" }],
    json: "[{name, title, skills}].",
  },
  run(call) {
    const workflows = shippedWorkflows();
    print(
      call,
      workflows.map(({ name, title, skills }) => ({ name, title, skills })),
      () =>
        workflows
          .map(({ name, title, skills }) => [`${name}: ${title}`, ...skills.map((skill) => `  ${skill}`)].join("\n"))
          .join("\n\n"),
    );
    return 0;
  },
};

const workflowAdd: Command = {
  spec: {
    about:
      "Copies a workflow's skills into .haversack/skills/, where they are yours to change and to commit. Existing files stay as they are.",
    arguments: [
      {
        name: "NAME",
        about: "such as development; `haversack workflow list` has them all",
        required: true,
        many: true,
      },
    ],
    options: { "dry-run": flag("Show what would be copied, write nothing.") },
    examples: [
      { run: "haversack workflow add development", says: "from an idea to a merged branch" },
      { run: "haversack workflow add development --dry-run", says: "only show it" },
    ],
    json: several(
      "{name, folder, added?: [skill], kept?: [skill], same?: [skill], written}, where kept ones differ from ours and were left alone",
    ),
  },
  run: eachOne((call) => {
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
  }),
};

function isSame(place: string, files: readonly { path: string; text: string }[]): boolean {
  return files.every(({ path, text }) => {
    const file = join(place, path);
    return existsSync(file) && readFileSync(file, "utf8") === text;
  });
}

export const commands: Readonly<Record<string, Command>> = {
  "workflow list": workflowList,
  "workflow add": workflowAdd,
};
