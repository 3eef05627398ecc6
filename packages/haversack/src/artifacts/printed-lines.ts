/**
 * Which lines of which files a shell command has printed. Knows programs that show files (cat, bat, less, more, nl, tac, head, tail,
 * sed, awk, git show, a grep that matches everything), pipes between them, `cd`, simple variables, loops over words, braces and globs.
 * A command that it does not understand counts as printing nothing: receipts must not be guessed.
 *
 * The command is already split into words (work/capture/shell-words.ts), so quoting is handled in one place.
 */
import { isAbsolute, joinPath } from "./feature-meta.ts";

export interface ShellCommand {
  words: readonly string[];
  joint: "" | "&&" | "||" | ";" | "|";
  /** Its output went into a file. */
  writesTo?: string;
}

/** Both from 1, inclusive. */
export interface LineRange {
  from: number;
  to: number;
}

export interface PrintedLines extends LineRange {
  path: string;
}

export interface PrintedOptions {
  cwd: string;
  /** Absolute paths and sizes of the relevant files. */
  files: readonly { path: string; lineCount: number }[];
  /** How many lines the model saw. Absent: all. */
  outputLines?: number | undefined;
}

/** Lines of a relevant file, or an unknown number of other lines. */
type Segment = PrintedLines | "unknown";

export function printedLines(commands: readonly ShellCommand[], options: PrintedOptions): PrintedLines[] {
  const shell: Shell = { ...options, variables: new Map() };
  const printed: PrintedLines[] = [];
  let stream: Segment[] = [];
  for (const [index, command] of commands.entries()) {
    const input = command.joint === "|" ? stream : [];
    stream = run(command.words, input, shell);
    if (command.writesTo !== undefined) stream = [];
    if (commands[index + 1]?.joint === "|") continue;
    printed.push(...stream.filter((segment) => segment !== "unknown"));
  }
  return withinOutput(printed, options.outputLines);
}

function withinOutput(printed: readonly PrintedLines[], outputLines = Number.POSITIVE_INFINITY): PrintedLines[] {
  let room = outputLines;
  return printed.flatMap((lines) => {
    const count = Math.min(lines.to - lines.from + 1, room);
    room -= count;
    return count > 0 ? [{ ...lines, to: lines.from + count - 1 }] : [];
  });
}

interface Shell extends PrintedOptions {
  variables: Map<string, string[]>;
}

const PREFIX = /^(?:do|then|else|if|while|!|\{|time|sudo|command|env|nohup|exec|builtin)$/;
const WHOLE = /^(?:cat|bat|batcat|less|more|most|nl|tac|tee|pr)$/;

function run(raw: readonly string[], input: readonly Segment[], shell: Shell): Segment[] {
  let rest = [...raw];
  while (rest[0] !== undefined && PREFIX.test(rest[0])) rest = rest.slice(1);
  while (rest[0] !== undefined && /^[A-Za-z_]\w*=/.test(rest[0])) {
    const [name = "", value = ""] = splitOnce(rest[0], "=");
    shell.variables.set(name, expand(value, shell));
    rest = rest.slice(1);
  }
  const [program = "", ...words] = rest;
  if (program === "for" && words[1] === "in") {
    shell.variables.set(
      words[0]!,
      words.slice(2).flatMap((word) => expand(word, shell)),
    );
    return [];
  }
  const args = words.flatMap((word) => expand(word, shell));
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name === "cd" || name === "pushd") {
    shell.cwd = absolute(args.find((arg) => !arg.startsWith("-")) ?? "", shell.cwd);
    return [];
  }
  if (WHOLE.test(name)) return showWhole(name, args, input, shell);
  if (name === "head" || name === "tail") return showEnd(name, args, input, shell);
  if (name === "sed") return showSed(args, input, shell);
  if (name === "awk" || name === "gawk" || name === "mawk") return showAwk(args, input, shell);
  if (name === "git") return showGit(args, shell);
  if (/^(?:[ef]?grep|rg|ag)$/.test(name)) return showGrep(args, input, shell);
  return ["unknown"];
}

