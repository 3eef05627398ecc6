/**
 * Strict checks for `skill check`: the open specification (name, description, compatibility), file length (a model pays for text it does not
 * need), and problems that only show when all skills are seen together.
 */
import { nearest } from "../base/nearest.ts";
import type { ParsedSkill } from "./parse-skill.ts";
import { compilePattern } from "./rules/compile-pattern.ts";
import { plainKey } from "./rules/rule-values.ts";
import { lintShortDescription } from "./short-description.ts";
import { type Problem, reporter, type Skill } from "./types.ts";

const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1_024;
const MAX_COMPATIBILITY_CHARS = 500;
const MAX_SKILL_LINES = 500;
const MAX_CORE_LINES = 50;
const MAX_QUICK_REFERENCE_LINES = 20;

export interface SkillLintOptions {
  /** The name of the skill's folder; absent for a single file, which may have any name. */
  folderName?: string;
  /** Its body is loaded on demand, by a rule or its own frontmatter, so the core must be short. */
  isDeferred?: boolean;
}

/** Checks one file. Problems found while reading it come first. */
export function lintSkill(parsed: ParsedSkill, { folderName, isDeferred = false }: SkillLintOptions = {}): Problem[] {
  const { skill, frontmatter, lineCount, bodyLineCount } = parsed;
  const problems = [...parsed.problems];
  if (!skill) return problems;
  const report = reporter(skill.path, problems);
  const fields = new Map(Object.entries(frontmatter).map(([key, value]) => [plainKey(key), value]));

  const name = fields.get("name");
  if (name === undefined || name === null || name === "")
    report.error("name-missing", "the frontmatter has no name", "name");
  else if (typeof name !== "string" || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) {
    report.error("name-invalid", "a name is made of a-z, 0-9 and single hyphens, with none at its ends", "name");
  } else if (name.length > MAX_NAME_CHARS) {
    report.error("name-too-long", `the name has ${name.length} characters: at most ${MAX_NAME_CHARS}`, "name");
  }
  if (typeof name === "string" && name !== "" && folderName !== undefined && name !== folderName) {
    const text = `the name is “${skill.name}” and the folder “${folderName}”: they must be equal`;
    report.error("name-not-folder", text, "name");
  }

  const description = fields.get("description");
  if (description === undefined || description === null || description === "") {
    const text = "the frontmatter has no description: say what the skill does and when to use it";
    report.error("description-missing", text, "description");
  } else if (typeof description !== "string")
    report.error("description-invalid", "the description must be a text", "description");
  else if (description.length > MAX_DESCRIPTION_CHARS) {
    const text = `the description has ${description.length} characters: at most ${MAX_DESCRIPTION_CHARS}`;
    report.error("description-too-long", text, "description");
  } else if (isTemplateDescription(description)) {
    const text = "the description is still the template's: say when the skill is needed, else no prompt finds it";
    report.warning("description-template", text, "description");
  }

  const compatibility = fields.get("compatibility");
  if (typeof compatibility === "string" && compatibility.length > MAX_COMPATIBILITY_CHARS) {
    const text = `compatibility has ${compatibility.length} characters: at most ${MAX_COMPATIBILITY_CHARS}`;
    report.error("compatibility-too-long", text, "compatibility");
  } else if (compatibility !== undefined && compatibility !== null && typeof compatibility !== "string") {
    report.error("compatibility-invalid", "compatibility must be a text", "compatibility");
  }

  if (skill.shortDescription !== undefined)
    problems.push(...lintShortDescription(skill.shortDescription, { file: skill.path, where: "short_description" }));
  for (const pattern of skill.triggers?.patterns ?? []) {
    const compiled = compilePattern(pattern);
    if ("problem" in compiled) report.error(compiled.code, `“${pattern}”: ${compiled.problem}`, "triggers.patterns");
    else if (compiled.degree === null) {
      const text = `“${pattern}” can take very long on some texts: it runs under a time limit`;
      report.warning("pattern-risky", text, "triggers.patterns");
    }
  }

  if (skill.body.trim() === "") report.warning("body-empty", "there is nothing below the frontmatter");
  if (lineCount > MAX_SKILL_LINES) {
    const text = `the file has ${lineCount} lines, more than ${MAX_SKILL_LINES}: move details to references/`;
    report.warning("skill-too-long", text);
  }
  if (isDeferred && bodyLineCount > MAX_CORE_LINES) {
    const text = `the core has ${bodyLineCount} lines: keep ${MAX_CORE_LINES}, and move the rest to quick-reference.md and references/`;
    report.suggestion("core-too-long", text);
  }
  return problems;
}

