/**
 * Which role must read which documents. Roles are grouped in sets, one per phase of the work. Read from `artifacts.json`; the roles of
 * the shipped presets are in presets/.
 */

import { cleanLine } from "../base/clean-text.ts";
import { isRecord } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import { ANSWER_FORMATS } from "./answer-formats.ts";

/**
 * phase: reviews documents, so no implementation files are listed. code: reviews or fixes changed files. task: works on one task, with
 * sections of the documents inline.
 */
export const DISPATCHES = ["phase", "code", "task"] as const;
export type Dispatch = (typeof DISPATCHES)[number];

export interface RoleMap {
  documents: ArtifactDocument[];
  sets: RoleSet[];
}

export interface ArtifactDocument {
  /** File name in the feature's folder: `spec.md`. */
  file: string;
  /** Name in prompts: `Spec`. */
  name: string;
  /** Also looked for in the brainstorm. If there is none, a sentence says so. */
  isPrd: boolean;
}

export interface RoleSet {
  name: string;
  dispatch: Dispatch;
  /** The default documents of a role, and the baseline for measuring pruning. */
  documents: string[];
  roles: Role[];
}

export interface Role {
  name: string;
  /** Files in listing order, including the one under review and those shown only as sections. */
  documents: string[];
  /** Documents of the set that this role does not need. */
  pruned: string[];
  /** The prompt contains this document in full. */
  underReview?: string;
  /** By file: sections that the prompt contains instead of a reference. `task`: the sections that the task names. */
  sections: Record<string, string[]>;
  /** A file with the role's instructions, relative to artifacts.json. Absent: the shipped text. */
  rubric?: string;
  model?: string;
  /** The client's sub-agent type. */
  agentType?: string;
  /** Name of a shipped answer format, or an example of the expected JSON. */
  answer: string | Record<string, unknown>;
  /** Title of the dispatch. Absent: made from the names. */
  description?: string;
}

/** In `sections`: the sections that the task names as its origin. */
export const TASK_SECTION = "task";

export type FoundRole =
  | { kind: "found"; role: Role; set: RoleSet }
  /** Several sets have that role: the caller must name a phase. */
  | { kind: "ambiguous"; phases: string[] }
  | { kind: "unknown-role"; nearest: string[] }
  | { kind: "unknown-phase"; nearest: string[] };

/** Finds a role by name, or by sub-agent type as clients report it (`iflow:spec-reviewer`). */
export function findRole(
  { sets }: RoleMap,
  name: string,
  { phase, hasTask = false }: { phase?: string | undefined; hasTask?: boolean } = {},
): FoundRole {
  const wanted = name.trim();
  const all = sets.flatMap((set) => {
    const role =
      set.roles.find((candidate) => candidate.name === wanted) ??
      set.roles.find((candidate) => candidate.agentType === wanted);
    return role ? [{ kind: "found" as const, role, set }] : [];
  });
  if (all.length === 0) {
    const names = sets.flatMap((set) => set.roles.map((role) => role.name));
    return { kind: "unknown-role", nearest: nearest(wanted, names) };
  }
  if (phase !== undefined) {
    // Phases are often named after their command's file.
    const plain = phase.trim().replace(/\.md$/, "");
    const inPhase = all.find(({ set }) => set.name === plain);
    const phases = all.map(({ set }) => set.name);
    return (
      inPhase ?? { kind: "unknown-phase", nearest: nearest(plain, phases).length ? nearest(plain, phases) : phases }
    );
  }
  // With a task, choose the role that works on one task. Without, choose the role of the same name that fixes review findings.
  const fitting = all.length === 1 ? all : all.filter(({ set }) => (set.dispatch === "task") === hasTask);
  return fitting.length === 1 ? fitting[0]! : { kind: "ambiguous", phases: all.map(({ set }) => set.name) };
}

/** Documents that the role reads itself, because the prompt does not contain them. */
export function referencedDocuments({ documents, underReview, sections }: Role): string[] {
  return documents.filter((file) => file !== underReview && !Object.hasOwn(sections, file));
}

export interface MapFinding {
  level: "error" | "warning" | "suggestion";
  /** The path of the value in artifacts.json. */
  path: string;
  text: string;
}

