/** `read`, `write` and `grep` for agents, confined to one folder. `read` also reads the files of skills, through their own guard. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { jsonSchema, type ToolSet } from "ai";
import { cutAt, readProjectText, stripControl } from "../base/clean-text.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { isRecord } from "../base/json.ts";
import { makeFolder, putFile } from "../base/safe-write.ts";
import { matchEach, type RunnablePattern } from "../skills/matching/run-patterns.ts";
import { compilePattern } from "../skills/rules/compile-pattern.ts";
import { isInside } from "../skills/skill-files.ts";
import type { SkillRegistry } from "./skill-registry.ts";

const MAX_READ_BYTES = 4_000_000;
const MAX_READ_LINES = 2_000;
const MAX_LINE_CHARS = 2_000;
const MAX_READ_CHARS = 50_000;
const MAX_GREP_FILES = 5_000;
const MAX_GREP_BYTES = 32_000_000;
const MAX_MATCHES = 100;
const MAX_SKIPPED_NAMES = 10;
/** How much of a line `grep` shows. */
const SHOWN_CHARS = 300;

/** `root`: absolute. No path and no link leads out of it. */
export function fileTools(root: string, skills: SkillRegistry): ToolSet {
  const place = (path: string): string => {
    const full = resolve(root, path);
    if (path.includes("\u0000") || !isInside(full, root))
      throw new Error(`${path} is outside ${root}, which this tool cannot leave`);
    return full;
  };
  const readInRoot = (path: string): string => {
    if (isFolderIn(place(path), root)) throw new Error(`${path || "."} is a folder; read needs a file`);
    const read = readProjectText(place(path), { root, maxBytes: MAX_READ_BYTES, mayLinkInside: true });
    if (!read) throw new Error(`there is no file ${path}`);
    if (read.text === undefined) throw new Error(`${path} ${read.problem}`);
    return read.text;
  };
  const readOfSkill = (path: string): string | undefined => {
    if (!isAbsolute(path)) return undefined;
    const full = resolve(path);
    const found = isInside(full, root) ? undefined : skills.resourceAt(full);
    if (!found) return undefined;
    const read = skills.readResource(found.skill, found.resource);
    if (read.kind === "text") return read.text;
    throw new Error(read.text);
  };
  const tools: ToolSet = {
    read: {
      description: `Reads a text file, with line numbers, at most ${MAX_READ_CHARS} characters at once. Paths are relative to ${root}; the files of skills are read by their absolute path.`,
      inputSchema: input<{ path: string; offset?: number; limit?: number }>(
        {
          path: { type: "string", description: "File to read" },
          offset: { type: "integer", minimum: 1, description: "First line (default: 1)" },
          limit: { type: "integer", minimum: 1, description: `Number of lines (default: ${MAX_READ_LINES})` },
        },
        ["path"],
      ),
      execute: async ({
        path,
        offset = 1,
        limit = MAX_READ_LINES,
      }: {
        path: string;
        offset?: number;
        limit?: number;
      }) => {
        const lines = stripControl(readOfSkill(path) ?? readInRoot(path)).split("\n");
        if (offset > lines.length) return `(${path} has ${lines.length} lines, so nothing is at offset ${offset})`;
        const shown: string[] = [];
        let chars = 0;
        for (const line of lines.slice(offset - 1, offset - 1 + Math.min(limit, MAX_READ_LINES))) {
          const numbered = `${offset + shown.length}\t${shortened(line)}`;
          chars += numbered.length + 1;
          if (chars > MAX_READ_CHARS) break;
          shown.push(numbered);
        }
        const rest = lines.length - (offset - 1 + shown.length);
        if (rest > 0) shown.push(`(${rest} more lines; continue with offset ${offset + shown.length})`);
        return shown.join("\n");
      },
    },
    write: {
      description: `Creates or replaces a text file below ${root}.`,
      inputSchema: input<{ path: string; content: string }>(
        {
          path: { type: "string", description: "File to write" },
          content: { type: "string", description: "The whole text of the file" },
        },
        ["path", "content"],
      ),
      execute: async ({ path, content }: { path: string; content: string }) => {
        const full = place(path);
        if (relative(root, full).split(sep).includes(".git")) throw new Error("files of .git are not written");
        const folder = resolve(full, "..");
        if (folder !== root) makeFolder(folder, { within: root });
        putFile(full, content, { within: root });
        return `Wrote ${content.length} characters to ${relative(root, full)}.`;
      },
    },
    grep: {
      description: `Searches the text files below ${root} for a regular expression (case-insensitive). Returns file:line: text.`,
      inputSchema: input<{ pattern: string; path?: string }>(
        {
          pattern: { type: "string", description: "Regular expression" },
          path: { type: "string", description: "Folder or file to search (default: all)" },
        },
        ["pattern"],
      ),
      execute: async ({ pattern, path = "." }: { pattern: string; path?: string }, { abortSignal }) =>
        grep(pattern, { start: place(path), root, signal: abortSignal }),
    },
  } as ToolSet;
  READERS.add(tools["read"]!);
  return tools;
}

