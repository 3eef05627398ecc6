/** What a tool call of Claude Code (seen in 2.1.325) showed the model from files. Undefined: nothing we understand. */
import type { Observation } from "../../artifacts/receipts.ts";
import { commandsIn, type ShellPart } from "../../work/capture/shell-words.ts";
import { type Fields, object, text } from "../client-adapter.ts";

/** If an output went into a file, the client shows the model a preview of this many characters. */
const PREVIEW_CHARS = 2_000;
/** Up to this size a search is shown in full. The payload always has all of it: 19,691 characters were shown; of 20,681 only the preview. */
const SEARCH_CHARS = 19_600;

export function readClaudeObservation(payload: Fields): Observation | undefined {
  if (payload["hook_event_name"] !== "PostToolUse") return undefined;
  const input = object(payload["tool_input"]);
  const response = object(payload["tool_response"]);
  switch (payload["tool_name"]) {
    case "Read": {
      // Images have no lines, nor do unchanged files that the model has already seen.
      const { filePath, numLines, startLine, totalLines } = object(response["file"]);
      const path = text(filePath) ?? text(input["file_path"]);
      if (response["type"] !== "text" || !path || typeof numLines !== "number") return undefined;
      return {
        tool: "read",
        path,
        shownLines: numLines,
        ...(typeof startLine === "number" && { offset: startLine }),
        ...(typeof totalLines === "number" && { totalLines }),
      };
    }
    case "Bash": {
      const command = text(input["command"]);
      const { stdout, interrupted, backgroundTaskId, persistedOutputPath } = response;
      if (!command || typeof stdout !== "string" || interrupted === true || backgroundTaskId !== undefined)
        return undefined;
      const shown = persistedOutputPath === undefined ? stdout : stdout.slice(0, PREVIEW_CHARS);
      return readShellOutput(command, shown);
    }
    case "Grep": {
      const { mode, content } = response;
      // The other modes only list files and count matches.
      if (mode !== "content" || typeof content !== "string") return undefined;
      const path = text(input["path"]);
      const shown = content.length > SEARCH_CHARS ? content.slice(0, PREVIEW_CHARS) : content;
      return { tool: "search", text: shown, ...(path && { path }) };
    }
    default:
      return undefined;
  }
}

/** For any client: a successful command, and what the model saw of its output. */
export function readShellOutput(command: string, shown: string): Observation {
  const outputLines = shown === "" ? 0 : shown.split("\n").length;
  const commands = commandsIn(command);
  return readSearch(commands, shown) ?? { tool: "shell", commands, outputLines };
}

/** For one search in one file, with line numbers: those lines were seen. */
function readSearch([command, ...others]: readonly ShellPart[], output: string): Observation | undefined {
  const [program = "", ...words] = command?.words ?? [];
  if (others.length > 0 || command?.writesTo !== undefined || !/^(?:[ef]?grep|rg)$/.test(program)) return undefined;
  const flags = words.filter((word) => word.startsWith("-"));
  const [, path, more] = words.filter((word) => !flags.includes(word));
  const isNumbered = flags.some((flag) => /^-[a-zA-Z]*n|^--line-number$/.test(flag));
  if (path === undefined || more !== undefined || !isNumbered) return undefined;
  const lines = output.split("\n").flatMap((line) => {
    const number = /^(\d{1,9})[:-]/.exec(line)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
  return { tool: "grep", path, lines };
}
