/**
 * Which skills the client hides from the model, so that its own Skill tool refuses them. Read from the client's settings
 * themselves, not from a list of ours: what a person changes there by hand counts at once. Loaded by the hook: nothing but `fs`.
 */
import { statSync } from "node:fs";
import { MAX_CONFIG_BYTES, readBounded } from "../../base/read-text.ts";

/**
 * Folder names, the client's own key for a skill. `root` is the project's; settings stand at the repository's root, also
 * when `root` is a folder below it. `configDir` is the client's user folder (`CLAUDE_CONFIG_DIR`, else `~/.claude`).
 */
export function hiddenSkills(root: string, configDir?: string): Set<string> {
  const top = repositoryRoot(root);
  const files = [`${top}/.claude/settings.json`, `${top}/.claude/settings.local.json`];
  if (configDir) files.unshift(`${configDir}/settings.json`);
  const values = new Map<string, unknown>();
  for (const file of files) {
    for (const [name, value] of Object.entries(overridesOf(file))) values.set(name, value);
  }
  const hidden = [...values].filter(([, value]) => value === "user-invocable-only" || value === "off");
  return new Set(hidden.map(([name]) => name));
}

function overridesOf(file: string): Record<string, unknown> {
  const text = readBounded(file, MAX_CONFIG_BYTES)?.text;
  try {
    // Most settings have none: a search costs less than parsing.
    if (!text?.includes('"skillOverrides"')) return {};
    const overrides = (JSON.parse(text) as { skillOverrides?: unknown }).skillOverrides;
    return typeof overrides === "object" && overrides !== null ? (overrides as Record<string, unknown>) : {};
  } catch {
    // No such file, or broken JSON: the client ignores that too, and hides nothing.
    return {};
  }
}

export function repositoryRoot(root: string): string {
  for (let folder = root; folder !== ""; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    if (statSync(`${folder}/.git`, { throwIfNoEntry: false })) return folder;
  }
  return root;
}
