/**
 * Brings the skill index up to date with the files: what is new or changed by size and time is read, what is gone goes, the
 * rest is not touched. Written in small transactions, each of which leaves a sound index, so that hooks wait little and a
 * kill costs nothing.
 */
import { createHash } from "node:crypto";
import { errorText } from "../base/errors.ts";
import { diskFileSystem, type FileSystem } from "../base/file-system.ts";
import { readJson } from "../base/json.ts";
import { backgroundTerms } from "../skills/matching/background.ts";
import { skillTerms } from "../skills/matching/skill-terms.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { compileRules } from "../skills/rules/compile-rules.ts";
import { parseRules } from "../skills/rules/parse-rules.ts";
import { type RuleTrust, tameRules, untilAccepted, whyFar } from "../skills/rules/rule-reach.ts";
import { briefOf } from "../skills/showing/disclosure.ts";
import { findSkillFiles, type SkillFile, type SkillRoot } from "../skills/skill-files.ts";
import type { Problem, SkillRule } from "../skills/types.ts";
import { writeStore } from "../store/sqlite/access.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { type IndexedFile, type IndexedSkill, SkillIndexWriter } from "../store/sqlite/skills/skill-index-writer.ts";
import { type IndexedFolders, isIndexStale, PROGRAM } from "./index-freshness.ts";
import type { Environment } from "./project.ts";
import { findSkillSources } from "./skill-sources.ts";

export interface RefreshInput {
  roots: readonly SkillRoot[];
  /** Rules files that may exist, nearest first. */
  ruleFiles: readonly string[];
  ruleTrust: RuleTrust;
  fs: FileSystem;
  /** Forget the index and read everything. */
  isRebuild?: boolean;
  /**
   * Brings the index up to date in another process, and returns whether it did. Asked when there is much to read: that takes memory that
   * V8 does not give back, 140 MB for 300 skills, and a process that lives as long as a session would keep it.
   */
  inOtherProcess?: () => boolean;
  onProgress?: (text: string) => void;
}

export interface RefreshReport {
  read: number;
  removed: number;
  unchanged: number;
  /** Everything known to be wrong, in files read now or before. */
  problems: Problem[];
}

/** Files per transaction. Each one rewrites the lists that it touches; an event that meets it goes into the spool meanwhile. */
const BATCH = 500;

/** Files from one sign of progress to the next. */
const STEP = 100;

/** So many files are read in another process, where there is one. */
const MANY = 20;

export function refreshIndex(handle: StoreHandle, input: RefreshInput): RefreshReport {
  const { roots, ruleFiles, ruleTrust, fs, isRebuild = false, inOtherProcess, onProgress } = input;
  const writer = new SkillIndexWriter(handle.db);
  const write = <T>(change: () => T): T => {
    const result = writeStore(handle, () => {
      writer.begin();
      const changed = change();
      writer.flush();
      return changed;
    });
    writer.saved();
    return result;
  };
  const format = indexFormat();
  const mustEmpty = isRebuild || writer.format() !== format;
  const { files, problems } = findSkillFiles(roots, fs);
  const changedFiles = () => {
    const known = new Map(writer.files().map((file) => [file.path, file]));
    return { known, changed: files.filter((file) => !isSame(known.get(file.path), file)) };
  };
  if (inOtherProcess && (mustEmpty ? files : changedFiles().changed).length >= MANY && inOtherProcess()) {
    // What it could not do is done here.
    const { inOtherProcess: _, ...here } = input;
    return refreshIndex(handle, here);
  }
  if (mustEmpty) {
    // In one step: a process that reads or fills the index meanwhile never sees it without the background.
    write(() => {
      writer.empty();
      writer.putBackground(backgroundTerms());
      writer.putFormat(format);
    });
  }

  const { known, changed } = changedFiles();
  const wanted = new Set(files.map(({ path }) => path));
  const gone = [...known.values()].filter(({ path }) => !wanted.has(path) && !path.startsWith(RULE_PREFIX));
  const rules = new RuleBook(ruleFiles, fs, { writer, trust: ruleTrust });
  const isChange = changed.length + gone.length > 0;
  const mustSettle = rules.hasChanged || (isChange && rules.isAny);
  // Until they are settled again at the end, the rules count as never read: a kill in between is made good next time.
  if (isChange && rules.isAny) write(() => writer.putRuleFiles([]));

  for (let from = 0; from < gone.length; from += BATCH) {
    write(() => {
      for (const { path, id } of gone.slice(from, from + BATCH)) {
        // Looked up anew: another process may have removed it and given its key away.
        const key = writer.keyOf(path);
        if (key === undefined) continue;
        writer.clearRules(key);
        writer.remove(key);
        putOwnTriggers(writer, writer.settle(id));
      }
    });
  }
  for (let from = 0; from < changed.length; from += BATCH) {
    const skills = changed.slice(from, from + BATCH).map((file, at) => {
      if (at % STEP === 0) onProgress?.(`${from + at} of ${changed.length} skills`);
      return readSkillFile(file, fs);
    });
    write(() => {
      if (skills.length >= MANY) writer.readTerms();
      for (const skill of skills) {
        const before = known.get(skill.path);
        const key = writer.put(skill);
        writer.clearRules(key);
        if (before && before.id !== skill.id) putOwnTriggers(writer, writer.settle(before.id));
        if (skill.id !== "") putOwnTriggers(writer, writer.settle(skill.id));
      }
    });
    onProgress?.(`${Math.min(from + BATCH, changed.length)} of ${changed.length} skills`);
  }
  if (mustSettle) write(() => settleRules(writer, rules));
  if (isChange) write(() => writer.sweep());
  const searched: IndexedFolders = {
    program: PROGRAM,
    folders: Object.fromEntries(roots.map(({ dir }) => [dir, folderTime(dir, fs)])),
  };
  const folders = JSON.stringify(searched);
  if (writer.folders() !== folders) write(() => writer.putFolders(folders));
  return {
    read: changed.length,
    removed: gone.length,
    unchanged: files.length - changed.length,
    problems: [...problems, ...writer.problems()],
  };
}

