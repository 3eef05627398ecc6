/**
 * How Codex is spoken to. It has no tool for skills: it lists names, descriptions and paths of those in `.agents/skills` and its own
 * folders, and the model reads the file; so does one that Haversack names, listed or not. Our MCP tools are listed only
 * when the model searches for them, so that the file is the shorter way.
 */
import { type ClientProfile, profileOf } from "../../skills/showing/activation.ts";

export function codexProfile(): ClientProfile {
  return { ...profileOf("codex"), skillTool: "mcp__haversack__skill" };
}
