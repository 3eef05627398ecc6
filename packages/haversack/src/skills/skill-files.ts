/**
 * Finds the files that are skills: `X/SKILL.md` in folders up to four levels deep (collections nest by source), and single markdown files
 * directly in a source. In the user's own folders, links are followed anywhere. In a project, links are followed only inside the project:
 * otherwise a cloned repository could get any file of the machine read into a prompt. Links that are not followed are reported.
 */
import { basename, join, sep } from "node:path";
import { cleanLine } from "../base/clean-text.ts";
import { errorText } from "../base/errors.ts";
import { type FileSystem, type FolderEntry, isMissing } from "../base/file-system.ts";
import type { SkillPlace } from "./parse-skill.ts";
import type { Problem, SkillSource } from "./types.ts";

export interface SkillRoot {
  /** Absolute. */
  dir: string;
  source: SkillSource;
  /** Set if its skills are named `plugin:name`. */
  plugin?: string;
  /** The user named this folder, so it is reported if it is missing. */
  isNamed?: boolean;
  /** Absolute. Links in this source, and the source if it is a link, may lead anywhere inside. Default: the source itself. */
  within?: string;
}

export interface SkillFile extends SkillPlace {
  size: number;
  mtimeMs: number;
}

export interface SkillFileOptions {
  /** Default: 10,000. */
  maxSkills?: number;
  /** How many folder levels below a source are searched for a SKILL.md. Default: 4. */
  maxDepth?: number;
  /** Also search inside skill folders. By default, files there are resources. */
  insideSkills?: boolean;
}

/** In the order of the roots, then by path. */
export function findSkillFiles(
  roots: readonly SkillRoot[],
  fs: FileSystem,
  options: SkillFileOptions = {},
): { files: SkillFile[]; problems: Problem[] } {
  const limits = { maxSkills: 10_000, maxDepth: 4, insideSkills: false, ...options };
  const search: Search = { fs, ...limits, files: [], problems: [], seen: new Set(), entries: 0, isFull: false };
  for (const root of roots) searchRoot(search, root);
  return { files: search.files, problems: search.problems };
}

interface Search extends Required<SkillFileOptions> {
  fs: FileSystem;
  files: SkillFile[];
  problems: Problem[];
  /** Real paths of folders already read: links can form cycles, and two sources can be the same folder. */
  seen: Set<string>;
  entries: number;
  isFull: boolean;
}

/** A source with more entries is not a folder of skills, but somebody's disk. */
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
    else if (root.isNamed) {
      const text = "there is no such folder: remove it from the settings, or create it";
      problem(search, "warning", "source-missing", root.dir, text);
    }
    return;
  }
  const within = root.within === undefined ? real : search.fs.realpath(root.within);
  if (!isInside(real, within)) {
    problem(search, "warning", "link-leads-out", root.dir, pointsOutside(root));
    return;
  }
  searchFolder(search, { root, realRoot: real, within, isFree: root.source.kind === "user" }, root.dir, real, 0);
}

/** Decides which links may be followed. */
interface Place {
  root: SkillRoot;
  realRoot: string;
  /** Links may lead into this folder. */
  within: string;
  /** Links may lead anywhere, because the user made them. False inside a folder that such a link led to: others may have written there. */
  isFree: boolean;
}

/** `realDir`: the real path of `dir`. Taken from its parent unless it is a link, because resolving it costs more than reading the folder. */
function searchFolder(search: Search, place: Place, dir: string, realDir: string, depth: number): void {
  const { root } = place;
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
    stop(search, root, `more than ${MAX_ENTRIES} files and folders: this is not a folder of skills`);
    return;
  }
  const own = skillEntry(entries);
  if (own) addFile(search, place, join(dir, own.name), own, dir);
  if (own && !search.insideSkills) return;
  for (const entry of entries) {
    if (search.isFull) return;
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const path = join(dir, entry.name);
    const target = entry.kind === "link" ? followLink(search, place, path) : undefined;
    const kind = entry.kind === "link" ? target?.kind : entry.kind;
    if (kind === "folder" && depth < search.maxDepth) {
      const isOutside = target !== undefined && !isInside(target.real, place.within);
      const next = isOutside ? { ...place, within: target.real, isFree: false } : place;
      searchFolder(search, next, path, target?.real ?? join(realDir, entry.name), depth + 1);
    }
    if (kind === "file" && depth === 0 && isSingleSkill(entry.name)) addFile(search, place, path, entry);
  }
}

/** SKILL.md in any case; the exact name wins on a case-sensitive disk. */
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

function addFile(search: Search, place: Place, path: string, entry: FolderEntry, folder?: string): void {
  const { root } = place;
  if (search.files.length >= search.maxSkills) {
    stop(search, root, `more than ${search.maxSkills} skills: the rest is left out`);
    return;
  }
  if (entry.kind === "link" && followLink(search, place, path)?.kind !== "file") return;
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

/** The target of a link, if it may be followed. */
function followLink(
  search: Search,
  { root, realRoot, within, isFree }: Place,
  path: string,
): { real: string; kind: "file" | "folder" | "other" } | undefined {
  const report = (code: string, text: string) => problem(search, "warning", code, path, text);
  try {
    const real = search.fs.realpath(path);
    const { kind, isForeign } = search.fs.stat(real);
    const isHere = isInside(real, within) || isInside(real, realRoot);
    if (!isHere && !isFree) report("link-leads-out", pointsOutside(root));
    else if (!isHere && isForeign)
      report("link-foreign", "the link's target belongs to another user, so it is not followed");
    else if (real !== realRoot && isInside(realRoot, real))
      report("link-circle", "the link leads to a folder that contains it, so it is not followed");
    else return { real, kind };
  } catch (error) {
    report("link-broken", isMissing(error) ? "the link is broken" : errorText(error));
  }
  return undefined;
}

function pointsOutside({ source }: SkillRoot): string {
  const place = source.kind === "user" ? "its folder" : "the project";
  return `the link points outside ${place}, so it is not followed; to use it, name its target under skills.folders`;
}

/** Both must be real paths. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Codex expresses `disable-model-invocation` with a file beside the skill. */
export function isKeptForPeople(folder: string | undefined, fs: FileSystem): boolean {
  if (!folder) return false;
  const file = `${folder}/agents/openai.yaml`;
  try {
    return fs.stat(file).size < 65_536 && /^\s*allow_implicit_invocation:\s*false\b/m.test(fs.readFile(file));
  } catch {
    // Most skills have none.
    return false;
  }
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
