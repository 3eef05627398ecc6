/** The skills of some folders, for agents: names and descriptions at once, text and resources when somebody asks. */

import { sep } from "node:path";
import type { SkillText } from "../engine/library-types.ts";
import {
  type LoadLedger,
  listSkillResources,
  loadSkill,
  readSkillResource,
  type SkillResource,
} from "../engine/load-skill.ts";
import { isBreakage, SkillPool } from "../engine/skill-pool.ts";
import { type Match, matchSkills } from "../skills/matching/match-skills.ts";
import type { SkillResources } from "../skills/showing/skill-output.ts";
import type { Problem, SkillCard, SkillTriggers } from "../skills/types.ts";

export type { Problem as SkillProblem, SkillResources, SkillTriggers };

/** A skill as its file describes it. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** At most 160 characters. */
  readonly shortDescription: string;
  /** The body of its SKILL.md. */
  readonly instructions: string;
  /** Content hash of the file. */
  readonly hash: string;
  /** Absolute path of its SKILL.md. */
  readonly path: string;
  /** The author's keywords, patterns and threshold. */
  readonly triggers?: SkillTriggers;
  readonly metadata: Readonly<Record<string, string>>;
  /** False: its author keeps it for people (`disable-model-invocation`). */
  readonly modelInvocable: boolean;
  /** The names of its resources. The folder is read on the first call. */
  getResources(): Promise<SkillResources>;
}

export interface SkillRegistryOptions {
  /** How often the folders may be checked for changes, in ms. 0: only when you call `refresh`. Default: 3,000. */
  refreshMs?: number;
}

/** No window is known: the text is always sent. */
const NO_LEDGER: LoadLedger = {
  tracking: () => ({ window: 1, promptCount: 0, ledger: [] }),
  recordLoad: () => undefined,
};

export class SkillRegistry {
  readonly #pool: SkillPool;
  readonly #refreshMs: number;
  #checkedAt = performance.now();
  /** Errors that were there at the start or that `keepFresh` returned. */
  #told = new Set<string>();
  #skills: { version: number; list: Skill[]; byName: Map<string, Skill> } | undefined;

  /** `folders`: nearest first; of two skills with one name, the first is used. */
  constructor(folders: string | readonly string[] = [], { refreshMs = 3_000 }: SkillRegistryOptions = {}) {
    this.#pool = new SkillPool({ folders: typeof folders === "string" ? [folders] : folders });
    this.#refreshMs = refreshMs;
    this.keepFresh();
  }

  /** Increases with every change of the skills. */
  get version(): number {
    return this.#pool.version;
  }

  /** Problems of the files. Skills that can be read are still available. */
  get problems(): readonly Problem[] {
    return this.#pool.problems;
  }

  /** By name, in any case. */
  getSkill(name: string): Skill | undefined {
    const { byName, list } = this.#all();
    const exact = byName.get(name.trim());
    if (exact) return exact;
    const wanted = name.trim().toLowerCase();
    return list.find((skill) => skill.name.toLowerCase() === wanted);
  }

  /** All skills, sorted by name. */
  listSkills(): readonly Skill[] {
    return this.#all().list;
  }

  /** Adds a skill from markdown with frontmatter, before those of the folders. */
  add(name: string, markdown: string): Skill {
    const card = this.#pool.add(name, markdown);
    if (!card) throw new TypeError(`the text of the skill ${name} is not markdown`);
    return this.#toSkill(card);
  }

  /** Removes a skill that `add` added. */
  remove(name: string): boolean {
    return this.#pool.remove(name);
  }

  /** Looks for changes of the files now. Returns whether there were any. */
  refresh(): boolean {
    this.#checkedAt = performance.now();
    return this.#pool.refresh();
  }

  /** Looks for changes if the last look is old enough. Returns what has broken since; the last good version of a skill stays. */
  keepFresh(): Problem[] {
    if (this.#refreshMs > 0 && performance.now() - this.#checkedAt >= this.#refreshMs) this.refresh();
    const errors = new Map(this.problems.filter(isBreakage).map((one) => [`${one.file}\n${one.text}`, one]));
    const fresh = [...errors].filter(([key]) => !this.#told.has(key)).map(([, one]) => one);
    this.#told = new Set(errors.keys());
    return fresh;
  }

  /** The skills that fit a text, best first, with confidence and reasons: the ranking that the hooks use. */
  match(text: string, { limit = 10, used = [] }: { limit?: number; used?: readonly string[] } = {}): Match[] {
    const { matches, slowPatterns } = matchSkills({ prompt: text, usedSkills: used }, this.#pool, { limit });
    this.#pool.dropSlowPatterns(slowPatterns);
    return matches.filter(({ excluded }) => !excluded);
  }

  /**
   * The text of a skill for a model, with the skills that it requires and the names of its resources. With a ledger, a text that the
   * window has is not sent again.
   */
  load(
    name: string,
    {
      ledger,
      conversationId,
      reload = false,
      includeResources = true,
      readHint,
    }: {
      ledger?: LoadLedger | undefined;
      conversationId?: string | undefined;
      reload?: boolean;
      includeResources?: boolean;
      readHint?: string | undefined;
    } = {},
  ): SkillText {
    return loadSkill(
      {
        name,
        reload,
        includeResources,
        at: new Date(),
        ...(ledger && { session: { sessionId: conversationId ?? "" } }),
      },
      {
        index: this.#pool,
        ledger: ledger ?? NO_LEDGER,
        listResources: listSkillResources,
        ...(readHint && { readHint }),
      },
    );
  }

  /** A file of the skill's own folder. Paths and links that lead out of it are refused. */
  readResource(name: string, path: string): SkillResource {
    const skill = this.getSkill(name);
    if (!skill) return { kind: "refused", text: `there is no skill '${name}'` };
    return readSkillResource(skill.name, path, this.#pool);
  }

  /** The skill whose folder holds a file, and the file's name in it; for tools that read files. */
  resourceAt(path: string): { skill: string; resource: string } | undefined {
    const found = this.#pool
      .listCards()
      .filter(({ folder }) => folder !== undefined && path.startsWith(`${folder}${sep}`))
      .sort((a, b) => b.folder!.length - a.folder!.length)[0];
    return found && { skill: found.id, resource: path.slice(found.folder!.length + 1) };
  }

  #all() {
    if (this.#skills?.version === this.#pool.version) return this.#skills;
    const list = this.#pool
      .listCards()
      .map((card) => this.#toSkill(card))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#skills = { version: this.#pool.version, list, byName: new Map(list.map((skill) => [skill.name, skill])) };
    return this.#skills;
  }

  #toSkill(card: SkillCard): Skill {
    const parsed = this.#pool.skill(card.id);
    let resources: Promise<SkillResources> | undefined;
    return {
      name: card.id,
      description: card.description,
      shortDescription: card.brief,
      instructions: parsed?.body ?? "",
      hash: card.hash,
      path: card.path,
      ...(parsed?.triggers && { triggers: parsed.triggers }),
      metadata: parsed?.metadata ?? {},
      modelInvocable: card.modelInvocable,
      getResources: () => {
        resources ??= Promise.resolve(card.folder ? listSkillResources(card.folder) : NO_RESOURCES);
        return resources;
      },
    };
  }
}

const NO_RESOURCES: SkillResources = { reference: [], assets: [], scripts: [] };
