/**
 * What `tool.execute.after` of opencode 1.18.33 says to what the call did. It fires for calls that succeed, a command with any exit
 * code among them; a call that fails fires nothing there.
 */
import type { Observation } from "../../engine/artifacts/watch-reader.ts";
import type { ToolEvent } from "../../work/capture/capture.ts";
import { commandsIn } from "../../work/capture/shell-words.ts";
import { type Fields, object, text } from "../claude-code/fields.ts";

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

/** What the call showed the model of files. Undefined: nothing that we understand. */
export function readOpencodeObservation(toolName: string, args: Fields, output: Fields): Observation | undefined {
  const metadata = object(output["metadata"]);
  if (toolName === "read") {
    const { type, path, lineStart, lineEnd, totalLines } = object(metadata["display"]);
    const file = text(path) ?? text(args["filePath"]);
    if (type !== "file" || !file || typeof lineStart !== "number" || typeof lineEnd !== "number") return undefined;
    return {
      tool: "read",
      path: file,
      offset: lineStart,
      shownLines: lineEnd - lineStart + 1,
      ...(typeof totalLines === "number" && { totalLines }),
    };
  }
  const command = toolName === "bash" ? text(args["command"]) : undefined;
  if (!command) return undefined;
  // A long output goes into a file, and the model sees what is left of it here.
  const shown = text(output["output"]) ?? "";
  const folder = text(args["workdir"]);
  return {
    tool: "shell",
    commands: commandsIn(command),
    outputLines: shown === "" ? 0 : shown.split("\n").length,
    ...(folder && { cwd: folder }),
  };
}

export interface StartedAgent {
  childId: string;
  /** It has answered; else it goes on in the background. */
  isDone: boolean;
  /** What it said at its end. */
  answer: string;
}

/** The sub-agent's session, from the output of `task`. */
export function readStartedAgent(output: Fields): StartedAgent | undefined {
  const childId = text(object(output["metadata"])["sessionId"]);
  if (!childId) return undefined;
  const said = text(output["output"]) ?? "";
  const answer = /<task_result>\n?([\s\S]*?)\n?<\/task_result>/.exec(said)?.[1] ?? "";
  return { childId, isDone: /^<task id="[^"]*" state="completed">/.test(said), answer };
}
