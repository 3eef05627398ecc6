/**
 * Measures how well prompts find skills: every SKILL.md under a folder as one pool, in a real index in memory, each case
 * matched as a prompt would be.
 */
import { relative } from "node:path";
import type { FileSystem } from "../base/file-system.ts";
import {
  type CaseResult,
  caseResult,
  type EvalCase,
  type Evaluation,
  evaluate,
  percentile,
} from "../skills/evaluate.ts";
import { backgroundTerms } from "../skills/matching/background.ts";
import { matchSkills } from "../skills/matching/match-skills.ts";
import { skillTerms } from "../skills/matching/skill-terms.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { compileRules } from "../skills/rules/compile-rules.ts";
import { findSkillFiles } from "../skills/skill-files.ts";
import type { Problem } from "../skills/types.ts";
import { writeStore } from "../store/sqlite/access.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { SkillIndexWriter } from "../store/sqlite/skills/skill-index-writer.ts";

export interface SkillEvaluation extends Evaluation {
  skills: number;
  /** Of the pool. */
  ids: string[];
  results: CaseResult[];
  p50Ms: number | null;
  p95Ms: number | null;
  problems: Problem[];
}

export interface EvaluationSettings {
  recommendThreshold: number;
  maxSkills: number;
}

export function evaluateSkills(
  folder: string,
  cases: readonly EvalCase[],
  { fs, settings, onProgress }: { fs: FileSystem; settings: EvaluationSettings; onProgress?: (text: string) => void },
): SkillEvaluation {
  const { index, problems } = indexFolder(folder, fs);
  const results: CaseResult[] = [];
  const times: number[] = [];
  // The first prompts pay for statements and compiled code; a person's process has paid that before it is timed.
  for (const { prompt } of cases.slice(0, 20)) matchSkills({ prompt }, index);
  for (const { id, prompt } of cases) {
    const start = performance.now();
    const { matches } = matchSkills({ prompt }, index);
    times.push(performance.now() - start);
    const ranked = matches
      .filter(({ excluded }) => !excluded)
      .map(({ card, confidence }) => ({ skill: card.id, confidence }));
    results.push(
      caseResult(id, ranked, { recommendConfidence: settings.recommendThreshold, maxSkills: settings.maxSkills }),
    );
    if (results.length % 50 === 0) onProgress?.(`${results.length} of ${cases.length} cases`);
  }
  return {
    ...evaluate(cases, results, { recommendConfidence: settings.recommendThreshold }),
    skills: index.size,
    ids: index.listCards().map(({ id }) => id),
    results,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    problems,
  };
}

/** Ids are the folders' paths relative to the pool's, so that skills of one name from several collections stay apart. */
function indexFolder(folder: string, fs: FileSystem): { index: SqliteSkillIndex; problems: Problem[] } {
  const handle = openMemoryStore();
  const writer = new SkillIndexWriter(handle.db);
  const source = { kind: "folder" as const, label: folder, rank: 0 };
  const { files, problems } = findSkillFiles([{ dir: folder, source, isNamed: true }], fs, {
    maxDepth: 12,
    insideSkills: true,
  });
  writeStore(handle, () => {
    writer.putBackground(backgroundTerms());
    for (const file of files) {
      if (!file.folder) continue;
      const { skill, problems: own } = parseSkill(fs.readFile(file.path), file);
      problems.push(...own);
      if (!skill) continue;
      const key = writer.put({
        ...skill,
        id: relative(folder, file.folder).replaceAll("\\", "/") || skill.id,
        size: file.size,
        mtimeMs: file.mtimeMs,
        rank: 0,
        brief: skill.shortDescription ?? "",
        sourceKind: source.kind,
        sourceLabel: source.label,
        terms: skillTerms({ ...skill, ...(skill.triggers && { keywords: skill.triggers.keywords }) }),
        problems: [],
      });
      writer.activate(key);
      if (skill.triggers) writer.putRules(key, compileRules([], { triggers: skill.triggers, file: file.path }));
    }
    writer.flush();
  });
  return { index: new SqliteSkillIndex(handle.db), problems };
}
