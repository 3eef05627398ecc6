/**
 * Which skill goes with which words, kinds and types of tasks, as shipped. Settings come before these: see
 * `skill-settings.ts`. Plain data, loaded by the hook.
 */
import type { SkillRules } from "./which-skill.ts";

const FINISHING = "finishing-a-development-branch";
const EXECUTION = "subagent-driven-development";

export const SKILL_DEFAULTS: SkillRules = {
  patterns: [
    { words: "brainstorm", skill: "brainstorming" },
    { words: "worktree", skill: "using-git-worktrees" },
    { words: "write plan", skill: "writing-plans" },
    { words: "implementation plan", skill: "writing-plans" },
    { words: "spec review", skill: EXECUTION },
    { words: "code review", skill: EXECUTION },
    { words: "quality review", skill: EXECUTION },
    // In a description these are mostly about data ("merge both lists", "when the upload finishes").
    { words: "finish", skill: FINISHING, isTitleOnly: true },
    { words: "merge", skill: FINISHING, isTitleOnly: true },
    { words: "PR", skill: FINISHING, isTitleOnly: true },
  ],
  // A feature has none of its own: implementation alone.
  typeSkills: { api: "api-design", bug: "debugging", test: "testing-strategy" },
  implementation: "test-driven-development",
  coordination: EXECUTION,
  // None is shipped: a project that has one of these wants it used.
  roleSkills: {
    "spec-reviewer": ["spec-reviewer", "spec-review"],
    "quality-reviewer": ["quality-reviewer", "quality-review", "code-reviewer", "code-review"],
  },
  crossCutting: [
    { kind: "implementation", skill: "test-driven-development" },
    { kind: "execution", skill: "requesting-code-review" },
    { kind: "finishing", skill: "verification-before-completion" },
  ],
  kinds: {
    brainstorming: "planning",
    "using-git-worktrees": "planning",
    "writing-plans": "planning",
    [EXECUTION]: "execution",
    "executing-plans": "execution",
    [FINISHING]: "finishing",
  },
};