function showWhole(name: string, args: readonly string[], input: readonly Segment[], shell: Shell): Segment[] {
  if (name === "tee") return [...input];
  const at = args.findIndex((arg) => /^(?:-r|--line-range)/.test(arg));
  if (name.startsWith("bat") && at !== -1) {
    const isJoined = /^(?:-r.|--line-range=)/.test(args[at]!);
    const range = isJoined ? args[at]!.replace(/^(?:-r|--line-range=)/, "") : (args[at + 1] ?? "");
    const files = args.filter((_, index) => index !== at && (isJoined || index !== at + 1));
    const [from = "", to = ""] = range.includes(":") ? splitOnce(range, ":") : [range, range];
    if (!/^\d*$/.test(from) || !/^\+?\d*$/.test(to)) return ["unknown"];
    const first = Number(from || 1);
    const last = to === "" ? Number.POSITIVE_INFINITY : to.startsWith("+") ? first + Number(to) : Number(to);
    return pages(files, input, shell).flatMap((page) => take(page, first, last));
  }
  return pages(args, input, shell).flat();
}

function showEnd(name: "head" | "tail", args: readonly string[], input: readonly Segment[], shell: Shell): Segment[] {
  let count = "10";
  const files: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    const joined = /^(?:-n|--lines=|-)([+-]?\d+)$/.exec(arg)?.[1];
    if (joined !== undefined) count = joined;
    else if (arg === "-n" || arg === "--lines") count = args[++at] ?? "";
    // A byte count says nothing about lines.
    else if (/^(?:-c|--bytes)/.test(arg)) return ["unknown"];
    else files.push(arg);
  }
  if (!/^[+-]?\d+$/.test(count)) return ["unknown"];
  const size = Math.abs(Number(count));
  return pages(files, input, shell).flatMap((page) => {
    if (name === "head" && !count.startsWith("-")) return take(page, 1, size);
    if (name === "head") return page.includes("unknown") ? ["unknown"] : take(page, 1, lengthOf(page) - size);
    return count.startsWith("+") ? take(page, size, Number.POSITIVE_INFINITY) : takeLast(page, size);
  });
}

function showSed(args: readonly string[], input: readonly Segment[], shell: Shell): Segment[] {
  const flags = args.filter((arg) => /^-[nErsu]+$/.test(arg)).join("");
  if (args.some((arg) => /^(?:-[a-zA-Z]*i|--in-place)/.test(arg))) return ["unknown"];
  const scripts: string[] = [];
  const files: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (/^-[nErsu]*e$/.test(arg)) scripts.push(args[++at] ?? "");
    else if (/^--?[a-zA-Z]/.test(arg)) continue;
    else files.push(arg);
  }
  const isQuiet = /n/.test(flags) || args.some((arg) => /^(?:--quiet|--silent|-[Ersu]*n[Ersu]*e)$/.test(arg));
  if (scripts.length === 0) scripts.push(files.shift() ?? "");
  const steps = scripts
    .flatMap((script) => script.split(/[;\n]/))
    .map((step) => step.trim())
    .filter(Boolean);
  const stream = pages(files, input, shell).flat();
  if (isQuiet) return steps.flatMap((step) => sedRange(stream, step));
  const [step = ""] = steps;
  if (steps.length === 0 || steps.every((each) => each.startsWith("s"))) return stream;
  if (steps.length > 1) return ["unknown"];
  const quit = /^(\d+)\s*q$/.exec(step)?.[1];
  if (quit !== undefined) return take(stream, 1, Number(quit));
  const cut = /^(\d+)\s*,\s*\$\s*d$/.exec(step)?.[1];
  return cut === undefined ? ["unknown"] : take(stream, 1, Number(cut) - 1);
}

/** `10,20p`, `10p`, `10,$p`, `10,+5p`, `$p`, `p`; `20q` prints nothing by itself. */
function sedRange(stream: readonly Segment[], step: string): Segment[] {
  if (/^p$/.test(step)) return [...stream];
  if (/^\$\s*p$/.test(step)) return takeLast(stream, 1);
  const match = /^(\d+)(?:\s*,\s*(\$|\+?\d+))?\s*p$/.exec(step);
  if (!match) return [];
  const from = Number(match[1]);
  const end = match[2];
  if (end === "$") return take(stream, from, Number.POSITIVE_INFINITY);
  return take(stream, from, end === undefined ? from : end.startsWith("+") ? from + Number(end) : Number(end));
}

