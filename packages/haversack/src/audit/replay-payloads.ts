/** Replays recorded hook payloads through the engine. */
import type { Payload } from "../clients/client-adapter.ts";
import type { TokenCounter } from "../tokens/count.ts";
import type { ScratchEngine } from "./scratch-engine.ts";

export const REPLAYED_CLIENTS = ["claude-code", "codex", "gemini"] as const;
export type ReplayedClient = (typeof REPLAYED_CLIENTS)[number];

export interface RecordedPayloads {
  payloads: Payload[];
  /** Numbers of the lines that are not payloads. */
  problems: { line: number; problem: string }[];
}

/** One payload per line, one payload, or a list of them. A record of a hook recorder may have it in `payload`. */
export function readPayloads(text: string): RecordedPayloads {
  const found: RecordedPayloads = { payloads: [], problems: [] };
  const take = (value: unknown, line: number) => {
    const record = payloadIn(value);
    if (record) found.payloads.push(record);
    else found.problems.push({ line, problem: "is not a hook payload: it has no hook_event_name" });
  };
  const whole = parse(text);
  if (whole !== undefined) {
    for (const [at, value] of (Array.isArray(whole) ? whole : [whole]).entries()) take(value, at + 1);
    return found;
  }
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const value = parse(line);
    if (value === undefined) found.problems.push({ line: at + 1, problem: "is cut off or not JSON" });
    else take(value, at + 1);
  }
  return found;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function payloadIn(value: unknown): Payload | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const record = value as Payload;
  if (typeof record["hook_event_name"] === "string") return record;
  return "payload" in record ? payloadIn(record["payload"]) : undefined;
}

const GEMINI_EVENTS = [
  "BeforeAgent",
  "AfterAgent",
  "BeforeModel",
  "AfterModel",
  "BeforeTool",
  "AfterTool",
  "PreCompress",
];

/** Recognized by names that only one client uses. Claude Code's form is the most common one. */
export function clientOf(payloads: readonly Payload[]): ReplayedClient {
  if (payloads.some((payload) => GEMINI_EVENTS.includes(String(payload["hook_event_name"])))) return "gemini";
  if (payloads.some((payload) => payload["turn_id"] !== undefined)) return "codex";
  return "claude-code";
}

export interface ReplayedEvent {
  event: string;
  sessionId: string;
  ms: number;
  /** Tokens of the text that the model would read. */
  tokens: number;
  /** As the hook would print it. */
  answer: string;
}

export function replayPayloads(
  payloads: readonly Payload[],
  { client, engine, countTokens }: { client: ReplayedClient; engine: ScratchEngine; countTokens: TokenCounter },
): ReplayedEvent[] {
  return payloads.map((payload) => {
    const { answer, text, ms } = engine.answer(client, payload);
    const { hook_event_name: event, session_id: sessionId } = payload;
    return { event: String(event), sessionId: String(sessionId ?? ""), ms, tokens: countTokens(text), answer };
  });
}
