/**
 * How well prompts find skills, and what the model sees: public cases (HAVERSACK_CORPUS), our own small pools with short prompts, and ordinary
 * prompts that must get no skill. No constant of the matcher is chosen here.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../packages/haversack/src/base/config.ts";
import { diskFileSystem } from "../../packages/haversack/src/base/file-system.ts";
import { evaluateSkills } from "../../packages/haversack/src/engine/evaluate-skills.ts";
import {
  openPool,
  type Pool,
  type PoolIndex,
  type PoolSkill,
  partOf,
} from "../../packages/haversack/src/engine/evaluation-pool.ts";
import {
  type EvalCase,
  type Evaluation,
  evaluate,
  leaveOneOut,
  type Metrics,
  macroOf,
  parseCases,
  type Rankable,
} from "../../packages/haversack/src/skills/evaluate.ts";
import { matchSkills, tiersOf } from "../../packages/haversack/src/skills/matching/match-skills.ts";
import { scoreSkills } from "../../packages/haversack/src/skills/matching/score-text.ts";
import { confidences, type Example, fitWeights, type Kind, SHIPPED, type Weights } from "../fit-ranking.ts";
import type { Benchmark, Goal } from "../harness.ts";

const COLUMNS = ["prompts", "n", "r@1", "r@3", "in front", "cards", "wrong cards", "wrong any", "any shown", "tokens"];
const SETS = ["skill-triggers", "skill-triggers-2", "skill-triggers-3"];
const RELEVANCE = join(import.meta.dirname, "../../test/relevance");
const DATA = join(import.meta.dirname, "../data");

export const matching: Benchmark = {
  name: "matching",
  summary: "the right skill first, in front of the model and as a card; wrong ones; silence",
  async run({ corpus }) {
    const own = smallPools();
    if (!corpus) {
      return {
        table: { columns: COLUMNS, rows: own.rows },
        goals: own.goals,
        notes: [
          "HAVERSACK_CORPUS is not set: the public skills and prompts are read from that folder and were not run.",
        ],
      };
    }
    const found = publicSets(corpus);
    return {
      table: { columns: COLUMNS, rows: [...found.rows, ...own.rows] },
      goals: [...found.goals, ...own.goals],
      notes: found.notes,
      data: { sets: found.data, own: own.data },
    };
  },
};

/** All that the weights are fitted to. */
function examplesOf(corpus: string) {
  const sets = SETS.filter((name) => existsSync(join(corpus, name))).map((name) => measureSet(corpus, name));
  const drawn = sets.map(({ folder, onePool }) => inRandomPools(folder, onePool));
  const inOnePool = sets.flatMap(({ folder, onePool }) =>
    onePool.map((one) => ({ folder, example: exampleIn(poolOf(folder), one.case, { kind: "one pool" }) })),
  );
  return {
    sets,
    drawn,
    inOnePool,
    examples: [...inOnePool.map(({ example }) => example), ...otherExamples(sets, drawn)],
  };
}