/** `NR>=10 && NR<=20`, `NR==10,NR==20`, `1`, with or without `{print}`. */
function showAwk(args: readonly string[], input: readonly Segment[], shell: Shell): Segment[] {
  const [program = "", ...files] = args;
  const body = /\{[^{}]*\}\s*$/.exec(program)?.[0] ?? "";
  if (body !== "" && !/\{\s*print(?:f?\b[^{}]*\$0[^{}]*|\s*)\}/.test(body)) return ["unknown"];
  const condition = program.slice(0, program.length - body.length).replace(/\s+/g, "");
  const stream = pages(files, input, shell).flat();
  if (condition === "1" || (condition === "" && body !== "")) return stream;
  const both = /^NR(>=?)(\d+)&&NR(<=?)(\d+)$/.exec(condition) ?? /^NR(==)(\d+),NR(==)(\d+)$/.exec(condition);
  if (both)
    return take(stream, Number(both[2]) + (both[1] === ">" ? 1 : 0), Number(both[4]) - (both[3] === "<" ? 1 : 0));
  const one = /^(?:F?NR)(<=?|>=?|==)(\d+)$/.exec(condition);
  if (!one) return ["unknown"];
  const line = Number(one[2]);
  if (one[1] === "==") return take(stream, line, line);
  if (one[1]!.startsWith("<")) return take(stream, 1, one[1] === "<" ? line - 1 : line);
  return take(stream, one[1] === ">" ? line + 1 : line, Number.POSITIVE_INFINITY);
}

/** `git show REV:path`. The path is relative to the repository's root, which is unknown here, so the end of the path is compared. */
function showGit(args: readonly string[], shell: Shell): Segment[] {
  const at = args.findIndex((arg) => arg === "show" || arg === "cat-file");
  if (at === -1) return ["unknown"];
  return args.slice(at + 1).flatMap((arg): Segment[] => {
    const path = /^[^:]*:(?:\.\/)?(.+)$/.exec(arg)?.[1];
    if (path === undefined || arg.startsWith("-")) return [];
    const matches = shell.files.filter((file) => file.path.endsWith(`/${path}`));
    return matches.length === 1 ? [wholeOf(matches[0]!)] : ["unknown"];
  });
}

const MATCHES_ALL = /^(?:\^|\$|\.\*|\^\.\*\$?|\.)?$/;

/** Only if every line matches. */
function showGrep(args: readonly string[], input: readonly Segment[], shell: Shell): Segment[] {
  if (args.some((arg) => /^(?:-[a-zA-Z]*[clLqovr]|--(?:count|files|only|quiet|invert))/.test(arg))) return ["unknown"];
  const [pattern, ...files] = args.filter((arg) => !/^-./.test(arg));
  return pattern !== undefined && MATCHES_ALL.test(pattern) ? pages(files, input, shell).flat() : ["unknown"];
}

/** One list of segments per file. Without a file argument: the piped input. */
function pages(args: readonly string[], input: readonly Segment[], shell: Shell): Segment[][] {
  const names = args.filter((arg) => arg === "-" || !arg.startsWith("-"));
  if (names.length === 0) return [[...input]];
  return names.map((name): Segment[] => {
    if (name === "-") return [...input];
    const path = absolute(name, shell.cwd);
    if (!/[*?]/.test(name)) {
      const file = shell.files.find((candidate) => candidate.path === path);
      return [file ? wholeOf(file) : "unknown"];
    }
    const matching = shell.files.filter((file) => matchesGlob(file.path, path));
    return ["unknown", ...matching.map(wholeOf)];
  });
}

function wholeOf({ path, lineCount }: { path: string; lineCount: number }): PrintedLines {
  return { path, from: 1, to: lineCount };
}

/** Stops at the first segment of unknown length: lines after it cannot be counted. */
function take(stream: readonly Segment[], from: number, to: number): Segment[] {
  const taken: Segment[] = [];
  let before = 0;
  for (const segment of stream) {
    if (segment === "unknown") return [...taken, "unknown"];
    const length = segment.to - segment.from + 1;
    const first = Math.max(from - before, 1);
    const last = Math.min(to - before, length);
    if (first <= last) taken.push({ path: segment.path, from: segment.from + first - 1, to: segment.from + last - 1 });
    before += length;
  }
  return taken;
}

function takeLast(stream: readonly Segment[], count: number): Segment[] {
  const known = stream.slice(stream.lastIndexOf("unknown") + 1);
  const length = lengthOf(known);
  const taken = take(known, length - count + 1, length);
  return known.length < stream.length && count > length ? ["unknown", ...taken] : taken;
}

