/** Where Gemini CLI keeps its files, whether it is used here, and whether its project settings may be written. */
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { findProjectRoot } from "../../base/project-root.ts";
import type { Environment } from "../../engine/project.ts";
import type { Scope } from "../../engine/wiring.ts";
import { readSettingsFiles, wiredFiles } from "../check-client.ts";
import { findClient } from "../client-program.ts";
import { gitView } from "../git-view.ts";
import { GEMINI_HOOKS } from "./settings.ts";

export interface GeminiPlaces {
  /**
   * The client reads project settings only from the folder in which a session starts, not from folders above (seen in 0.61.0). So a linked
   * worktree needs settings of its own.
   */
  root: string;
  /** `.gemini` in `GEMINI_CLI_HOME`, else in the home folder. */
  configDir: string;
  projectSettings: string;
  userSettings: string;
  /** The folders that the user trusts. In others the client reads no project settings. */
  trustedFolders: string;
  /** The extension, when it is installed. */
  extension: string;
}

export function geminiPlaces(cwd: string, env: Environment): GeminiPlaces {
  const project = findProjectRoot(realpathSync(cwd));
  const root = project.worktree ?? project.root;
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
  return findClient("gemini", [join(root, ".gemini"), configDir], env);
}

export function hasExtension({ extension }: GeminiPlaces): boolean {
  return existsSync(join(extension, "gemini-extension.json"));
}

export const WIRE_FOR_USER = "haversack init --user --client gemini";

/**
 * If git commits the project settings, paths of this machine must not be written there, and the client has no settings file that stays
 * out of commits. Its user settings work in every folder, and a hook does nothing in a project without Haversack.
 */
interface Place {
  scope: Scope;
  cwd: string;
  env: Environment;
}

export function isCommitted({ scope, cwd, env }: Place): boolean {
  const { root, projectSettings } = geminiPlaces(cwd, env);
  return scope === "project" && gitView(root, projectSettings) === "tracked";
}

/** Undefined: it can be wired here, or already is. */
export function blockedByCommit(place: Place): { why: string; instead: string } | undefined {
  const { projectSettings, userSettings } = geminiPlaces(place.cwd, place.env);
  if (!isCommitted(place) || isWired(userSettings)) return undefined;
  return {
    why: `${projectSettings} is committed, and paths of this machine do not belong in it`,
    instead: `\`${WIRE_FOR_USER}\` connects ${userSettings} instead: for all your projects, and it does nothing in those without Haversack`,
  };
}

/** An unreadable file counts as not wired. `init --user` reports what is wrong with it. */
function isWired(file: string): boolean {
  return wiredFiles(GEMINI_HOOKS, readSettingsFiles(GEMINI_HOOKS, [file]).files).length > 0;
}
