/**
 * What `tool.execute.after` of opencode 1.18.33 says to what the call did. It fires for calls that succeed, a command with any exit
 * code among them; a call that fails fires nothing there.
 */
import type { ToolEvent } from "../../work/capture.ts";
import { type Fields, object, text } from "../claude-code/events.ts";

export function readOpencodeTool(toolName: string, args: Fields, output: Fields): { tool?: ToolEvent; skill?: string } {
  const metadata = object(output["metadata"]);
  const path = text(args["filePath"]);
  switch (toolName) {
    case "write":
      return path ? { tool: { tool: "write", path } } : {};
    case "edit":
    case "multiedit":
      return path ? { tool: { tool: "edit", path } } : {};
    case "read":
      return path ? { tool: { tool: "read", path } } : {};
    case "bash": {
      const command = text(args["command"]);
      if (!command) return {};
      const { exit } = metadata;
      // Null when it was stopped by its time limit.
      const exitCode = typeof exit === "number" ? exit : 1;
      const folder = text(args["workdir"]);
      const said = text(metadata["output"]) ?? text(output["output"]) ?? "";
      return {
        tool: {
          tool: "shell",
          command,
          output: said,
          exitCode,
          isError: exitCode !== 0,
          ...(folder && { cwd: folder }),
        },
      };
    }
    case "todowrite":
      return Array.isArray(args["todos"]) ? { tool: { tool: "todo", todos: args["todos"] } } : {};
    case "skill": {
      const skill = text(args["name"]);
      return skill ? { tool: { tool: "other" }, skill } : {};
    }
    default:
      return {};
  }
}

export interface StartedAgent {
  childId: string;
  /** It has answered; else it goes on in the background. */
  isDone: boolean;
}

/** The sub-agent's session, from the output of `task`. */
export function readStartedAgent(output: Fields): StartedAgent | undefined {
  const childId = text(object(output["metadata"])["sessionId"]);
  if (!childId) return undefined;
  return { childId, isDone: /^<task id="[^"]*" state="completed">/.test(text(output["output"]) ?? "") };
}
