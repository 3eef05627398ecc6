/**
 * What a call did, from `tool.execute.after` of opencode 1.18.33. It fires only for calls that succeed, which includes commands with any exit
 * code.
 */
import type { Observation } from "../../artifacts/receipts.ts";
import type { ShownOutput } from "../../engine/events/client-event.ts";
import type { ToolEvent } from "../../work/capture/capture.ts";
import { commandsIn } from "../../work/capture/shell-words.ts";
import { type Fields, object, text } from "../client-adapter.ts";
import { SERVER_PREFIX } from "./profile.ts";

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
      // Null if the time limit stopped the command.
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

/** The file contents that the call showed the model. Undefined if we cannot tell. */
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
  // Long output goes into a file; this is the shortened text that the model sees.
  const shown = text(output["output"]) ?? "";
  const folder = text(args["workdir"]);
  return {
    tool: "shell",
    commands: commandsIn(command),
    outputLines: shown === "" ? 0 : shown.split("\n").length,
    ...(folder && { cwd: folder }),
  };
}

/** What the model is about to see. The result of a built-in tool is a text, that of an MCP tool has blocks. */
export function readOpencodeOutput(toolName: string, args: Fields, output: Fields): ShownOutput | undefined {
  if (toolName.startsWith(SERVER_PREFIX)) return undefined;
  const shown = text(output["output"]);
  if (toolName === "bash" && shown) {
    const { exit } = object(output["metadata"]);
    const source = text(args["command"]) ?? "";
    return { kind: "command", text: shown, source, ...(typeof exit === "number" && { exitCode: exit }) };
  }
  if (toolName === "read" && shown) {
    const { filePath, offset, limit } = args;
    return { kind: "read", text: shown, source: `${String(filePath)}:${String(offset ?? "")}+${String(limit ?? "")}` };
  }
  const texts = blocksOf(output).map((block) => block["text"]);
  return texts.length > 0 && texts.every((one) => typeof one === "string")
    ? { kind: "mcp", text: texts.join("\n"), source: toolName }
    : undefined;
}

function blocksOf({ content }: Fields): Fields[] {
  return Array.isArray(content) ? content.map(object) : [];
}

/** Shorter outputs of tools that are not recorded need no event. */
export function isLong(shown: ShownOutput | undefined): boolean {
  return (shown?.text.length ?? 0) > 2_000;
}

export function replaceOpencodeOutput(output: Fields, preview: string): void {
  const [first, ...others] = blocksOf(output);
  if (!first) output["output"] = preview;
  else {
    first["text"] = preview;
    (output["content"] as unknown[]).splice(1, others.length);
  }
}

export interface StartedAgent {
  childId: string;
  /** True if the sub-agent has answered; otherwise it continues in the background. */
  isDone: boolean;
  /** The sub-agent's final answer. */
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
