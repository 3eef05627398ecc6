/**
 * The reference block for a sub-agent whose type is a role and whose prompt names a feature's folder. The CLI makes it, because role maps
 * and documents need code that would make the hook too large. That costs a process (about 0.1 s), so it runs only in projects with their
 * own role map and only for calls that may need it. The hook bundles this file.
 */
import { readdirSync, statSync } from "node:fs";
import { absolute } from "../../base/project-root.ts";

export interface BlockRequest {
  prompt: string;
  agentType: string;
  cwd: string;
  root: string;
  env: NodeJS.ProcessEnv;
  /** The command of our CLI, without arguments. Empty: not known. */
  cli: readonly string[];
}

/** Undefined: the type is not a role, there is nothing to read, or the prompt does not name exactly one folder. */
export function findFeatureBlock({ prompt, agentType, cwd, root, env, cli }: BlockRequest): string | undefined {
  if (BUILT_IN.includes(agentType)) return undefined;
  const folders = foldersIn(prompt, { cwd, root });
  const [folder] = folders;
  if (folder === undefined || folders.length > 1) return undefined;
  const [program, ...before] = cli;
  if (program === undefined) return undefined;
  const words = [...before, "artifacts", "refs", "--feature", folder, "--", roleOf(agentType)];
  // Loaded here: it takes 4 ms in a new process, and few events need it.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { status, stdout } = spawnSync(program, words, { cwd, env, encoding: "utf8", timeout: LIMIT_MS });
  return status === 0 && stdout.trim() !== "" ? stdout.trim() : undefined;
}

/** Agents of a plugin have its name as a prefix. */
export function roleOf(agentType: string): string {
  return agentType.slice(agentType.lastIndexOf(":") + 1);
}

/** Far below the client's time limit for the hook. */
const LIMIT_MS = 3_000;
/** The client's built-in types are never roles, so no process is started to ask. */
const BUILT_IN = ["", "general-purpose", "Explore", "Plan", "statusline-setup", "claude-code-guide"];
const PATHS_MAX = 200;

/** The project's folders with documents that a prompt names. */
export function foldersIn(prompt: string, { cwd, root }: { cwd: string; root: string }): string[] {
  const words = (prompt.slice(0, 100_000).match(/[\w.@~/-]*\/[\w.@~/-]*/g) ?? []).slice(0, PATHS_MAX);
  const found = new Set<string>();
  for (const word of words) {
    // A full stop at the end belongs to the sentence, not to the path.
    const path = word.replace(/\.+$/, "").replace(/\/+$/, "");
    if (path === "") continue;
    const folder = [absolute(path, cwd), absolute(path, root)].find(
      (candidate) => candidate.startsWith(`${root}/`) && hasDocuments(candidate),
    );
    if (folder !== undefined) found.add(folder);
  }
  return [...found];
}

function hasDocuments(folder: string): boolean {
  try {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
    return readdirSync(folder).some((name) => name.endsWith(".md"));
  } catch {
    // Not readable, so it has no documents for a sub-agent either.
    return false;
  }
}
