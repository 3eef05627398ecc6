import { describe, expect, it } from "vitest";
import type { TaskType } from "../work/task.ts";
import { hasPhrase } from "./text.ts";
import {
  bareName,
  readSkillSettings,
  SKILL_DEFAULTS,
  type SkilledTask,
  skillsOfOrchestrator,
  skillsOfTask,
} from "./which-skill.ts";

/** Like `idOf` of the skill index. */
const installedAs = (name: string, ids: readonly string[]) =>
  ids.includes(name) ? name : ids.find((id) => bareName(id) === bareName(name));

const ALL = [
  ...SKILL_DEFAULTS.patterns.map(({ skill }) => skill),
  ...Object.values(SKILL_DEFAULTS.typeSkills),
  ...SKILL_DEFAULTS.crossCutting.map(({ skill }) => skill),
];

function skillsOf(
  task: SkilledTask & { type?: TaskType },
  {
    parents = [],
    ids = ALL,
    settings = {},
    role,
  }: {
    parents?: SkilledTask[];
    ids?: string[];
    settings?: Parameters<typeof readSkillSettings>[0];
    role?: string;
  } = {},
) {
  const { rules } = readSkillSettings(settings);
  const options = { ...rules, parents, role, findInstalled: (name: string) => installedAs(name, ids) };
  return skillsOfTask({ type: "feature", ...task }, options);
}

it("gives whoever reviews the skill of the task that it reviews, and not the coordinator's", () => {
  const review = { title: "Spec review" };
  const role = "spec-reviewer";
  const parents = [{ title: "Limit logins", skill: "api-design" }];
  expect(ids(skillsOf(review, { parents, role }))).toEqual(["api-design", "test-driven-development (core)"]);
  expect(ids(skillsOf(review, { role }))).toEqual(["test-driven-development (core)"]);
  // A reviewer does not inherit this skill from the parent either, but gets it if its own task names it.
  const coordinated = [{ title: "Limit logins", skill: "subagent-driven-development" }];
  expect(ids(skillsOf(review, { parents: coordinated, role }))).toEqual(["test-driven-development (core)"]);
  expect(ids(skillsOf({ ...review, skill: "subagent-driven-development" }, { role }))[0]).toBe(
    "subagent-driven-development",
  );
  expect(ids(skillsOf(review, { role: "orchestrator" }))[0]).toBe("subagent-driven-development");
  // A skill with the role's name is meant for that role.
  expect(ids(skillsOf(review, { parents, role, ids: [...ALL, "spec-review"] }))).toEqual([
    "spec-review",
    "api-design",
    "test-driven-development (core)",
  ]);
});

it("gives an orchestrator without a task the way to have others work, where it is installed", () => {
  const { rules } = readSkillSettings({});
  const of = (installed: string[]) =>
    skillsOfOrchestrator({ ...rules, findInstalled: (name) => installedAs(name, installed) });
  expect(ids(of(ALL))).toEqual(["subagent-driven-development", "requesting-code-review (core)"]);
  expect(of([])).toEqual([]);
});

const ids = (found: ReturnType<typeof skillsOf>) => found.map(({ id, as }) => (as === "core" ? `${id} (core)` : id));

