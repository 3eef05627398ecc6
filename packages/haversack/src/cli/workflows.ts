/** The example workflows that are shipped beside the built files, and their skills. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HaversackError } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";
import { DEVELOPMENT } from "../wake/workflow.ts";
import { findInstalled } from "./installed.ts";

export interface ShippedWorkflow {
  name: string;
  title: string;
  /** In the order of their folders. */
  skills: string[];
  folder: string;
}

const KNOWN = [DEVELOPMENT];

export function shippedWorkflows(): ShippedWorkflow[] {
  const folder = join(dirname(findInstalled().bin), "examples/workflows");
  return KNOWN.flatMap(({ id, title }) => {
    const place = join(folder, id);
    return existsSync(place) ? [{ name: id, title, skills: readdirSync(place).sort(), folder: place }] : [];
  });
}

export function findWorkflow(name: string): ShippedWorkflow {
  const all = shippedWorkflows();
  const found = all.find((workflow) => workflow.name === name);
  if (found) return found;
  const names = all.map((workflow) => workflow.name);
  const [guess = names[0]] = nearest(name, names);
  throw new HaversackError("not-found", `there is no workflow "${name}"${guess ? `; did you mean ${guess}?` : ""}`, {
    ...(!guess && { hint: "install haversack anew" }),
  });
}

/** Every file of a skill, relative to its folder. */
export function skillFiles({ folder }: ShippedWorkflow, skill: string): { path: string; text: string }[] {
  const place = join(folder, skill);
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return { path: file.slice(place.length + 1), text: readFileSync(file, "utf8") };
    });
}
