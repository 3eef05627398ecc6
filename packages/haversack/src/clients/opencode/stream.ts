/**
 * The stream of `opencode run --format json` (seen in 1.18.33). It has no first or last event: every line has the session ID, and a tool call is
 * reported when it is over. After a compaction, the summary is an ordinary text, followed by a marked text.
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

export function opencodeStream(): StreamReader {
  let session: string | undefined;
  return streamReader((event, line) => {
    const id = stringOf(event["sessionID"]);
    const opening: StreamEvent[] = id !== undefined && session === undefined ? [{ kind: "session", id }] : [];
    session ??= id;
    return [...opening, ...eventsOf(event, line)];
  });
}

function eventsOf(event: Fields, line: string): StreamEvent[] {
  const part = fieldsOf(event["part"]);
  switch (event["type"]) {
    case "step_start":
      return [{ kind: "busy" }];
    case "text":
      if (fieldsOf(part["metadata"])["compaction_continue"]) return [{ kind: "compacted" }];
      return [{ kind: "said", text: saidText(part["text"]) }];
    case "tool_use": {
      const state = fieldsOf(part["state"]);
      const call = toolEvent(part["tool"], state["input"]);
      const isError = state["status"] === "error";
      const why = isError ? shorten(String(state["error"] ?? "")) : "";
      return [call, { kind: "tool-end", isError }, ...deniedOf(call.name, why)];
    }
    case "step_finish":
      return finished(part);
    case "error": {
      const { name, data } = fieldsOf(event["error"]);
      const { statusCode, message } = fieldsOf(data);
      const text = shorten([stringOf(name), stringOf(message)].filter(Boolean).join(": ") || "error");
      return [{ kind: "result", isError: true, reason: failureReason(numberOf(statusCode), text), text }];
    }
    default:
      return [{ kind: "unknown", text: shorten(line) }];
  }
}

/** If a call needs a permission that nobody can give, the client ends with exit code 0 and no other sign. If a rule forbids the call, it continues. */
function deniedOf(tool: string, text: string): StreamEvent[] {
  const isRejected = /rejected permission/i.test(text);
  if (!isRejected && !/rule which prevents/i.test(text)) return [];
  const denied: StreamEvent = { kind: "denied", tool, text };
  if (!isRejected) return [denied];
  return [denied, { kind: "result", isError: true, reason: "denied", text: `${tool} was not allowed: ${text}` }];
}

function finished(part: Fields): StreamEvent[] {
  const tokens = fieldsOf(part["tokens"]);
  const cache = fieldsOf(tokens["cache"]);
  const count = (value: unknown) => numberOf(value) ?? 0;
  const inputTokens = count(tokens["input"]) + count(cache["read"]) + count(cache["write"]);
  const outputTokens = count(tokens["output"]) + count(tokens["reasoning"]);
  const costUsd = numberOf(part["cost"]);
  const events: StreamEvent[] = [
    { kind: "fill", usedTokens: numberOf(tokens["total"]) ?? inputTokens + outputTokens },
    {
      kind: "usage",
      isTotal: false,
      inputTokens,
      cachedTokens: count(cache["read"]),
      outputTokens,
      ...(costUsd !== undefined && { costUsd }),
    },
  ];
  return part["reason"] === "stop" ? [...events, { kind: "result", isError: false, text: "" }] : events;
}