function publicSets(corpus: string) {
  const { sets, drawn, inOnePool, examples } = examplesOf(corpus);
  const pooled = sets.flatMap(({ onePool }) => onePool);
  const apart = sets.flatMap(({ ownPools }) => ownPools);
  const all = ratesOf(pooled);
  const allApart = ratesOf(apart);
  const fits = new Map<string | undefined, Weights>();
  const fitOf = (without: string | undefined) => {
    const known = fits.get(without) ?? fitWeights(examples.filter(({ source }) => source !== without));
    fits.set(without, known);
    return known;
  };
  const left = leaveOneOut(pooled, settings().maxSkills, (without) =>
    pooled.map((one, at) => rankAgain(one, inOnePool[at]!.folder, inOnePool[at]!.example, fitOf(without))),
  );
  const weightsLeft = ratesOf(
    pooled.map((one, at) =>
      withTiers(rankAgain(one, inOnePool[at]!.folder, inOnePool[at]!.example, fitOf(one.case.source))),
    ),
  );
  const leftOf = (name: string) =>
    macroOf(
      Object.entries(left.left_out.sources)
        .filter(([source]) => source.startsWith(`${name}/`))
        .map(([, rates]) => rates),
    );
  const chosen = Object.values(left.left_out.thresholds).map(({ card }) => card);
  const gaps = (["in_front", "cards"] as const).map(
    (key) => points(left.fitted.macro[key]) - points(left.left_out.macro[key]),
  );
  const ordinary = ordinaryLists().map(({ name, prompts }) => ({
    name: `${name}, three pools`,
    rates: ratesOf(
      sets.flatMap(({ folder }) =>
        rank(
          folder,
          prompts.map((prompt, at) => noSkill(`${folder} ${at}`, prompt)),
        ),
      ),
    ),
  }));
  const everydayRates = ratesOf(sets.flatMap(({ folder }) => rank(folder, everyday("held")))).metrics;
  const random = {
    withRight: drawn.flatMap(({ withRight }) => withRight),
    without: drawn.flatMap(({ without }) => without),
  };
  return {
    rows: [
      ...sets.flatMap(({ name, onePool, ownPools }) => [
        row(`${name}, one pool: mean of sources`, ratesOf(onePool).macro),
        row("  all prompts", ratesOf(onePool).metrics),
        row("  weights and thresholds fitted without the source", leftOf(name)),
        row("  each source a pool", ratesOf(ownPools).macro),
      ]),
      row("all sets, one pool each: mean of sources", all.macro),
      row("  all prompts", all.metrics),
      row("  weights and thresholds fitted without the source", left.left_out.macro),
      row("  weights fitted without the source, thresholds as shipped", weightsLeft.macro),
      row("  each source a pool", allApart.macro),
      ...ordinary.map(({ name, rates }) => row(name, rates.metrics)),
      row("450 everyday prompts, held back, three pools", everydayRates),
      row("all sets, random pools of 3 to 12 with the right skill", ratesOf(random.withRight).metrics),
      row("  without a skill of its source", ratesOf(random.without).metrics),
    ],
    goals: [
      ...sets.flatMap(({ name, onePool, ownPools }) => [
        ...poolGoals(name, ratesOf(onePool)),
        ...ownPoolGoals(name, ratesOf(ownPools)),
      ]),
      ...poolGoals("all sets", all),
      tokenGoal("all sets", all),
      ...ownPoolGoals("all sets", allApart),
      atLeast("all sets, fitted without the source: in front", left.left_out.macro.in_front, 89),
      atLeast("all sets, fitted without the source: cards", left.left_out.macro.cards, 66),
      atMost("all sets, fitted without the source: wrong cards", left.left_out.metrics.wrong_cards, 13),
      atMost("all sets, fitted without the source: wrong in any tier", left.left_out.metrics.wrong_shown, 35),
      atMost("gap between fitted on all and without the source", Math.max(...gaps.map(Math.abs)) / 100, 2, " points"),
      ...ordinary.flatMap(({ name, rates }) => silenceGoals(name, rates.metrics, { shown: 3, cards: 1 })),
      ...silenceGoals("450 everyday prompts, held back, three pools", everydayRates, { shown: 3, cards: 1 }),
    ],
    notes: [
      `chosen without the source: the weights of the evidence and of the confidence, and the thresholds of a card (${Math.min(...chosen)} to ${Math.max(...chosen)}; on all sources ${left.fitted.thresholds.card}) and of a name.`,
      `fitted on all sources: ${JSON.stringify(rounded(fitOf(undefined)))}`,
    ],
    data: { all, allApart, left, sets: sets.map(({ name, onePool }) => ({ name, ...ratesOf(onePool) })), ordinary },
  };
}

/**
 * Each prompt in a random pool of 3 to 12 skills with its right ones, and in one without any skill of its source. In the second,
 * hardly anything fits. Most users have pools of this size.
 */
