import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { diskFileSystem } from "../../base/file-system.ts";
import { nearest } from "../../base/nearest.ts";
import { putFile } from "../../base/safe-write.ts";
import { evaluateSkills, type SkillEvaluation } from "../../engine/evaluate-skills.ts";
import { openPool } from "../../engine/evaluation-pool.ts";
import { placeOfNamed } from "../../engine/wired-place.ts";
import { type LeaveOneOut, type Metrics, parseCases, type Thresholds } from "../../skills/evaluate.ts";
import { type Call, defineCommand, flag, option, wholeNumber } from "../command.ts";
import { findProject, targetFile } from "../project.ts";
import { startProgress, wrapText } from "../terminal.ts";

export const command = defineCommand({
  about: `Measures how well prompts find skills. The pool is every SKILL.md below DIR; a skill's ID is its folder's path from DIR. Cases are JSON lines {prompt, expected[], negative_for[]}, or with --skill the list [{query, should_trigger}] that authors keep.`,
  options: {
    skills: option("FOLDER", "The folder with the skills. Required.", { needs: "" }),
    cases: option("FILE", "The cases. Required.", { needs: "" }),
    skill: option("ID", "The skill that a should_trigger list is about."),
    where: option("KEY=VALUE", "Only cases whose field KEY has this value, such as half=held. Repeatable.", {
      repeat: true,
    }),
    lang: option("CODE", "Only cases of this language, where cases name one."),
    results: option(
      "FILE",
      "Write one JSON line per case: {id, ranked: [{id, confidence, shown}], tokens}, the best ten. shown is card, name or false.",
    ),
    "leave-one-out": flag(
      "For each source, also choose the two display thresholds on the other sources and measure on this one. The ranking's weights stay.",
    ),
    seed: wholeNumber("N", "For the random parts of the pool (default 1).", { minimum: 0 }),
    misses: wholeNumber("N", "How many misses to show (default 20).", { minimum: 0 }),
  },
  examples: {
    "haversack skill eval --skills .claude/skills --cases cases.jsonl": "rates and misses",
    "haversack skill eval --skills . --skill api-errors --cases evals.json": "an author's own list",
    "haversack skill eval --skills pools/shop --cases cases.jsonl --where pool=shop": "the cases of one pool",
  },
  json: "{skills, hidden_skills, hidden_cases, cases, positives, negatives, recall_at_1, recall_at_3, recall_at_5, mrr, in_front, cards, names, wrong_cards, wrong_shown, any_card_rate, any_shown_rate, mean_tokens, mean_answer_tokens, true_positive_rate (= cards), false_trigger_rate (= wrong_cards), p50_ms, p95_ms, sources: {name: rates}, mean: rates, macro: rates over sources with five positives, pools: {size: rates}, lengths: {words: rates}, leave_one_out?: {fitted, left_out}, misses: [{id, prompt, kind, text, skill?, missing_words?, add?, shown_then?}], problems}. A rate without cases is null.",
  run(call) {
    const { io } = call;
    const { results, skill, lang, where = [], seed = 1, misses: maxMisses = 20 } = call.options;
    const folder = requirePath(call, call.options.skills, "folder");
    const file = requirePath(call, call.options.cases, "file");
    // Before the evaluation, which can take minutes.
    const target = results && targetFile(call, results);
    const { config } = findProject(call);
    const filters = { file, where: where.map(readCondition), ...(skill && { skill }) };
    const { cases, problems } = parseCases(readFileSync(file, "utf8"), filters);
    const wanted = lang ? cases.filter((entry) => entry.lang === undefined || entry.lang === lang) : cases;
    if (wanted.length === 0) {
      const why = problems[0] ? `: ${problems[0].where}: ${problems[0].text}` : "";
      throw new HaversackError("refused", `${file}: no case could be read${why}`);
    }
    const isLeaveOneOut = call.options["leave-one-out"] === true;
    if (isLeaveOneOut && new Set(wanted.map(({ source }) => source)).size < 2) {
      throw new HaversackError("usage", "--leave-one-out needs cases of two sources or more");
    }
    const progress = startProgress(io, "Evaluating");
    const found = evaluateSkills(openPool(folder, diskFileSystem), wanted, {
      settings: { recommendThreshold: config["skills.recommend_threshold"], maxSkills: config["skills.max_skills"] },
      seed,
      isLeaveOneOut,
      onProgress: progress.step,
    });
    progress.end();
    if (skill && !found.ids.includes(skill)) {
      const [guess] = nearest(skill, found.ids);
      const advice = guess ? `did you mean ${guess}?` : `it has ${found.skills} skills`;
      throw new HaversackError("usage", `the pool has no skill ${skill}; ${advice}`);
    }
    if (target) {
      putFile(target, found.results.map((line) => `${JSON.stringify(line)}\n`).join(""), placeOfNamed(target, io.cwd));
    }
    const { skills, hiddenSkills, hiddenCases, metrics, sources, mean, macro, pools, lengths, leaveOneOut, misses } =
      found;
    const data = {
      ...{ skills, hiddenSkills, hiddenCases, ...metrics, p50_ms: round(found.p50Ms), p95_ms: round(found.p95Ms) },
      ...{ sources, mean, macro, pools, lengths, ...(leaveOneOut && { leaveOneOut }), misses },
      problems: [...problems, ...found.problems],
    };
    return { data, text: () => formatEvaluation(found, { maxMisses, problems: problems.length }) };
  },
});

