/**
 * Merges a patch into a WIP, with a rule per field. Nothing is lost silently: `changes` lists every value that was replaced, removed,
 * settled or dropped by a limit. The arguments are not modified.
 *
 * - First `$place`: files of another worktree get absolute paths. Then `$settled`: removes what is settled.
 * - `null` removes a field, also inside objects.
 * - Arrays are combined: repeated elements move to the end, so the newest come last. `errors` keep the newest 10, every
 *   other list the newest 200. A file is known by its path, a decision by its text, an error by type, file and message.
 * - `test_results` and `plan` are replaced as a whole: mixing an old and a new run would be wrong.
 * - Other objects are merged deeply; everything else replaces.
 * - A patch older than the WIP (a call reported late) settles nothing and does not replace newer test results.
 *
 * Applying the same patch again changes nothing. Merging is associative for patches without `null`, `$settled` and single plan tasks,
 * as long as no field changes its type.
 */
import { completePlan } from "../plan/plan-position.ts";
import { isOutside } from "../project-path.ts";
import type { Settled, Wip, WipPatch, WipPlace } from "./wip.ts";

export interface WipChange {
  /** `test_results`, `decisions[JWT over sessions].reason` */
  path: string;
  before: unknown;
  /** `null`: the value was removed. */
  after: unknown;
}

export interface WipMerge {
  /** The same object as before if nothing changed: then nothing needs to be written. */
  wip: Wip;
  /** Additions are not listed. */
  changes: WipChange[];
}

const ERRORS_MAX = 10;
const LIST_MAX = 200;
const WHOLE = new Set(["test_results", "plan"]);
const LISTS = new Set(["files_modified", "uncommitted_files", "decisions", "errors"]);
/** Internal fields, and names that are unsafe to assign: `__proto__` would change the object's prototype. */
const RESERVED = new Set(["$settled", "$place", "updated_at", "__proto__"]);

export function mergeWip(current: Wip, patch: WipPatch, { at }: { at: Date }): WipMerge {
  const changes: WipChange[] = [];
  const wip: Fields = { ...current };
  const time = at.toISOString();
  if (isObject(patch.$place)) moveTo(wip, patch.$place, changes);
  const isLate = current.updated_at !== undefined && time < current.updated_at;
  if (isObject(patch.$settled) && !isLate) settle(wip, patch.$settled, changes);
  for (const [field, value] of Object.entries(completePlan(current.plan, patch))) {
    if (RESERVED.has(field) || value === undefined) continue;
    const before = own(wip, field);
    if (value === null) remove(wip, field, { path: field, changes });
    else if (WHOLE.has(field) && isObject(value)) {
      if (isLate && field === "test_results" && isObject(before) && String(before["at"]) > time) continue;
      const after = field === "test_results" ? { at: time, ...value } : value;
      if (before !== undefined && keyOf(withoutTime(before)) !== keyOf(withoutTime(after))) {
        changes.push({ path: field, before, after });
      }
      wip[field] = after;
    } else if (LISTS.has(field)) {
      const added = asList(value).map((element) => asElement(field, element));
      if (field === "errors") for (const error of added) if (isObject(error)) error["at"] ??= time;
      const known = before === undefined ? [] : asList(before).map((element) => asElement(field, element));
      wip[field] = unite(known, added, { path: field, changes });
    } else wip[field] = mergeValue(before, value, { path: field, changes });
  }
  if (keyOf(wip) === keyOf(current)) return { wip: current, changes: [] };
  return { wip: { ...wip, updated_at: time }, changes };
}

type Fields = Record<string, unknown>;
interface Place {
  path: string;
  changes: WipChange[];
}

function mergeValue(before: unknown, value: unknown, { path, changes }: Place): unknown {
  if (Array.isArray(value)) {
    if (before === undefined || Array.isArray(before)) return unite(before ?? [], value, { path, changes });
  } else if (isObject(value)) {
    const isMerge = isObject(before) && !Array.isArray(before);
    if (before !== undefined && !isMerge) changes.push({ path, before, after: value });
    const merged: Fields = isMerge ? { ...before } : {};
    for (const [field, inner] of Object.entries(value)) {
      const place = { path: `${path}.${field}`, changes };
      if (field === "__proto__" || inner === undefined) continue;
      if (inner === null) remove(merged, field, place);
      else merged[field] = mergeValue(own(merged, field), inner, place);
    }
    return merged;
  }
  if (before !== undefined && keyOf(before) !== keyOf(value)) changes.push({ path, before, after: value });
  return value;
}

