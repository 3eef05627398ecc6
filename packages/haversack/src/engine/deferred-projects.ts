/**
 * The projects in which skills are deferred, in a file of the user's: `off --user` switches Haversack off in all of them, so all of
 * them must get their listings back. A project that is gone, or has nothing deferred any more, drops out by itself.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../base/json.ts";
import { STATE_FOLDER } from "../base/project-root.ts";
import { makeFolder, putFile, USER } from "../base/safe-write.ts";
import { readText } from "./init.ts";
import type { ProjectPaths } from "./project.ts";
import { putBack } from "./uninstall.ts";
import { readReceipt } from "./wiring-receipt.ts";

const FILE = "deferred-projects.json";

interface Noted {
  projects: string[];
  /** Folders that were made for the file, outermost first. */
  folders: string[];
}

/** Roots, this project's too when it has skills deferred. */
export function deferredProjects({ user, root }: ProjectPaths): string[] {
  return [...new Set([...readNoted(join(user, FILE)).projects, root])].filter(hasDeferred);
}

/** Brings the list up to date with what this project's receipt says. */
export function noteDeferredProject(paths: ProjectPaths): void {
  const file = join(paths.user, FILE);
  const before = readText(file);
  const noted = readNoted(file);
  const projects = deferredProjects(paths);
  if (projects.length === 0) {
    if (before !== undefined) putBack(file, { before, after: undefined, folders: noted.folders }, { within: USER });
    return;
  }
  if (projects.join("\n") === noted.projects.join("\n")) return;
  const folders = before === undefined ? makeFolder(paths.user, { within: USER }) : noted.folders;
  putFile(file, `${JSON.stringify({ projects, folders }, null, 2)}\n`, { within: USER });
}

function hasDeferred(root: string): boolean {
  if (!existsSync(join(root, STATE_FOLDER))) return false;
  const { entries, paused } = readReceipt(join(root, STATE_FOLDER)).deferred;
  return [entries, paused].some((part) => Object.keys(part).length > 0);
}

/** A lost or broken list is an empty one: each project is noted again at its next `skills defer`, `off` or `on`. */
function readNoted(file: string): Noted {
  const { value } = readJson(readText(file) ?? "{}");
  const { projects, folders } = (typeof value === "object" && value !== null ? value : {}) as Partial<Noted>;
  const texts = (list: unknown) => (Array.isArray(list) ? list.filter((one) => typeof one === "string") : []);
  return { projects: texts(projects), folders: texts(folders) };
}
