/** Work for people: aligned tables, statuses in words, relative times. For scripts: plain lists. */
import { cleanLine, shellWord, stripControl } from "../base/clean-text.ts";
import type { Listed } from "../engine/work/work-parts.ts";
import type { TaskCounts } from "../store/work-store.ts";
import type { Claim, GroupStatus, TaskStatus } from "../work/task.ts";
import type { Call, Io, Output } from "./command.ts";
import { cutShown, shownColumns } from "./screen.ts";
import { counted, paint } from "./terminal.ts";

interface StyledCell {
  text: string;
  style?: "bold" | "dim" | "red" | "yellow" | "green";
}

export type Cell = StyledCell | string | undefined;

export function dim(text: string | undefined): StyledCell {
  return { text: text ?? "", style: "dim" };
}

export interface Listing<T> {
  /** Singular and plural. */
  nouns: readonly [one: string, many: string];
  listed: Omit<Listed<T>, "views"> & { views: readonly object[] };
  row(item: T): Cell[];
  /** Printed when there are none. */
  none: string;
  /** There is no `--offset`; a larger limit shows the rest. */
  isUnpaged?: boolean;
}

/** The last line says how many there are, or what was left out. */
export function listOutput<T>(call: Call, { nouns, listed, row, none, isUnpaged }: Listing<T>): Output {
  const { items, views, total, leftOut, nextOffset, cut } = listed;
  const offset = (call.options["offset"] as number | undefined) ?? 0;
  const all = `${total} ${nouns[total === 1 ? 0 : 1]}`;
  const rows = () => table(call.io, items.map(row)).join("\n");
  if (leftOut === 0) {
    const text = () => (items.length > 0 ? `${rows()}\n\n${all}.` : total > 0 ? `No more: there are ${all}.` : none);
    return { data: views, text, isVerbatim: true };
  }
  const shown = offset > 0 ? `${offset + 1} to ${offset + items.length}` : items.length;
  // If nothing fits, the next page would be the same again.
  const isNothing = cut !== undefined && items.length === 0;
  const changes = isNothing
    ? { "max-tokens": cut.allTokens }
    : isUnpaged
      ? { limit: total, "max-tokens": undefined }
      : { offset: nextOffset ?? 0 };
  const what = isNothing ? "more" : isUnpaged ? "all" : "the next";
  const more = `${shown} of ${all}${isNothing ? " fit" : ""}; \`${commandLine(call, changes)}\` shows ${what}`;
  return { data: views, text: rows, isVerbatim: true, more };
}

/** The same command line, with other values for some of its options. */
export function commandLine(call: Call, changes: Readonly<Record<string, string | number | undefined>>): string {
  const options = { ...call.options, ...changes };
  const words = Object.entries(options).flatMap(([name, value]) => {
    if (value === true) return [`--${name}`];
    const values = Array.isArray(value) ? value : value === undefined || value === false ? [] : [value];
    return values.flatMap((each) => [`--${name}`, shellWord(cleanLine(String(each)))]);
  });
  return [
    "haversack",
    call.name,
    ...call.arguments.map((word) => shellWord(cleanLine(word))),
    ...words,
    ...(call.json ? ["--json"] : []),
  ].join(" ");
}

/**
 * Lines with aligned columns, without control characters. In a terminal the last column is cut at the edge; if little room is left for it,
 * columns that are only dim are left out.
 */
export function table(io: Io, given: readonly (readonly Cell[])[]): string[] {
  const styled = (cell: Cell): StyledCell => (typeof cell === "object" ? cell : { text: cell ?? "" });
  const rows = given.map((row) => row.map(styled).map((cell) => ({ ...cell, text: visible(cell.text) })));
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(...rows.map((row) => shownColumns(row[at]?.text ?? ""))),
  );
  // A column that is empty in every row is left out.
  let used = widths.flatMap((width, at) => (width > 0 ? [at] : []));
  const isShort = () => {
    const before = used.slice(0, -1).reduce((sum, at) => sum + (widths[at] ?? 0) + 2, 0);
    return before + Math.min(widths[used.at(-1) ?? 0] ?? 0, MIN_LAST) > (io.width ?? Number.POSITIVE_INFINITY);
  };
  const isDim = (at: number) => rows.every((row) => !row[at]?.text || row[at].style === "dim");
  const dim = used.slice(0, -1).filter(isDim).reverse();
  for (const at of [...dim, ...used.slice(-1).filter(isDim)])
    if (isShort() && used.length > 1) used = used.filter((one) => one !== at);
  return rows.map((row) => {
    let left = io.width ?? Number.POSITIVE_INFINITY;
    const cells = used.map((column, at) => {
      const { text, style } = row[column] ?? { text: "" };
      const isLast = at === used.length - 1;
      const room = (widths[column] ?? 0) - shownColumns(text);
      const whole = isLast ? cutLine(text, left) : text + " ".repeat(room);
      left -= shownColumns(whole) + 2;
      return style ? paint(io, style, whole) : whole;
    });
    return cells.join("  ").trimEnd();
  });
}