function remove(fields: Fields, field: string, { path, changes }: Place): void {
  const before = own(fields, field);
  if (before !== undefined) changes.push({ path, before, after: null });
  delete fields[field];
}

/** Joins both lists. Keeps the last of equal elements, and only the newest up to the limit. */
function unite(known: readonly unknown[], added: readonly unknown[], { path, changes }: Place): unknown[] {
  const byKey = new Map<string, unknown>();
  for (const element of [...known, ...added]) {
    const key = elementKey(path, element);
    const before = byKey.get(key);
    byKey.delete(key);
    // A decision repeated without a reason keeps its reason.
    if (path === "decisions" && before !== undefined) {
      byKey.set(key, mergeValue(before, element, { path: `decisions[${key}]`, changes }));
    } else byKey.set(key, element);
  }
  const elements = [...byKey.values()];
  const kept = elements.slice(-(path === "errors" ? ERRORS_MAX : LIST_MAX));
  for (const before of elements.slice(0, elements.length - kept.length)) changes.push({ path, before, after: null });
  return kept;
}

function elementKey(path: string, element: unknown): string {
  if (path === "decisions" && isObject(element)) return String(element["decision"]);
  if (path === "errors" && isObject(element)) return keyOf([element["type"], element["file"], element["message"]]);
  return keyOf(element);
}

/** Agents also write decisions and errors as plain text. */
function asElement(field: string, element: unknown): unknown {
  if (typeof element !== "string") return isObject(element) ? { ...element } : element;
  if (field === "decisions") return { decision: element };
  return field === "errors" ? { type: "other", message: element } : element;
}

/** Makes paths relative to the worktree that the work is in now. */
function moveTo(wip: Fields, { root, worktree = root }: WipPlace, changes: WipChange[]): void {
  if (typeof root !== "string" || typeof worktree !== "string") return;
  const before = typeof wip["worktree"] === "string" ? wip["worktree"] : root;
  const isMoved = before !== worktree;
  for (const field of ["files_modified", "uncommitted_files"]) {
    const files = own(wip, field);
    if (!Array.isArray(files)) continue;
    const placed = files.map((file: unknown) => {
      if (typeof file !== "string") return file;
      if (file.startsWith(`${worktree}/`)) return file.slice(worktree.length + 1);
      return isMoved && !isOutside(file) ? `${before}/${file}` : file;
    });
    if (placed.some((file, at) => file !== files[at])) wip[field] = [...new Set(placed)];
  }
  const after = worktree === root ? undefined : worktree;
  if (isMoved && wip["worktree"] !== undefined) changes.push({ path: "worktree", before, after: after ?? null });
  if (after !== undefined) wip["worktree"] = after;
  else delete wip["worktree"];
}

function settle(wip: Fields, { errors, files }: Settled, changes: WipChange[]): void {
  const drop = (field: string, isOver: (element: unknown) => boolean): boolean => {
    const list = wip[field];
    if (!Array.isArray(list)) return false;
    const left = list.filter((element) => !isOver(element));
    if (left.length === list.length) return false;
    for (const before of list.filter(isOver)) changes.push({ path: field, before, after: null });
    wip[field] = left;
    return left.length === 0;
  };
  if (Array.isArray(errors)) {
    drop("errors", (error) => isObject(error) && errors.some((wanted) => isObject(wanted) && hasAll(error, wanted)));
  }
  if (files !== "all" && !Array.isArray(files)) return;
  const isEmpty = drop(
    "uncommitted_files",
    (file) => files === "all" || files.some((path) => file === path || String(file).startsWith(`${path}/`)),
  );
  if ((isEmpty || files === "all") && wip["uncommitted_changes"] !== false) {
    if (wip["uncommitted_changes"]) changes.push({ path: "uncommitted_changes", before: true, after: false });
    wip["uncommitted_changes"] = false;
  }
}

function hasAll(error: Fields, wanted: Fields): boolean {
  const entries = Object.entries(wanted);
  return entries.length > 0 && entries.every(([field, value]) => error[field] === value);
}

/** Agents choose field names: `toString` may be a field, not the inherited method. */
function own(fields: Fields, field: string): unknown {
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function withoutTime(value: unknown): unknown {
  return isObject(value) ? { ...value, at: undefined } : value;
}

/** Equal for equal values, regardless of field order. */
function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
