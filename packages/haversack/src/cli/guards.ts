/** How many skills have a rule that asks for them before a file is edited: only then is a hook before edits worth its process. */
import type { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";

export function guardCount(index: SqliteSkillIndex): number {
  const keys = new Set(index.patterns(["path"]).map(({ skill }) => skill));
  return index.cards([...keys]).filter(({ rule }) => rule?.enforcement === "block" || rule?.enforcement === "require")
    .length;
}
