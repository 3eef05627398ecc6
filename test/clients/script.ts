/**
 * What the scripted model answers. A script is a function, or a list of rules of which the first that fits and is not used up answers. If the script
 * has no answer, a harmless default is used, so that a client never hangs or loops.
 */
import type { ModelRequest, RequestKind } from "./model-request.ts";

export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
  /** Default: unique and made from the request's place, such as `toolu_3_0`. */
  id?: string;
}

export interface Usage {
  /** Default 1,000. */
  inputTokens?: number;
  /** Default 10. */
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
}

export interface Reply {
  text?: string;
  tools?: ToolCall[];
  usage?: Usage;
  /** Answers with an HTTP error. The client retries 429 and 5xx with growing pauses, and most kinds of 400 once. */
  error?: { status: number; type: string; message: string };
  /** Waits before it answers. Default 0. */
  delayMs?: number;
  /** Waits for this before it answers, such as for another session: see `meeting`. */
  after?: Promise<unknown>;
}

/** Each call waits until there were `count` calls. For sessions that must run at the same time, however busy the machine is. */
export function meeting(count: number): () => Promise<void> {
  let arrived = 0;
  let open: () => void;
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    if (++arrived === count) open();
    return all;
  };
}

/** `n` counts the requests of the same conversation (main, each sub-agent, compaction, side), from 1. */
export type Answer = (request: ModelRequest, n: number) => Reply | undefined;

export interface Rule {
  kind?: RequestKind;
  /** In the text of the last user turn or in one of its tool results. */
  says?: string | RegExp;
  n?: number;
  when?: (request: ModelRequest, n: number) => boolean;
  /** How often it answers. Default: always. */
  times?: number;
  reply: Reply | Answer;
}

export type Script = Answer | Rule[];

/** Answers the main conversation with these replies in order, the sub-agents and the rest by the other rules. */
export function steps(replies: Reply[], ...others: Rule[]): Rule[] {
  return [...others, ...replies.map((reply): Rule => ({ kind: "main", times: 1, reply }))];
}

export function toolCall(name: string, input: Record<string, unknown>): ToolCall {
  return { name, input };
}

export const SUMMARY = "SUMMARY-OF-THE-SCRIPTED-MODEL";
export const DONE = "DONE";

export function answerOf(script: Script): Answer {
  if (typeof script === "function") return script;
  const used = new Map<Rule, number>();
  return (request, n) => {
    const rule = script.find(
      (candidate) => fits(candidate, request, n) && (used.get(candidate) ?? 0) < (candidate.times ?? Infinity),
    );
    if (!rule) return undefined;
    used.set(rule, (used.get(rule) ?? 0) + 1);
    return typeof rule.reply === "function" ? rule.reply(request, n) : rule.reply;
  };
}

export function defaultReply({ kind }: ModelRequest): Reply {
  if (kind === "compaction") return { text: `<analysis>none</analysis><summary>${SUMMARY}</summary>` };
  return { text: kind === "side" ? '{"ok":true}' : DONE };
}

function fits({ kind, says, n, when }: Rule, request: ModelRequest, count: number): boolean {
  if (kind && kind !== request.kind) return false;
  if (n !== undefined && n !== count) return false;
  if (says !== undefined && !heard(request).some((text) => includes(text, says))) return false;
  return when?.(request, count) ?? true;
}

function heard({ lastUserText, toolResults }: ModelRequest): string[] {
  return [lastUserText, ...toolResults.map((result) => result.text)];
}

function includes(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
}
