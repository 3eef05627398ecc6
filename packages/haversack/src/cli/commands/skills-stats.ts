import { readSkillStats } from "../../store/sqlite/skills/skill-usage.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { openProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "What was shown of skills in this project, what was then used, and what it cost in tokens (estimated; the estimator's error is in `npm run bench estimator`).",
  examples: [{ run: "haversack skills stats", says: "per skill, and the shares of silent and speaking answers" }],
  json: "{prompts, tokens, answers: {none, names, incremental, full}, skills: [{id, shown, used, loaded, hitRate, tokens}]}: answers are shares of prompts; used counts the showings after which the skill was loaded, loaded counts all loads; hitRate is used ÷ shown.",
};

export function run(call: Call): ExitCode {
  const { handle } = openProject(call, { access: "look" });
  const stats = readSkillStats(handle);
  print(call, stats, () => {
    if (stats.prompts === 0) return "No prompt was seen here yet.";
    const percent = (share: number) => `${Math.round(share * 100)}%`;
    const { none, names, incremental, full } = stats.answers;
    const head = `${stats.prompts} prompts, ${stats.tokens} tokens: ${percent(none)} silent, ${percent(names)} names, ${percent(incremental)} incremental, ${percent(full)} full.`;
    const width = Math.min(40, Math.max(5, ...stats.skills.map(({ id }) => id.length)));
    const lines = stats.skills.map(
      ({ id, shown, used, loaded, hitRate, tokens }) =>
        `${id.padEnd(width)}  ${String(shown).padStart(5)}  ${String(used).padStart(4)}  ${percent(hitRate).padStart(8)}  ${String(loaded).padStart(6)}  ${String(tokens).padStart(6)}`,
    );
    return [head, "", `${"skill".padEnd(width)}  shown  used  hit rate  loaded  tokens`, ...lines].join("\n");
  });
  return 0;
}
