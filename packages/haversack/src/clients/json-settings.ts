/** A client's settings as JSON text: parses it, reads values by path, and removes containers that a removal left empty. */
import { HaversackError } from "../base/errors.ts";
import { isRecord, readJson, withoutComments } from "../base/json.ts";
import { hasCommentIn, type JsonPath, removeIn } from "./json-text.ts";

/** For the error message when the file cannot be used. */
export interface SettingsFile {
  file: string;
  /** What to do about it. Clients differ in what they accept. */
  hint: string;
  /** The client accepts comments in it. Default: false. */
  mayHaveComments?: boolean;
}

export interface Merged {
  text: string;
  /** What existed before and could be mistaken for ours or for leftovers. Removing ours leaves it alone. */
  keep: string[];
}

/** Settings as an object, or a fault that names the file. */
export function parseSettings(text: string, place: SettingsFile): Record<string, unknown> {
  const { value, problem } = readJson(place.mayHaveComments ? withoutComments(text) : text);
  if (problem !== undefined) throw wrongSettings(place, problem);
  if (!isRecord(value)) throw wrongSettings(place, "is not a JSON object");
  return value;
}

export function wrongSettings({ file, hint }: SettingsFile, text: string): HaversackError {
  return new HaversackError("config-invalid", `${file}: ${text}`, { hint });
}

/** The list at a path, or an empty list. Throws if the settings have another type on the way. */
export function listAt(settings: unknown, path: JsonPath, place: SettingsFile): unknown[] {
  for (let depth = 1; depth < path.length; depth++) {
    const value = valueAt(settings, path.slice(0, depth));
    if (value === undefined) return [];
    if (!isRecord(value)) throw wrongSettings(place, `${path.slice(0, depth).join(".")} must be an object`);
  }
  const value = valueAt(settings, path);
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongSettings(place, `${path.join(".")} must be a list`);
  return value;
}

/** Removes containers that our removal left empty, from the inside out. Stops at those listed in `keep`. */
export function prune(text: string, from: JsonPath, { keep }: { keep: readonly string[] }): string {
  let result = text;
  for (let path = from; path.length > 0; path = path.slice(0, -1)) {
    const value = valueAt(readJson(withoutComments(result)).value, path);
    // A group without hooks has no effect, whatever its matcher.
    const isGroup = path.length === 3 && path[0] === "hooks" && listOf(objectOf(value)["hooks"]).length === 0;
    if (keep.includes(pointer(path)) || (!isEmpty(value) && !isGroup)) return result;
    // Keep a container with a comment: the comment is the user's.
    if (isEmpty(value) && hasCommentIn(result, path)) return result;
    result = removeIn(result, path);
  }
  return result;
}

/** Those of the paths that lead to an existing, empty container. */
export function emptyAmong(settings: unknown, paths: readonly JsonPath[]): string[] {
  return paths.filter((path) => isEmpty(valueAt(settings, path))).map(pointer);
}

export function pointer(path: JsonPath): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function valueAt(value: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (typeof key === "number") return listOf(inner)[key];
    const object = objectOf(inner);
    return Object.hasOwn(object, key) ? object[key] : undefined;
  }, value);
}

/** Ignores the order of keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  if (!isRecord(a) || !isRecord(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSame(a[key], b[key]));
}

export function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

export function objectOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
