/** Matches a prompt against rules: keywords, synonyms, intents, files, exclusions and skip conditions. */

import type { PatternRow, SkillCard } from "../types.ts";
import { ANY_STEM, hasKeyword, preparePrompt } from "./keyword-match.ts";
import type { MatchIndex, MatchInput, Reason, RuleMatches } from "./match-skills.ts";
import { fromRoot, pathsInPrompt } from "./prompt-paths.ts";
import { matchEach, PATTERN_BUDGET_MS } from "./run-patterns.ts";

/** The confidence that each piece of evidence gives alone. A keyword alone is enough to recommend; a touched file alone is not. */
export const STRENGTH = {
  named: 0.99,
  keyword: 0.55,
  /** A keyword of several words: as telling as a pattern. */
  phrase: 0.65,
  furtherKeyword: 0.3,
  synonym: 0.42,
  furtherSynonym: 0.2,
  intent: 0.65,
  promptFile: 0.45,
  touchedFile: 0.2,
  content: 0.45,
  domain: 0.08,
  taskType: 0.25,
  role: 0.25,
  always: 0.5,
};

export function matchRules(given: MatchInput, index: MatchIndex): RuleMatches {
  const input = given.readHead ? { ...given, readHead: once(given.readHead) } : given;
  const reasons = new Map<number, Reason[]>();
  const excluded = new Map<number, string>();
  const add = (key: number, reason: Reason) => {
    const known = reasons.get(key);
    if (known) known.push(reason);
    else reasons.set(key, [reason]);
  };
  matchKeywords(input.prompt, index, add, excluded);
  const { slowPatterns, files } = matchPatterns(input, index, add, excluded);
  for (const card of index.cards([...files.keys()])) {
    for (const reason of fileReasons(card, files.get(card.key) ?? [], input)) add(card.key, reason);
  }
  for (const key of index.alwaysActive())
    add(key, { feature: "always", text: "always active", strength: STRENGTH.always });
  return { reasons, slowPatterns, excluded: (card) => excluded.get(card.key) ?? exclusionOf(card, input) };
}

function matchKeywords(
  prompt: string,
  index: MatchIndex,
  add: (key: number, reason: Reason) => void,
  excluded: Map<number, string>,
): void {
  const prepared = preparePrompt(prompt);
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  for (const { skill, kind, phrase, weight } of index.triggers([...prepared.places.keys(), ANY_STEM])) {
    const [compiled = "", text = compiled] = phrase.split("\t");
    const key = `${skill} ${kind} ${compiled}`;
    if (seen.has(key) || !hasKeyword(prepared, compiled)) continue;
    seen.add(key);
    if (kind === "exclude") {
      excluded.set(skill, `its rule excludes prompts with "${text}"`);
      continue;
    }
    const count = counts.get(`${skill} ${kind}`) ?? 0;
    counts.set(`${skill} ${kind}`, count + 1);
    const keyword = text.trim().includes(" ") ? STRENGTH.phrase : STRENGTH.keyword;
    const [first, further] =
      kind === "keyword" ? [keyword, STRENGTH.furtherKeyword] : [STRENGTH.synonym, STRENGTH.furtherSynonym];
    add(skill, { feature: kind, text, strength: scaled(count === 0 ? first : further, weight) });
  }
}

/** An author's weight of 1 changes nothing; a lower one weakens, a higher one strengthens, never to certainty. */
function scaled(strength: number, weight: number): number {
  return 1 - (1 - strength) ** Math.min(3, Math.max(0, weight));
}

interface FileHit {
  file: string;
  isMentioned: boolean;
}

