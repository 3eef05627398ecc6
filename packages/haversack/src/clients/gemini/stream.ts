/**
 * The stream of `gemini -o stream-json` (seen in 0.61.0). Usage comes only at the end; the fill is read from the chat file. A shell command
 * that fails still has the status `success`, and so has a run that Gemini ended because it went in circles or past its window.
 */
import {
  type Fields,
  failureReason,
  fieldsOf,
  numberOf,
  type StreamEvent,
  type StreamReader,
  saidText,
  shorten,
  streamReader,
  stringOf,
  toolEvent,
} from "../stream-event.ts";

export function geminiStream(): StreamReader {
  let said = "";
  /** A message comes in pieces. */
  const flush = (): StreamEvent[] => {
    if (said.trim() === "") return [];
    const text = said.trim();
    said = "";
    return [{ kind: "said", text }];
  };
  return streamReader((event) => {
    switch (event["type"]) {
      case "init":
        return [{ kind: "session", id: stringOf(event["session_id"]) ?? "", ...modelOf(event) }];
      case "message":
        if (event["role"] === "user") return [{ kind: "busy" }];
        said = saidText(said + String(event["content"] ?? ""));
        return [{ kind: "busy" }];
      case "tool_use":
        return [...flush(), toolEvent(event["tool_name"], event["parameters"])];
      case "tool_result":
        return [{ kind: "tool-end", isError: event["status"] === "error" }];
      case "error": {
        const text = shorten(String(event["message"] ?? "error"));
        // Only `result` ends the turn.
        return [{ kind: "retry", attempt: 1, text }];
      }
      case "result":
        return [...flush(), ...result(event)];
      default:
        return undefined;
    }
  });
}

function modelOf(event: Fields): { model?: string } {
  const model = stringOf(event["model"]);
  return model === undefined ? {} : { model };
}

function result(event: Fields): StreamEvent[] {
  const stats = fieldsOf(event["stats"]);
  const usage: StreamEvent = {
    kind: "usage",
    isTotal: true,
    inputTokens: numberOf(stats["input_tokens"]) ?? 0,
    cachedTokens: numberOf(stats["cached"]) ?? numberOf(stats["cached_tokens"]) ?? 0,
    outputTokens: numberOf(stats["output_tokens"]) ?? 0,
  };
  if (event["status"] !== "error") return [usage, { kind: "result", isError: false, text: "" }];
  const error = fieldsOf(event["error"]);
  const text = shorten(stringOf(error["message"]) ?? "error");
  return [usage, { kind: "result", isError: true, reason: failureReason(numberOf(error["code"]), text), text }];
}
