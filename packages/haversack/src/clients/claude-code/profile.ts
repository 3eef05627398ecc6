/** How Claude Code is spoken to in this process: which skills it hides, and what our tool is called in it. */
import { type ClientProfile, profileOf } from "../../skills/showing/activation.ts";
import { hiddenSkills } from "./hidden-skills.ts";

export function claudeProfile(root: string, env: Readonly<Record<string, string | undefined>>): ClientProfile {
  const configDir = env["CLAUDE_CONFIG_DIR"] || `${env["HOME"]}/.claude`;
  // A plugin's servers carry its name.
  const prefix = env["CLAUDE_PLUGIN_ROOT"] ? "mcp__plugin_haversack_haversack" : "mcp__haversack";
  let hidden: Set<string> | undefined;
  return {
    ...profileOf("claude-code"),
    skillTool: `${prefix}__skill`,
    hasAgentTools: (agentType) => WITH_ALL_TOOLS.test(agentType),
    // Read when a skill is named to the model: most events name none.
    get hidden() {
      hidden ??= hiddenSkills(root, configDir);
      return hidden;
    },
  };
}

/**
 * Types whose sub-agents have the Skill tool and our MCP tools (seen in 2.1.325), and our own. Any other may have a list of tools
 * in its file, and then it has neither.
 */
const WITH_ALL_TOOLS = /^(?:|general-purpose|Explore|Plan|haversack[-:].*)$/;
