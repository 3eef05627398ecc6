/**
 * How tools of work answer. A list in its minimal form is lines of id and title: a model pays for every key that is repeated. What has
 * more fields is compact JSON. Nothing that was sent comes back, and a refusal is an error that says what to do.
 */
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

export function answerLines(lines: readonly (string | false | undefined)[]): ToolAnswer {
  return { text: lines.filter((line) => line !== false && line !== undefined).join("\n") };
}

export const DONE: ToolAnswer = answer({ ok: true });

export function refusal({ text }: { text: string }): ToolAnswer {
  return { text, isError: true };
}

/** What a list shows of one: `T4829 Fix the token check`, or of one that is not simply waiting `T4829 Fix the token check (done)`. */
export function briefLine({ id, title, status }: Brief, marks: readonly unknown[] = [status]): string {
  const told = marks.filter((mark) => mark !== undefined && mark !== "todo");
  return `${id} ${oneLine(String(title))}${told.length > 0 ? ` (${told.join(", ")})` : ""}`;
}

export interface Brief {
  id: string;
  title?: unknown;
  status?: unknown;
  [field: string]: unknown;
}

/** A text of several lines behind its first words; the later lines are set in, so that none passes for an entry of the list. */
export function entry(head: string, text: string): string {
  return `${head}: ${text.trim().replace(/\r\n|[\n\r\v\f\x85\u2028\u2029]/g, "\n  ")}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** A list: lines where `line` is given, else JSON under its name; what was left out, and the parameter that gets it. */
export function answerList<View extends object>(
  name: string,
  { views, leftOut, nextOffset, isReduced, cut }: ListAnswer<View>,
  { line }: { line?: ((view: View) => string) | undefined } = {},
): ToolAnswer {
  const ways = [
    ...(isReduced ? ["get_task has the rest of this one"] : []),
    ...(leftOut > 0
      ? [views.length > 0 ? `offset: ${nextOffset}` : cut ? `max_tokens: ${cut.firstTokens}` : "a larger max_tokens"]
      : []),
  ];
  if (line) {
    const none = views.length === 0 && leftOut === 0 && `no ${name}`;
    return answerLines([none, ...views.map(line), leftOut > 0 && `${leftOut} left out; ${ways.join("; ")}`]);
  }
  return answer({
    [name]: views,
    ...(leftOut > 0 && { left_out: leftOut }),
    ...(ways.length > 0 && { more: ways.join("; ") }),
  });
}

/** How a list of a tool whose caller may have asked for a status writes one: the caller knows that status. */
export function listLine(askedStatus: string | undefined): (view: Brief) => string {
  return (view) => briefLine(view, askedStatus === undefined ? [view.status] : []);
}

/** Several lists, each below its name; one that is empty is left out. */
export function groupLines(groups: { readonly [Name in string]?: readonly Brief[] }): string[] {
  const filled = Object.entries(groups).filter(([, briefs]) => briefs && briefs.length > 0);
  if (filled.length === 0) return ["none"];
  return filled.flatMap(([name, briefs = []]) => [
    `${name}:`,
    ...briefs.map((brief) => briefLine(brief, [brief.status, brief["type"]])),
  ]);
}

export function leftOutLine(leftOut: { readonly [Name in string]?: number }, way: string): string | undefined {
  const parts = Object.entries(leftOut).map(([name, count]) => `${count} of ${name}`);
  return parts.length > 0 ? `left out: ${parts.join(", ")}; ${way}` : undefined;
}

/** To the minute: `2031-05-06T07:08Z`. */
export function moment(at: Date): string {
  return `${at.toISOString().slice(0, 16)}Z`;
}

/** Whether a caller wants lines. */
export function isMinimal(fields: string | undefined): boolean {
  return fields === undefined || fields === "minimal";
}

interface ListAnswer<View> {
  views: readonly View[];
  leftOut: number;
  nextOffset?: number;
  isReduced: boolean;
  cut?: { firstTokens: number };
}
