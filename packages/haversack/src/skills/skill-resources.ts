/**
 * The files of a skill that are read on demand: `reference/`, `references/`, `assets/`, `scripts/` and `quick-reference.md`. Nothing outside
 * the skill's folder is ever listed or read, through any path or link.
 */
import { isAbsolute, join, normalize } from "node:path";
import { cutAt } from "../base/clean-text.ts";
import { errorText } from "../base/errors.ts";
import { type FileSystem, isMissing } from "../base/file-system.ts";
import { isInside } from "./skill-files.ts";
import type { Problem } from "./types.ts";

export interface ResourceList {
  /** Relative to the skill's folder, with forward slashes, sorted. */
  names: string[];
  /** Total number, including those not listed. */
  total: number;
  problems: Problem[];
}

export type ResourceReading =
  | { kind: "text"; text: string /** Characters of the whole file, when more than were read. */; cutFrom?: number }
  | { kind: "refused" | "missing" | "binary"; text: string };

const FOLDERS = ["assets", "reference", "references", "scripts"];
export const QUICK_REFERENCE = "quick-reference.md";
const MAX_DEPTH = 5;
/** Counting stops here: a larger list is of no use to a model anyway. */
const MAX_COUNTED = 5_000;
const MAX_RESOURCE_CHARS = 256 * 1024;

export function listResources(folder: string, fs: FileSystem, { limit = 100 }: { limit?: number } = {}): ResourceList {
  const names: string[] = [];
  const problems: Problem[] = [];
  const report = (path: string, code: string, text: string): void => {
    problems.push({ level: "warning", code, file: path, text });
  };
  let realFolder: string;
  try {
    realFolder = fs.realpath(folder);
  } catch (error) {
    report(folder, "folder-unreadable", errorText(error));
    return { names, total: 0, problems };
  }
  // Links can form cycles.
  const seen = new Set<string>();
  const visit = (relative: string, depth: number): void => {
    const path = join(folder, relative);
    if (names.length >= MAX_COUNTED) return;
    try {
      const real = fs.realpath(path);
      if (!isInside(real, realFolder)) {
        report(path, "link-leads-out", "the link leads out of the skill's folder: refused");
        return;
      }
      const { kind } = fs.stat(real);
      if (kind === "file") names.push(relative);
      if (kind !== "folder" || depth >= MAX_DEPTH || seen.has(real)) return;
      seen.add(real);
      for (const { name } of fs.readDir(real)) {
        if (!name.startsWith(".") && name !== "node_modules" && name !== "__pycache__")
          visit(`${relative}/${name}`, depth + 1);
      }
    } catch (error) {
      if (!isMissing(error) || depth > 0)
        report(path, "resource-unreadable", isMissing(error) ? "the link is broken" : errorText(error));
    }
  };
  // Use the folder's own listing: on a case-insensitive disk, Scripts/ is found and keeps its spelling.
  let top: string[] = [];
  try {
    top = fs.readDir(realFolder).map(({ name }) => name);
  } catch (error) {
    report(folder, "folder-unreadable", errorText(error));
  }
  for (const name of top)
    if (FOLDERS.includes(name.toLowerCase()) || name.toLowerCase() === QUICK_REFERENCE) visit(name, 0);
  names.sort();
  return { names: names.slice(0, limit), total: names.length, problems };
}

export function readResource(folder: string, relativePath: string, fs: FileSystem): ResourceReading {
  const refused = (text: string): ResourceReading => ({ kind: "refused", text });
  const relative = normalize(relativePath.replaceAll("\\", "/"));
  if (relativePath.trim() === "" || relativePath.includes("\u0000"))
    return refused("name a file of the skill, such as references/details.md");
  if (isAbsolute(relative) || /^[A-Za-z]:/.test(relative) || relative.split(/[\\/]/).includes("..")) {
    return refused("the path must stay inside the skill's folder: give it relative to that folder");
  }
  // .git and .env are never part of a skill.
  if (relative.split(/[\\/]/).some((part) => part.startsWith(".") && part !== "."))
    return refused("hidden files are not read");
  try {
    const real = fs.realpath(join(folder, relative));
    if (!isInside(real, fs.realpath(folder))) return refused("the link leads out of the skill's folder");
    if (fs.stat(real).kind !== "file") return { kind: "missing", text: `${relative} is not a file` };
    const text = fs.readFile(real);
    if (text.slice(0, 8_192).includes("\u0000")) return { kind: "binary", text: `${relative} is not text` };
    const cut = cutAt(text, MAX_RESOURCE_CHARS);
    return cut.length < text.length ? { kind: "text", text: cut, cutFrom: text.length } : { kind: "text", text };
  } catch (error) {
    return {
      kind: "missing",
      text: isMissing(error) ? `there is no ${relative} in the skill's folder` : errorText(error),
    };
  }
}