function lengthOf(stream: readonly Segment[]): number {
  return stream.reduce((sum, segment) => sum + (segment === "unknown" ? 0 : segment.to - segment.from + 1), 0);
}

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? joinPath(path, "") : joinPath(cwd, path);
}

const WORDS_MAX = 100;

/** Expands braces and variables set in the same line. An unknown variable stays as it is, and then matches no file. */
function expand(word: string, { variables }: Shell): string[] {
  let words = [word];
  for (let round = 0; round < 5; round++) {
    words = words.flatMap((each) => expandOnce(each, variables)).slice(0, WORDS_MAX);
  }
  return words;
}

function expandOnce(word: string, variables: ReadonlyMap<string, string[]>): string[] {
  const variable = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/.exec(word);
  const values = variable && variables.get(variable[1] ?? variable[2]!);
  if (variable && values) return values.map((value) => splice(word, variable, value));
  const braces = /(?<!\$)\{([^{}\s]*,[^{}\s]*)\}/.exec(word);
  return braces ? braces[1]!.split(",").map((value) => splice(word, braces, value)) : [word];
}

function splice(word: string, { index, 0: matched }: RegExpExecArray, value: string): string {
  return word.slice(0, index) + value + word.slice(index + matched.length);
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** `*` and `?` within a folder. Linear: on a mismatch, only the last star is retried. */
function matchesGlob(path: string, glob: string): boolean {
  let at = 0;
  let star = -1;
  let retry = 0;
  for (let index = 0; index < path.length; ) {
    const mark = glob[at];
    if (mark === "*") {
      star = at++;
      retry = index;
    } else if (mark === path[index] || (mark === "?" && path[index] !== "/")) {
      at++;
      index++;
    } else if (star !== -1 && path[retry] !== "/") {
      at = star + 1;
      index = ++retry;
    } else return false;
  }
  while (glob[at] === "*") at++;
  return at === glob.length;
}

// Which lines of the documents a search has shown. A line counts only if the output contains all of it, with or without line numbers.
// Lines that were cut or omitted for their length do not count.

export interface SearchOutput {
  tool: "search";
  /** The searched path as given in the call. Absent: the working folder. */
  path?: string;
  /** What the model saw. For one file: `12:text`, `12-text` next to a hit, or just the text. For a folder, the file's path comes first. */
  text: string;
}

export interface SearchedOptions {
  cwd: string;
  /** Absolute paths of the relevant files. */
  files: readonly { path: string }[];
  /** Undefined: the file cannot be read, so it is unknown what was seen of it. */
  textOf(path: string): string | undefined;
}

export function searchedLines(
  { path = "", text }: SearchOutput,
  { cwd, files, textOf }: SearchedOptions,
): PrintedLines[] {
  const searched = absolute(path, cwd);
  const shown = text === "" ? [] : linesOf(text).filter((line) => line !== BREAK);
  const only = files.filter((file) => file.path === searched);
  // In a search of a single file, lines come without its path.
  const within = only.length > 0 ? only : files;
  return within.flatMap((file) => {
    const own = only.length > 0 ? shown : shown.flatMap((line) => withoutPath(line, file.path, cwd) ?? []);
    const document = own.length === 0 ? undefined : textOf(file.path);
    const lines = document === undefined ? [] : findLines(own, linesOf(document));
    return lines.map((line) => ({ path: file.path, from: line, to: line }));
  });
}

/** Separates hits that are not adjacent. */
const BREAK = "--";

/** Matches by line number, else the next equal line below. Among equal lines any will do: each counts once. */
function findLines(shown: readonly string[], document: readonly string[]): number[] {
  const found: number[] = [];
  let above = 0;
  for (const line of shown) {
    const [prefix = "", number] = /^(\d{1,9})[:-]/.exec(line) ?? [];
    const isNumbered = number !== undefined && document[Number(number) - 1] === line.slice(prefix.length);
    const at = isNumbered ? Number(number) : document.indexOf(line, above) + 1;
    if (at === 0) continue;
    found.push(at);
    above = at;
  }
  return found;
}

/** Paths are relative to the working folder, or absolute if they are outside it. */
function withoutPath(line: string, path: string, cwd: string): string | undefined {
  const inside = path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
  const name = [inside, `./${inside}`, path].find(
    (each) => line.startsWith(each) && /[:-]/.test(line[each.length] ?? ""),
  );
  return name === undefined ? undefined : line.slice(name.length + 1);
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}
