/**
 * Which files are skills: `X/SKILL.md` in folders up to four levels deep (collections nest by source), and single markdown
 * files directly in a source. Links that lead out of the source are refused: a repository could otherwise have any
 * file of the machine read into a prompt. A source that is itself a link is the user's own choice.
 */
import { basename, join, sep } from "node:path";
import { cleanLine } from "../base/clean-text.ts";
import { errorText } from "../base/errors.ts";
import { type FileSystem, type FolderEntry, isMissing } from "../base/file-system.ts";
import type { Problem, SkillSource } from "./types.ts";

export interface SkillRoot {
  /** Absolute. */
  dir: string;
  source: SkillSource;
  /** The skills in it are `plugin:name`. */
  plugin?: string;
  /** The user named this folder, so it is a problem when it is not there. */
  isNamed?: boolean;
}

export interface SkillFile {
  path: string;
  /** Absent for a single markdown file. */
  folder?: string;
  /** What the skill is called when it does not say so itself. */
  folderName: string;
  size: number;
  mtimeMs: number;
  source: SkillSource;
  plugin?: string;
}

export interface SkillFileOptions {
  maxSkills?: number;
  /** Levels of folders below a source in which a SKILL.md is looked for. */
  maxDepth?: number;
  /** Also look inside the folders of skills. Off: what lies there are resources. */
  insideSkills?: boolean;
}

/** In the order of the roots, then by path. */
export function findSkillFiles(
  roots: readonly SkillRoot[],
  fs: FileSystem,
  options: SkillFileOptions = {},
): { files: SkillFile[]; problems: Problem[] } {
  const { maxSkills = 10_000, maxDepth = 4, insideSkills = false } = options;
  const search: Search = {
    fs,
    maxSkills,
    maxDepth,
    insideSkills,
    files: [],
    problems: [],
    seen: new Set(),
    entries: 0,
    isFull: false,
  };
  for (const root of roots) searchRoot(search, root);
  return { files: search.files, problems: search.problems };
}

interface Search {
  fs: FileSystem;
  maxSkills: number;
  maxDepth: number;
  insideSkills: boolean;
  files: SkillFile[];
  problems: Problem[];
  /** Real paths of folders already read: links can run in circles, and two sources can be one folder. */
  seen: Set<string>;
  entries: number;
  isFull: boolean;
}

/** A source that holds more is no folder of skills but somebody's disk. */
const MAX_ENTRIES = 200_000;

function searchRoot(search: Search, root: SkillRoot): void {
  let real: string;
  try {
    real = search.fs.realpath(root.dir);
    if (search.fs.stat(real).kind !== "folder") {
      problem(search, "error", "source-not-a-folder", root.dir, "a folder of skills is expected");
      return;
    }
  } catch (error) {
    if (!isMissing(error)) problem(search, "error", "source-unreadable", root.dir, errorText(error));
    else if (root.isNamed)
      problem(
        search,
        "warning",
        "source-missing",
        root.dir,
        "there is no such folder: remove it from the settings, or create it",
      );
    return;
  }
  searchFolder(search, root, real, root.dir, real, 0);
}

/** `realDir`: where `dir` really is. Known from its parent unless it is a link: asking the disk costs more than reading it. */
function searchFolder(
  search: Search,
  root: SkillRoot,
  realRoot: string,
  dir: string,
  realDir: string,
  depth: number,
): void {
  if (search.isFull) return;
  let entries: FolderEntry[];
  try {
    if (search.seen.has(realDir)) return;
    search.seen.add(realDir);
    entries = search.fs.readDir(dir).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    problem(search, "error", "folder-unreadable", dir, errorText(error));
    return;
  }
  search.entries += entries.length;
  if (search.entries > MAX_ENTRIES) {
    stop(search, root, `more than ${MAX_ENTRIES} files and folders: this is no folder of skills`);
    return;
  }
  const own = skillEntry(entries);
  if (own) addFile(search, root, realRoot, join(dir, own.name), own, dir);
  if (own && !search.insideSkills) return;
  for (const entry of entries) {
    if (search.isFull) return;
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const path = join(dir, entry.name);
    const kind = entry.kind === "link" ? linkKind(search, realRoot, path) : entry.kind;
    if (kind === "folder" && depth < search.maxDepth) {
      const real = entry.kind === "link" ? linkTarget(search, path) : join(realDir, entry.name);
      if (real) searchFolder(search, root, realRoot, path, real, depth + 1);
    }
    if (kind === "file" && depth === 0 && isSingleSkill(entry.name)) addFile(search, root, realRoot, path, entry);
  }
}

function linkTarget(search: Search, path: string): string | undefined {
  try {
    return search.fs.realpath(path);
  } catch (error) {
    problem(search, "warning", "link-broken", path, errorText(error));
    return undefined;
  }
}

/** SKILL.md in any case; the right one wins where a disk tells them apart. */
function skillEntry(entries: readonly FolderEntry[]): FolderEntry | undefined {
  const candidates = entries.filter(
    ({ name, kind }) => name.toLowerCase() === "skill.md" && kind !== "folder" && kind !== "other",
  );
  return candidates.find(({ name }) => name === "SKILL.md") ?? candidates[0];
}

const NO_SKILLS =
  /^(?:readme|changelog|license|licence|contributing|code_of_conduct|security|agents|claude|gemini|index|skill|todo|notes)(?:[.-].*)?\.md$/i;

function isSingleSkill(name: string): boolean {
  return name.toLowerCase().endsWith(".md") && !NO_SKILLS.test(name);
}

function addFile(
  search: Search,
  root: SkillRoot,
  realRoot: string,
  path: string,
  entry: FolderEntry,
  folder?: string,
): void {
  if (search.files.length >= search.maxSkills) {
    stop(search, root, `more than ${search.maxSkills} skills: the rest is left out`);
    return;
  }
  if (entry.kind === "link" && linkKind(search, realRoot, path) !== "file") return;
  try {
    const { size, mtimeMs } = search.fs.stat(path);
    const folderName = folder ? basename(folder) : basename(path).replace(/\.md$/i, "");
    search.files.push({
      path,
      ...(folder === undefined ? {} : { folder }),
      folderName,
      size,
      mtimeMs,
      source: root.source,
      ...(root.plugin === undefined ? {} : { plugin: root.plugin }),
    });
  } catch (error) {
    problem(search, "error", "skill-unreadable", path, errorText(error));
  }
}

/** What a link leads to, if it stays inside the source. */
function linkKind(search: Search, realRoot: string, path: string): "file" | "folder" | "other" {
  try {
    const real = search.fs.realpath(path);
    if (isInside(real, realRoot)) return search.fs.stat(real).kind;
    const hint =
      "the link leads out of its source and is not followed; to use it, name its folder under skills.folders";
    problem(search, "warning", "link-leads-out", path, hint);
  } catch (error) {
    problem(search, "warning", "link-broken", path, isMissing(error) ? "the link leads nowhere" : errorText(error));
  }
  return "other";
}

/** Both real paths. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function stop(search: Search, root: SkillRoot, text: string): void {
  if (!search.isFull) problem(search, "error", "source-too-large", root.dir, text);
  search.isFull = true;
}

function problem(search: Search, level: Problem["level"], code: string, path: string, text: string): void {
  search.problems.push({
    level,
    code,
    file: cleanLine(path, { maxChars: 1_000 }),
    text: cleanLine(text, { maxChars: 500 }),
  });
}
