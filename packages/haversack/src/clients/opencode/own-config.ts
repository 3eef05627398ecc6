/**
 * What the plugin adds to opencode's configuration while it starts, in memory: the MCP server, `/work` and its agents, and the rules
 * that hide deferred skills. No file of the person's is changed for it, and what they have under our names stays theirs.
 */
import { workFiles } from "../claude-code/work-files.ts";
import type { Config } from "./client-api.ts";
import { denySkills } from "./skill-permission.ts";

export interface OwnConfig {
  /** The command of our MCP server; empty: none is added, and no skill is hidden, because nothing would load it. */
  server: readonly string[];
  /** Names of skills that the client is not to list. */
  deferred?: readonly string[];
}

export function addOwnConfig(config: Config, { server, deferred = [] }: OwnConfig): void {
  if (server.length > 0) {
    config.mcp = { haversack: { type: "local", command: [...server], enabled: true }, ...config.mcp };
    if (deferred.length > 0) config.permission = denySkills(config.permission, deferred);
  }
  const { command, agents } = opencodeWork();
  config.command = { work: command, ...config.command };
  config.agent = { ...agents, ...config.agent };
}

export interface OwnAgent {
  description: string;
  mode: "subagent";
  prompt: string;
}

/** The texts that Claude Code gets, in this client's words. */
export function opencodeWork(): {
  command: { description: string; template: string };
  agents: Record<string, OwnAgent>;
} {
  const [first, ...others] = workFiles("project");
  const command = parts(first?.text ?? "");
  const agents = others.map(({ text }): [string, OwnAgent] => {
    const { name, description, body } = parts(text);
    return [name, { description, mode: "subagent", prompt: body }];
  });
  return {
    command: { description: command.description, template: command.body },
    agents: Object.fromEntries(agents),
  };
}

function parts(markdown: string): { name: string; description: string; body: string } {
  const [, front = "", body = ""] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(markdown) ?? [];
  const field = (key: string) => new RegExp(`^${key}: (.*)$`, "m").exec(front)?.[1] ?? "";
  return { name: field("name"), description: field("description"), body: adapted(body) };
}

const REPLACED: readonly (readonly [string, string])[] = [
  [" (ToolSearch loads them)", ""],
  ["; ToolSearch loads them", ""],
  ["all in one message, run_in_background: false.", "all with the task tool in one message."],
];

function adapted(text: string): string {
  return REPLACED.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}
