/** Brings a project's skill index up to date when a file, a folder or this program changed since it was written. */
import { diskFileSystem } from "../base/file-system.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { isIndexStale } from "./index-freshness.ts";
import type { Environment } from "./project.ts";
import { refreshIndex } from "./refresh-index.ts";
import { findSkillSources } from "./skill-sources.ts";

export interface IndexPlaces {
  root: string;
  env: Environment;
  /** The setting `skills.folders`. */
  folders: readonly string[];
}

/** `isThorough`: also look for files that no indexed file or folder tells of. Costs 15 ms for 285 skills, else 2 ms. */
export function freshenIndex(
  handle: StoreHandle,
  { root, env, folders }: IndexPlaces,
  { isThorough = false }: { isThorough?: boolean } = {},
): void {
  if (!isThorough && !isIndexStale(handle.db)) return;
  const sources = findSkillSources(root, { env, folders, fs: diskFileSystem });
  refreshIndex(handle, { ...sources, fs: diskFileSystem });
}
