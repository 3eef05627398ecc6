/** Example workflows that can be copied into a project. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { makeFolder, putNewFile } from "../../base/safe-write.ts";
import { ensureStateFolder } from "../../engine/project.ts";
import { DEVELOPMENT } from "../../wake/workflow.ts";
import { present } from "../../work/task-view.ts";
import { defineCommand, flag } from "../command.ts";
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

export const commands = {
  "workflow list": defineCommand({
    about: "Lists the example workflows that come with Haversack: skills that work together, for you to change.",
    examples: { "haversack workflow list": "what can be added" },
    json: "[{name, title, skills}].",
    run() {
      const workflows = shippedWorkflows().map(({ name, title, skills }) => ({ name, title, skills }));
      const blocks = workflows.map(({ name, title, skills }) => [`${name}: ${title}`, ...skills].join("\n  "));
      return { data: workflows, text: blocks.join("\n\n") };
    },
  }),
  "workflow add": defineCommand({
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
    examples: {
      "haversack workflow add development": "from an idea to a merged branch",
      "haversack workflow add development --dry-run": "only show it",
    },
    jsonOfEach:
      "{name, folder, added?: [skill], kept?: [skill], same?: [skill], written}, where kept ones differ from ours and were left alone",
    several: "blocks",
    async run(call) {
      const [wanted = ""] = call.arguments;
      const workflow = findWorkflow(wanted);
      const { paths } = findProject(call);
      const { "dry-run": isDryRun = false } = call.options;
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
      const written = added.length > 0 && !isDryRun;
      const lines = [
        added.length > 0 && `${isDryRun ? "Would add" : "Added"} to ${folder}: ${added.join(", ")}.`,
        kept.length > 0 && `Yours, left as they are: ${kept.join(", ")}.`,
        same.length > 0 && `There already: ${same.join(", ")}.`,
        isDryRun && "Nothing was written (--dry-run).",
      ];
      const data = { ...present({ name: workflow.name, folder, added, kept, same }), written };
      return { data, text: lines.filter(Boolean).join("\n") };
    },
  }),
};

function isSame(place: string, files: readonly { path: string; text: string }[]): boolean {
  return files.every(({ path, text }) => {
    const file = join(place, path);
    return existsSync(file) && readFileSync(file, "utf8") === text;
  });
}
