/** `skills check`: every skill file read anew and held against the strict rules, then all of them together. */
import { join } from "node:path";
import type { Config } from "../base/config-schema.ts";
import { errorText, HaversackError } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { nearest } from "../base/nearest.ts";
import { lintQuickReference, lintSkill, lintSkillSet } from "../skills/lint-skill.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { findSkillFiles } from "../skills/skill-files.ts";
import { listResources, QUICK_REFERENCE, readResource } from "../skills/skill-resources.ts";
import type { Problem, Skill, SkillCard } from "../skills/types.ts";
import type { Environment, ProjectPaths } from "./project.ts";
import { findSkillSources } from "./skill-sources.ts";

export interface LintParts {
  paths: ProjectPaths;
  config: Config;
  index: { card(id: string): SkillCard | undefined };
  /** What the index knows to be wrong; of it, what rules files say. */
  problems: readonly Problem[];
}

export function lintSkills(
  { paths, config, index, problems: known }: LintParts,
  { names, env }: { names: readonly string[]; env: Environment },
): { skills: number; problems: Problem[] } {
  const sources = findSkillSources(paths.root, { env, folders: config["skills.folders"], fs: diskFileSystem });
  const { files, problems: fileProblems } = findSkillFiles(sources.roots, diskFileSystem);
  const ofRules = known.filter(({ file }) => sources.ruleFiles.includes(file));
  const problems: Problem[] = names.length === 0 ? [...sources.problems, ...fileProblems, ...ofRules] : [];
  const skills: Skill[] = [];
  let checked = 0;
  for (const file of files) {
    try {
      const parsed = parseSkill(diskFileSystem.readFile(file.path), file);
      if (parsed.skill) skills.push(parsed.skill);
      if (names.length > 0 && !(parsed.skill && (names.includes(parsed.skill.id) || names.includes(parsed.skill.name))))
        continue;
      checked++;
      const isDeferred = (parsed.skill && index.card(parsed.skill.id)?.rule?.isDeferred) ?? false;
      if (file.folder) problems.push(...lintFolder(file.folder));
      problems.push(...lintSkill(parsed, { isDeferred, ...(file.folder && { folderName: file.folderName }) }));
    } catch (error) {
      problems.push({ level: "error", code: "skill-unreadable", file: file.path, text: errorText(error) });
    }
  }
  const unknown = names.find((name) => !skills.some((skill) => skill.id === name || skill.name === name));
  if (unknown !== undefined) {
    const [guess] = nearest(
      unknown,
      skills.map(({ id }) => id),
    );
    throw new HaversackError("not-found", `there is no skill ${unknown}${guess ? `; did you mean ${guess}?` : ""}`);
  }
  const wanted = new Set(
    skills
      .filter(({ id, name }) => names.length === 0 || names.includes(id) || names.includes(name))
      .map(({ path }) => path),
  );
  return { skills: checked, problems: [...problems, ...lintSkillSet(skills).filter(({ file }) => wanted.has(file))] };
}

function lintFolder(folder: string): Problem[] {
  const { problems, names } = listResources(folder, diskFileSystem);
  const name = names.find((resource) => resource.toLowerCase() === QUICK_REFERENCE);
  const quick = name === undefined ? undefined : readResource(folder, name, diskFileSystem);
  return [...problems, ...(quick?.kind === "text" ? lintQuickReference(quick.text, join(folder, name!)) : [])];
}
