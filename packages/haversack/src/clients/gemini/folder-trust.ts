/**
 * Whether Gemini CLI reads a project's settings (seen in 0.61.0): in a folder that the person trusts, and in any folder once folder trust is
 * switched off. Loaded by the hook: nothing but `fs`.
 */
import { withoutComments } from "../../base/json.ts";
import { MAX_CONFIG_BYTES, readBounded } from "../../base/read-text.ts";

export type FolderTrust = "trusted" | "untrusted" | "unknown";

export interface TrustPlaces {
  root: string;
  /** `~/.gemini/settings.json`. A project's own settings have no say in this. */
  userSettings: string;
  trustedFolders: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment or a setting says; else what the person has answered for this folder, or for the nearest one above it. */
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

/** `security.folderTrust.enabled`; the machine's settings beat the user's, and without one it is on. */
function isTrustAsked(userSettings: string, env: Environment): boolean {
  const machine =
    env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"] ||
    (process.platform === "darwin"
      ? "/Library/Application Support/GeminiCli/settings.json"
      : "/etc/gemini-cli/settings.json");
  const settings = [machine, userSettings].map((file) => {
    const { security } = objectIn(file) as { security?: { folderTrust?: { enabled?: unknown } } };
    return security?.folderTrust?.enabled;
  });
  return (settings.find((value) => typeof value === "boolean") ?? true) as boolean;
}

function objectIn(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(withoutComments(readBounded(file, MAX_CONFIG_BYTES)?.text ?? "{}"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // The client cannot read it either.
    return {};
  }
}

function parentOf(folder: string): string {
  return folder.slice(0, Math.max(1, folder.replace(/\/+$/, "").lastIndexOf("/")));
}