function inRandomPools(folder: string, ranked: readonly Rankable[]) {
  const pool = poolOf(folder);
  const examples: Example[] = [];
  const all = [...pool.skills.values()];
  let state = 1;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((below * state) / 2 ** 32);
  };
  const rankIn = (
    kind: Kind,
    one: EvalCase,
    first: readonly PoolSkill[],
    isOther: (skill: PoolSkill) => boolean,
  ): Rankable => {
    const members = new Set(first);
    const others = all.filter(isOther);
    for (const size = Math.min(3 + random(10), others.length); members.size < size; )
      members.add(others[random(others.length)]!);
    const index = partOf(pool, [...members]);
    const { matches } = matchSkills({ prompt: one.prompt }, index);
    examples.push(exampleIn(pool, one, { kind, index }));
    const tiers = tiersOf(matches);
    const shown = matches.map(({ card, confidence }, at) => ({
      id: card.id,
      confidence,
      shown: tiers[at] ?? (false as const),
    }));
    return { case: one, matches, isExplicit: false, result: { id: one.id, ranked: shown, tokens: 0 } };
  };
  const isOfSource = ({ source }: EvalCase, { id }: PoolSkill) => id.startsWith(`${source.split("/").at(-1)}/`);
  return {
    withRight: ranked.flatMap(({ case: one }) => {
      const right = one.expected.flatMap((id) => pool.skills.get(id) ?? []);
      return right.length === 0 ? [] : [rankIn("small pool", one, right, () => true)];
    }),
    without: ranked.map(({ case: one }) =>
      rankIn("foreign pool", { ...one, expected: [], negativeFor: [] }, [], (skill) => !isOfSource(one, skill)),
    ),
    examples,
  };
}

const pools = new Map<string, Pool>();

function poolOf(folder: string): Pool {
  const pool = pools.get(folder) ?? openPool(folder, diskFileSystem);
  pools.set(folder, pool);
  return pool;
}

/** The data for the fit: one prompt with a pool, or with a part of it. Skills hidden by their author are left out. */
function exampleIn(
  pool: Pool,
  one: EvalCase,
  { kind, index = pool.index }: { kind: Kind; index?: PoolIndex },
): Example {
  const byKey = new Map([...pool.skills.values()].map((skill) => [skill.key, skill]));
  const isHidden = (key: number) => byKey.get(key)?.isHidden === true;
  const scored = scoreSkills(one.prompt, index, { hidden: (keys) => new Set(keys.filter(isHidden)) });
  const labelOf = (id: string) =>
    one.expected.includes(id) ? "right" : one.negativeFor.includes(id) ? "wrong" : "other";
  return {
    kind,
    source: one.source,
    isPositive: one.expected.length > 0,
    candidates: scored
      .filter(({ skill }) => !isHidden(skill))
      .map(({ gains: _, ...rest }) => ({ ...rest, label: labelOf(byKey.get(rest.skill)!.id) })),
  };
}

