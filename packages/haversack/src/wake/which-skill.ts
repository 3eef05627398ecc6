/**
 * Which skills a task is worked on with, and why. In order: skills it names, words in its own text, its parent's skills, its type, and
 * test-driven development for implementation. Cross-cutting skills are added, but only their core.
 *
 * A skill that the task, a parent or a setting asks for stays in the list as missing if it is not installed. A shipped default that is not
 * installed is skipped silently: a user who never had it does not need to know.
 */

import { cleanLine } from "../base/clean-text.ts";
import type { Config } from "../base/config-schema.ts";
import { TASK_TYPES, type TaskType } from "../work/task.ts";
import { hasPhrase } from "./text.ts";

export const TASK_KINDS = ["planning", "implementation", "execution", "finishing"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

export interface SkillPattern {
  /** One or several words, with any endings. */
  words: string;
  /** Empty: these words select no skill, and later patterns for the same words are ignored. */
  skill: string;
  /** Default: title and description. */
  isTitleOnly?: boolean;
  /** It comes from a setting, so a missing skill is reported. */
  isSet?: boolean;
}

export interface SkillRules {
  /** The first that matches wins. */
  patterns: readonly SkillPattern[];
  typeSkills: Readonly<{ [Type in TaskType]?: string }>;
  /** For features, bugs, tests and interfaces if nothing else applies. Empty: none. */
  implementation: string;
  crossCutting: readonly { kind: TaskKind; skill: string }[];
  /** The skill for delegating work, used by an orchestrator without a task. */
  coordination: string;
  /** Skills of a role; the first installed one is used. */
  roleSkills: Readonly<Record<string, readonly string[]>>;
  /** The kind of a task with this skill. All others are implementation, if the task's type allows it. */
  kinds: Readonly<Record<string, TaskKind>>;
  /** Types whose skill comes from a setting. */
  setTypes?: readonly TaskType[];
}

export interface SkilledTask {
  title: string;
  description?: string;
  skill?: string;
}

export interface SkillOfTask {
  id: string;
  because: string;
  as: "main" | "core";
  isMissing?: true;
}

export interface SkillOptions extends SkillRules {
  /** For a sub-agent: it gets no skills for delegating work, even if the task names them. */
  isSubAgent?: boolean;
  /** Roles other than orchestrator get such skills only by name: they do a "spec review", not delegate it. Default: orchestrator. */
  role?: string | undefined;
  /** Nearest first. */
  parents: readonly SkilledTask[];
  /** The ID under which a name is installed: the exact one, else the first with the same name, with or without a plugin prefix. */
  findInstalled: (name: string) => string | undefined;
}

export function skillsOfTask(task: SkilledTask & { type: TaskType }, options: SkillOptions): SkillOfTask[] {
  const found: SkillOfTask[] = [];
  const { role = COORDINATOR } = options;
  const add = (name: string, { because, as = "main", isAsked = false, isInherited = false }: Reason): boolean => {
    const isCoordination = options.kinds[bareName(name)] === "execution";
    if (isCoordination && (options.isSubAgent || (role !== COORDINATOR && !(isAsked && !isInherited)))) return false;
    const id = options.findInstalled(name);
    if (id === undefined && !isAsked) return false;
    if (!found.some((skill) => bareName(skill.id) === bareName(id ?? name))) {
      found.push({ id: id ?? name, because, as, ...(id === undefined && { isMissing: true as const }) });
    }
    return true;
  };

  for (const name of options.roleSkills[role] ?? []) if (add(name, { because: `for the ${role}` })) break;
  addOwn(task, "", add, options) ||
    options.parents.some((parent) => addOwn(parent, "its parent: ", add, options)) ||
    addByType(task.type, add, options);

  addCore(found, task.type, add, options);
  return found;
}

/** For an orchestrator without a task: the skill for delegating work. */
export function skillsOfOrchestrator(options: SkillRules & Pick<SkillOptions, "findInstalled">): SkillOfTask[] {
  const id = options.findInstalled(options.coordination);
  if (id === undefined) return [];
  const found: SkillOfTask[] = [{ id, because: "for the orchestrator", as: "main" }];
  for (const { kind, skill } of options.crossCutting) {
    const core = kind === "execution" ? options.findInstalled(skill) : undefined;
    if (core !== undefined) found.push({ id: core, because: `for ${kind}`, as: "core" });
  }
  return found;
}

function addCore(found: readonly SkillOfTask[], type: TaskType, add: Add, options: SkillOptions): void {
  const kinds = found.map(({ id }) => options.kinds[bareName(id)]).filter((kind) => kind !== undefined);
  const isImplementation = kinds.length === 0 && isBuilt(type);
  for (const { kind, skill } of options.crossCutting) {
    if (options.isSubAgent && kind === "execution") continue;
    if (kinds.includes(kind) || (isImplementation && kind === "implementation")) {
      add(skill, { because: `for ${kind}`, as: "core" });
    }
  }
}

const COORDINATOR = "orchestrator";

/** `superpowers:brainstorming` is `brainstorming`. */
export function bareName(id: string): string {
  return id.slice(id.lastIndexOf(":") + 1).toLowerCase();
}

interface Reason {
  because: string;
  as?: "main" | "core";
  isAsked?: boolean;
  /** It comes from the parent task. */
  isInherited?: boolean;
}
type Add = (name: string, reason: Reason) => boolean;

function addOwn(task: SkilledTask, whose: string, add: Add, { patterns }: SkillOptions): boolean {
  const named = task.skill?.split(",").flatMap((name) => name.trim() || []) ?? [];
  const isInherited = whose !== "";
  const because = isInherited ? "named by its parent" : "named by the task";
  const own = named.filter((name) => add(name, { because, isAsked: true, isInherited }));
  if (own.length > 0) return true;

  const off = new Set<string>();
  for (const { words, skill, isTitleOnly, isSet = false } of patterns) {
    const key = words.toLowerCase();
    if (off.has(key)) continue;
    if (!skill) off.add(key);
    else if (hasPhrase(isTitleOnly ? task.title : `${task.title}\n${task.description ?? ""}`, words)) {
      if (add(skill, { because: `${whose}"${words}" in its text`, isAsked: isSet, isInherited })) return true;
    }
  }
  return false;
}

function addByType(
  type: TaskType,
  add: Add,
  { typeSkills, implementation, setTypes = [], role = COORDINATOR }: SkillOptions,
): boolean {
  const skill = typeSkills[type];
  if (skill && add(skill, { because: `for type ${type}`, isAsked: setTypes.includes(type) })) return true;
  // A reviewer builds nothing; the core of the skill tells it what to look for.
  const isBuilding = isBuilt(type) && !role.endsWith("reviewer");
  return isBuilding && implementation !== "" && add(implementation, { because: "for implementation" });
}

/** Chores and spikes are not implementation: they do not produce tested code. */
function isBuilt(type: TaskType): boolean {
  return type !== "chore" && type !== "spike";
}

// The shipped skills for words, kinds and types of tasks. Settings take precedence.

const FINISHING = "finishing-a-development-branch";
const EXECUTION = "subagent-driven-development";

export const SKILL_DEFAULTS: SkillRules = {
  patterns: [
    { words: "brainstorm", skill: "brainstorming" },
    { words: "worktree", skill: "using-git-worktrees" },
    { words: "write plan", skill: "writing-plans" },
    { words: "implementation plan", skill: "writing-plans" },
    { words: "spec review", skill: EXECUTION },
    { words: "code review", skill: EXECUTION },
    { words: "quality review", skill: EXECUTION },
    // In a description these words are mostly about data ("merge both lists", "when the upload finishes").
    { words: "finish", skill: FINISHING, isTitleOnly: true },
    { words: "merge", skill: FINISHING, isTitleOnly: true },
    { words: "PR", skill: FINISHING, isTitleOnly: true },
  ],
  // A feature has no skill of its own; it uses the one for implementation.
  typeSkills: { api: "api-design", bug: "debugging", test: "testing-strategy" },
  implementation: "test-driven-development",
  coordination: EXECUTION,
  // We ship none of these. A project that has one wants it used.
  roleSkills: {
    "spec-reviewer": ["spec-reviewer", "spec-review"],
    "quality-reviewer": ["quality-reviewer", "quality-review", "code-reviewer", "code-review"],
  },
  crossCutting: [
    { kind: "implementation", skill: "test-driven-development" },
    { kind: "execution", skill: "requesting-code-review" },
    { kind: "finishing", skill: "verification-before-completion" },
  ],
  kinds: {
    brainstorming: "planning",
    "using-git-worktrees": "planning",
    "writing-plans": "planning",
    [EXECUTION]: "execution",
    "executing-plans": "execution",
    [FINISHING]: "finishing",
  },
};

// Settings for the skills of tasks: lists of lines such as `spec review: subagent-driven-development`. They take precedence over the shipped
// ones; a line without a skill (`merge:`) switches that one off. An invalid line is reported, and the others still count.

/** `words: skill`, `type: skill`, and `kind: skill`, which replaces the shipped ones of that kind. */
type SkillSetting = "wake.skill_patterns" | "wake.type_skills" | "wake.cross_cutting";

export function readSkillSettings(settings: Partial<Pick<Config, SkillSetting>>): {
  rules: SkillRules;
  problems: string[];
} {
  const problems: string[] = [];
  const read = (setting: SkillSetting, known?: readonly string[]): [string, string][] =>
    (settings[setting] ?? []).flatMap((line) => {
      const [, left = "", skill = ""] = /^\s*([^:]*[^:\s])\s*:\s*(\S*)\s*$/.exec(line) ?? [];
      const word = known ? left.toLowerCase() : left;
      if (left && (!known || known.includes(word))) return [[word, skill] as [string, string]];
      const wanted = known ? `one of ${known.join(", ")}, then a colon and` : "words, a colon and";
      problems.push(`${setting}: "${cleanLine(line, { maxChars: 80 })}" is not ${wanted} a skill's name; ignored`);
      return [];
    });

  const patterns = read("wake.skill_patterns").map(([words, skill]) => ({ words, skill, isSet: true }));
  const types = read("wake.type_skills", TASK_TYPES) as [TaskType, string][];
  const cutting = read("wake.cross_cutting", TASK_KINDS) as [TaskKind, string][];
  return {
    rules: {
      ...SKILL_DEFAULTS,
      patterns: [...patterns, ...SKILL_DEFAULTS.patterns],
      typeSkills: { ...SKILL_DEFAULTS.typeSkills, ...Object.fromEntries(types) },
      setTypes: types.map(([type]) => type),
      crossCutting: [
        ...cutting.flatMap(([kind, skill]) => (skill ? { kind, skill } : [])),
        ...SKILL_DEFAULTS.crossCutting.filter(({ kind }) => !cutting.some(([set]) => set === kind)),
      ],
    },
    problems,
  };
}