/** 0 for a folder that is not there: it counts as changed when it comes. */
function folderTime(folder: string, fs: FileSystem): number {
  try {
    return fs.stat(folder).mtimeMs;
  } catch {
    // Most of the places where skills may be are not there.
    return 0;
  }
}

function isSame(known: IndexedFile | undefined, { size, mtimeMs, source }: SkillFile): boolean {
  return known !== undefined && known.size === size && known.mtimeMs === mtimeMs && known.rank === source.rank;
}

/** In place of the size of a file that could not be read: a right that is given changes neither size nor time. */
const TRY_AGAIN = -1;

/** A larger file is not read at all: of a skill, the first 256 kB are used. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

function tooLarge({ path, size }: { path: string; size: number }, code: string): Problem {
  const text = `the file has ${size} bytes, more than ${MAX_FILE_BYTES}: not read`;
  return { level: "error", code, file: path, text };
}

function readSkillFile(file: SkillFile, fs: FileSystem): IndexedSkill {
  const place = {
    path: file.path,
    size: file.size,
    mtimeMs: file.mtimeMs,
    rank: file.source.rank,
    sourceKind: file.source.kind,
    sourceLabel: file.source.label,
    ...(file.folder && { folder: file.folder }),
  };
  // Kept without an id: it is no skill, and is not read again until it changes.
  const unusable = (problems: Problem[]): IndexedSkill => ({
    ...place,
    id: "",
    hash: "",
    name: file.folderName,
    description: "",
    brief: "",
    body: "",
    modelInvocable: false,
    requires: [],
    terms: [],
    problems,
  });
  if (file.size > MAX_FILE_BYTES) return unusable([tooLarge(file, "skill-too-large")]);
  let text: string;
  try {
    text = fs.readFile(file.path);
  } catch (error) {
    const problems: Problem[] = [{ level: "error", code: "skill-unreadable", file: file.path, text: errorText(error) }];
    return { ...unusable(problems), size: TRY_AGAIN };
  }
  const { skill, problems } = parseSkill(text, file);
  if (!skill) return unusable(problems);
  return {
    ...place,
    id: skill.id,
    hash: skill.hash,
    name: skill.name,
    description: skill.description,
    brief: skill.shortDescription ?? briefOf(skill.description),
    body: skill.body,
    modelInvocable: skill.modelInvocable && !isKeptForPeople(file.folder, fs),
    requires: skill.requires,
    ...(skill.domain && { domain: skill.domain }),
    ...(skill.triggers && { triggers: skill.triggers }),
    ...(skill.triggers?.confidence !== undefined && { loadConfidence: skill.triggers.confidence }),
    terms: skillTerms({ ...skill, ...(skill.triggers && { keywords: skill.triggers.keywords }) }),
    problems,
  };
}

/** Codex' way to say `disable-model-invocation`: a file beside the skill. */
function isKeptForPeople(folder: string | undefined, fs: FileSystem): boolean {
  if (!folder) return false;
  const file = `${folder}/agents/openai.yaml`;
  try {
    return fs.stat(file).size < 65_536 && /^\s*allow_implicit_invocation:\s*false\b/m.test(fs.readFile(file));
  } catch {
    // Most skills have none.
    return false;
  }
}