const WIDTH = 80;

function formatEvaluation(
  found: SkillEvaluation,
  { maxMisses, problems }: { maxMisses: number; problems: number },
): string {
  const { metrics, sources, mean, macro, pools, lengths, misses, skills, p50Ms, p95Ms } = found;
  const names = Object.keys(sources);
  const hidden = found.hiddenSkills > 0 ? ` (${found.hiddenSkills} hidden by their author)` : "";
  const leftOut = found.hiddenCases > 0 ? [`${found.hiddenCases} cases are about hidden skills and are left out.`] : [];
  return [
    `${skills} skills${hidden}.`,
    `${metrics.cases} cases: ${metrics.positives} with an expected skill, ${metrics.negatives} without.`,
    ...leftOut,
    `${p50Ms?.toFixed(2)} ms a prompt (p95 ${p95Ms?.toFixed(2)} ms).`,
    "",
    HEADER,
    row("all", metrics),
    ...(names.length > 1
      ? [
          ...names.map((name) => row(`  ${name}`, sources[name]!)),
          row("  mean of sources", mean),
          ...(macro.sources > 0 ? [row(`  ${macro.sources} with 5+ positives`, macro)] : []),
        ]
      : []),
    ...group("pool size", pools),
    ...group("words in the prompt", lengths),
    ...(found.leaveOneOut ? formatLeaveOneOut(found.leaveOneOut) : []),
    "",
    ...wrapText(LEGEND, WIDTH),
    ...(problems > 0 ? ["", `${problems} cases could not be read; --json lists them.`] : []),
    ...(misses.length > 0
      ? [
          "",
          `Misses (${Math.min(maxMisses, misses.length)} of ${misses.length}):`,
          ...misses
            .slice(0, maxMisses)
            .flatMap(({ text }) =>
              wrapText(text, WIDTH - 4).map((line, at) => (at === 0 ? `  ${line}` : `    ${line}`)),
            ),
        ]
      : []),
  ].join("\n");
}

const COLUMNS = [
  ["r@1", "recall_at_1"],
  ["r@3", "recall_at_3"],
  ["front", "in_front"],
  ["cards", "cards"],
  ["names", "names"],
  ["wrong", "wrong_cards"],
  ["any", "any_shown_rate"],
] as const;

const NAME_WIDTH = 22;
const HEADER = `${"in %".padEnd(NAME_WIDTH)} cases${COLUMNS.map(([name]) => name.padStart(6)).join("")} tokens`;

const LEGEND =
  "r@1, r@3: an expected skill is among the best 1 or 3. front: it is shown, as a card or by name. cards, names: which of the two. wrong: a skill that must not be shown has a card. any: something is shown although no skill is expected. tokens: what a prompt costs in a fresh window, without the text of a skill that it calls by name.";

function row(name: string, rates: Metrics): string {
  const label = name.length > NAME_WIDTH ? `${name.slice(0, NAME_WIDTH - 1)}…` : name;
  const values = COLUMNS.map(([, key]) => percent(rates[key]).padStart(6));
  const tokens = rates.mean_tokens === null ? "–" : rates.mean_tokens.toFixed(0);
  return `${label.padEnd(NAME_WIDTH)} ${String(rates.cases).padStart(5)}${values.join("")} ${tokens.padStart(6)}`;
}

function percent(value: number | null): string {
  return value === null ? "–" : (value * 100).toFixed(1);
}

function group(title: string, rates: Record<string, Metrics>): string[] {
  const names = Object.keys(rates);
  return names.length < 2
    ? []
    : ["", title, ...names.map((name) => row(`  ${name.replaceAll("_", " ")}`, rates[name]!))];
}

function formatLeaveOneOut({ fitted, left_out: left }: LeaveOneOut): string[] {
  const chosen = Object.values(left.thresholds);
  const range = (key: keyof Thresholds) => {
    const values = chosen.map((one) => one[key]);
    return `${Math.min(...values)} to ${Math.max(...values)}`;
  };
  return [
    "",
    "thresholds chosen",
    row("  on all sources", fitted.metrics),
    row("  without the source", left.metrics),
    ...(fitted.macro.sources > 0
      ? [row("  all, mean of sources", fitted.macro), row("  without, mean", left.macro)]
      : []),
    `  card from ${fitted.thresholds.card} (without: ${range("card")}), name from ${fitted.thresholds.name} (${range("name")})`,
  ];
}

function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000;
}

function readCondition(given: string): [string, string] {
  const at = given.indexOf("=");
  if (at < 1) throw new HaversackError("usage", `--where needs KEY=VALUE, not ${given}`);
  return [given.slice(0, at), given.slice(at + 1)];
}

function requirePath({ io }: Pick<Call, "io">, given: string, kind: "file" | "folder"): string {
  const path = resolve(io.cwd, given);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new HaversackError("not-found", `there is no ${kind} ${given}`);
  if (found.isDirectory() !== (kind === "folder")) throw new HaversackError("usage", `${given} is not a ${kind}`);
  return path;
}
