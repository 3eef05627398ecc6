/** What `init` and `uninstall` are about to do: a line per file, or every line of every file. */
import { homedir } from "node:os";
import { dirname, extname } from "node:path";
import type { PlannedFile } from "../engine/init.ts";
import type { Io } from "./command.ts";
import { paint } from "./terminal.ts";
import { wrapText } from "./wrap-text.ts";

/** Files below `root` are named from there, the others by their whole path; those of one kind in one folder share a line. */
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
  return rows
    .map(({ kind, path, lines, about }) => {
      const [first = "", ...rest] = wrapText(about, io.width === undefined ? undefined : io.width - indent);
      const head = `  ${paint(io, STYLES[kind], kind.padEnd(KIND_WIDTH))} ${path.padEnd(pathWidth)}`;
      return [
        // What is too long for the column still stands in front of its count.
        `${head}  ${lines.padStart(countWidth)}  ${paint(io, "dim", first)}`,
        ...rest.map((line) => `${" ".repeat(indent)}${paint(io, "dim", line)}`),
      ].join("\n");
    })
    .join("\n");
}

/** Every line that comes or goes, with one line of context on each side. */
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

/** Paths of the home folder in a text, as people write them. */
export function shortPath(text: string): string {
  const home = homedir();
  return home === "/" ? text : text.replaceAll(`${home}/`, "~/");
}

const KIND_WIDTH = "change".length;
const MAX_PATH_WIDTH = 48;
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
