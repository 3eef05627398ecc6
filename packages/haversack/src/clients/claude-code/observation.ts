/** What a tool call of Claude Code (seen in 2.1.325) showed the model of files. Undefined: nothing that we understand. */
import type { Observation } from "../../engine/artifacts/watch-reader.ts";
import { commandsIn, type ShellPart } from "../../work/capture/shell-words.ts";
import { type Fields, object, text } from "./fields.ts";

/** What the model gets of an output that went into a file, in characters: the client shows a preview. */
const PREVIEW_CHARS = 2_000;
/** What a search shows whole. The payload has all of it in any case: 19,691 characters were shown, of 20,681 the preview. */
const SEARCH_CHARS = 19_600;

export function readClaudeObservation(payload: Fields): Observation | undefined {
  if (payload["hook_event_name"] !== "PostToolUse") return undefined;
  const input = object(payload["tool_input"]);
  const response = object(payload["tool_response"]);
  switch (payload["tool_name"]) {
    case "Read": {
      // An unchanged file that it has seen already comes without lines, as do pictures.
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
      // The other modes name files and count hits.
      if (mode !== "content" || typeof content !== "string") return undefined;
      const path = text(input["path"]);
      const shown = content.length > SEARCH_CHARS ? content.slice(0, PREVIEW_CHARS) : content;
      return { tool: "search", text: shown, ...(path && { path }) };
    }
    default:
      return undefined;
  }
}

/** Of any client: a command that ended well, and what the model saw of its output. */
export function readShellOutput(command: string, shown: string): Observation {
  const outputLines = shown === "" ? 0 : shown.split("\n").length;
  const commands = commandsIn(command);
  return readSearch(commands, shown) ?? { tool: "shell", commands, outputLines };
}

/** One search in one file, with line numbers: those lines were seen. */
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
