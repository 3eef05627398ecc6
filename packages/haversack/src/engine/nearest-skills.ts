/** The skills that rules can mean, read without an index: for `trust`, which must not open a store that is not the user's own. */
import type { FileSystem } from "../base/file-system.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import type { RuleSkill } from "../skills/rules/rule-reach.ts";
import { findSkillFiles, type SkillRoot } from "../skills/skill-files.ts";

export interface NearestSkill extends RuleSkill {
  body: string;
}

/** Of each name the nearest, as `SkillIndexWriter.settle` chooses it. Files that cannot be read are left out. */
export function nearestSkills(
  roots: readonly SkillRoot[],
  { fs, maxBytes }: { fs: FileSystem; maxBytes: number },
): NearestSkill[] {
  const nearest = new Map<string, NearestSkill & { rank: number }>();
  for (const file of findSkillFiles(roots, fs).files) {
    if (file.size > maxBytes) continue;
    const skill = read(file.path);
    const found = skill === undefined ? undefined : parseSkill(skill, file).skill;
    if (!found) continue;
    const { id, path, hash, requires, body } = found;
    const { rank } = file.source;
    const other = nearest.get(id);
    if (other && (other.rank < rank || (other.rank === rank && other.path <= path))) continue;
    nearest.set(id, { id, path, hash, requires, body, rank });
  }
  return [...nearest.values()];

  function read(path: string): string | undefined {
    try {
      return fs.readFile(path);
    } catch {
      // Gone or not readable: `skills check` says so.
      return undefined;
    }
  }
}
