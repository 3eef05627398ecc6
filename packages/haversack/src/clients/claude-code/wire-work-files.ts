/**
 * The files of `/work` in a client's folder. Each is ours as a whole and says so in its frontmatter, with a sum over the rest
 * of it: one that a person has changed, or that was never ours, is left alone, whatever version wrote it.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { readText } from "../../engine/init.ts";
import type { WiredFile } from "../../engine/wiring.ts";
import { workFiles } from "./work-files.ts";

/** older: ours, unchanged, of another version. edited: ours, changed by a person. */
export type WorkFileState = "absent" | "current" | "older" | "edited" | "foreign";

export interface WorkFilePlace {
  path: string;
  state: WorkFileState;
}

/** `folder`: `.claude` of the project, or the user's. */
export function workWiring(folder: string): WiredFile[] {
  return workFiles("project").map(({ path, text }) => {
    const ours = stamped(text);
    return {
      path: join(folder, path),
      about: path.startsWith("commands/") ? "the command /work" : "an agent of /work",
      blank: "",
      isWhole: true,
      wire: (found) => ({ text: isOurs(found) || found.trim() === "" ? ours : found, keep: [] }),
      unwire: (found) => (isOurs(found) ? "" : found),
    };
  });
}

export function workFileStates(folder: string): WorkFilePlace[] {
  return workFiles("project").map(({ path, text }) => {
    const place = join(folder, path);
    return { path: place, state: stateOf(readText(place), stamped(text)) };
  });
}

function stateOf(found: string | undefined, ours: string): WorkFileState {
  if (found === undefined || found.trim() === "") return "absent";
  if (found === ours) return "current";
  if (isOurs(found)) return "older";
  return STAMP.test(found) ? "edited" : "foreign";
}

/** A comment in the frontmatter: the model never sees it. */
const STAMP = /^# haversack ([0-9a-f]{12})\n/m;

function stamped(text: string): string {
  return text.replace("\n---\n", `\n# haversack ${sumOf(text)}\n---\n`);
}

function isOurs(text: string): boolean {
  const sum = STAMP.exec(text)?.[1];
  return sum !== undefined && sumOf(text.replace(STAMP, "")) === sum;
}

function sumOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
