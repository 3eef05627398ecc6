/** Skills that fit a prompt, rules, and guards of files. */
import type { Scenario } from "../scenario.ts";
import { inShell, OTHER_PROMPT, PDF_PROMPT, passing, withRules, withSkills } from "./seeds.ts";
import type { Voice } from "./voices.ts";

export function skills(voice: Voice): Scenario[] {
  const { start, prompt, beforeEdit, afterEdit } = voice;
  return [
    {
      name: "skills-fit",
      about: "a prompt that a skill fits: shown, not shown again, shown anew after a compaction, a pause and its load",
      seed: (project) => withSkills(voice, project),
      steps: [
        ...start("startup"),
        prompt(OTHER_PROMPT),
        prompt(PDF_PROMPT),
        prompt(PDF_PROMPT),
        prompt("Please use the skill pdf-forms for this form."),
        ...voice.loadSkill("pdf-forms"),
        prompt(PDF_PROMPT),
        prompt("Tie a bowline and a hitch."),
        ...voice.compaction(),
        prompt(PDF_PROMPT),
        passing("an hour passes", 60 * 60_000),
        prompt(PDF_PROMPT),
        inShell(voice, ["skill", "show", "knots"]),
        prompt("Tie a bowline and a hitch."),
        prompt("/knots a bowline"),
        prompt(""),
        prompt("Look at the token ghp_abcdefghijklmnopqrstuvwxyz0123456789 in the PDF form."),
      ],
    },
    {
      name: "rules",
      about: "rules: one loads its skill's body, one guards files and only warns",
      seed: (project) => withRules(voice, project),
      steps: [
        ...start("startup"),
        prompt("Write the changelog."),
        prompt("Write the changelog again."),
        prompt("Make a migration."),
        beforeEdit("src/a.ts"),
        beforeEdit("db/001.sql"),
        afterEdit("db/001.sql"),
        beforeEdit("db/001.sql"),
        beforeEdit("db/notes/a.md"),
        ...voice.loadSkill("db-migrations"),
        beforeEdit("db/002.sql"),
      ],
    },
    {
      name: "guard-denies",
      about: "the user lets rules refuse: an edit is refused until the skill is loaded",
      async seed(project) {
        await withRules(voice, project);
        await project.cli(["config", "set", "skills.enforce", "on"]);
        await project.cli(["trust", "--yes"]);
      },
      steps: [
        ...start("startup"),
        prompt(OTHER_PROMPT),
        beforeEdit("db/001.sql"),
        beforeEdit("db/001.sql"),
        beforeEdit("src/a.ts"),
        inShell(voice, ["skill", "show", "db-migrations"]),
        ...voice.loadSkill("db-migrations"),
        beforeEdit("db/001.sql"),
      ],
    },
  ];
}