/** Everything that the weights are fitted to, except the prompts that belong to a single pool. */
function otherExamples(
  sets: readonly ReturnType<typeof measureSet>[],
  drawn: readonly ReturnType<typeof inRandomPools>[],
): Example[] {
  const own = sets.flatMap(({ name, folder, onePool }) => {
    const pool = poolOf(folder);
    return [...Map.groupBy(onePool, (one) => one.case.source)].flatMap(([source, group]) => {
      const prefix = `${source.slice(name.length + 1)}/`;
      const index = partOf(
        pool,
        [...pool.skills.values()].filter(({ id }) => id.startsWith(prefix)),
      );
      return group.map((one) => exampleIn(pool, one.case, { kind: "own pool", index }));
    });
  });
  const small = readdirSync(join(RELEVANCE, "pools")).map((name) => join(RELEVANCE, "pools", name));
  // The second list is only measured.
  const ordinary = ordinaryLists()
    .slice(0, 1)
    .flatMap(({ name, prompts }) => prompts.map((prompt) => ({ ...noSkill(prompt, prompt), source: name })));
  return [
    ...own,
    ...drawn.flatMap(({ examples }) => examples),
    ...sets.flatMap(({ folder }) => ordinary.map((one) => exampleIn(poolOf(folder), one, { kind: "ordinary" }))),
    ...small.flatMap((folder) =>
      ordinary.map((one) => exampleIn(poolOf(folder), one, { kind: "ordinary, small pool" })),
    ),
    ...everyday("tune").flatMap((one) =>
      sets.map(({ folder }) => exampleIn(poolOf(folder), one, { kind: "everyday" })),
    ),
    // A part of them: there are 16 pools.
    ...everyday("tune")
      .filter((_, at) => at % 2 === 0)
      .flatMap((one) => small.map((folder) => exampleIn(poolOf(folder), one, { kind: "everyday, small pool" }))),
    ...smallCases("tune").map(({ folder, one }) => exampleIn(poolOf(folder), one, { kind: "short" })),
    ...[...poolCases(TEAMS, "tune"), ...poolCases(MIXED, "tune"), ...olderCases(false)].map(({ pool, one }) =>
      exampleIn(pool, one, { kind: "short" }),
    ),
  ];
}

/**
 * `everyday-prompts.json`: 900 prompts that need no skill, written blind, in the variety of real sessions: small edits, questions about code at hand,
 * error messages. Every second one is held back from the fit.
 */
function everyday(half: "tune" | "held"): EvalCase[] {
  return readData<string[]>("everyday-prompts.json")
    .filter((_, at) => at % 2 === (half === "tune" ? 0 : 1))
    .map((prompt) => ({ ...noSkill(prompt, prompt), source: "everyday" }));
}

/** The case as other weights would rank it. The effect of rules stays. */
function rankAgain(one: Rankable, folder: string, example: Example, weights: Weights): Rankable {
  if (one.isExplicit) return one;
  const shipped = confidences(example, SHIPPED);
  const known = new Map(one.matches.map((match) => [match.card.key, match]));
  const cards = new Map(
    poolOf(folder)
      .index.cards([...shipped.keys()])
      .map((card) => [card.key, card]),
  );
  const again = [...confidences(example, weights)].flatMap(([key, confidence]): Rankable["matches"][number][] => {
    const match = known.get(key);
    const card = cards.get(key);
    if (!card) return [];
    const fromRules = match ? (1 - match.confidence) / Math.max(1e-9, 1 - shipped.get(key)!) : 1;
    const sum = 1 - (1 - confidence) * Math.min(1, fromRules);
    return [
      { card, named: match?.named ?? false, confidence: sum, ...(match?.excluded && { excluded: match.excluded }) },
    ];
  });
  again.sort((a, b) => Number(b.named) - Number(a.named) || b.confidence - a.confidence);
  return { ...one, matches: again };
}

/** What would be shown of the matches; without the tokens. */
function withTiers(one: Rankable): Rankable {
  if (one.isExplicit) return one;
  const tiers = tiersOf(one.matches, settings());
  const ranked = one.matches.flatMap(({ card, confidence, excluded }, at) =>
    excluded ? [] : [{ id: card.id, confidence, shown: tiers[at] ?? (false as const) }],
  );
  return { ...one, result: { ...one.result, ranked } };
}

/** One pool, and each source as a pool of its own. Sources carry the name of their set. */
function measureSet(corpus: string, name: string) {
  const folder = join(corpus, name, "skills");
  const file = join(corpus, name, "cases.jsonl");
  const english = parseCases(readFileSync(file, "utf8"), { file, where: [["lang", "en"]] }).cases;
  const labelled = english.map((one) => ({ ...one, source: `${name}/${one.source}` }));
  const ownPools = [...Map.groupBy(labelled, ({ source }) => source)].flatMap(([source, cases]) => {
    const prefix = `${source.slice(name.length + 1)}/`;
    const inside = (ids: readonly string[]) =>
      ids.filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
    return rank(
      join(folder, prefix),
      cases
        // A prompt for a skill of another source is neither a hit nor a miss here.
        .filter(({ expected }) => expected.length === 0 || inside(expected).length > 0)
        .map((one) => ({ ...one, expected: inside(one.expected), negativeFor: inside(one.negativeFor) })),
    );
  });
  return { name, folder, onePool: rank(folder, labelled), ownPools };
}

