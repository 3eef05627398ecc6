/** What `init` and `uninstall` will do: one line per file, or every line of every file. */
import { homedir } from "node:os";
import { dirname, extname } from "node:path";
import type { PlannedFile } from "../engine/init.ts";
import type { Io } from "./command.ts";
import { paint, wrapText } from "./terminal.ts";

/** Files below `root` are shown relative to it, others with their full path. Similar files in one folder share a line. */
export function formatSummary(io: Io, planned: readonly PlannedFile[], root: string): string {
  const alike = Map.groupBy(planned, ({ kind, path, about }) => [kind, dirname(path), extname(path), about].join("\n"));
  const rows = [...alike.values()].map((files) => {
    const [{ kind, about } = planned[0]!] = files;
    return {
      kind,
      path: placeOf(commonName(files.map(({ path }) => path)), root),
      lines: lineCounts(files.flatMap(({ diff }) => diff)),
      about: files.length > 1 ? `${files.length} files: ${about}` : about,
    };
  });
  const pathWidth = Math.min(MAX_PATH_WIDTH, Math.max(...rows.map(({ path }) => path.length)));
  const countWidth = Math.max(...rows.map(({ lines }) => lines.length));
  const indent = 2 + KIND_WIDTH + 1 + pathWidth + 2 + countWidth + 2;
  // In a narrow terminal the description goes below the path.
  const isNarrow = io.width !== undefined && io.width - indent < MIN_ABOUT_WIDTH;
  return rows
    .map(({ kind, path, lines, about }) => {
      const head = `  ${paint(io, STYLES[kind], kind.padEnd(KIND_WIDTH))} `;
      const at = isNarrow ? 2 + KIND_WIDTH + 1 : indent;
      const [first = "", ...rest] = wrapText(about, io.width === undefined ? undefined : io.width - at);
      const below = (isNarrow ? [first, ...rest] : rest).map((line) => `${" ".repeat(at)}${paint(io, "dim", line)}`);
      if (isNarrow) return [`${head}${path}  ${lines}`, ...below].join("\n");
      // A path that is too long for the column still comes before its count.
      return [
        `${head}${path.padEnd(pathWidth)}  ${lines.padStart(countWidth)}  ${paint(io, "dim", first)}`,
        ...below,
      ].join("\n");
    })
    .join("\n");
}

/** Every added or removed line, with one line of context on each side. */
export function formatDiff(io: Io, planned: readonly PlannedFile[]): string {
  return planned
    .map(({ path, about, kind, diff }) => {
      const lines = diff.map(({ sign, text }) => {
        const line = `  ${sign} ${text}`;
        return sign === "+" ? paint(io, "green", line) : sign === "-" ? paint(io, "red", line) : paint(io, "dim", line);
      });
      return [`${paint(io, "bold", `${kind} ${shortPath(path)}`)} (${about})`, ...lines].join("\n");
    })
    .join("\n\n");
}

/** Replaces the path of the home folder in a text with `~`. */
export function shortPath(text: string): string {
  const home = homedir();
  return home === "/" ? text : text.replaceAll(`${home}/`, "~/");
}

const KIND_WIDTH = "change".length;
const MAX_PATH_WIDTH = 48;
const MIN_ABOUT_WIDTH = 20;
const STYLES = { make: "green", change: "yellow", remove: "red" } as const;

/** `a/x-*.md` for `a/x-one.md` and `a/x-two.md`. */
function commonName(paths: readonly string[]): string {
  const [first = "", ...others] = paths;
  if (others.length === 0) return first;
  let start = 0;
  while (others.every((path) => path[start] === first[start])) start++;
  return `${first.slice(0, start)}*${extname(first)}`;
}

function placeOf(path: string, root: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : shortPath(path);
}

function lineCounts(diff: PlannedFile["diff"]): string {
  const count = (sign: string) => diff.filter((line) => line.sign === sign).length;
  return [count("+") > 0 && `+${count("+")}`, count("-") > 0 && `-${count("-")}`].filter(Boolean).join(" ");
}
