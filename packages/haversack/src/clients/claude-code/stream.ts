/**
 * The stream of `claude -p --output-format stream-json --verbose` (seen in 2.1.325). An assistant's message comes as one event for each
 * of its blocks, all with the usage of its beginning, so each message is counted once. `usage` of a result leaves sub-agents out;
 * `modelUsage` and the cost have them, and are totals of the session.
 */
import {
  type FailureReason,
  type Fields,
  failureReason,
  fieldsOf,
  listOf,
  numberOf,
  type StreamEvent,
  type StreamReader,
  saidText,
  shorten,
  streamReader,
  stringOf,
  toolEvent,
} from "../stream-event.ts";

export function claudeStream(): StreamReader {
  /** Of each agent: its messages come between those of others. */
  const lastMessage = new Map<string, string>();
  let isSessionTold = false;
  let isWindowTold = false;

  function assistant(event: Fields): StreamEvent[] {
    const message = fieldsOf(event["message"]);
    const subAgent = subAgentOf(event);
    const events: StreamEvent[] = [];
    const id = stringOf(message["id"]);
    const sender = subAgent ?? "";
    if (id === undefined || id !== lastMessage.get(sender)) {
      if (id !== undefined) lastMessage.set(sender, id);
      const usedTokens = windowOf(message["usage"]);
      if (usedTokens > 0) {
        // Limits need a value while the session runs; the result replaces the sum.
        const cachedTokens = numberOf(fieldsOf(message["usage"])["cache_read_input_tokens"]) ?? 0;
        events.push({ kind: "usage", isTotal: false, inputTokens: usedTokens, cachedTokens, outputTokens: 0 });
        if (subAgent === undefined) events.push({ kind: "fill", usedTokens });
      }
    }
    for (const block of listOf(message["content"])) {
      const by = subAgent === undefined ? {} : { subAgent };
      if (block["type"] === "text") events.push({ kind: "said", text: saidText(block["text"]), ...by });
      if (block["type"] === "tool_use") events.push({ ...toolEvent(block["name"], block["input"]), ...by });
    }
    return events;
  }

  function user(event: Fields): StreamEvent[] {
    const subAgent = subAgentOf(event);
    return listOf(fieldsOf(event["message"])["content"]).flatMap((block): StreamEvent[] =>
      block["type"] === "tool_result"
        ? [{ kind: "tool-end", isError: block["is_error"] === true, ...(subAgent !== undefined && { subAgent }) }]
        : [],
    );
  }

  function system(event: Fields): StreamEvent[] {
    switch (event["subtype"]) {
      case "init": {
        const failed = listOf(event["mcp_servers"]).filter(({ status }) => status === "failed");
        const problems = failed.map(({ name }) => `MCP server ${String(name)} did not start`);
        const model = stringOf(event["model"]);
        isSessionTold = true;
        return [
          {
            kind: "session",
            id: stringOf(event["session_id"]) ?? "",
            ...(model !== undefined && { model }),
            ...(problems.length > 0 && { problems }),
          },
        ];
      }
      case "api_retry": {
        const [of, status] = [numberOf(event["max_retries"]), numberOf(event["error_status"])];
        return [
          {
            kind: "retry",
            attempt: numberOf(event["attempt"]) ?? 1,
            ...(of !== undefined && { of }),
            ...(status !== undefined && { status }),
            text: stringOf(event["error"]) ?? "error",
          },
        ];
      }
      case "permission_denied":
        return [
          {
            kind: "denied",
            tool: stringOf(event["tool_name"]) ?? "tool",
            text: shorten(String(event["message"] ?? "")),
          },
        ];
      case "compact_boundary": {
        const { pre_tokens, post_tokens } = fieldsOf(event["compact_metadata"]);
        const [before, after] = [numberOf(pre_tokens), numberOf(post_tokens)];
        lastMessage.delete("");
        return [{ kind: "compacted", ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
      }
      default:
        return sessionOf(event);
    }
  }

  /** Hooks of the session's start come before `init`, and have its id. */
  function sessionOf(event: Fields): StreamEvent[] {
    const id = stringOf(event["session_id"]);
    if (isSessionTold || id === undefined) return [{ kind: "busy" }];
    isSessionTold = true;
    return [{ kind: "session", id }];
  }

  return streamReader((event) => {
    switch (event["type"]) {
      case "assistant":
        return assistant(event);
      case "user":
        return user(event);
      case "system":
        return system(event);
      case "result":
        // The window of the model: what the user has set may be less, and the client's own answer knows that.
        return result(event).filter(({ kind }) => kind !== "window" || !isWindowTold);
      case "control_response": {
        const answer = windowAnswer(event);
        isWindowTold ||= answer.some(({ kind }) => kind === "window");
        return answer;
      }
      case "stream_event":
      case "tool_progress":
      case "rate_limit_event":
        return [{ kind: "busy" }];
      default:
        return undefined;
    }
  });
}

function windowAnswer(event: Fields): StreamEvent[] {
  const { maxTokens, autoCompactThreshold } = fieldsOf(fieldsOf(event["response"])["response"]);
  const [windowTokens, compactsAtTokens] = [numberOf(maxTokens), numberOf(autoCompactThreshold)];
  if (windowTokens === undefined || windowTokens <= 0) return [{ kind: "busy" }];
  const isKnown = compactsAtTokens !== undefined && compactsAtTokens > 0;
  return [{ kind: "window", windowTokens, ...(isKnown && { compactsAtTokens }) }];
}

function subAgentOf(event: Fields): string | undefined {
  return stringOf(event["agent_id"]) ?? stringOf(event["parent_tool_use_id"]);
}

/** The request's tokens. The answer's own tokens are counted with the next request. */
function windowOf(usage: unknown): number {
  const counts = fieldsOf(usage);
  return ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].reduce(
    (sum, name) => sum + (numberOf(counts[name]) ?? 0),
    0,
  );
}

function result(event: Fields): StreamEvent[] {
  const text = shorten(stringOf(event["result"]) ?? "");
  const events = usageOf(event);
  // API errors come as `subtype: success`: only `is_error` tells.
  const isError = event["is_error"] === true || String(event["subtype"] ?? "").startsWith("error_");
  if (!isError) return [...events, { kind: "result", isError, text }];
  return [...events, { kind: "result", isError, reason: reasonOf(event, text), text }];
}

function reasonOf(event: Fields, text: string): FailureReason {
  const subtype = stringOf(event["subtype"]) ?? "";
  const terminal = stringOf(event["terminal_reason"]) ?? "";
  if (subtype === "error_max_turns") return "max-turns";
  if (subtype === "error_max_budget_usd") return "budget";
  if (terminal === "prompt_too_long") return "prompt-too-long";
  if (terminal.startsWith("aborted")) return "aborted";
  return failureReason(numberOf(event["api_error_status"]), text);
}

function usageOf(event: Fields): StreamEvent[] {
  const models = Object.values(fieldsOf(event["modelUsage"])).map(fieldsOf);
  const sum = (...names: string[]) =>
    models.reduce((total, model) => total + names.reduce((one, name) => one + (numberOf(model[name]) ?? 0), 0), 0);
  const costUsd = numberOf(event["total_cost_usd"]);
  const windows = models.flatMap(({ contextWindow }) => numberOf(contextWindow) ?? []);
  const windowTokens = windows.length > 0 ? Math.max(...windows) : undefined;
  if (models.length === 0 && costUsd === undefined) return [];
  return [
    ...(windowTokens === undefined ? [] : [{ kind: "window" as const, windowTokens }]),
    {
      kind: "usage",
      isTotal: true,
      inputTokens: sum("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"),
      cachedTokens: sum("cacheReadInputTokens"),
      outputTokens: sum("outputTokens"),
      ...(costUsd !== undefined && { costUsd }),
    },
  ];
}
