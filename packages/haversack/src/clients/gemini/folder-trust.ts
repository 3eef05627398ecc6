/**
 * Whether Gemini CLI reads a project's settings (seen in 0.61.0): in trusted folders, and in all folders if folder trust is switched
 * off. Loaded by the hook: only `fs`.
 */

import { MAX_CONFIG_BYTES, readBounded } from "../../base/clean-text.ts";
import { withoutComments } from "../../base/json.ts";
import { object, parsed } from "../client-adapter.ts";

export type FolderTrust = "trusted" | "untrusted" | "unknown";

export interface TrustPlaces {
  root: string;
  /** `~/.gemini/settings.json`. A project's own settings cannot change this. */
  userSettings: string;
  trustedFolders: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** From the environment or a setting; else the user's answer for this folder, or for the nearest one above it. */
export function folderTrust({ root, userSettings, trustedFolders }: TrustPlaces, env: Environment): FolderTrust {
  const { GEMINI_CLI_TRUST_WORKSPACE: given, GEMINI_RESTRICTED_MODE: restricted } = env;
  if (restricted === "true" || given === "false") return "untrusted";
  if (given === "true" || !isTrustAsked(userSettings, env)) return "trusted";
  const fitting = Object.entries(objectIn(trustedFolders))
    .map(([folder, level]) => ({ folder: level === "TRUST_PARENT" ? parentOf(folder) : folder, level }))
    .filter(({ folder }) => root === folder || root.startsWith(folder.endsWith("/") ? folder : `${folder}/`))
    .sort((a, b) => b.folder.length - a.folder.length);
  const [nearest] = fitting;
  if (!nearest) return "unknown";
  return nearest.level === "DO_NOT_TRUST" ? "untrusted" : "trusted";
}

/** `security.folderTrust.enabled`. The machine's settings win over the user's. Default: on. */
function isTrustAsked(userSettings: string, env: Environment): boolean {
  const machine =
    env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"] ||
    (process.platform === "darwin"
      ? "/Library/Application Support/GeminiCli/settings.json"
      : "/etc/gemini-cli/settings.json");
  const settings = [machine, userSettings].map((file) => {
    const { enabled } = object(object(objectIn(file)["security"])["folderTrust"]);
    return enabled;
  });
  return (settings.find((value) => typeof value === "boolean") ?? true) as boolean;
}

/** Empty for a file that the client cannot read either. */
function objectIn(file: string): Record<string, unknown> {
  return parsed(withoutComments(readBounded(file, MAX_CONFIG_BYTES)?.text ?? ""));
}

function parentOf(folder: string): string {
  return folder.slice(0, Math.max(1, folder.replace(/\/+$/, "").lastIndexOf("/")));
}
