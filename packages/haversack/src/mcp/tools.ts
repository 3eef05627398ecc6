/** Every tool of the server. What a client lists, what `--tools all` adds and what the reference page shows derive from it. */
import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import { agentTools } from "./agent-tools.ts";
import { artifactTools } from "./artifact-tools.ts";
import { skillTool } from "./skill-tool.ts";
import type { Tool } from "./tool.ts";
import { groupTools } from "./work-group-tools.ts";
import { moreWorkTools } from "./work-more-tools.ts";
import { workTools } from "./work-tools.ts";

export const TOOLS: readonly Tool[] = [
  skillTool,
  ...workTools,
  ...moreWorkTools,
  ...groupTools,
  ...agentTools,
  ...artifactTools,
];

export type ToolSet = Tool["set"];

export function toolsOf(set: ToolSet): Tool[] {
  return TOOLS.filter((tool) => set === "all" || tool.set === "default");
}

/** As `tools/list` sends it. */
export function describeTool({ name, description, inputSchema, annotations, isAlwaysLoaded }: Tool): ListedTool {
  return {
    name,
    description,
    // The SDK's type has no read-only lists.
    inputSchema: inputSchema as unknown as ListedTool["inputSchema"],
    ...(Object.keys(annotations).length > 0 && { annotations: { ...annotations } }),
    ...(isAlwaysLoaded && { _meta: { "anthropic/alwaysLoad": true } }),
  };
}