/** A quick reference is read as a whole to check one detail. Longer material belongs in references/. */
export function lintQuickReference(text: string, file: string): Problem[] {
  const count = text.trimEnd().split("\n").length;
  if (count <= MAX_QUICK_REFERENCE_LINES) return [];
  return [
    {
      level: "warning",
      code: "quick-reference-too-long",
      file,
      text: `the quick reference has ${count} lines: keep ${MAX_QUICK_REFERENCE_LINES}, and move the rest to references/`,
    },
  ];
}

/** Checks all skills together, including shadowed ones: duplicate names, unknown requirements and cycles. */
export function lintSkillSet(skills: readonly Skill[]): Problem[] {
  return [...twins(skills), ...unknownRequirements(skills), ...circles(skills)];
}

function twins(skills: readonly Skill[]): Problem[] {
  return [...Map.groupBy(skills, ({ id }) => id).values()].flatMap((same) => {
    const [winner, ...losers] = same.sort((a, b) => a.source.rank - b.source.rank || (a.path < b.path ? -1 : 1));
    return losers.map((loser): Problem => {
      const isOneSource = loser.source.rank === winner!.source.rank;
      const place = { code: "name-twice", file: loser.path, where: loser.id };
      // A repository for several clients has a copy for each of them.
      if (!isOneSource && loser.hash === winner!.hash) {
        return { ...place, level: "suggestion", text: `“${loser.id}” is a copy of ${winner!.path}, which is used` };
      }
      // A nearer source wins by design; two skills of one source with the same name are a mistake.
      const text = `“${loser.id}” is also in ${winner!.path}, which is used instead`;
      return { ...place, level: isOneSource ? "error" : "warning", text };
    });
  });
}

/** `name` may omit the plugin prefix of the requiring skill. */
function requirement(name: string, of: Skill, ids: ReadonlySet<string>): string | undefined {
  if (ids.has(name)) return name;
  const colon = of.id.lastIndexOf(":");
  const qualified = colon === -1 ? name : `${of.id.slice(0, colon)}:${name}`;
  return ids.has(qualified) ? qualified : undefined;
}

function unknownRequirements(skills: readonly Skill[]): Problem[] {
  const ids = new Set(skills.map(({ id }) => id));
  return skills.flatMap((skill) =>
    skill.requires
      .filter((name) => requirement(name, skill, ids) === undefined)
      .map((name): Problem => {
        const near = nearest(name, ids);
        const hint = near.length > 0 ? `; near: ${near.join(", ")}` : "";
        return {
          level: "error",
          code: "requires-unknown",
          file: skill.path,
          where: "metadata.requires",
          text: `there is no skill “${name}”${hint}`,
        };
      }),
  );
}

/** Each cycle once, named from its first skill on. Not recursive: a chain may be 10,000 skills long. */
function circles(skills: readonly Skill[]): Problem[] {
  const ids = new Set(skills.map(({ id }) => id));
  const byId = new Map(skills.map((skill) => [skill.id, skill]));
  const next = (id: string): string[] => {
    const skill = byId.get(id)!;
    return skill.requires.map((name) => requirement(name, skill, ids)).filter((other) => other !== undefined);
  };
  const problems: Problem[] = [];
  const done = new Set<string>();
  for (const { id: start } of skills) {
    if (done.has(start)) continue;
    const trail: { id: string; left: string[] }[] = [{ id: start, left: next(start) }];
    const onTrail = new Set([start]);
    while (trail.length > 0) {
      const here = trail.at(-1)!;
      const step = here.left.shift();
      if (step === undefined) {
        trail.pop();
        onTrail.delete(here.id);
        done.add(here.id);
      } else if (onTrail.has(step)) {
        const circle = [...trail.slice(trail.findIndex(({ id }) => id === step)).map(({ id }) => id), step];
        problems.push({
          level: "error",
          code: "requires-cycle",
          file: byId.get(step)!.path,
          where: "metadata.requires",
          text: `the requirements form a cycle: ${circle.join(" → ")}`,
        });
      } else if (!done.has(step)) {
        trail.push({ id: step, left: next(step) });
        onTrail.add(step);
      }
    }
  }
  return problems;
}

// The placeholder description that `skill new` writes if none is given. `skill check` recognizes it.

export function templateDescription(name: string): string {
  return `${BEGINNING} (say when ${name} is needed, in the words a user would type).`;
}

/** Also true if only its end was changed. */
export function isTemplateDescription(description: string): boolean {
  return description.startsWith(BEGINNING);
}

const BEGINNING = "Use when …";
