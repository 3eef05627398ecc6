/** The folder a store lives in, without `node:path`: the hook bundles this file. */
import { STATE_FOLDER } from "../../base/project-root.ts";

export function folderOf(file: string): string {
  const cut = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return cut > 0 ? file.slice(0, cut) : cut === 0 ? file.slice(0, 1) : ".";
}

/** What changes of files beside a store must stay in: the project, or for a store that somebody keeps elsewhere, its folder. */
export function placeOfStore(file: string): { within: string } {
  const folder = folderOf(file);
  return { within: folder.endsWith(`/${STATE_FOLDER}`) ? folderOf(folder) : folder };
}