/** The prompts of our own small pools, with the folder of the pool. */
function smallCases(half: "tune" | "held"): { folder: string; one: EvalCase }[] {
  return lines<{ id: string; pool: string; half: string; prompt: string; expect: string[] }>("cases.jsonl")
    .filter((one) => one.half === half)
    .map(({ id, prompt, expect, pool }) => ({
      folder: join(RELEVANCE, "pools", pool),
      one: { ...noSkill(id, prompt), expected: expect, source: pool },
    }));
}

function smallPools() {
  const pools = readdirSync(join(RELEVANCE, "pools"));
  const ofHalf = (half: "tune" | "held") =>
    [...Map.groupBy(smallCases(half), ({ folder }) => folder)].flatMap(([folder, group]) =>
      rank(
        folder,
        group.map(({ one }) => one),
      ),
    );
  const halves = [
    { name: "small pools, tuned on", rates: ratesOf(ofHalf("tune")).metrics },
    { name: "small pools, held back", rates: ratesOf(ofHalf("held")).metrics },
  ];
  const ordinary = ordinaryLists().map(({ name, prompts }) => ({
    name: `${name}, small pools`,
    rates: ratesOf(
      pools.flatMap((pool) =>
        rank(
          join(RELEVANCE, "pools", pool),
          prompts.map((prompt, at) => noSkill(`${pool} ${at}`, prompt)),
        ),
      ),
    ).metrics,
  }));
  const teams = [TEAMS, MIXED].flatMap((pools) =>
    (["tune", "held"] as const).map((half) => ({
      name: `${pools.name}, ${half === "tune" ? "tuned on" : "held back"}`,
      rates: ratesIn(poolCases(pools, half)),
    })),
  );
  const teamsOrdinary = { name: "ordinary prompts, held back, 20 teams", rates: ratesIn(teamOrdinary("held")) };
  const older = OLDER.flatMap(({ name, file }) =>
    [false, true].map((heldOut) => ({
      name: `${name}${heldOut ? ", held back" : ""}`,
      rates: ratesIn(olderCases(heldOut, file)),
    })),
  );
  return {
    rows: [...halves, ...teams, ...ordinary, teamsOrdinary, ...older].map(({ name, rates }) => row(name, rates)),
    goals: [
      ...[...halves, ...teams].flatMap(({ name, rates }) => [
        atLeast(`${name}: in front`, rates.in_front, 92),
        atMost(`${name}: anything shown where nothing fits`, rates.any_shown_rate, 8),
      ]),
      ...[...ordinary, teamsOrdinary].flatMap(({ name, rates }) => silenceGoals(name, rates, { shown: 3, cards: 1 })),
      ...older.flatMap(({ name, rates }) => [
        atLeast(`${name}: in front`, rates.in_front, 92),
        atMost(`${name}: anything shown where nothing fits`, rates.any_shown_rate, 8),
        // People would judge some of these prompts ("debug") differently.
        atMost(`${name}: a card where nothing fits`, rates.any_card_rate, name.startsWith("short") ? 5 : 1),
      ]),
    ],
    data: { halves, teams, ordinary, teamsOrdinary, older },
  };
}

interface OlderPool {
  pool: string;
  /** Not looked at while the constants were chosen. */
  heldOut: boolean;
  skills: { name: string; description: string; body: string }[];
  prompts: { prompt: string; skill: string }[];
  silent: string[];
}

/** `small-pools.json`: pools of 3 to 12 skills. `short-prompts.json`: pools of 5 to 20 skills, most with a name of one word. */
const OLDER = [
  { name: "3 to 8 words", file: "small-pools.json" },
  { name: "short prompts", file: "short-prompts.json" },
];

