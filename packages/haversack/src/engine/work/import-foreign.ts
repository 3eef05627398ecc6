/** Imports work from other task tools. Only reads their files; a second import creates no duplicates. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { isRecord, readJson } from "../../base/json.ts";
import type { ImportReport } from "../../store/record-fields.ts";
import type { Actor, WorkStore } from "../../store/work-store.ts";
import {
  type BacklogFile,
  backlogRecords,
  beadsRecords,
  type ForeignContext,
  type ForeignWork,
  githubRecords,
  taskMasterRecords,
} from "./foreign-records.ts";
import { findKnown, type ThingStore } from "./import-ohno.ts";
import type { LeftOver } from "./ohno-records.ts";

export const FOREIGN_TOOLS = ["beads", "task-master", "backlog", "github"] as const;
export type ForeignTool = (typeof FOREIGN_TOOLS)[number];

export interface ForeignReport extends ImportReport {
  file: string;
  /** What could not be carried over, with counts. */
  left: LeftOver[];
  /** Here already, and without a time of change in the file: left as they are. */
  unchanged: string[];
}

export interface ForeignImport {
  tool: ForeignTool;
  /** The tool's file, or a folder that it is in. */
  path: string;
  isDryRun?: boolean;
}

/** Where each tool keeps its work in a project. A folder for Backlog.md. */
const PLACES: Readonly<Record<ForeignTool, readonly string[]>> = {
  beads: [".beads/issues.jsonl", "issues.jsonl"],
  "task-master": [".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json"],
  backlog: ["backlog", ".backlog"],
  github: ["issues.json"],
};

export async function importForeign(
  store: Pick<WorkStore, "importRecords"> & ThingStore,
  { tool, path, isDryRun = false }: ForeignImport,
  by: Actor,
): Promise<ForeignReport> {
  const file = findPlace(tool, path);
  const stat = statSync(file);
  const context: ForeignContext = { changedAt: stat.mtime, now: by.at, knownSince: () => undefined };
  const { files, unread } =
    tool === "backlog" ? backlogFiles(file) : { files: [{ path: file, text: readFileSync(file, "utf8") }], unread: [] };
  const convert = (known: ForeignContext): ForeignWork => {
    if (tool === "backlog") return backlogRecords(files, known);
    const read = { beads: beadsRecords, "task-master": taskMasterRecords, github: githubRecords }[tool];
    return read(files[0]?.text ?? "", known);
  };
  // Things without a time of their own keep the one that the store gave them at the first import.
  const known = await findKnown(store, convert(context).records, by.at);
  const { records, left, unchanged, ...found } = convert({ ...context, knownSince: (id) => known.get(id)?.createdAt });
  const problems = [...unread, ...found.problems];
  if (records.length === 0 && unchanged.length === 0) {
    const why = problems[0] ? `${problems[0].where}: ${problems[0].text}` : "there is no task in it";
    throw new HaversackError("input-invalid", `${file} was not imported: ${why}`);
  }
  const report = await store.importRecords(records, { isDryRun }, by);
  return { file, ...report, problems: [...problems, ...report.problems], left, unchanged };
}

/**
 * The tools whose work is in this file or folder, recognized by its place or its content. Empty if the file belongs to no tool that
 * is known here.
 */
export function detectTools(path: string): ForeignTool[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) {
    const tool = /\.(?:jsonl?|ndjson)$/i.test(path) ? toolOfFile(path) : undefined;
    return tool ? [tool] : [];
  }
  if (!stat?.isDirectory()) return [];
  const isFolder = (place: string) => statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const isFile = (place: string) => statSync(place, { throwIfNoEntry: false })?.isFile() ?? false;
  return FOREIGN_TOOLS.filter((tool) => {
    if (tool !== "backlog") {
      const [found] = PLACES[tool].map((place) => join(path, place)).filter(isFile);
      return found !== undefined && toolOfFile(found) === tool;
    }
    const isItself = PLACES.backlog.includes(basename(path)) && isFolder(join(path, "tasks"));
    return isItself || PLACES.backlog.some((place) => isFolder(join(path, place, "tasks")));
  });
}

/** A file counts by its place only in the tool's own folder: many programs have a `tasks.json`. */
function toolOfFile(path: string): ForeignTool | undefined {
  const folders = dirname(path).split(/[\\/]/);
  if (folders.includes(".beads") && path.endsWith(".jsonl")) return "beads";
  if (folders.includes(".taskmaster") && basename(path) === "tasks.json") return "task-master";
  const text = readFileSync(path, "utf8");
  if (!/\.json$/i.test(path)) {
    const line = text.split("\n", 100).find((line) => line.trim() !== "") ?? "";
    const { value } = readJson(line);
    const isIssue = isRecord(value) && typeof value["id"] === "string" && value["kind"] === undefined;
    return isIssue && (value["issue_type"] !== undefined || value["status"] !== undefined) ? "beads" : undefined;
  }
  const { value } = readJson(text);
  if (Array.isArray(value)) {
    const isIssues = value.some((issue) => isRecord(issue) && Number.isInteger(issue["number"]) && "title" in issue);
    return isIssues ? "github" : undefined;
  }
  if (!isRecord(value)) return undefined;
  const lists = [value, ...Object.values(value)].flatMap((tag) => (isRecord(tag) ? [tag["tasks"]] : []));
  const isTask = (task: unknown) => isRecord(task) && task["id"] !== undefined && task["title"] !== undefined;
  return lists.some((list) => Array.isArray(list) && list.some(isTask)) ? "task-master" : undefined;
}

function findPlace(tool: ForeignTool, path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() && tool !== "backlog") return path;
  const isFound = (place: string) => {
    const found = statSync(place, { throwIfNoEntry: false });
    return tool === "backlog" ? found?.isDirectory() : found?.isFile();
  };
  if (stat && tool === "backlog" && isFound(join(path, "tasks"))) return path;
  const found = stat && PLACES[tool].map((place) => join(path, place)).find(isFound);
  if (found) return found;
  const why = stat ? `has no ${PLACES[tool].join(", and no ")}` : "does not exist";
  throw new HaversackError("not-found", `${path}: ${why}`, { hint: "name the tool's file, or the project's folder" });
}

/** Open, completed and archived tasks, but no drafts, documents or decisions. Unreadable files are left out and reported. */
function backlogFiles(folder: string): { files: BacklogFile[]; unread: ImportReport["problems"] } {
  const files: BacklogFile[] = [];
  const unread: ImportReport["problems"] = [];
  for (const place of ["tasks", "completed", "archive/tasks"]) {
    const within = join(folder, place);
    if (!statSync(within, { throwIfNoEntry: false })?.isDirectory()) continue;
    const names = readdirSync(within).filter((name) => name.endsWith(".md"));
    for (const name of names.sort()) {
      const path = relative(folder, join(within, name)).replaceAll("\\", "/");
      try {
        // Reading a pipe could wait for ever.
        if (statSync(join(within, name)).isFile()) files.push({ path, text: readFileSync(join(within, name), "utf8") });
        else unread.push({ where: path, text: "is not a file: left out" });
      } catch (error) {
        unread.push({ where: path, text: `cannot be read (${(error as NodeJS.ErrnoException).code}): left out` });
      }
    }
  }
  return { files, unread };
}