/** Characters of the last column that are worth more than a dim column. */
const MIN_LAST = 20;
/** With less room than this, the terminal wraps the line. */
const MIN_CUT = 10;

function cutLine(text: string, width: number): string {
  const room = Math.max(MIN_CUT, width);
  return shownColumns(text) <= room ? text : `${cutShown(text, room - 1)}…`;
}

/** Removes control characters: names of clients, sessions and agents come from other programs. Keeps the indentation. */
function visible(text: string): string {
  return stripControl(text).replace(/[\n\t]+/g, " ");
}

/** `label  text` lines below a heading; empty ones are left out. */
export function fields(io: Io, rows: readonly (readonly [label: string, text: string | undefined])[]): string[] {
  const set = rows.filter((row): row is [string, string] => Boolean(row[1]));
  const width = Math.max(0, ...set.map(([label]) => label.length));
  return set.map(([label, text]) => `  ${paint(io, "dim", label.padEnd(width))}  ${text}`);
}

/** An indented text of several lines, without control characters. */
export function block(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

export function statusCell(status: TaskStatus | GroupStatus): StyledCell {
  const style = STYLES[status];
  return { text: statusWord(status), ...(style && { style }) };
}

/** A status outside of a table. */
export function paintedStatus(io: Io, status: TaskStatus | GroupStatus): string {
  const { text, style } = statusCell(status);
  return style ? paint(io, style, text) : text;
}

const STYLES: Partial<Record<TaskStatus | GroupStatus, NonNullable<StyledCell["style"]>>> = {
  in_progress: "yellow",
  review: "yellow",
  blocked: "red",
  done: "green",
  archived: "dim",
};

export function statusWord(status: string): string {
  return status.replaceAll("_", " ");
}

/** `2 in progress, 5 todo (3 ready), 3 done` */
export function formatCounts(counts: TaskCounts): string {
  const parts = COUNTED.filter((status) => counts[status] > 0).map((status) => {
    const ready = status === "todo" ? ` (${counts.ready} ready)` : "";
    return `${counts[status]} ${statusWord(status)}${ready}`;
  });
  return parts.length > 0 ? parts.join(", ") : "none";
}

const COUNTED: readonly TaskStatus[] = ["in_progress", "review", "blocked", "todo", "done", "archived"];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `3 min ago`; after a month, the date. */
export function formatAgo(at: Date, now: Date): string {
  const ms = now.getTime() - at.getTime();
  if (ms < MINUTE_MS) return ms < -MINUTE_MS ? at.toISOString().slice(0, 16).replace("T", " ") : "just now";
  if (ms > 30 * DAY_MS) return at.toISOString().slice(0, 10);
  return `${formatSpan(ms)} ago`;
}

export function formatSpan(ms: number): string {
  // A new one-hour lease shows 60 minutes.
  if (ms < 1.5 * HOUR_MS) return `${Math.max(1, Math.round(ms / MINUTE_MS))} min`;
  if (ms < DAY_MS) return `${Math.round(ms / HOUR_MS)} h`;
  return counted(Math.round(ms / DAY_MS), "day");
}

/** `alice, 43 min left`. `isOver`: its session has ended. */
export function formatClaim(
  { agent, leaseUntil, isUnconfirmed }: Claim,
  now: Date,
  { isOver = false }: { isOver?: boolean | undefined } = {},
): string {
  const left = leaseUntil.getTime() - now.getTime();
  const state = isOver ? "its session has ended" : left > 0 ? `${formatSpan(left)} left` : "lease over";
  return `${cleanLine(agent)}, ${state}${isUnconfirmed ? ", unconfirmed" : ""}`;
}
