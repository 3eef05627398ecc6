/** Gemini CLI's payloads after a tool call (seen in 0.61.0) to what the call did. A tool it does not know did nothing we keep. */
import type { ToolEvent } from "../../work/capture/capture.ts";
import { type Fields, object, text } from "../claude-code/fields.ts";
import { resolvePath } from "./paths.ts";

export function readGeminiTool(payload: Fields, cwd: string): { tool?: ToolEvent; skill?: string } {
  const input = object(payload["tool_input"]);
  const response = object(payload["tool_response"]);
  // A failed call comes as AfterTool as well, with an error beside the text. One that the client itself refuses (wrong
  // parameters, no such tool) comes not at all.
  const isError = object(response["error"])["message"] !== undefined;
  const common = isError ? { isError } : {};
  const named = text(input["file_path"]);
  const path = named && resolvePath(named, cwd);
  switch (payload["tool_name"]) {
    case "write_file":
      return path ? { tool: { tool: "write", path, ...common } } : {};
    case "replace":
      return path ? { tool: { tool: "edit", path, ...common } } : {};
    case "read_file":
      return path ? { tool: { tool: "read", path, ...common } } : {};
    case "run_shell_command":
      return shellEvent(input, response, cwd);
    case "write_todos":
      return Array.isArray(input["todos"]) ? { tool: { tool: "todo", todos: input["todos"], ...common } } : {};
    case "activate_skill": {
      const skill = text(input["name"]);
      return skill && !isError ? { tool: { tool: "other" }, skill } : {};
    }
    default:
      return {};
  }
}

/**
 * A command that fails is no error of the tool: the text for the model says `Exit Code: N` on a line of its own below the output,
 * and the text for the person is the output alone.
 */
function shellEvent(input: Fields, response: Fields, cwd: string): { tool?: ToolEvent } {
  const command = text(input["command"]);
  const said = text(response["llmContent"]) ?? "";
  if (!command) return {};
  const shown = response["returnDisplay"];
  const isBackground = input["is_background"] === true;
  const tail = said.slice(-TAIL_CHARS);
  const [, code] = EXIT_CODE.exec(tail) ?? [];
  const wasKilled = /\n(?:Signal|Error): /.test(tail) || object(response["error"])["message"] !== undefined;
  const exitCode = code === undefined ? (wasKilled ? 1 : 0) : Number(code);
  const folder = text(input["dir_path"]);
  return {
    tool: {
      tool: "shell",
      command,
      output: typeof shown === "string" ? shown : said,
      exitCode,
      isError: exitCode !== 0,
      isBackground,
      ...(folder && { cwd: resolvePath(folder, cwd) }),
    },
  };
}

/** The client's own lines stand at the end; a program may print the same words before. */
const TAIL_CHARS = 300;
const EXIT_CODE =
  /\nExit Code: (\d+)\n(?:Signal: [^\n]*\n)?(?:Background PIDs: [^\n]*\n)?(?:Process Group PGID: \d+\n?)?(?:<\/untrusted_context>)?\s*$/;
