/** A client's settings as JSON text: read into an object, looked into by path, and cleaned of what a removal left empty. */
import { HaversackError } from "../base/errors.ts";
import { readJson, withoutComments } from "../base/json.ts";
import { hasCommentIn, type JsonPath, removeIn } from "./claude-code/settings-text.ts";

/** What a person reads when the file cannot be used. */
export interface SettingsFile {
  file: string;
  /** What to do about it; clients differ in what they accept. */
  hint: string;
  /** The client accepts comments in it. Default: false. */
  mayHaveComments?: boolean;
}

export interface Merged {
  text: string;
  /** What was there before us and looks like ours or would look left over: taking ours out lets it be. */
  keep: string[];
}

/** Settings as an object, or a fault that names the file. */
export function parseSettings(text: string, place: SettingsFile): Record<string, unknown> {
  const { value, problem } = readJson(place.mayHaveComments ? withoutComments(text) : text);
  if (problem !== undefined) throw wrongSettings(place, problem);
  if (!isObject(value)) throw wrongSettings(place, "is no JSON object");
  return value;
}

export function wrongSettings({ file, hint }: SettingsFile, text: string): HaversackError {
  return new HaversackError("config-invalid", `${file}: ${text}`, { hint });
}

/** The list at a path, empty when there is none; a fault where the settings have something else on the way. */
export function listAt(settings: unknown, path: JsonPath, place: SettingsFile): unknown[] {
  for (let depth = 1; depth < path.length; depth++) {
    const value = valueAt(settings, path.slice(0, depth));
    if (value === undefined) return [];
    if (!isObject(value)) throw wrongSettings(place, `${path.slice(0, depth).join(".")} must be an object`);
  }
  const value = valueAt(settings, path);
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongSettings(place, `${path.join(".")} must be a list`);
  return value;
}

/** Takes out what our removal left empty, from the inside out, up to what was empty or there before. */
export function prune(text: string, from: JsonPath, { keep }: { keep: readonly string[] }): string {
  let result = text;
  for (let path = from; path.length > 0; path = path.slice(0, -1)) {
    const value = valueAt(readJson(withoutComments(result)).value, path);
    // A group whose hooks are gone is nothing, whatever its matcher.
    const isGroup = path.length === 3 && path[0] === "hooks" && listOf(objectOf(value)["hooks"]).length === 0;
    if (keep.includes(pointer(path)) || (!isEmpty(value) && !isGroup)) return result;
    // What a person has noted there is theirs.
    if (isEmpty(value) && hasCommentIn(result, path)) return result;
    result = removeIn(result, path);
  }
  return result;
}

/** Of these, the containers that are there and empty. */
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

/** Whatever the order of keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSame(a[key], b[key]));
}

export function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

export function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
