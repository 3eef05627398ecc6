/** How tools of work answer: compact JSON, nothing of what was sent, and refusals as errors that say what to do. */
import type { LiveParts } from "../engine/work/live-work.ts";
import type { ToolAnswer, ToolCall } from "./tool.ts";

/** Reads; makes no folder. */
export function reading(call: ToolCall, use: (parts: LiveParts) => Promise<ToolAnswer>): Promise<ToolAnswer> {
  return call.parts.work.read(call, use);
}

export function writing(call: ToolCall, use: (parts: LiveParts) => Promise<ToolAnswer>): Promise<ToolAnswer> {
  return call.parts.work.write(call, use);
}

export function answer(value: object): ToolAnswer {
  return { text: JSON.stringify(value) };
}

export const DONE: ToolAnswer = answer({ ok: true });

export function refusal({ text }: { text: string }): ToolAnswer {
  return { text, isError: true };
}

/** A list under its name; what was left out, and the parameter that gets it. */
export function answerList(
  name: string,
  { views, leftOut, nextOffset, isReduced, cut }: ListAnswer,
  { single = "get_task" }: { single?: string } = {},
): ToolAnswer {
  const ways = [
    ...(isReduced ? [`${single} has the rest of this one`] : []),
    ...(leftOut > 0
      ? [views.length > 0 ? `offset: ${nextOffset}` : cut ? `max_tokens: ${cut.firstTokens}` : "a larger max_tokens"]
      : []),
  ];
  return answer({
    [name]: views,
    ...(leftOut > 0 && { left_out: leftOut }),
    ...(ways.length > 0 && { more: ways.join("; ") }),
  });
}

interface ListAnswer {
  views: readonly object[];
  leftOut: number;
  nextOffset?: number;
  isReduced: boolean;
  cut?: { firstTokens: number };
}
