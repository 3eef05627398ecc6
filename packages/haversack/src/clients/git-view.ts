/**
 * Whether git would commit the files that `init` writes. Two processes for any number of files: `init` asks about a dozen, several
 * times, and each process costs a few milliseconds.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { HaversackError } from "../base/errors.ts";
import { committedFile } from "../engine/init.ts";
import type { WiredFile, WiringPlace } from "../engine/wiring.ts";

/** no-git: there is a repository, but git is missing or refuses to work. */
export type GitView = "no-repository" | "no-git" | "ignored" | "tracked" | "open";

/** What git would do with a file of the repository, existing or not. */
export function gitView(root: string, path: string): GitView {
  return gitViews(root, [path])[0] ?? "no-git";
}

export function gitViews(root: string, paths: readonly string[]): GitView[] {
  if (!existsSync(join(root, ".git"))) return paths.map(() => "no-repository");
  const names = paths.map((path) => relative(root, path).split(sep).join("/"));
  // `check-ignore` does not print tracked files.
  const ignored = git(root, ["check-ignore", "-z", "--stdin"], names.map((name) => `${name}\0`).join(""));
  if (!ignored) return paths.map(() => "no-git");
  const left = names.filter((name) => !ignored.has(name));
  const tracked =
    left.length > 0 ? git(root, ["--literal-pathspecs", "ls-files", "-z", "--", ...left]) : new Set<string>();
  if (!tracked) return paths.map(() => "no-git");
  const isTracked = (name: string) => tracked.has(name) || [...tracked].some((file) => file.startsWith(`${name}/`));
  return names.map((name) => (ignored.has(name) ? "ignored" : isTracked(name) ? "tracked" : "open"));
}

const excludeFiles = new Map<string, string>();

/** The repository's own exclude file, which is not committed. In a submodule it is not below the root. */
export function excludeFile(root: string): string | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  const known = excludeFiles.get(root);
  if (known !== undefined) return known;
  const { status, stdout } = run(root, ["rev-parse", "--git-path", "info/exclude"]);
  if (status !== 0) return undefined;
  const file = resolve(root, stdout.replace(/\n$/, ""));
  excludeFiles.set(root, file);
  return file;
}

/** The names that git prints; undefined if it fails. */
function git(root: string, args: readonly string[], input = ""): Set<string> | undefined {
  const { status, stdout } = run(root, args, input);
  // Exit code 1: check-ignore found no match.
  return status === 0 || status === 1 ? new Set(stdout.split("\0").filter(Boolean)) : undefined;
}

function run(root: string, args: readonly string[], input = "") {
  return spawnSync("git", ["-C", root, ...args], { encoding: "utf8", timeout: 10_000, input });
}

/** Wraps a file with paths of this machine so it is not written while git tracks it. */
export function untracked(file: WiredFile, { scope }: WiringPlace, root: string): WiredFile {
  if (scope === "user") return file;
  const isTracked = () => gitView(root, file.path) === "tracked";
  return {
    ...file,
    isTracked,
    wire: (text) => {
      // `init` leaves such a client out before it plans; the file may have been committed since.
      if (isTracked()) throw new HaversackError("refused", committedFile(file.path));
      return file.wire(text);
    },
  };
}

/**
 * Adds lines to the repository's exclude file, which is not committed, so files that `init` writes stay out of commits. All clients
 * share this file, so each removes only its own lines.
 *
 * `lines`: each line with a file that it covers. A line is added only if nothing else covers its file.
 */
export function excludeLines(root: string, lines: Readonly<Record<string, string>>): WiredFile[] {
  const path = excludeFile(root);
  if (path === undefined) return [];
  return [
    {
      path,
      about: "keeps these files out of commits",
      blank: "",
      isRecordedOnly: true,
      wire(text) {
        const known = text.split(/\r?\n/);
        const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
        const missing = Object.entries(lines).filter(([line]) => !known.includes(line));
        const views = gitViews(
          root,
          missing.map(([, file]) => join(root, file)),
        );
        const added = missing.flatMap(([line], at) => (views[at] === "open" ? [line] : []));
        if (added.length === 0) return { text, keep: [] };
        const gap = text === "" || text.endsWith("\n") ? "" : lineBreak;
        return {
          text: `${text}${gap}${added.map((line) => line + lineBreak).join("")}`,
          keep: [...added.map((line) => `${ADDED}${line}`), ...(gap ? [NO_BREAK] : [])],
        };
      },
      unwire(text, keep) {
        const ofAll = keep.flatMap((note) => (note.startsWith(ADDED) ? [note.slice(ADDED.length)] : []));
        const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
        const rows = text.split(lineBreak);
        const isAtEnd = ofAll.includes(rows.at(-2) ?? "") && rows.at(-1) === "";
        for (const line of ofAll.filter((one) => one in lines)) {
          const at = rows.lastIndexOf(line);
          if (at >= 0) rows.splice(at, 1);
        }
        const rest = rows.join(lineBreak);
        // If the file had no final line break before, the client that is removed last restores that.
        const isLast = !ofAll.some((line) => rows.includes(line));
        return keep.includes(NO_BREAK) && isAtEnd && isLast ? rest.replace(/\r?\n$/, "") : rest;
      },
    },
  ];
}

/** Marks the lines that we added: the user may have had one of them before. */
const ADDED = "added ";
const NO_BREAK = "no-line-break-at-the-end";
