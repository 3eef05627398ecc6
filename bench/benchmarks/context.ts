/**
 * The effect of facts other than the prompt's words, measured on the public cases (HAVERSACK_CORPUS). The cases have no projects, so projects are
 * made up. context: the project has the language of the right skill, or it has another one. learning: half of a source's prompts are past sessions in
 * which the right skill was used and the others were ignored; the other half is measured.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { diskFileSystem } from "../../packages/haversack/src/base/file-system.ts";
import { openPool, type Pool, type PoolIndex } from "../../packages/haversack/src/engine/evaluation-pool.ts";
import { type EvalCase, evaluate, parseCases } from "../../packages/haversack/src/skills/evaluate.ts";
import { extensionTable } from "../../packages/haversack/src/skills/matching/ecosystems.ts";
import type { SkillUse } from "../../packages/haversack/src/skills/matching/match-skills.ts";
import {
  type Match,
  type MatchInput,
  matchSkills,
  tiersOf,
} from "../../packages/haversack/src/skills/matching/match-skills.ts";
import type { Benchmark, BenchResult } from "../harness.ts";

const SETS = ["skill-triggers", "skill-triggers-2", "skill-triggers-3"];
const NO_CORPUS: BenchResult = {
  table: { columns: [], rows: [] },
  notes: ["HAVERSACK_CORPUS is not set: the public skills and prompts are read from that folder and were not run."],
};

interface Set {
  pool: Pool;
  cases: EvalCase[];
}

function readSets(corpus: string): Set[] {
  return SETS.filter((name) => existsSync(join(corpus, name))).map((name) => {
    const file = join(corpus, name, "cases.jsonl");
    const { cases } = parseCases(readFileSync(file, "utf8"), { file, where: [["lang", "en"]] });
    const pool = openPool(join(corpus, name, "skills"), diskFileSystem);
    const isVisible = ({ expected, negativeFor }: EvalCase) =>
      [...expected, ...negativeFor].some((id) => pool.skills.get(id)?.isHidden === false);
    return { pool, cases: cases.filter(isVisible).map((one) => ({ ...one, source: `${name}/${one.source}` })) };
  });
}

interface Judged {
  testCase: EvalCase;
  shown: { match: Match; tier: "card" | "name" | undefined }[];
}

function judge(testCase: EvalCase, index: PoolIndex, more: Partial<MatchInput> = {}): Judged {
  const matches = matchSkills({ prompt: testCase.prompt, ...more }, index).matches.filter(({ excluded }) => !excluded);
  const tiers = tiersOf(matches);
  return { testCase, shown: matches.map((match, at) => ({ match, tier: tiers[at] })) };
}

const COLUMNS = ["prompts", "n", "r@1", "r@3", "in front", "cards", "wrong cards", "wrong any", "foreign shown"];

function row(
  name: string,
  judged: readonly Judged[],
  has?: (testCase: EvalCase) => readonly string[],
): (string | number)[] {
  const { macro, metrics } = evaluate(
    judged.map(({ testCase }) => testCase),
    judged.map(({ testCase, shown }) => ({
      id: testCase.id,
      tokens: 0,
      ranked: shown.map(({ match, tier }) => ({
        id: match.card.id,
        confidence: match.confidence,
        shown: tier ?? false,
      })),
    })),
  );
  const foreign = judged.filter(({ testCase, shown }) =>
    shown.some(
      ({ match, tier }) => tier && match.card.tied && !match.card.tied.of.some((one) => has?.(testCase).includes(one)),
    ),
  );
  const percent = (value: number | null) => (value === null ? "–" : (100 * value).toFixed(1));
  return [
    name,
    judged.length,
    ...[
      macro.recall_at_1,
      macro.recall_at_3,
      macro.in_front,
      macro.cards,
      metrics.wrong_cards,
      metrics.wrong_shown,
    ].map(percent),
    has ? percent(foreign.length / judged.length) : "–",
  ];
}

export const context: Benchmark = {
  name: "context",
  summary: "what the project's languages change: the right one, another one, and not known",
  async run({ corpus }) {
    if (!corpus) return NO_CORPUS;
    const sets = readSets(corpus);
    const extensions = extensionTable();
    const tieOf = ({ pool }: Set, { expected, negativeFor }: EvalCase) => {
      const keys = [...expected, ...negativeFor].flatMap((id) => pool.skills.get(id)?.key ?? []);
      return pool.index.cards(keys).flatMap(({ tied }) => tied?.of ?? []);
    };
    const all = sets.flatMap((set) => set.cases.map((testCase) => ({ set, testCase, tied: tieOf(set, testCase) })));
    const own = new Map(all.map(({ testCase, tied }) => [testCase, tied.length > 0 ? tied : ["javascript", "react"]]));
    const measured = (some: typeof all, has?: (testCase: EvalCase) => readonly string[]) =>
      some.map(({ set, testCase }) =>
        judge(testCase, withProject(set.pool.index, has && { has: has(testCase), extensions })),
      );
    const ownOf = (testCase: EvalCase) => own.get(testCase) ?? [];
    const other = () => ["javascript", "react"];
    const tied = all.filter((one) => one.tied.length > 0 && !one.tied.some((each) => other().includes(each)));
    return {
      table: {
        columns: COLUMNS,
        rows: [
          row("all, project not known", measured(all), ownOf),
          row("all, the project has the right skill's language", measured(all, ownOf), ownOf),
          row("right skill for another language, not known", measured(tied), other),
          row("right skill for another language, JavaScript project", measured(tied, other), other),
        ],
      },
      notes: ["foreign shown: prompts that bring a skill for a language or framework that the project does not have."],
    };
  },
};

/** `index` as if it belonged to this project, with this use of its skills. */
function withProject(
  index: PoolIndex,
  project: ReturnType<NonNullable<PoolIndex["projectContext"]>>,
  uses: ReadonlyMap<string, SkillUse> = new Map(),
): PoolIndex {
  return Object.create(index, {
    projectContext: { value: () => project },
    uses: { value: () => uses },
    // Methods with private fields need the index itself.
    ...Object.fromEntries(
      ["terms", "best", "postings", "triggers", "patterns", "alwaysActive", "hasRules", "cards"].map((name) => [
        name,
        {
          value: (...given: unknown[]) =>
            (index[name as keyof PoolIndex] as (...all: unknown[]) => unknown).apply(index, given),
        },
      ]),
    ),
    size: { get: () => index.size },
  }) as PoolIndex;
}

