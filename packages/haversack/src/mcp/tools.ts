/** Every tool of the server. The client's listing, the additions of `--tools all` and the reference page derive from it. */
import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import type { Config } from "../base/config-schema.ts";
import { agentTools } from "./agent-tools.ts";
import { artifactTools } from "./artifact-tools.ts";
import { recallTool } from "./recall-tool.ts";
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
  recallTool,
];

export type ToolSet = Exclude<Tool["set"], "outputs">;

export function toolsOf(set: ToolSet): Tool[] {
  return TOOLS.filter((tool) => set === "all" || tool.set !== "all");
}

/** Tools that only some settings need are offered with those settings, or with `--tools all`. */
export function isOffered({ set }: Tool, { isAll, config }: { isAll: boolean; config: Config | undefined }): boolean {
  return isAll || set !== "outputs" || (config?.["outputs.replace_over"] ?? 0) > 0;
}

/** The form that `tools/list` sends. */
export function describeTool({ name, description, inputSchema, annotations, isAlwaysLoaded }: Tool): ListedTool {
  return {
    name,
    description,
    // The SDK's type does not allow read-only lists.
    inputSchema: inputSchema as unknown as ListedTool["inputSchema"],
    ...(Object.keys(annotations).length > 0 && { annotations: { ...annotations } }),
    ...(isAlwaysLoaded && { _meta: { "anthropic/alwaysLoad": true } }),
  };
}
