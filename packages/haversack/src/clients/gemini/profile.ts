/** How Gemini CLI is spoken to: what our tool is called in it, and which skills its own tool loads. Loaded by the hook. */
import { type ClientProfile, profileOf } from "../../skills/showing/activation.ts";
import type { SkillCard } from "../../skills/types.ts";
import { hiddenGeminiSkills } from "./hidden-skills.ts";

export function geminiProfile(root: string, env: Readonly<Record<string, string | undefined>>): ClientProfile {
  let hidden: Set<string> | undefined;
  return {
    ...profileOf("gemini"),
    // The same for the extension: the client puts no extension's name before a server's.
    skillTool: SKILL_TOOL,
    ownTool: { call: (id) => `activate_skill(name: "${id}")`, sees: isListed },
    // Read when a skill is named to the model: most events name none.
    get hidden() {
      hidden ??= hiddenGeminiSkills(root, `${env["GEMINI_CLI_HOME"] || env["HOME"]}/.gemini`);
      return hidden;
    },
  };
}

export const SKILL_TOOL = "mcp_haversack_skill";

/** Folders that the client reads itself (seen in 0.61.0). Of two skills of one name it takes the one in `.agents/skills`, as we do. */
const SOURCES = [".agents/skills", "~/.agents/skills", ".gemini/skills", "~/.gemini/skills"];

/** It lists `skills/NAME/SKILL.md`: no single files, no deeper folders. */
function isListed({ sourceKind, sourceLabel, folder = "" }: SkillCard): boolean {
  if (!folder.slice(0, folder.lastIndexOf("/")).endsWith("/skills")) return false;
  // With GEMINI_CLI_HOME the user's folder has another name.
  return SOURCES.includes(sourceLabel) || (sourceKind === "user" && sourceLabel.endsWith("/.gemini/skills"));
}
