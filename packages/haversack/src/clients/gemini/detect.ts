/** Where Gemini CLI keeps its files, and whether it is used here. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { findProjectRoot } from "../../base/project-root.ts";
import type { Environment } from "../../engine/project.ts";
import { findOnPath, isFolder } from "../find-program.ts";

export const TESTED_VERSION = "0.61.0";

export interface GeminiPlaces {
  /** Project settings are read from the folder that a session is started in, and from no folder above it (seen in 0.61.0). */
  root: string;
  /** `GEMINI_CLI_HOME`, else the home folder, and `.gemini` in it. */
  configDir: string;
  projectSettings: string;
  userSettings: string;
  /** Which folders the person trusts; in others the client reads no project settings. */
  trustedFolders: string;
  /** The extension, when it is installed. */
  extension: string;
}

export function geminiPlaces(cwd: string, env: Environment): GeminiPlaces {
  const { root } = findProjectRoot(realpathSync(cwd));
  const configDir = join(env["GEMINI_CLI_HOME"] || env["HOME"] || "", ".gemini");
  return {
    root,
    configDir,
    projectSettings: join(root, ".gemini/settings.json"),
    userSettings: join(configDir, "settings.json"),
    trustedFolders: env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"] || join(configDir, "trustedFolders.json"),
    extension: join(configDir, "extensions/haversack"),
  };
}

/** Why Gemini CLI seems to be used here, one line each. */
export function findGemini(cwd: string, env: Environment): string[] {
  const { root, configDir } = geminiPlaces(cwd, env);
  const program = findOnPath("gemini", env);
  return [
    ...(program ? [`the program ${program}`] : []),
    ...[join(root, ".gemini"), configDir].filter(isFolder).map((folder) => `the folder ${folder}`),
  ];
}
