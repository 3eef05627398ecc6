/** `skill check`: reads every skill file again, checks each against the strict rules, then checks all of them together. */
import { dirname, join } from "node:path";
import type { Config } from "../base/config-schema.ts";
import { errorText, HaversackError } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { nearest } from "../base/nearest.ts";
import { lintQuickReference, lintSkill, lintSkillSet } from "../skills/lint-skill.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { findSkillFiles } from "../skills/skill-files.ts";
import { listResources, QUICK_REFERENCE, readResource } from "../skills/skill-resources.ts";
import { formatStaticSkills, listedSkills, staticSkillsOf } from "../skills/static-skills.ts";
import type { Problem, Skill, SkillCard } from "../skills/types.ts";
import type { Environment, ProjectPaths } from "./project.ts";
import { findSkillSources } from "./skill-sources.ts";

export interface LintParts {
  paths: ProjectPaths;
  config: Config;
  index: { card(id: string): SkillCard | undefined };
  /** Problems known to the index; only those of rules files are used. */
  problems: readonly Problem[];
}

export function lintSkills(
  { paths, config, index, problems: known }: LintParts,
  { names, agents = [], env }: { names: readonly string[]; agents?: readonly string[]; env: Environment },
): { skills: number; problems: Problem[] } {
  const sources = findSkillSources(paths.root, { env, folders: config["skills.folders"], fs: diskFileSystem });
  const { files, problems: fileProblems } = findSkillFiles(sources.roots, diskFileSystem);
  const ofRules = known.filter(({ file }) => sources.ruleFiles.includes(file));
  const problems: Problem[] = names.length === 0 ? [...sources.problems, ...fileProblems, ...ofRules] : [];
  const isWanted = (skill: Skill | undefined) =>
    names.length === 0 || (skill !== undefined && (names.includes(skill.id) || names.includes(skill.name)));
  const skills: Skill[] = [];
  let checked = 0;
  for (const file of files) {
    try {
      const parsed = parseSkill(diskFileSystem.readFile(file.path), file);
      if (parsed.skill) skills.push(parsed.skill);
      if (!isWanted(parsed.skill)) continue;
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
    const ids = skills.map(({ id }) => id);
    const [guess] = nearest(unknown, ids);
    throw new HaversackError("not-found", `there is no skill "${unknown}"${guess ? `; did you mean ${guess}?` : ""}`);
  }
  const wanted = new Set(skills.filter(isWanted).map(({ path }) => path));
  const ofAgents = agents.flatMap((folder) => lintAgents(folder, { skills, index }));
  const ofSet = lintSkillSet(skills).filter(({ file }) => wanted.has(file));
  return { skills: checked, problems: [...problems, ...ofSet, ...ofAgents] };
}

/** The skills of a folder, if there is one. */
function skillsIn(dir: string): Skill[] {
  const { files } = findSkillFiles([{ dir, source: { kind: "folder", label: dir, rank: 0 } }], diskFileSystem);
  return files.flatMap((file) => {
    try {
      return parseSkill(diskFileSystem.readFile(file.path), file).skill ?? [];
    } catch {
      return [];
    }
  });
}

/** Agents whose files load skills into every conversation. Their skills are those of the project and of the folder `skills` beside them. */
function lintAgents(
  folder: string,
  { skills, index }: { skills: readonly Skill[]; index: LintParts["index"] },
): Problem[] {
  const beside = skillsIn(join(dirname(folder), "skills"));
  const find = (name: string) => {
    const skill = [...skills, ...beside].find(({ id, name: own }) => id === name || own === name);
    if (!skill) return undefined;
    const hasTriggers = skill.triggers !== undefined || index.card(skill.id)?.rule !== undefined;
    return { instructions: skill.body, hasTriggers, isForPeople: !skill.modelInvocable, path: skill.path };
  };
  let names: string[];
  try {
    names = diskFileSystem.readDir(folder).map(({ name }) => name);
  } catch (error) {
    throw new HaversackError("not-found", `${folder} cannot be read: ${errorText(error)}`);
  }
  return names
    .filter((name) => name.toLowerCase().endsWith(".md"))
    .sort()
    .flatMap((name): Problem[] => {
      const file = join(folder, name);
      try {
        const found = staticSkillsOf(file, listedSkills(diskFileSystem.readFile(file)), find);
        const text = found && formatStaticSkills(found);
        if (!text) return [];
        // A skill that its author keeps for people is right in a list.
        const level = found.skills.some(({ state }) => state !== "for-people") ? "warning" : "suggestion";
        return [{ level, code: "agent-static-skills", file, where: "skills", text }];
      } catch (error) {
        return [{ level: "warning", code: "agent-unreadable", file, text: errorText(error) }];
      }
    });
}

function lintFolder(folder: string): Problem[] {
  const { problems, names } = listResources(folder, diskFileSystem);
  const name = names.find((resource) => resource.toLowerCase() === QUICK_REFERENCE);
  const quick = name === undefined ? undefined : readResource(folder, name, diskFileSystem);
  return [...problems, ...(quick?.kind === "text" ? lintQuickReference(quick.text, join(folder, name!)) : [])];
}
