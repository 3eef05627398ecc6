/** How Claude Code is spoken to in this process: which skills it hides, and what our tool is called in it. */
import { type ClientProfile, profileOf } from "../../skills/activation.ts";
import { hiddenSkills } from "./hidden-skills.ts";

export function claudeProfile(root: string, env: Readonly<Record<string, string | undefined>>): ClientProfile {
  const configDir = env["CLAUDE_CONFIG_DIR"] || `${env["HOME"]}/.claude`;
  // A plugin's servers carry its name.
  const prefix = env["CLAUDE_PLUGIN_ROOT"] ? "mcp__plugin_haversack_haversack" : "mcp__haversack";
  return { ...profileOf("claude-code"), hidden: hiddenSkills(root, configDir), skillTool: `${prefix}__skill` };
}