/** `existing`: documents in a feature's folder. Those that no role reads are reported. */
export function checkRoleMap(map: RoleMap, { existing = [] }: { existing?: readonly string[] } = {}): MapFinding[] {
  const findings: MapFinding[] = [];
  const find = (level: MapFinding["level"], path: string, text: string) => findings.push({ level, path, text });
  if (map.sets.length === 0) find("error", "sets", "there are no sets, so no roles");
  for (const { name, roles, dispatch } of map.sets) {
    const path = `sets.${name}.roles`;
    if (roles.length === 0) find("warning", path, "the set has no roles");
    for (const { name: role, documents, underReview } of roles) {
      const [none, unnamed] = [documents.length === 0, dispatch === "phase" && underReview === undefined];
      if (none) find("error", `${path}.${role}.documents`, NO_DOCUMENTS);
      else if (unnamed) find("warning", `${path}.${role}.underReview`, NONE_UNDER_REVIEW);
    }
  }
  const read = new Set(map.sets.flatMap(({ roles }) => roles.flatMap(({ documents }) => documents)));
  const declared = map.documents.map(({ file }) => file);
  const isUnknown = (file: string) => !read.has(file) && !declared.includes(file);
  for (const file of declared) if (!read.has(file)) find("warning", `documents.${file}`, "no role reads this document");
  for (const { name, documents } of map.sets)
    for (const file of documents.filter(isUnknown)) find("warning", `sets.${name}.documents`, `no role reads ${file}`);
  for (const file of existing)
    if (isUnknown(file) && /\.md$/i.test(file))
      find("suggestion", "documents", `${file} is in the feature's folder and no role reads it`);
  return findings;
}

const NO_DOCUMENTS = "the role has no documents: give it some, or remove it from the map";
const NONE_UNDER_REVIEW = "a role of a phase reviews a document, but none is named as under review";

// Reads `artifacts.json`, given as parsed JSON. Never throws: an invalid value becomes a problem with the path of its key, and the rest
// is used. `extends` names a preset as base. A set or role of the same name then changes only the given keys, and `null` removes it.

/** The format of artifacts.json. */
export interface RoleMapFile {
  $schema?: string;
  extends?: string;
  documents?: Record<string, { name?: string; prd?: boolean } | null>;
  sets: Record<string, RoleSetFile | null>;
}

export interface RoleSetFile {
  dispatch?: Dispatch;
  documents?: readonly string[];
  roles: Record<string, RoleFile | null>;
}

export interface RoleFile extends Partial<Pick<Role, (typeof TEXT_KEYS)[number] | "answer">> {
  documents?: readonly string[];
  /** Documents of the set that this role does not need. */
  prune?: readonly string[];
  sections?: Record<string, string | readonly string[]>;
}

const FILE_KEYS = ["$schema", "extends", "documents", "sets"];
const DOCUMENT_KEYS = ["name", "prd"];
const SET_KEYS = ["dispatch", "documents", "roles"];
const TEXT_KEYS = ["underReview", "rubric", "model", "agentType", "description"] as const;
const ROLE_KEYS = ["documents", "prune", "sections", "answer", ...TEXT_KEYS];
const NAME_MAX_CHARS = 100;

type Json = Record<string, unknown>;

export function readRoleMap(
  value: unknown,
  { presets = {} }: { presets?: Readonly<Record<string, RoleMapFile>> } = {},
): { map: RoleMap; problems: MapFinding[] } {
  const reader = new Reader();
  let file = reader.object(value, "") ?? {};
  reader.knownKeys(file, FILE_KEYS, "");
  const base = file["extends"];
  if (base !== undefined) {
    if (typeof base === "string" && Object.hasOwn(presets, base)) {
      file = overlay(presets[base] as unknown as Json, file, ROLE_DEPTH);
    } else {
      const names = Object.keys(presets);
      const guess = nearest(String(base), names)[0];
      reader.wrong(
        "extends",
        `names no preset; there ${names.length === 1 ? "is" : "are"} ${names.join(", ")}${didYouMean(guess)}`,
      );
    }
  }
  const documents = reader.documents(file["documents"]);
  const sets = Object.entries(reader.object(file["sets"] ?? {}, "sets") ?? {}).flatMap(([name, entry]) =>
    entry === null ? [] : (reader.set(name, entry) ?? []),
  );
  for (const { roles } of sets) {
    for (const { documents: read } of roles) {
      for (const path of read) if (!documents.some((known) => known.file === path)) documents.push(documentOf(path));
    }
  }
  return { map: { documents, sets }, problems: reader.problems };
}