const READERS = new WeakSet<object>();

/** Whether a tool is our `read`, which also reads the files of skills. People have other tools of that name. */
export function readsSkills(tool: object | undefined): boolean {
  return tool !== undefined && READERS.has(tool);
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const cut = cutAt(line, MAX_LINE_CHARS);
  return `${cut}… (the first ${cut.length} of ${line.length} characters of this line; grep shows the part around a match)`;
}

/** False for a link that leads out of the root: its target must not be visible. */
function isFolderIn(path: string, root: string): boolean {
  try {
    const real = diskFileSystem.realpath(path);
    return isInside(real, diskFileSystem.realpath(root)) && diskFileSystem.stat(real).kind === "folder";
  } catch {
    return false;
  }
}

async function grep(
  pattern: string,
  { start, root, signal }: { start: string; root: string; signal: AbortSignal | undefined },
): Promise<string> {
  const compiled = compilePattern(pattern);
  if ("problem" in compiled) throw new Error(`${pattern}: ${compiled.problem}`);
  const found: string[] = [];
  const skipped: string[] = [];
  const skip = (path: string, problem: string) => void skipped.push(`${relative(root, path)} ${problem}`);
  let files = 0;
  for (const file of filesBelow(start, { root, skip })) {
    signal?.throwIfAborted();
    if (++files > MAX_GREP_FILES) {
      found.push(`(stopped after ${MAX_GREP_FILES} files; name a folder)`);
      break;
    }
    // Lets other conversations of the process continue.
    if (files % 20 === 0) await breathe();
    const read = readProjectText(file, { root, maxBytes: MAX_GREP_BYTES, mayLinkInside: true });
    if (!read) continue;
    if (read.text === undefined) {
      skip(file, read.problem);
      continue;
    }
    if (read.text.slice(0, 4_096).includes("\u0000")) continue;
    for await (const { line, text } of matchingLines(read.text, compiled, signal)) {
      found.push(`${relative(root, file)}:${line}: ${text}`);
      if (found.length >= MAX_MATCHES) break;
    }
    if (found.length >= MAX_MATCHES) {
      found.push(`(stopped after ${MAX_MATCHES} lines; use a narrower pattern)`);
      break;
    }
  }
  if (found.length === 0) found.push(`No line matches ${pattern}.`);
  if (skipped.length > 0) {
    const more = skipped.length > MAX_SKIPPED_NAMES ? `; and ${skipped.length - MAX_SKIPPED_NAMES} more` : "";
    found.push(`(not searched: ${skipped.slice(0, MAX_SKIPPED_NAMES).join("; ")}${more})`);
  }
  return found.join("\n");
}

/** A pattern runs on texts of at most this length; see `run-patterns.ts`. */
const PIECE_CHARS = 20_000;
const PIECE_OVERLAP = 1_000;
/** How much text is searched before other conversations get their turn. */
const BATCH_CHARS = 1_000_000;

