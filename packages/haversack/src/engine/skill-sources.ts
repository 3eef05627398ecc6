/** Where this project's skills and rules are: the places of the project, the user, plugins and the settings, read from disk. */
import { join } from "node:path";
import type { FileSystem } from "../base/file-system.ts";
import { STATE_FOLDER } from "../base/project-root.ts";
import { trustRecord, userStateFolder } from "../base/project-trust.ts";
import type { RuleTrust } from "../skills/rules/rule-reach.ts";
import type { SkillRoot } from "../skills/skill-files.ts";
import { type NamedText, pluginFiles, skillRoots } from "../skills/sources.ts";
import type { Problem } from "../skills/types.ts";
import type { Environment } from "./project.ts";

export interface SkillSources {
  roots: SkillRoot[];
  /** Rules files that may exist, nearest first. */
  ruleFiles: string[];
  ruleTrust: RuleTrust;
  problems: Problem[];
}

export function findSkillSources(
  root: string,
  { env, folders, fs }: { env: Environment; folders: readonly string[]; fs: FileSystem },
): SkillSources {
  const homeDir = env["HOME"] ?? "";
  const claudeConfigDir = env["CLAUDE_CONFIG_DIR"];
  const configHome = env["XDG_CONFIG_HOME"];
  const geminiHome = env["GEMINI_CLI_HOME"];
  const codexHome = env["CODEX_HOME"];
  const places = {
    projectDir: root,
    homeDir,
    ...(claudeConfigDir && { claudeConfigDir }),
    ...(configHome && { configHome }),
    ...(geminiHome && { geminiHome }),
    ...(codexHome && { codexHome }),
  };
  const files = pluginFiles(places);
  const installedPlugins = readNamed(files.installedPlugins, fs);
  const { roots, problems } = skillRoots(
    places,
    {
      folders,
      settings: files.settings.flatMap((file) => readNamed(file, fs) ?? []),
      ...(installedPlugins && { installedPlugins }),
    },
    fs,
  );
  const accepted = trustRecord(join(root, STATE_FOLDER), userStateFolder(env))?.rules ?? [];
  return { roots, ruleFiles: ruleFilesOf(root, roots), ruleTrust: { root, accepted }, problems };
}

/** Beside the skills, where most projects keep them, and in the client's own folders. */
function ruleFilesOf(root: string, roots: readonly SkillRoot[]): string[] {
  const places = [
    join(root, ".haversack"),
    join(root, ".claude"),
    join(root, ".claude/hooks"),
    ...roots.filter(({ plugin }) => !plugin).map(({ dir }) => dir),
  ];
  return [...new Set(places)].map((folder) => join(folder, "skill-rules.json"));
}

function readNamed(file: string, fs: FileSystem): NamedText | undefined {
  try {
    return { file, text: fs.readFile(file) };
  } catch {
    // Most of these files do not exist on most machines.
    return undefined;
  }
}
