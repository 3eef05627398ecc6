/**
 * Which lines of the documents a search has shown. A line counts when the output has the whole of it: so a line that was cut or left out
 * for its length, and a part of a line, are none, and it does not matter whether the output has line numbers. Loaded by the hook.
 */
import { isAbsolute, joinPath } from "./feature-meta.ts";

export interface SearchOutput {
  tool: "search";
  /** What was searched, as the call names it; absent: the working folder. */
  path?: string;
  /** What the model saw. Of one file `12:text`, `12-text` beside a hit, or the bare text; of a folder the file's path before that. */
  text: string;
}

export interface SearchedOptions {
  cwd: string;
  /** Absolute paths of the files that matter. */
  files: readonly { path: string }[];
  /** Undefined: it cannot be read, and then nobody can say what was seen of it. */
  textOf(path: string): string | undefined;
}

export function searchedLines(
  { path = "", text }: SearchOutput,
  { cwd, files, textOf }: SearchedOptions,
): { path: string; line: number }[] {
  const searched = absolute(path, cwd);
  const shown = text === "" ? [] : linesOf(text).filter((line) => line !== BREAK);
  const only = files.filter((file) => file.path === searched);
  // Of a single file the lines come without its path.
  const within = only.length > 0 ? only : files;
  return within.flatMap((file) => {
    const own = only.length > 0 ? shown : shown.flatMap((line) => withoutPath(line, file.path, cwd) ?? []);
    const document = own.length === 0 ? undefined : textOf(file.path);
    return document === undefined ? [] : findLines(own, linesOf(document)).map((line) => ({ path: file.path, line }));
  });
}

/** Between hits that are apart. */
const BREAK = "--";

/** By its number; else the next line below that is the same. Of equal lines any is as good: each is counted once. */
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

/** Paths are shown from the working folder on, and whole where they are outside of it. */
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

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? joinPath(path, "") : joinPath(cwd, path);
}
