/** Where Gemini CLI keeps its files, and whether it is used here. */
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { findProjectRoot } from "../../base/project-root.ts";
import { readText } from "../../engine/init.ts";
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

export type FolderTrust = "trusted" | "untrusted" | "unknown";

/** What the person has answered for this folder, or for the nearest one above it. */
export function folderTrust({ root, trustedFolders }: Pick<GeminiPlaces, "root" | "trustedFolders">): FolderTrust {
  const rules = rulesOf(readText(trustedFolders));
  const fitting = Object.entries(rules)
    .map(([folder, level]) => ({ folder: level === "TRUST_PARENT" ? resolve(folder, "..") : folder, level }))
    .filter(({ folder }) => root === folder || root.startsWith(`${folder}/`))
    .sort((a, b) => b.folder.length - a.folder.length);
  const [nearest] = fitting;
  if (!nearest) return "unknown";
  return nearest.level === "DO_NOT_TRUST" ? "untrusted" : "trusted";
}

function rulesOf(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // The client cannot read it either, and asks again.
    return {};
  }
}
