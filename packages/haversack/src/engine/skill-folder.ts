/** A skill's own files, on disk: listed by kind, read on demand. */
import { join } from "node:path";
import { stripControl } from "../base/clean-text.ts";
import { diskFileSystem } from "../base/file-system.ts";
import type { SkillResources } from "../skills/showing/skill-output.ts";
import { listResources, readResource } from "../skills/skill-resources.ts";
import type { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";

export type SkillResource =
  | {
      kind: "text";
      text: string;
      file: string /** Characters of the whole file, when more than were read. */;
      cutFrom?: number;
    }
  | { kind: "refused"; text: string };

export function listSkillResources(folder: string): SkillResources {
  const { names, total } = listResources(folder, diskFileSystem);
  const pick = (pattern: RegExp) => names.filter((name) => pattern.test(name));
  return {
    reference: pick(/^(?:references?\/|quick-reference\.md$)/),
    assets: pick(/^assets\//),
    scripts: pick(/^scripts\//),
    ...(total > names.length && { omitted: total - names.length }),
  };
}

export function readSkillResource(id: string, path: string, index: SqliteSkillIndex): SkillResource {
  const folder = index.card(id)?.folder;
  if (!folder) return { kind: "refused", text: `${id} is a single file and has no resources` };
  const read = readResource(folder, path, diskFileSystem);
  if (read.kind !== "text") return { kind: "refused", text: `${id}: ${path}: ${read.text}` };
  return {
    kind: "text",
    text: stripControl(read.text),
    file: join(folder, path),
    ...(read.cutFrom !== undefined && { cutFrom: read.cutFrom }),
  };
}
