/**
 * Is the skill index older than the files? By size and time of what was indexed, and by the time of the folders it was found
 * in. Looks at no content. Loaded by the hook, at session start only.
 */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** Beyond this many files a session start would notice; the CLI and the MCP server check all of them. */
const MAX_CHECKED = 2000;

/** What a refresh leaves for the next look: by which program, and the times of the folders it searched (0: not there). */
export interface IndexedFolders {
  program: string;
  folders: Record<string, number>;
}

/** Undefined when the sources run without a build. */
export const PROGRAM = typeof __VERSION__ === "string" ? __VERSION__ : "source";

export function isIndexStale(db: DatabaseSync): boolean {
  const row = db.prepare("SELECT value FROM meta WHERE key = 'skill-roots'").get();
  // Never indexed.
  if (!row) return true;
  const { program, folders } = JSON.parse(String(row["value"])) as IndexedFolders;
  // Another version may cut words and weigh them otherwise.
  if (program !== PROGRAM) return true;
  for (const [folder, mtimeMs] of Object.entries(folders)) {
    if ((statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) !== mtimeMs) return true;
  }
  const files = db.prepare(
    "SELECT path, size, mtime_ms FROM skills WHERE path NOT LIKE 'rule:%' UNION ALL SELECT path, size, mtime_ms FROM rule_files LIMIT ?",
  );
  for (const row of files.all(MAX_CHECKED)) {
    const stat = statSync(String(row["path"]), { throwIfNoEntry: false });
    if (stat?.size !== row["size"] || stat?.mtimeMs !== row["mtime_ms"]) return true;
  }
  return false;
}