/** All patterns for a prompt share one time budget. A pattern that ran out of time is not tried again. */
function matchPatterns(
  input: MatchInput,
  index: MatchIndex,
  add: (key: number, reason: Reason) => void,
  excluded: Map<number, string>,
): { slowPatterns: string[]; files: Map<number, FileHit[]> } {
  const slow = new Set<string>();
  let leftMs = PATTERN_BUDGET_MS;
  const run = (rows: readonly PatternRow[], texts: readonly string[]): { row: PatternRow; text: number }[] => {
    const able = rows.filter(({ source }) => !slow.has(source));
    const start = process.cpuUsage();
    const result = matchEach(able, texts, { budgetMs: leftMs });
    leftMs -= process.cpuUsage(start).user / 1000;
    for (const at of result.slow) slow.add(able[at]!.source);
    return result.pairs.map(([at, text]) => ({ row: able[at]!, text }));
  };
  const seen = new Set<string>();
  const isFirst = (key: string) => !seen.has(key) && Boolean(seen.add(key));

  for (const { row } of run(index.patterns(["intent", "exclude"]), [input.prompt])) {
    const { skill, kind, source } = row;
    if (kind === "exclude") excluded.set(skill, `its rule excludes prompts that match /${source}/`);
    else if (isFirst(`intent ${skill} ${source}`))
      add(skill, { feature: "intent", text: `/${source}/`, strength: STRENGTH.intent });
  }

  const files = new Map<number, FileHit[]>();
  const mentioned = [...new Set(pathsInPrompt(input.prompt).map((path) => fromRoot(path, input.root)))];
  const touched = (input.files ?? []).map((path) => fromRoot(path, input.root));
  const all = [...new Set([...mentioned, ...touched])];
  if (all.length === 0) return { slowPatterns: [...slow], files };
  const rows = index.patterns(["path", "path-exclude", "content"]);
  const hits = run(
    rows.filter(({ kind }) => kind !== "content"),
    all,
  ).sort((a, b) => a.text - b.text);
  const out = new Set(
    hits.filter(({ row }) => row.kind === "path-exclude").map(({ row, text }) => `${row.skill} ${text}`),
  );
  for (const { row, text } of hits) {
    if (row.kind !== "path" || out.has(`${row.skill} ${text}`)) continue;
    const hit = { file: all[text]!, isMentioned: text < mentioned.length };
    files.set(row.skill, [...(files.get(row.skill) ?? []), hit]);
  }
  matchContents(input, mentioned, {
    rows: rows.filter(({ kind }) => kind === "content"),
    run,
    found: (skill, file) => {
      if (isFirst(`content ${skill}`)) add(skill, { feature: "content", text: file, strength: STRENGTH.content });
    },
  });
  return { slowPatterns: [...slow], files };
}

/** Content patterns run on the beginning of files that the prompt mentions, at most five. */
function matchContents(
  { readHead }: MatchInput,
  mentioned: readonly string[],
  {
    rows,
    run,
    found,
  }: {
    rows: readonly PatternRow[];
    run: (rows: readonly PatternRow[], texts: readonly string[]) => { row: PatternRow; text: number }[];
    found: (skill: number, file: string) => void;
  },
): void {
  if (!readHead || rows.length === 0) return;
  const heads = mentioned.slice(0, 5).flatMap((file) => {
    const head = readHead(file);
    return head ? [{ file, head }] : [];
  });
  const texts = heads.map(({ head }) => head);
  for (const { row, text } of run(rows, texts)) found(row.skill, heads[text]!.file);
}

/** The first file that counts. A rule for created files needs one that the prompt names and that does not exist yet. */
function fileReasons({ rule }: SkillCard, hits: readonly FileHit[], { readHead }: MatchInput): Reason[] {
  const isNew = ({ file, isMentioned }: FileHit) => isMentioned && readHead?.(file) === undefined;
  const hit = rule?.createOnly ? hits.find(isNew) : hits[0];
  if (!hit) return [];
  return [
    hit.isMentioned
      ? { feature: "file", text: `${hit.file} (in the prompt)`, strength: STRENGTH.promptFile }
      : { feature: "file", text: `${hit.file} (touched in this session)`, strength: STRENGTH.touchedFile },
  ];
}

/** Reads each file once, because several rules may need it. */
function once(readHead: (path: string) => string | undefined): (path: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (path) => {
    if (!known.has(path)) known.set(path, readHead(path));
    return known.get(path);
  };
}

function exclusionOf({ id, rule }: SkillCard, input: MatchInput): string | undefined {
  if (!rule) return undefined;
  const { skip } = rule;
  if (skip.sessionSkillUsed && input.usedSkills?.includes(id))
    return "its rule skips it once it was used in the session";
  const override = skip.envOverride && input.env?.[skip.envOverride];
  if (override && override !== "0") return `${skip.envOverride} is set`;
  if (skip.sessionMarker && input.prompt.includes(skip.sessionMarker))
    return `the prompt has the marker ${skip.sessionMarker}`;
  if (skip.fileMarkers.length > 0 && input.readHead) {
    for (const path of pathsInPrompt(input.prompt).slice(0, 5)) {
      const file = fromRoot(path, input.root);
      const marker = skip.fileMarkers.find((text) => input.readHead?.(file)?.includes(text));
      if (marker) return `${file} has the marker ${marker}`;
    }
  }
  return undefined;
}