async function* matchingLines(
  text: string,
  pattern: RunnablePattern,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ line: number; text: string }> {
  const lines = text.split("\n");
  for (let next = 0; next < lines.length; ) {
    const pieces: { line: number; text: string }[] = [];
    for (let chars = 0; next < lines.length && chars < BATCH_CHARS; next++) {
      const line = lines[next]!;
      chars += line.length + 1;
      for (const { piece } of piecesOf(line, PIECE_CHARS, PIECE_OVERLAP)) pieces.push({ line: next + 1, text: piece });
    }
    let last = 0;
    for (const at of matches(
      pattern,
      pieces.map((piece) => piece.text),
    )) {
      const { line, text: piece } = pieces[at]!;
      if (line !== last) yield { line, text: stripControl(aroundMatch(piece, pattern)) };
      last = line;
    }
    if (next < lines.length) await breathe();
    signal?.throwIfAborted();
  }
}

/** The indexes of the texts that match. The pattern comes from the model, so it runs under a time limit. */
function matches(pattern: RunnablePattern, texts: readonly string[]): number[] {
  const { pairs, slow, skipped } = matchEach([pattern], texts, { budgetMs: 500 });
  if (slow.length > 0 || skipped.length > 0) throw new Error(`${pattern.source} takes too long; use a simpler one`);
  return pairs.map(([, at]) => at);
}

/** The part of a long line that the pattern matches, with marks where it was cut. */
function aroundMatch(line: string, pattern: RunnablePattern): string {
  const whole = line.trim();
  if (whole.length <= SHOWN_CHARS) return whole;
  const parts = [...piecesOf(whole, SHOWN_CHARS, SHOWN_CHARS / 2)];
  const [at = 0] = matches(
    pattern,
    parts.map(({ piece }) => piece),
  );
  const { piece, from } = parts[at]!;
  return `${from > 0 ? "…" : ""}${piece}${from + piece.length < whole.length ? "…" : ""}`;
}

/** A text in pieces that overlap, so that a short match is whole in one of them. */
function* piecesOf(text: string, chars: number, overlap: number): Generator<{ piece: string; from: number }> {
  for (let from = 0; ; from += chars - overlap) {
    yield { piece: text.slice(from, from + chars), from };
    if (from + chars >= text.length) return;
  }
}

/** Without hidden folders and node_modules. Links are not followed. */
function* filesBelow(
  start: string,
  { root, skip }: { root: string; skip: (path: string, problem: string) => void },
): Generator<string> {
  const isTop = (path: string) => path === start;
  const walk = function* (folder: string): Generator<string> {
    let entries: ReturnType<typeof diskFileSystem.readDir>;
    try {
      entries = diskFileSystem.readDir(folder);
    } catch (error) {
      if (isTop(folder)) throw error;
      skip(folder, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
      return;
    }
    for (const { name, kind } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (kind === "file") yield join(folder, name);
      else if (kind === "folder" && !name.startsWith(".") && name !== "node_modules") yield* walk(join(folder, name));
    }
  };
  let kind: string;
  try {
    kind = diskFileSystem.stat(start).kind;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    throw new Error(`there is no file or folder ${relative(root, start)}`);
  }
  if (!isInside(diskFileSystem.realpath(start), diskFileSystem.realpath(root)))
    throw new Error(`${relative(root, start)} is a symbolic link that leads out of ${root}`);
  if (kind === "file") yield start;
  else yield* walk(start);
}

/** A schema that also checks: the AI SDK passes on what a bare JSON schema does not describe. */
export function input<Input>(
  properties: Record<string, { type: string; description: string; minimum?: number }>,
  required: string[],
) {
  return jsonSchema<Input>({ type: "object", properties, required, additionalProperties: false } as never, {
    validate: (value) => {
      const problem = inputProblem(value, properties, required);
      return problem ? { success: false, error: new TypeError(problem) } : { success: true, value: value as Input };
    },
  });
}

function inputProblem(
  value: unknown,
  properties: Record<string, { type: string; minimum?: number }>,
  required: string[],
): string | undefined {
  if (!isRecord(value)) return `expected an object with ${required.join(", ")}`;
  const missing = required.find((key) => value[key] === undefined);
  if (missing) return `\`${missing}\` is missing`;
  for (const [key, { type, minimum }] of Object.entries(properties)) {
    const given = value[key];
    if (given === undefined) continue;
    const isRight = type === "integer" ? Number.isInteger(given) : typeof given === type;
    if (!isRight) return `\`${key}\` must be a ${type}`;
    if (minimum !== undefined && (given as number) < minimum) return `\`${key}\` must be at least ${minimum}`;
  }
  return undefined;
}
