/**
 * Files that are ours as a whole, in a client's folder. Each says so in a comment with a sum over the rest of it: one that a
 * person has changed, or that was never ours, is left alone, whatever version wrote it.
 */
import { createHash } from "node:crypto";
import { readText } from "../../engine/init.ts";
import type { WiredFile } from "../../engine/wiring.ts";

export interface StampedFile {
  path: string;
  about: string;
  text: string;
}

/** older: ours, unchanged, of another version. edited: ours, changed by a person. */
export type StampedState = "absent" | "current" | "older" | "edited" | "foreign";

export function wireStamped({ path, about, text }: StampedFile): WiredFile {
  const ours = stamped(path, text);
  return {
    path,
    about,
    blank: "",
    isWhole: true,
    wire: (found) => ({ text: isOurs(found) || found.trim() === "" ? ours : found, keep: [] }),
    unwire: (found) => (isOurs(found) ? "" : found),
  };
}

export function stateOfStamped({ path, text }: StampedFile): StampedState {
  const found = readText(path);
  if (found === undefined || found.trim() === "") return "absent";
  if (found === stamped(path, text)) return "current";
  if (isOurs(found)) return "older";
  return STAMP.test(found) ? "edited" : "foreign";
}

/** Notes for `init` about files that it leaves alone. */
export function notesOnStamped(files: readonly StampedFile[]): string[] {
  return files.flatMap((file) => {
    const state = stateOfStamped(file);
    if (state === "foreign") return [`${file.path} is not Haversack's and stays as it is`];
    return state === "edited" ? [`${file.path} was changed by hand and stays as it is`] : [];
  });
}

const STAMP = /^(?:#|\/\/) haversack ([0-9a-f]{12})\n/m;

/** In Markdown inside the frontmatter, where the model never sees it. */
function stamped(path: string, text: string): string {
  const sum = sumOf(text);
  if (path.endsWith(".md")) return text.replace("---\n", `---\n# haversack ${sum}\n`);
  return `${/\.[jt]s$/.test(path) ? "//" : "#"} haversack ${sum}\n${text}`;
}

function isOurs(text: string): boolean {
  const sum = STAMP.exec(text)?.[1];
  return sum !== undefined && sumOf(text.replace(STAMP, "")) === sum;
}

function sumOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
