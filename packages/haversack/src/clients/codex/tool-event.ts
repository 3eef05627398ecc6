/**
 * Codex's payloads after a tool call (seen in 0.166.0) to what the call did. A tool it does not know did nothing we keep. There is no
 * event for a failed call: a command that fails has the usual one, a patch that does not apply has none.
 */
import type { ToolEvent } from "../../work/capture/capture.ts";
import { type Fields, object, PATCH_TOOL, text } from "./events.ts";
import { patchPaths } from "./patch-paths.ts";
import { type endedCommand, endOfCommand } from "./rollout.ts";

export function readCodexTool(payload: Fields, findEnd?: typeof endedCommand): { tool?: ToolEvent } {
  if (payload["hook_event_name"] !== "PostToolUse") return {};
  const input = object(payload["tool_input"]);
  const command = text(input["command"]);
  switch (payload["tool_name"]) {
    case "Bash": {
      if (!command) return {};
      const { exitCode, readPath } = endOfCommand(payload, findEnd) ?? {};
      if (readPath && exitCode === 0) return { tool: { tool: "read", path: inFolder(readPath, text(payload["cwd"])) } };
      const output = text(payload["tool_response"]) ?? "";
      const end = exitCode === undefined ? {} : { exitCode, isError: exitCode !== 0 };
      return { tool: { tool: "shell", command, output, ...end } };
    }
    case PATCH_TOOL: {
      const paths = patchPaths(command ?? "");
      const [path] = paths;
      const isError = !/^Exit code: 0\b/.test(text(payload["tool_response"]) ?? "Exit code: 0");
      return path ? { tool: { tool: "edit", path, paths, ...(isError && { isError }) } } : {};
    }
    case "update_plan":
      return Array.isArray(input["plan"]) ? { tool: { tool: "todo", todos: input } } : {};
    default:
      return {};
  }
}

/** The client names a file as the command did. */
function inFolder(path: string, cwd: string | undefined): string {
  return path.startsWith("/") || !cwd ? path : `${cwd}/${path}`;
}