/** A skill that only a rules file names has this for a path, the file and its name behind it. */
export const RULE_PREFIX = "rule:";

/** The rules files, read when they are first needed, and whether they changed since the index was written. */
class RuleBook {
  readonly files: { path: string; size: number; mtimeMs: number; problems: Problem[] }[] = [];
  readonly hasChanged: boolean;
  readonly #fs: FileSystem;
  readonly trust: RuleTrust;
  #rules: SkillRule[] | undefined;

  constructor(
    paths: readonly string[],
    fs: FileSystem,
    { writer, trust }: { writer: SkillIndexWriter; trust: RuleTrust },
  ) {
    this.#fs = fs;
    this.trust = trust;
    for (const path of paths) {
      try {
        const { kind, size, mtimeMs } = fs.stat(path);
        if (kind === "file") this.files.push({ path, size, mtimeMs, problems: [] });
      } catch {
        // No such rules file: most projects have none.
      }
    }
    const before = writer.ruleFiles();
    this.hasChanged =
      before.length !== this.files.length ||
      (this.isAny && writer.acceptedRules() !== this.accepted) ||
      this.files.some(
        ({ path, size, mtimeMs }) =>
          !before.some((old) => old.path === path && old.size === size && old.mtimeMs === mtimeMs),
      );
  }

  /** What the user has accepted of the rules, as one text: a change makes them count anew. */
  get accepted(): string {
    return JSON.stringify(this.trust.accepted);
  }

  get isAny(): boolean {
    return this.files.length > 0;
  }

  /** All rules, the nearest file's first. */
  rules(): readonly SkillRule[] {
    this.#rules ??= this.files.flatMap((file) => {
      if (file.size > MAX_FILE_BYTES) {
        file.problems.push(tooLarge(file, "rules-too-large"));
        return [];
      }
      try {
        if (leadsOut(file.path, this.trust.root, this.#fs)) {
          const text = "is a symbolic link that leads out of the project, so it is not read";
          file.problems.push({ level: "error", code: "rules-link", file: file.path, text });
          return [];
        }
        const read = readJson(this.#fs.readFile(file.path));
        if (read.problem !== undefined) {
          file.problems.push({ level: "error", code: "rules-no-json", file: file.path, text: read.problem });
          return [];
        }
        const { rules, problems } = parseRules(read.value, file.path);
        file.problems.push(...problems);
        return rules;
      } catch (error) {
        file.problems.push({ level: "error", code: "rules-unreadable", file: file.path, text: errorText(error) });
        file.size = TRY_AGAIN;
        return [];
      }
    });
    return this.#rules;
  }
}

/** A file of the project that is, through a link, none. */
function leadsOut(path: string, root: string, fs: FileSystem): boolean {
  return path.startsWith(`${root}/`) && !fs.realpath(path).startsWith(`${fs.realpath(root)}/`);
}

/** Of rules that the user has not accepted, this many are named. */
const MAX_IGNORED = 20;

/**
 * Says by which rules the index was made: other weights or stems make every row stale though no file changed. A sample
 * is compiled (3 ms), so that nobody has to remember to count a version up.
 */
function indexFormat(): string {
  const terms = skillTerms(SAMPLE);
  const { triggers } = compileRules([], { triggers: { keywords: SAMPLE.tags, patterns: [] }, file: "" });
  return createHash("sha256")
    .update(JSON.stringify([ROW_FORMAT, terms, triggers]))
    .digest("hex")
    .slice(0, 16);
}

/** Counted up when the rows change in a way that the sample does not show, such as another background list. */
const ROW_FORMAT = 6;

