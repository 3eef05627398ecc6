/**
 * Files in a client's folder that are entirely ours. Each has a comment with a checksum of the rest. A file that the user changed, or
 * that was never ours, is left alone, whichever version wrote it.
 */
import { createHash } from "node:crypto";
import { readText } from "../engine/init.ts";
import type { WiredFile } from "../engine/wiring.ts";

export interface StampedFile {
  path: string;
  about: string;
  text: string;
  /** The stamp is the last line of the frontmatter, not the first. Default: false. */
  isStampLast?: boolean;
}

/** older: ours, unchanged, from another version. edited: ours, changed by the user. */
export type StampedState = "absent" | "current" | "older" | "edited" | "foreign";

export function wireStamped(file: StampedFile): WiredFile {
  const { path, about } = file;
  const ours = stamped(file);
  return {
    path,
    about,
    blank: "",
    isWhole: true,
    wire: (found) => ({ text: isOurs(found) || found.trim() === "" ? ours : found, keep: [] }),
    unwire: (found) => (isOurs(found) ? "" : found),
  };
}

export function stateOfStamped(file: StampedFile): StampedState {
  const found = readText(file.path);
  if (found === undefined || found.trim() === "") return "absent";
  if (found === stamped(file)) return "current";
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

/** Files that `init` wrote but `uninstall` leaves. */
export function leftoversOfStamped(files: readonly StampedFile[]): string[] {
  const edited = files.filter((file) => stateOfStamped(file) === "edited");
  return edited.map(({ path }) => `${path} was changed by hand and stays`);
}

const STAMP = /^(?:#|\/\/) haversack ([0-9a-f]{12})\n/m;

/** In Markdown the stamp is in the frontmatter, which the model never sees. */
function stamped({ path, text, isStampLast = false }: StampedFile): string {
  const sum = sumOf(text);
  if (isStampLast) return text.replace("\n---\n", `\n# haversack ${sum}\n---\n`);
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