class Reader {
  readonly problems: MapFinding[] = [];

  wrong(path: string, text: string): undefined {
    this.problems.push({ level: "error", path: cleanLine(path, { maxChars: 300 }), text });
    return undefined;
  }

  object(value: unknown, path: string): Json | undefined {
    if (isRecord(value)) return value;
    return this.wrong(path, `must be an object, but is ${describe(value)}`);
  }

  text(value: unknown, path: string): string | undefined {
    if (typeof value !== "string" || value.trim() === "")
      return this.wrong(path, `must be a text, but is ${describe(value)}`);
    return cleanLine(value, { maxChars: 500 });
  }

  knownKeys(value: Json, known: readonly string[], path: string): void {
    for (const key of Object.keys(value)) {
      if (known.includes(key) || key.startsWith("//")) continue;
      const text = `is not a key of artifacts.json, so it is ignored${didYouMean(nearest(key, known)[0])}`;
      const at = path === "" ? key : `${path}.${key}`;
      this.problems.push({ level: "warning", path: cleanLine(at, { maxChars: 300 }), text });
    }
  }

  documents(value: unknown): ArtifactDocument[] {
    if (value === undefined) return [];
    return Object.entries(this.object(value, "documents") ?? {}).flatMap(([key, entry]) => {
      const path = `documents.${key}`;
      const file = this.file(key, path);
      if (file === undefined || entry === null) return [];
      const object = this.object(entry, path) ?? {};
      this.knownKeys(object, DOCUMENT_KEYS, path);
      const document = documentOf(file);
      const { name, prd } = object;
      if (name !== undefined) document.name = this.text(name, `${path}.name`) ?? document.name;
      if (typeof prd === "boolean") document.isPrd = prd;
      else if (prd !== undefined) this.wrong(`${path}.prd`, `must be true or false, but is ${describe(prd)}`);
      return [document];
    });
  }

  set(name: string, value: unknown): RoleSet | undefined {
    const path = `sets.${name}`;
    const entry = this.name(name, path) && this.object(value, path);
    if (!entry) return undefined;
    this.knownKeys(entry, SET_KEYS, path);
    const { dispatch = "phase" } = entry;
    if (!DISPATCHES.includes(dispatch as Dispatch)) {
      this.wrong(`${path}.dispatch`, `must be one of ${DISPATCHES.join(", ")}, but is ${describe(dispatch)}`);
    }
    const documents = this.files(entry["documents"] ?? [], `${path}.documents`);
    const roles = Object.entries(this.object(entry["roles"] ?? {}, `${path}.roles`) ?? {}).flatMap(([role, inner]) =>
      inner === null ? [] : (this.role(role, inner, { path: `${path}.roles.${role}`, documents }) ?? []),
    );
    return { name, dispatch: DISPATCHES.find((known) => known === dispatch) ?? "phase", documents, roles };
  }

  role(name: string, value: unknown, set: { path: string; documents: readonly string[] }): Role | undefined {
    const { path } = set;
    const entry = this.name(name, path) && this.object(value, path);
    if (!entry) return undefined;
    this.knownKeys(entry, ROLE_KEYS, path);
    const own = entry["documents"] === undefined ? set.documents : this.files(entry["documents"], `${path}.documents`);
    const prune = this.files(entry["prune"] ?? [], `${path}.prune`);
    for (const file of prune) {
      if (!own.includes(file)) this.wrong(`${path}.prune`, `${file} is not one of this role's documents`);
    }
    const role: Role = {
      name,
      documents: own.filter((file) => !prune.includes(file)),
      pruned: [],
      sections: {},
      answer: "review",
    };
    for (const key of TEXT_KEYS) {
      const text = entry[key] === undefined ? undefined : this.text(entry[key], `${path}.${key}`);
      if (text !== undefined) role[key] = text;
    }
    for (const key of ["underReview", "rubric"] as const) {
      if (role[key] !== undefined && this.file(role[key], `${path}.${key}`) === undefined) delete role[key];
    }
    this.sections(entry["sections"], role, path);
    this.answer(entry["answer"], role, path);
    for (const file of [role.underReview, ...Object.keys(role.sections)]) {
      if (file !== undefined && !role.documents.includes(file)) role.documents.push(file);
    }
    role.pruned = set.documents.filter((file) => !role.documents.includes(file));
    return role;
  }

