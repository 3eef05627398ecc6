/** How Gemini CLI is spoken to: what our tool is called in it, and which skills its own tool loads. Loaded by the hook. */
import { type ClientProfile, profileOf } from "../../skills/activation.ts";
import type { SkillCard } from "../../skills/types.ts";

export function geminiProfile(): ClientProfile {
  return {
    ...profileOf("gemini"),
    // The same for the extension: the client puts no extension's name before a server's.
    skillTool: SKILL_TOOL,
    ownTool: { call: (id) => `activate_skill(name: "${id}")`, sees: isListed },
  };
}

export const SKILL_TOOL = "mcp_haversack_skill";

/** Folders that the client reads itself. It knows `.gemini/skills` too, where we do not look. */
const SOURCES = [".agents/skills", "~/.agents/skills"];

/** It lists `skills/NAME/SKILL.md`: no single files. */
function isListed({ sourceLabel, folder }: SkillCard): boolean {
  return folder !== undefined && SOURCES.includes(sourceLabel);
}
