/**
 * The stream of `codex exec --json` (seen in 0.166.0). A turn's usage is the running total of the thread. The stream has neither fill nor
 * compactions: those come from the session file.
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

export function codexStream(): StreamReader {
  return streamReader((event) => {
    switch (event["type"]) {
      case "thread.started":
        return [{ kind: "session", id: stringOf(event["thread_id"]) ?? "" }];
      case "turn.started":
      case "item.updated":
        return [{ kind: "busy" }];
      case "item.started":
        return itemStarted(fieldsOf(event["item"]));
      case "item.completed":
        return itemCompleted(fieldsOf(event["item"]));
      case "error":
        return retryOf(messageOf(event));
      case "turn.completed":
        return [usageOf(fieldsOf(event["usage"])), { kind: "result", isError: false, text: "" }];
      case "turn.failed": {
        const text = messageOf(fieldsOf(event["error"]));
        return [{ kind: "result", isError: true, reason: failureReason(undefined, text), text }];
      }
      default:
        return undefined;
    }
  });
}

function messageOf(fields: Fields): string {
  return shorten(stringOf(fields["message"]) ?? "error");
}

/** "Reconnecting… 2/5" is not the end: the turn continues, or fails with an event of its own. */
function retryOf(text: string): StreamEvent[] {
  const found = /(\d+)\/(\d+)/.exec(text);
  return [{ kind: "retry", attempt: Number(found?.[1] ?? 1), ...(found && { of: Number(found[2]) }), text }];
}

function itemStarted(item: Fields): StreamEvent[] {
  switch (item["type"]) {
    case "command_execution":
      return [toolEvent("shell", { command: item["command"] })];
    case "mcp_tool_call":
      return [{ ...toolEvent(item["tool"], item["arguments"]), text: stringOf(item["server"]) ?? "" }];
    default:
      return [{ kind: "busy" }];
  }
}

function itemCompleted(item: Fields): StreamEvent[] {
  switch (item["type"]) {
    case "agent_message":
      return [{ kind: "said", text: saidText(item["text"]) }];
    case "command_execution":
    case "mcp_tool_call":
      return [{ kind: "tool-end", isError: item["status"] === "failed" }];
    case "file_change":
      return [
        // The stream does not say what was changed, so two edits never count as equal.
        { kind: "tool", name: "edit", text: pathsOf(item["changes"]), call: String(item["id"]) },
        { kind: "tool-end", isError: item["status"] === "failed" },
      ];
    default:
      return [{ kind: "busy" }];
  }
}

function pathsOf(changes: unknown): string {
  const paths = Array.isArray(changes) ? changes.flatMap((change) => stringOf(fieldsOf(change)["path"]) ?? []) : [];
  return shorten(paths.join(", "));
}

function usageOf(usage: Fields): StreamEvent {
  return {
    kind: "usage",
    isTotal: true,
    inputTokens: numberOf(usage["input_tokens"]) ?? 0,
    cachedTokens: numberOf(usage["cached_input_tokens"]) ?? 0,
    outputTokens: numberOf(usage["output_tokens"]) ?? 0,
  };
}
