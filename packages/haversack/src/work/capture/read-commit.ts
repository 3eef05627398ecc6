/**
 * What a `git commit` in a shell line settled: its hash, from git's output `[branch abc1234] message`, and its files, if the line names
 * them. Checkouts, stashes and resets settle nothing: their effect on a file is not visible here.
 */
import { programsIn, type ShellPart } from "./shell-words.ts";

export interface CommitReading {
  sha?: string;
  /** Relative to the command's folder; "all" if the line names no files. */
  files: "all" | string[];
  /** Folders entered earlier in the line (`cd web && git commit …`). */
  folders: string[];
}

export interface CommitEvidence {
  /** The readable output. */
  text: string;
  /** Whether the exit code shows that this command succeeded. */
  isOk: (index: number) => boolean;
}

export function readCommit(parts: readonly ShellPart[], { text, isOk }: CommitEvidence): CommitReading | undefined {
  const folders: string[] = [];
  const added: string[] = [];
  let reading: CommitReading | undefined;
  for (const [index, { words }] of parts.entries()) {
    const [program = "", ...args] = programsIn(words)[0] ?? [];
    if (program === "cd" && args[0] && !reading) folders.push(args[0]);
    if (program !== "git") continue;
    const { verb, folder, rest } = gitArguments(args);
    if (folder && !reading) folders.push(folder);
    if (verb === "add" || verb === "rm" || verb === "mv") added.push(...(isWide(rest) ? ["*"] : pathsOf(rest)));
    if (!/^(?:commit|cherry-pick|revert|merge)$/.test(verb)) continue;

    const stated = [...text.matchAll(STATED)].at(-1)?.[1];
    const isDone = (isOk(index) && !rest.includes("--dry-run")) || / files? changed, /.test(text);
    if (!stated && !(verb === "commit" && isDone)) continue;
    const isLogged = parts.some(({ words: others }) => /^git (?:log|rev-parse|show)\b/.test(others.join(" ")));
    const sha = stated ?? (isLogged ? LOGGED.exec(text)?.[1] : undefined);
    const isEmpty = verb !== "commit" || (rest.includes("--allow-empty") && !/ files? changed/.test(text));
    const named = commitPaths(rest) ?? (added.length > 0 ? added : ["*"]);
    const files = isEmpty ? [] : named.some((path) => /[*?[\]$]|^:/.test(path)) ? "all" : named;
    reading = { files: merged(reading?.files, files), folders, ...(sha ? { sha: sha.slice(0, 12) } : {}) };
  }
  return reading;
}

const STATED = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] /gm;
/** `git commit -q … && git log --oneline -1`, `git rev-parse HEAD`. */
const LOGGED = /^([0-9a-f]{7,40})(?: |$)/m;

function merged(before: CommitReading["files"] | undefined, after: CommitReading["files"]): CommitReading["files"] {
  return before === "all" || after === "all" ? "all" : [...(before ?? []), ...after];
}

function gitArguments(args: readonly string[]): { verb: string; folder?: string; rest: string[] } {
  let at = 0;
  let folder: string | undefined;
  while (args[at]?.startsWith("-")) {
    if (args[at] === "-C") folder = args[at + 1];
    at += /^-[Cc]$/.test(args[at]!) ? 2 : 1;
  }
  return { verb: args[at] ?? "", rest: args.slice(at + 1), ...(folder ? { folder } : {}) };
}

/** Options of `git commit` that use the next word as their value. */
const TAKES_VALUE =
  /^(?:-[a-zA-Z]*[mFCct]|--(?:message|file|author|date|reuse-message|template|fixup|squash|trailer))$/;

/** Undefined: it names no paths, so it commits the index. */
function commitPaths(args: readonly string[]): string[] | undefined {
  if (args.some((arg) => /^(?:--all|-[b-zB-Z]*a[a-zA-Z]*)$/.test(arg))) return ["*"];
  const paths = pathsOf(args);
  return paths.length > 0 ? paths : undefined;
}

function pathsOf(args: readonly string[]): string[] {
  const paths: string[] = [];
  let isAfterDashes = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (isAfterDashes || !arg.startsWith("-")) paths.push(arg);
    else if (arg === "--") isAfterDashes = true;
    else if (TAKES_VALUE.test(arg)) at++;
  }
  return paths;
}

function isWide(args: readonly string[]): boolean {
  return args.some((arg) => /^(?:-A|--all|-u|--update|:\/)$/.test(arg));
}
