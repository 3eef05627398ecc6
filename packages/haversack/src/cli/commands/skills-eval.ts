import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { diskFileSystem } from "../../base/file-system.ts";
import { nearest } from "../../base/nearest.ts";
import { putFile } from "../../base/safe-write.ts";
import { evaluateSkills, type SkillEvaluation } from "../../engine/evaluate-skills.ts";
import { placeOfNamed } from "../../engine/wired-place.ts";
import { parseCases } from "../../skills/evaluate.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { findProject } from "../project.ts";
import { targetFile } from "../read-file.ts";
import { startProgress } from "../terminal.ts";

export const spec: CommandSpec = {
  about: `Measures how well prompts find skills. The pool is every SKILL.md under DIR, its folder's path relative to DIR its id. Cases are JSON lines {prompt, expected[], negative_for[]}, or with --skill the list [{query, should_trigger}] that authors keep.`,
  options: {
    skills: { type: "string", value: "DIR", about: "The folder with the skills. Required." },
    cases: { type: "string", value: "FILE", about: "The cases. Required." },
    skill: { type: "string", value: "ID", about: "The skill that a should_trigger list speaks of." },
    lang: { type: "string", value: "CODE", about: "Only cases of this language, where cases name one." },
    results: {
      type: "string",
      value: "FILE",
      about: "Write one JSON line per case: {id, ranked: [{id, confidence, shown}]}, the best ten.",
    },
    misses: { type: "integer", value: "N", minimum: 0, about: "How many misses to show (default 20)." },
  },
  examples: [
    { run: "haversack skills eval --skills .claude/skills --cases cases.jsonl", says: "rates and misses" },
    { run: "haversack skills eval --skills . --skill api-errors --cases evals.json", says: "an author's own list" },
  ],
  json: "{skills, cases, positives, negatives, recall_at_1, recall_at_3, recall_at_5, mrr, true_positive_rate, false_trigger_rate, any_shown_rate, p50_ms, p95_ms, sources: {name: rates}, mean: rates, misses: [{id, kind, text}], problems}. A rate without cases is null.",
};

export function run(call: Call): ExitCode {
  const { options, io } = call;
  const folder = requirePath(call, "skills", "folder");
  const file = requirePath(call, "cases", "file");
  const results = options["results"] as string | undefined;
  // Before the evaluation, which can take minutes.
  const target = results && targetFile(call, results);
  const { config } = findProject(call);
  const skill = options["skill"] as string | undefined;
  const { cases, problems } = parseCases(readFileSync(file, "utf8"), { file, ...(skill && { skill }) });
  const lang = options["lang"] as string | undefined;
  const wanted = lang ? cases.filter((entry) => entry.lang === undefined || entry.lang === lang) : cases;
  if (wanted.length === 0) {
    throw new HaversackError(
      "input-invalid",
      `${file}: no case could be read${problems[0] ? `: ${problems[0].where}: ${problems[0].text}` : ""}`,
    );
  }
  const progress = startProgress(io, "Evaluating");
  const found = evaluateSkills(folder, wanted, {
    fs: diskFileSystem,
    settings: { recommendThreshold: config["skills.recommendThreshold"], maxSkills: config["skills.maxSkills"] },
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
  const { metrics, sources, mean, misses } = found;
  const data = {
    skills: found.skills,
    ...metrics,
    p50_ms: round(found.p50Ms),
    p95_ms: round(found.p95Ms),
    sources,
    mean,
    misses,
    problems: [...problems, ...found.problems],
  };
  print(call, data, () =>
    formatEvaluation(found, { maxMisses: (options["misses"] as number | undefined) ?? 20, problems: problems.length }),
  );
  return 0;
}

function formatEvaluation(
  { metrics, sources, mean, misses, skills, p50Ms, p95Ms }: SkillEvaluation,
  { maxMisses, problems }: { maxMisses: number; problems: number },
): string {
  const percent = (value: number | null) => (value === null ? "–" : `${(value * 100).toFixed(1)}%`);
  const row = (name: string, found: typeof metrics) =>
    `${name.padEnd(20)} ${String(found.cases).padStart(5)}  ${[found.recall_at_1, found.recall_at_3, found.recall_at_5, found.true_positive_rate, found.false_trigger_rate, found.any_shown_rate].map((value) => percent(value).padStart(7)).join(" ")}`;
  const names = Object.keys(sources);
  return [
    `${skills} skills, ${metrics.cases} cases (${metrics.positives} with an expected skill, ${metrics.negatives} without), ${p50Ms?.toFixed(2)} ms a prompt (p95 ${p95Ms?.toFixed(2)} ms)`,
    "",
    `${"".padEnd(20)} cases  found@1 found@3 found@5   shown   false   any`,
    row("all", metrics),
    ...(names.length > 1
      ? [...names.map((name) => row(`  ${name}`, sources[name]!)), row("  mean of sources", mean)]
      : []),
    "",
    "found@k: an expected skill is among the best k. shown: it is recommended. false: a skill that must not is.",
    "any: something is shown although no skill is expected.",
    ...(problems > 0 ? ["", `${problems} cases could not be read; --json lists them.`] : []),
    ...(misses.length > 0
      ? [
          "",
          `Misses (${Math.min(maxMisses, misses.length)} of ${misses.length}):`,
          ...misses.slice(0, maxMisses).map(({ text }) => `  ${text}`),
        ]
      : []),
  ].join("\n");
}

function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000;
}

function requirePath(call: Call, option: string, kind: "file" | "folder"): string {
  const given = call.options[option] as string | undefined;
  if (!given) throw new HaversackError("usage", `skills eval needs --${option}`);
  const path = resolve(call.io.cwd, given);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new HaversackError("not-found", `there is no ${kind} ${given}`);
  if (found.isDirectory() !== (kind === "folder")) throw new HaversackError("usage", `${given} is no ${kind}`);
  return path;
}
