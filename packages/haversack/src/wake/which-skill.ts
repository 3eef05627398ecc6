/**
 * Which skills a task is worked on with, and why: those it names; else by the words in its own text; else its parent's; else
 * by its type; else test-driven development for implementation. Cross-cutting ones come on top, as their core.
 *
 * A skill that somebody asked for (the task, a parent, a setting) and that is not installed stays in the list as missing.
 * A shipped default that is not installed is passed over: nobody who never had it wants to hear of it. Loaded by the hook.
 */

import { cleanLine } from "../base/clean-text.ts";
import { TASK_TYPES, type TaskType } from "../work/task.ts";
import { hasPhrase } from "./phrase.ts";

export const TASK_KINDS = ["planning", "implementation", "execution", "finishing"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

export interface SkillPattern {
  /** One word or several, in any of their endings. */
  words: string;
  /** Empty: these words mean no skill, and no later pattern for the same words counts. */
  skill: string;
  /** Default: title and description. */
  isTitleOnly?: boolean;
  /** From a setting: said when it is missing. */
  isSet?: boolean;
}

export interface SkillRules {
  /** The first that matches wins. */
  patterns: readonly SkillPattern[];
  typeSkills: Readonly<{ [Type in TaskType]?: string }>;
  /** For features, faults, tests and interfaces that nothing else says anything about. Empty: none. */
  implementation: string;
  crossCutting: readonly { kind: TaskKind; skill: string }[];
  /** How to have others do the work: an orchestrator's, when it has no task. */
  coordination: string;
  /** Skills of a role, the first that is installed. */
  roleSkills: Readonly<Record<string, readonly string[]>>;
  /** What a task is that has this skill; all others are implementation, where the task's type allows it. */
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
  /** For a sub-agent: skills on how to have others do the work are not its own, even where the task names them. */
  isSubAgent?: boolean;
  /** Whoever is no orchestrator gets such skills only by name: a "spec review" is done here, not handed out. Default: orchestrator. */
  role?: string | undefined;
  /** The nearest first. */
  parents: readonly SkilledTask[];
  /** The id under which a name is installed; `installedAs` over a list does it. */
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

/** Of an orchestrator that holds no task: how to have others do the work. */
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

/** The exact id; else the first with that name, whichever of the two has a plugin's prefix. Nearest first. */
export function installedAs(name: string, ids: readonly string[]): string | undefined {
  return ids.includes(name) ? name : ids.find((id) => bareName(id) === bareName(name));
}

/** `superpowers:brainstorming` is `brainstorming`. */
export function bareName(id: string): string {
  return id.slice(id.lastIndexOf(":") + 1).toLowerCase();
}

interface Reason {
  because: string;
  as?: "main" | "core";
  isAsked?: boolean;
  /** From the task above. */
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
  // Who reviews builds nothing: the core of it says what to look for.
  const isBuilding = isBuilt(type) && !role.endsWith("reviewer");
  return isBuilding && implementation !== "" && add(implementation, { because: "for implementation" });
}

/** Chores and spikes are no implementation: what they leave is not tested code. */
function isBuilt(type: TaskType): boolean {
  return type !== "chore" && type !== "spike";
}

// Settings on the skills of tasks: lists of lines such as `spec review: subagent-driven-development`. They come
// before the shipped ones; a line without a skill (`merge:`) switches that one off. A line that says nothing is a
// problem, and the others still count. Loaded by the hook.

export interface SkillSettings {
  /** `wake.skillPatterns`: `words: skill`. */
  skillPatterns?: readonly string[];
  /** `wake.typeSkills`: `type: skill`. */
  typeSkills?: readonly string[];
  /** `wake.crossCutting`: `kind: skill`. Replaces the shipped ones of that kind. */
  crossCutting?: readonly string[];
}

export function readSkillSettings(
  { skillPatterns = [], typeSkills = [], crossCutting = [] }: SkillSettings,
  defaults: SkillRules = SKILL_DEFAULTS,
): { rules: SkillRules; problems: string[] } {
  const problems: string[] = [];
  const read = (setting: string, lines: readonly string[], known?: readonly string[]): [string, string][] =>
    lines.flatMap((line) => {
      const [, left = "", skill = ""] = /^\s*([^:]*[^:\s])\s*:\s*(\S*)\s*$/.exec(line) ?? [];
      const word = known ? left.toLowerCase() : left;
      if (left && (!known || known.includes(word))) return [[word, skill] as [string, string]];
      const wanted = known ? `one of ${known.join(", ")}, then a colon and` : "words, a colon and";
      problems.push(`${setting}: "${cleanLine(line, { maxChars: 80 })}" is not ${wanted} a skill's name; ignored`);
      return [];
    });

  const patterns = read("wake.skillPatterns", skillPatterns).map(([words, skill]) => ({ words, skill, isSet: true }));
  const types = read("wake.typeSkills", typeSkills, TASK_TYPES) as [TaskType, string][];
  const cutting = read("wake.crossCutting", crossCutting, TASK_KINDS) as [TaskKind, string][];
  return {
    rules: {
      ...defaults,
      patterns: [...patterns, ...defaults.patterns],
      typeSkills: { ...defaults.typeSkills, ...Object.fromEntries(types) },
      setTypes: types.map(([type]) => type),
      crossCutting: [
        ...cutting.flatMap(([kind, skill]) => (skill ? { kind, skill } : [])),
        ...defaults.crossCutting.filter(({ kind }) => !cutting.some(([set]) => set === kind)),
      ],
    },
    problems,
  };
}

// Which skill goes with which words, kinds and types of tasks, as shipped. Settings come before these: see
// `readSkillSettings`. Plain data, loaded by the hook.

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
    // In a description these are mostly about data ("merge both lists", "when the upload finishes").
    { words: "finish", skill: FINISHING, isTitleOnly: true },
    { words: "merge", skill: FINISHING, isTitleOnly: true },
    { words: "PR", skill: FINISHING, isTitleOnly: true },
  ],
  // A feature has none of its own: implementation alone.
  typeSkills: { api: "api-design", bug: "debugging", test: "testing-strategy" },
  implementation: "test-driven-development",
  coordination: EXECUTION,
  // None is shipped: a project that has one of these wants it used.
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