describe("skillsOfTask", () => {
  it("takes all that the task names, and test-driven development as a core on top", () => {
    expect(skillsOf({ title: "Merge the lists", skill: "api-design, my-own" }, { ids: [...ALL, "my-own"] })).toEqual([
      { id: "api-design", because: "named by the task", as: "main" },
      { id: "my-own", because: "named by the task", as: "main" },
      { id: "test-driven-development", because: "for implementation", as: "core" },
    ]);
  });

  it.each([
    ["Brainstorm the login", "brainstorming"],
    ["Brainstorming session on tokens", "brainstorming"],
    ["Set up worktrees", "using-git-worktrees"],
    ["Write the plan", "writing-plans"],
    ["Review of the implementation plan", "writing-plans"],
    ["Spec review of task 2", "subagent-driven-development"],
    ["Code review", "subagent-driven-development"],
    ["Code quality review (pending)", "subagent-driven-development"],
    ["Finish the branch", "finishing-a-development-branch"],
    ["Merging", "finishing-a-development-branch"],
    ["Open PRs for both", "finishing-a-development-branch"],
    ["open a pr", "finishing-a-development-branch"],
  ])("%s: %s", (title, skill) => {
    expect(skillsOf({ title })[0]).toMatchObject({ id: skill, as: "main" });
  });

  it.each(["Process the queue", "Prepare improvements", "Print the report", "Specify reviewers", "Emerge theme"])(
    "%s: words are not found inside others",
    (title) => {
      expect(ids(skillsOf({ title }))).toEqual(["test-driven-development"]);
    },
  );

  it("looks for merge, finish and PR in the title only, for the others in the description too", () => {
    expect(ids(skillsOf({ title: "Import", description: "Merge both lists when the upload finishes." }))).toEqual([
      "test-driven-development",
    ]);
    expect(skillsOf({ title: "Task 2, part 2", description: "A spec review by somebody else." })[0]).toMatchObject({
      because: '"spec review" in its text',
    });
  });

  it("asks the parents next, the nearest first, then the type", () => {
    const parents = [{ title: "Part" }, { title: "Whole", skill: "api-design" }, { title: "Spec review" }];
    expect(skillsOf({ title: "Add a field" }, { parents })[0]).toEqual({
      id: "api-design",
      because: "named by its parent",
      as: "main",
    });
    expect(skillsOf({ title: "Add a field" }, { parents: [{ title: "Write plan" }] })[0]?.because).toBe(
      'its parent: "write plan" in its text',
    );
    expect(ids(skillsOf({ title: "Login fails", type: "bug" }))).toEqual([
      "debugging",
      "test-driven-development (core)",
    ]);
    expect(ids(skillsOf({ title: "Add a field", type: "api" }))[0]).toBe("api-design");
    expect(ids(skillsOf({ title: "Cover the parser", type: "test" }))[0]).toBe("testing-strategy");
  });

  it("gives chores and spikes nothing by themselves", () => {
    expect(skillsOf({ title: "Update packages", type: "chore" })).toEqual([]);
    expect(skillsOf({ title: "Try the new API", type: "spike" })).toEqual([]);
  });

  it("adds what goes with finishing and with execution, and nothing to planning", () => {
    expect(ids(skillsOf({ title: "Finish the branch" }))).toEqual([
      "finishing-a-development-branch",
      "verification-before-completion (core)",
    ]);
    expect(ids(skillsOf({ title: "Spec review" }))[1]).toBe("requesting-code-review (core)");
    expect(ids(skillsOf({ title: "Brainstorm" }))).toEqual(["brainstorming"]);
  });

  it("finds a name with or without its plugin, the nearest first", () => {
    const installed = ["brainstorming", "superpowers:brainstorming", "superpowers:test-driven-development"];
    expect(ids(skillsOf({ title: "x", skill: "superpowers:brainstorming" }, { ids: installed }))).toEqual([
      "superpowers:brainstorming",
    ]);
    expect(ids(skillsOf({ title: "Brainstorm" }, { ids: installed.slice(1) }))).toEqual(["superpowers:brainstorming"]);
    expect(ids(skillsOf({ title: "x", skill: "other:brainstorming" }, { ids: installed }))).toEqual(["brainstorming"]);
    expect(ids(skillsOf({ title: "x" }, { ids: installed }))).toEqual(["superpowers:test-driven-development"]);
  });

  it("keeps a missing one that somebody asked for, and passes over a missing default", () => {
    expect(skillsOf({ title: "x", skill: "gone" }, { ids: [] })).toEqual([
      { id: "gone", because: "named by the task", as: "main", isMissing: true },
    ]);
    expect(skillsOf({ title: "Spec review" }, { ids: [] })).toEqual([]);
    expect(ids(skillsOf({ title: "Spec review" }, { ids: ["test-driven-development"] }))).toEqual([
      "test-driven-development",
    ]);
    const settings = { "wake.skill_patterns": ["ship it: shipping"] };
    expect(skillsOf({ title: "Ship it" }, { ids: [], settings })[0]).toMatchObject({ id: "shipping", isMissing: true });
  });
});

describe("readSkillSettings", () => {
  it("puts settings before the shipped ones; no skill switches one off", () => {
    const settings = {
      "wake.skill_patterns": ["spec review: plugin:checking", "merge:"],
      "wake.type_skills": ["chore: tidy-up", "BUG:"],
      "wake.cross_cutting": ["implementation: my-core", "finishing:"],
    };
    const installed = [...ALL, "plugin:checking", "tidy-up", "my-core"];
    const found = (task: SkilledTask & { type?: TaskType }) => ids(skillsOf(task, { settings, ids: installed }));
    expect(found({ title: "Spec review" })).toEqual(["plugin:checking", "my-core (core)"]);
    expect(found({ title: "Merge" })).toEqual(["test-driven-development", "my-core (core)"]);
    expect(found({ title: "Update", type: "chore" })).toEqual(["tidy-up"]);
    expect(found({ title: "Fails", type: "bug" })[0]).toBe("test-driven-development");
    expect(found({ title: "Finish" })).toEqual(["finishing-a-development-branch"]);
  });

  it("reports a line that says nothing, and reads the others", () => {
    const { rules, problems } = readSkillSettings({
      "wake.skill_patterns": ["no colon", ": skill", "a b: two words", "ok: fine"],
      "wake.type_skills": ["story: x"],
      "wake.cross_cutting": ["always: x"],
    });
    expect(problems).toHaveLength(5);
    expect(problems[0]).toBe('wake.skill_patterns: "no colon" is not words, a colon and a skill\'s name; ignored');
    expect(problems[3]).toContain("one of feature, bug, chore, spike, test, api");
    expect(rules.patterns[0]).toMatchObject({ words: "ok", skill: "fine" });
  });
});

describe("the skills of a sub-agent", () => {
  it("are the task's, without those on how to have others do it", () => {
    const { rules } = readSkillSettings({});
    const of = (task: SkilledTask, isSubAgent: boolean) =>
      ids(
        skillsOfTask(
          { type: "feature", ...task },
          { ...rules, parents: [], isSubAgent, findInstalled: (name) => installedAs(name, ALL) },
        ),
      );
    const review = { title: "Spec review of task 2" };
    expect(of(review, false)).toEqual(["subagent-driven-development", "requesting-code-review (core)"]);
    expect(of(review, true)).toEqual(["test-driven-development"]);
    const named = { title: "Limit logins", skill: "subagent-driven-development, api-design" };
    expect(of(named, true)).toEqual(["api-design", "test-driven-development (core)"]);
  });
});

describe("hasPhrase", () => {
  it("knows words in scripts with and without spaces", () => {
    expect(hasPhrase("Überprüfung der Spezifikation", "überprüfung")).toBe(true);
    expect(hasPhrase("请做规格审查", "规格审查")).toBe(true);
    expect(hasPhrase("x", "")).toBe(false);
    expect(hasPhrase("the review of the spec", "spec review")).toBe(false);
  });
});