const SAMPLE = {
  name: "database-migrations",
  description:
    "Writes and reviews PostgreSQL schema migrations in TypeScript. Use when tables, indexes or foreign keys are changed, or running queries got slower. Do not use for Python's Django models.",
  body: "# Migrating\n\nAdding columns, renamed tables, batches of rows, node.js and C# clients, ci/cd.\n\n## When not to use\n\nFrontend styling.",
  tags: ["migrations", "zero-downtime deploys", "c#", "adding indexes"],
};

/** Frontmatter triggers at once; rules files are settled as a whole at the end. */
function putOwnTriggers(writer: SkillIndexWriter, key: number | undefined): void {
  if (key === undefined) return;
  const triggers = writer.ownTriggers(key);
  if (!triggers) return;
  writer.clearRules(key);
  writer.putRules(key, compileRules([], { triggers, file: "" }));
}

/** Every rule to the skill it means; a rule whose skill has no file becomes a skill of its own. */
function settleRules(writer: SkillIndexWriter, book: RuleBook): void {
  const files = writer.files();
  const active = files.filter((file) => file.active && !file.path.startsWith(RULE_PREFIX));
  const { rules: byId, ignored } = tameRules(book.rules(), writer.activeSkills(RULE_PREFIX), book.trust);
  for (const { key, path } of files) if (path.startsWith(RULE_PREFIX)) writer.remove(key);
  writer.clearRules();

  const keys = new Map(active.map(({ id, key }) => [id, key]));
  for (const [id, own] of byId) if (!keys.has(id)) keys.set(id, putRuleSkill(writer, id, own));
  const problems = new Map<string, Problem[]>();
  // Whether `skills.enforce` is on is not known here: `doctor` and `trust` name those rules.
  for (const { file, skill, reach } of ignored.filter(({ reach }) => reach !== "enforced").slice(0, MAX_IGNORED)) {
    const text = `the rule for “${skill}” ${whyFar(reach)}, so it ${untilAccepted(reach)} until you run \`haversack trust\``;
    const problem: Problem = { level: "warning", code: "rule-untrusted", file, where: skill, text };
    problems.set(file, [...(problems.get(file) ?? []), problem]);
  }
  for (const [id, key] of keys) {
    const triggers = writer.ownTriggers(key);
    const own = byId.get(id) ?? [];
    if (own.length === 0 && !triggers) continue;
    const compiled = compileRules(own, triggers && { triggers, file: "" });
    writer.putRules(key, compiled);
    for (const problem of compiled.problems)
      problems.set(problem.file, [...(problems.get(problem.file) ?? []), problem]);
  }
  writer.putAcceptedRules(book.accepted);
  writer.putRuleFiles(
    book.files.map((file) => ({ ...file, problems: [...file.problems, ...(problems.get(file.path) ?? [])] })),
  );
}

function putRuleSkill(writer: SkillIndexWriter, id: string, rules: readonly SkillRule[]): number {
  const [first] = rules;
  const description = rules.map((rule) => rule.description).find(Boolean) ?? "";
  const short = rules.map((rule) => rule.defer?.shortDescription).find(Boolean);
  const key = writer.put({
    id,
    path: `${RULE_PREFIX}${first?.file}#${id}`,
    size: 0,
    mtimeMs: 0,
    rank: Number.MAX_SAFE_INTEGER,
    hash: "",
    name: id,
    description,
    brief: short ?? briefOf(description),
    body: "",
    sourceKind: "rule",
    sourceLabel: first?.file ?? "rules",
    modelInvocable: true,
    requires: [],
    terms: skillTerms({ name: id, description: [description, short ?? ""].join("\n"), body: "", tags: [] }),
    problems: [],
  });
  writer.settle(id);
  return key;
}

// Brings a project's skill index up to date when a file, a folder or this program changed since it was written.

export interface IndexPlaces {
  root: string;
  env: Environment;
  /** The setting `skills.folders`. */
  folders: readonly string[];
}

/** `isThorough`: also look for files that no indexed file or folder tells of. Costs 15 ms for 285 skills, else 2 ms. */
export function freshenIndex(
  handle: StoreHandle,
  { root, env, folders }: IndexPlaces,
  { isThorough = false }: { isThorough?: boolean } = {},
): void {
  if (!isThorough && !isIndexStale(handle.db)) return;
  const sources = findSkillSources(root, { env, folders, fs: diskFileSystem });
  refreshIndex(handle, { ...sources, fs: diskFileSystem });
}
