/**
 * How work tools answer. A minimal list has one line per entry with ID and title, because repeated keys cost the model tokens. Entries with
 * more fields are compact JSON. Answers never repeat the input, and a refusal is an error that says what to do.
 */
import type { ToolAnswer } from "./tool.ts";
import { needed } from "./tool-input.ts";

// Fields that many tools take.
export const TEXT = { type: "string" } as const;
export const COUNT = { type: "integer" } as const;
export const FLAG = { type: "boolean" } as const;
export const TEXTS = { type: "array", items: { type: "string" } } as const;
export const ID = needed(TEXT);
export const SCOPE = { epic_id: TEXT, story_id: TEXT } as const;
/** Lists are paged and limited by a token budget. */
export const PAGE = { limit: COUNT, offset: COUNT, max_tokens: COUNT } as const;

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

/** Confirms a call. If nothing had to change, the answer says so. */
export function done(isChanged = true): ToolAnswer {
  return isChanged ? DONE : answer({ ok: true, changed: false });
}

/** An outcome that is told by its view. */
export function viewed({ view }: { view: object }): ToolAnswer {
  return answer(view);
}

/**
 * One entry of a list: `T4829 Fix the token check`, with a mark if it cannot simply be started: `T4829 Fix the token check (done)`. A title
 * that itself ends in brackets is quoted if the brackets could be mistaken for a mark.
 */
export function briefLine(brief: Brief, marks: readonly unknown[] = [brief.status]): string {
  const told = [...marks, brief["waiting"] === true && "waiting"].filter((mark) => mark && mark !== "todo");
  const title = String(brief.title).replace(/\s+/g, " ").trim();
  const shown = /\([^()]*\)$/.test(title) ? JSON.stringify(title) : title;
  return `${brief.id} ${shown}${told.length > 0 ? ` (${told.join(", ")})` : ""}`;
}

export interface Brief {
  id: string;
  title?: unknown;
  status?: unknown;
  [field: string]: unknown;
}

/** A multi-line text after its heading. Later lines are indented, so none looks like another entry of the list. */
export function entry(head: string, text: string): string {
  return `${head}: ${text.trim().replace(/\r\n|[\n\r\v\f\x85\u2028\u2029]/g, "\n  ")}`;
}

/** A list: lines if `line` is given, else JSON under its name. Also says what was left out and which parameter gets it. */
export function answerList<View extends object>(
  name: string,
  { views, leftOut, nextOffset, isReduced, cut }: ListAnswer<View>,
  { line }: { line?: ((view: View) => string) | undefined } = {},
): ToolAnswer {
  const ways = [
    ...(isReduced ? ["get_task has the rest of this one"] : []),
    ...(leftOut > 0 ? [views.length > 0 ? `offset: ${nextOffset}` : moreRoom(cut)] : []),
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

/** For a list that is empty because not even the first entry fits. */
export function moreRoom(cut: { firstTokens: number } | undefined): string {
  return cut ? `the first needs max_tokens ${cut.firstTokens}` : "none fits: use a larger max_tokens";
}

/** Formats one list entry. If the caller asked for a status, the status is omitted, because the caller knows it. */
export function listLine(askedStatus: string | undefined): (view: Brief) => string {
  return (view) => briefLine(view, askedStatus === undefined ? [view.status] : []);
}

/** Several lists, each below its name; empty ones are left out. */
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

/** Precise to the minute: `2031-05-06T07:08Z`. */
export function moment(at: Date): string {
  return `${at.toISOString().slice(0, 16)}Z`;
}

/** Whether the caller wants lines instead of JSON. */
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