export const learning: Benchmark = {
  name: "learning",
  summary: "what learning from use changes, in synthetic sessions made from the cases",
  async run({ corpus }) {
    if (!corpus) return NO_CORPUS;
    const before: Judged[] = [];
    const after: Judged[] = [];
    const withoutLearning: Judged[] = [];
    for (const { pool, cases } of readSets(corpus)) {
      for (const group of Map.groupBy(cases, ({ source }) => source).values()) {
        const past = group.filter((_, at) => at % 2 === 0);
        const next = group.filter((_, at) => at % 2 === 1);
        const uses = new Map<string, SkillUse>();
        for (const testCase of past) note(judge(testCase, pool.index), uses);
        const index = withProject(pool.index, undefined, uses);
        for (const testCase of next) {
          before.push(judge(testCase, pool.index));
          withoutLearning.push(judge(testCase, index));
          after.push(judge(testCase, index, { isLearning: true }));
        }
      }
    }
    return {
      table: {
        columns: COLUMNS,
        rows: [
          row("second half of each source, no history", before),
          row("used before in this project", withoutLearning),
          row("and learned from use", after),
        ],
      },
      notes: [
        "Past sessions: the right skill was used if it was shown, else searched for; every other skill that was shown was ignored.",
      ],
    };
  },
};

function note({ testCase, shown }: Judged, uses: Map<string, SkillUse>): void {
  const change = (id: string, how: (use: SkillUse) => void) => {
    const use = uses.get(id) ?? { loaded: 0, used: 0, ignored: 0, searched: 0 };
    how(use);
    uses.set(id, use);
  };
  const visible = shown.filter(({ tier }) => tier).map(({ match }) => match.card.id);
  for (const id of visible) {
    if (testCase.expected.includes(id))
      change(id, (use) => {
        use.used++;
        use.loaded++;
      });
    else
      change(id, (use) => {
        use.ignored++;
      });
  }
  const [right] = testCase.expected;
  if (right !== undefined && !testCase.expected.some((id) => visible.includes(id)))
    change(right, (use) => {
      use.searched++;
      use.loaded++;
    });
}
