/** Which skills Gemini CLI hides from the model, read from its own settings. Loaded by the hook: nothing but `fs`. */
import { withoutComments } from "../../base/json.ts";
import { MAX_CONFIG_BYTES, readBounded } from "../../base/read-text.ts";

/** Names, from the project's list and the user's. `configDir` is the client's user folder, `~/.gemini`. */
export function hiddenGeminiSkills(root: string, configDir: string): Set<string> {
  return new Set([`${root}/.gemini/settings.json`, `${configDir}/settings.json`].flatMap(disabledIn));
}

function disabledIn(file: string): string[] {
  const text = readBounded(file, MAX_CONFIG_BYTES)?.text;
  try {
    // Most settings have none: a search costs less than parsing.
    if (!text?.includes('"disabled"')) return [];
    const { skills } = JSON.parse(withoutComments(text)) as { skills?: { disabled?: unknown } };
    return Array.isArray(skills?.disabled) ? skills.disabled.filter((name) => typeof name === "string") : [];
  } catch {
    // Broken JSON: the client ignores that too, and hides nothing.
    return [];
  }
}