  sections(value: unknown, role: Role, path: string): void {
    if (value === undefined) return;
    for (const [key, wanted] of Object.entries(this.object(value, `${path}.sections`) ?? {})) {
      const at = `${path}.sections.${key}`;
      const file = this.file(key, at);
      const refs = typeof wanted === "string" ? [wanted] : wanted;
      const areTexts = Array.isArray(refs) && refs.every((ref) => typeof ref === "string" && ref.trim() !== "");
      if (!areTexts || refs.length === 0) {
        this.wrong(at, `must be a heading, a list of headings or "${TASK_SECTION}", but is ${describe(wanted)}`);
      } else if (file !== undefined && file === role.underReview) {
        this.wrong(at, `${file} is under review and is whole in the prompt; a section of it would appear twice`);
      } else if (file !== undefined) role.sections[file] = refs.map((ref) => cleanLine(ref, { maxChars: 300 }));
    }
  }

  answer(value: unknown, role: Role, path: string): void {
    if (value === undefined) return;
    const names = Object.keys(ANSWER_FORMATS);
    if (isRecord(value) || (typeof value === "string" && names.includes(value))) role.answer = value;
    else {
      const guess = typeof value === "string" ? nearest(value, names)[0] : undefined;
      const text = `must be an example of the answer (an object) or one of ${names.join(", ")}, but is ${describe(value)}`;
      this.wrong(`${path}.answer`, `${text}${didYouMean(guess)}`);
    }
  }

  files(value: unknown, path: string): string[] {
    if (!Array.isArray(value)) {
      this.wrong(path, `must be a list of files, but is ${describe(value)}`);
      return [];
    }
    const files = value.flatMap((entry, index) => this.file(entry, `${path}[${index}]`) ?? []);
    return [...new Set(files)];
  }

  /** Must be inside the feature's folder: an untrusted repository must not make agents read other files. */
  file(value: unknown, path: string): string | undefined {
    const text = this.text(value, path);
    if (text === undefined) return undefined;
    const isInside = !/^(?:[/\\~]|[A-Za-z]:)/.test(text) && !text.split(/[/\\]/).includes("..");
    if (!isInside)
      return this.wrong(path, `${describe(text)} must be a path inside the folder: not absolute, without ..`);
    return text.replace(/^(?:\.\/)+/, "");
  }

  name(name: string, path: string): boolean {
    const isName = name !== "" && name.length <= NAME_MAX_CHARS && cleanLine(name) === name && name !== "__proto__";
    if (!isName)
      this.wrong(
        path,
        `a name has 1 to ${NAME_MAX_CHARS} characters, without spaces at its ends or control characters`,
      );
    return isName;
  }
}

const NAMES: Readonly<Record<string, string>> = { prd: "PRD", adr: "ADR", api: "API", ui: "UI", ux: "UX" };

function documentOf(file: string): ArtifactDocument {
  const stem = file.slice(file.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
  const words = stem
    .split(/[-_\s]+/)
    .map((word) => NAMES[word.toLowerCase()] ?? word.slice(0, 1).toUpperCase() + word.slice(1));
  return { file, name: words.join(" ") || file, isPrd: file === "prd.md" };
}

/** A role is at sets.NAME.roles.NAME. */
const ROLE_DEPTH = 4;

/** Applies `changes` to `base`, key by key down to the keys of a role. Values of those keys are replaced. */
function overlay(base: Json, changes: Json, depth: number): Json {
  const result: Json = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    result[key] = depth > 0 && isRecord(before) && isRecord(value) ? overlay(before, value, depth - 1) : value;
  }
  return result;
}

function didYouMean(guess: string | undefined): string {
  return guess === undefined ? "" : `; did you mean ${guess}?`;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  return cleanLine(JSON.stringify(value) ?? String(value), { maxChars: 60 });
}