interface PoolCase {
  pool: Pool;
  one: EvalCase;
}

/** Nothing fits a pool's silent prompts and the prompts of all other pools. */
function olderCases(heldOut: boolean, only?: string): PoolCase[] {
  return OLDER.filter(({ file }) => only === undefined || file === only).flatMap(({ file }) => {
    const pools = readData<OlderPool[]>(file);
    return pools
      .filter((pool) => pool.heldOut === heldOut)
      .flatMap(({ pool: name, skills, prompts, silent }) => {
        const pool = poolFrom(`${file} ${name}`, skills);
        const foreign = pools.filter((other) => other.pool !== name).flatMap((other) => other.prompts);
        return [
          ...prompts.map(({ prompt, skill }, at) => ({ ...noSkill(`${at}`, prompt), expected: [skill] })),
          ...[...silent, ...foreign.map(({ prompt }) => prompt)].map((prompt, at) => noSkill(`n${at}`, prompt)),
        ].map((one) => ({ pool, one: { ...one, source: name } }));
      });
  });
}

interface TeamPool {
  pool: string;
  skills: OlderPool["skills"];
  cases: { prompt: string; expect: string[]; half: "tune" | "held" }[];
}

/**
 * `team-pools.json`: what 20 kinds of teams may have installed, and what they type; more than half of the prompts share no word with their skill.
 * `mixed-pools.json`: 48 pools of 3 to 12 skills by two other hands, each with eight prompts that need a skill and six that do not; half of
 * the pools are held back. Written blind, by models that had not seen the matcher, its lists or any result.
 */
const TEAMS = { name: "small pools of 20 teams", file: "team-pools.json" };
const MIXED = { name: "48 mixed pools", file: "mixed-pools.json" };

function poolCases({ file }: typeof TEAMS, half: "tune" | "held"): PoolCase[] {
  return readData<TeamPool[]>(file).flatMap(({ pool: name, skills, cases }) =>
    cases
      .filter((one) => one.half === half)
      .map(({ prompt, expect }, at) => ({
        pool: poolFrom(`${file} ${name}`, skills),
        one: { ...noSkill(`${name} ${at}`, prompt), expected: expect, source: name },
      })),
  );
}

/** Everyday prompts of the same hand against each of these pools. */
function teamOrdinary(half: "tune" | "held"): PoolCase[] {
  const prompts = readData<{ prompt: string; half: string }[]>("team-ordinary.json").filter((one) => one.half === half);
  return readData<TeamPool[]>(TEAMS.file).flatMap(({ pool: name, skills }) =>
    prompts.map(({ prompt }, at) => ({
      pool: poolFrom(`${TEAMS.file} ${name}`, skills),
      one: { ...noSkill(`${name} ordinary ${at}`, prompt), source: name },
    })),
  );
}

function ratesIn(cases: readonly PoolCase[]): Metrics {
  return ratesOf(
    [...Map.groupBy(cases, ({ pool }) => pool)].flatMap(([pool, group]) =>
      rankIn(
        pool,
        group.map(({ one }) => one),
      ),
    ),
  ).metrics;
}

function rankIn(pool: Pool, cases: readonly EvalCase[]): Rankable[] {
  return evaluateSkills(pool, cases, { settings: settings(), isQuick: true }).rankables;
}

function readData<T>(file: string): T {
  return JSON.parse(readFileSync(join(DATA, file), "utf8")) as T;
}

/** The pool of these skills. It is kept in memory; its folder is gone at once. */
function poolFrom(name: string, skills: OlderPool["skills"]): Pool {
  const known = pools.get(name);
  if (known) return known;
  const folder = writePool(skills);
  try {
    const pool = openPool(folder, diskFileSystem);
    pools.set(name, pool);
    return pool;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writePool(skills: OlderPool["skills"]): string {
  const folder = mkdtempSync(join(tmpdir(), "haversack-bench-"));
  for (const { name, description, body } of skills) {
    mkdirSync(join(folder, name));
    writeFileSync(
      join(folder, name, "SKILL.md"),
      `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n${body}\n`,
    );
  }
  return folder;
}

function settings() {
  const { config } = readConfig([]);
  return { recommendThreshold: config["skills.recommend_threshold"], maxSkills: config["skills.max_skills"] };
}

function rank(folder: string, cases: readonly EvalCase[]): Rankable[] {
  return rankIn(poolOf(folder), cases);
}

function ratesOf(ranked: readonly Rankable[]): Evaluation {
  return evaluate(
    ranked.map((one) => one.case),
    ranked.map(({ result }) => result),
  );
}

function noSkill(id: string, prompt: string): EvalCase {
  return { id, prompt, expected: [], negativeFor: [], acceptable: [], source: "none" };
}

function ordinaryLists() {
  const first = JSON.parse(readFileSync(join(DATA, "ordinary-prompts.json"), "utf8")) as string[];
  const second = lines<{ prompt: string }>("ordinary.jsonl").map(({ prompt }) => prompt);
  return [
    { name: `${first.length} ordinary prompts`, prompts: first },
    { name: `${second.length} other ordinary prompts`, prompts: second },
  ];
}

function lines<T>(name: string): T[] {
  return readFileSync(join(RELEVANCE, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

function row(name: string, rates: Metrics): (string | number)[] {
  const percent = (value: number | null) => (value === null ? "–" : (100 * value).toFixed(1));
  const { recall_at_1, recall_at_3, in_front, cards, wrong_cards, wrong_shown, any_shown_rate, mean_tokens } = rates;
  return [
    name,
    rates.cases,
    ...[recall_at_1, recall_at_3, in_front, cards, wrong_cards, wrong_shown, any_shown_rate].map(percent),
    mean_tokens === null ? "–" : mean_tokens.toFixed(0),
  ];
}

function rounded({ sure, evidence }: Weights): Record<string, Record<string, number>> {
  const round = (terms: Record<string, number>) =>
    Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, Number(value.toFixed(2))]));
  return { sure: round(sure), evidence: round(evidence) };
}

function points(value: number | null): number {
  return 100 * (value ?? Number.NaN);
}

function atLeast(name: string, value: number | null, limit: number): Goal {
  return { name, value: points(value), limit, side: "at-least", unit: "%" };
}

function atMost(name: string, value: number | null, limit: number, unit = "%"): Goal {
  return { name, value: points(value), limit, side: "at-most", unit };
}

/** Means over sources; wrong ones over all negatives together. */
function poolGoals(name: string, { macro, metrics }: Evaluation): Goal[] {
  return [
    atLeast(`${name}: recall@1`, macro.recall_at_1, 78),
    atLeast(`${name}: recall@3`, macro.recall_at_3, 90),
    atLeast(`${name}: in front`, macro.in_front, 89),
    atLeast(`${name}: cards`, macro.cards, 66),
    atMost(`${name}: wrong cards`, metrics.wrong_cards, 13),
    atMost(`${name}: wrong in any tier`, metrics.wrong_shown, 35),
  ];
}

function tokenGoal(name: string, { metrics }: Evaluation): Goal {
  return { name: `${name}: tokens a prompt`, value: metrics.mean_tokens ?? Number.NaN, limit: 70, side: "at-most" };
}

function ownPoolGoals(name: string, { macro }: Evaluation): Goal[] {
  return [
    atLeast(`${name}, each source a pool: recall@3`, macro.recall_at_3, 95),
    atLeast(`${name}, each source a pool: in front`, macro.in_front, 93),
  ];
}

function silenceGoals(name: string, rates: Metrics, most: { shown: number; cards: number }): Goal[] {
  return [
    atMost(`${name}: anything shown`, rates.any_shown_rate, most.shown),
    atMost(`${name}: a card`, rates.any_card_rate, most.cards),
  ];
}
