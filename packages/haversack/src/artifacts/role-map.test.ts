import { describe, expect, it } from "vitest";
import { IFLOW, PRESETS } from "./presets/iflow.ts";
import { GENERAL_RUBRIC, RUBRICS, shippedRubric } from "./presets/rubrics.ts";
import { checkRoleMap, findRole, type RoleMap, readRoleMap, referencedDocuments } from "./role-map.ts";

const { map: iflow, problems: iflowProblems } = readRoleMap(IFLOW);

function roleIn(map: RoleMap, phase: string, name: string) {
  const found = findRole(map, name, { phase });
  if (found.kind !== "found") throw new Error(`${phase} ${name}: ${JSON.stringify(found)}`);
  return found.role;
}

describe("the iflow preset", () => {
  it("is a map without problems or findings", () => {
    expect(iflowProblems).toEqual([]);
    expect(checkRoleMap(iflow)).toEqual([]);
  });

  it.each([
    ["implementation-reviewer", ["prd.md", "spec.md", "design.md", "plan.md", "tasks.md"]],
    ["code-quality-reviewer", ["design.md", "spec.md"]],
    ["security-reviewer", ["design.md", "spec.md"]],
    ["code-simplifier", ["design.md"]],
    ["test-deepener", ["spec.md", "design.md", "tasks.md", "prd.md"]],
    ["implementer", ["prd.md", "spec.md", "design.md", "plan.md", "tasks.md"]],
  ])("has what %s reads of the code's documents", (name, documents) => {
    const role = roleIn(iflow, "implement", name);
    expect(role.documents).toEqual(documents);
    expect(referencedDocuments(role)).toEqual(documents);
  });

  it.each([
    ["specify", "spec-reviewer", "spec.md", ["prd.md"], ["prd.md", "spec.md"]],
    ["design", "design-reviewer", "design.md", ["prd.md", "spec.md"], ["prd.md", "spec.md", "design.md"]],
    [
      "create-plan",
      "plan-reviewer",
      "plan.md",
      ["prd.md", "spec.md", "design.md"],
      ["prd.md", "spec.md", "design.md", "plan.md"],
    ],
    [
      "create-tasks",
      "task-reviewer",
      "tasks.md",
      ["prd.md", "spec.md", "design.md", "plan.md"],
      ["prd.md", "spec.md", "design.md", "plan.md", "tasks.md"],
    ],
  ])(
    "has the two reviewers of %s, with the document under review inline",
    (phase, reviewer, underReview, upstream, all) => {
      for (const name of [reviewer, "phase-reviewer"]) {
        const role = roleIn(iflow, phase, name);
        expect(role.underReview).toBe(underReview);
        expect(referencedDocuments(role)).toEqual(upstream);
        expect(role.documents).toEqual(all);
      }
    },
  );

  it("prunes by role, and inlines plan and design for a task", () => {
    expect(roleIn(iflow, "implement", "code-simplifier").pruned).toEqual(["prd.md", "spec.md", "plan.md", "tasks.md"]);
    expect(roleIn(iflow, "implement", "implementer").pruned).toEqual([]);
    const worker = roleIn(iflow, "implementing", "implementer");
    expect(worker.sections).toEqual({ "design.md": ["task"], "plan.md": ["task"] });
    expect(referencedDocuments(worker)).toEqual(["prd.md", "spec.md"]);
    expect(worker).toMatchObject({ model: "opus", agentType: "iflow:implementer" });
  });

  it("has a rubric for every role, and no rubric without one", () => {
    const roles = iflow.sets.flatMap((set) => set.roles.map((role) => [set.name, role.name] as const));
    for (const [set, role] of roles) expect(shippedRubric(set, role), `${set}/${role}`).not.toBe(GENERAL_RUBRIC);
    for (const key of Object.keys(RUBRICS)) {
      expect(
        roles.some(([set, role]) => key === role || key === `${set}/${role}`),
        key,
      ).toBe(true);
    }
    expect(shippedRubric("x", "constructor")).toBe(GENERAL_RUBRIC);
  });
});

describe("findRole", () => {
  it("finds by name, by sub-agent type, and by the command's file", () => {
    expect(findRole(iflow, "spec-reviewer")).toMatchObject({ kind: "found", set: { name: "specify" } });
    expect(findRole(iflow, "iflow:security-reviewer")).toMatchObject({
      kind: "found",
      role: { name: "security-reviewer" },
    });
    expect(findRole(iflow, "phase-reviewer", { phase: "create-plan.md" })).toMatchObject({
      set: { name: "create-plan" },
    });
  });

  it("asks for the phase where it must, and lets a task decide", () => {
    expect(findRole(iflow, "phase-reviewer")).toEqual({
      kind: "ambiguous",
      phases: ["specify", "design", "create-plan", "create-tasks"],
    });
    expect(findRole(iflow, "implementer")).toMatchObject({ set: { name: "implement" } });
    expect(findRole(iflow, "implementer", { hasTask: true })).toMatchObject({ set: { name: "implementing" } });
  });

  it("offers the nearest name", () => {
    expect(findRole(iflow, "spec-reviwer")).toEqual({ kind: "unknown-role", nearest: ["spec-reviewer"] });
    expect(findRole(iflow, "phase-reviewer", { phase: "desing" })).toEqual({
      kind: "unknown-phase",
      nearest: ["design"],
    });
    expect(findRole(iflow, "spec-reviewer", { phase: "zzz" })).toEqual({ kind: "unknown-phase", nearest: ["specify"] });
  });
});

describe("readRoleMap", () => {
  it("names every problem by its path and uses the rest", () => {
    const { map, problems } = readRoleMap({
      extend: "iflow",
      documents: { "spec.md": { name: 3, prd: "yes" }, "../x.md": {} },
      sets: {
        review: {
          dispatch: "cod",
          documents: ["spec.md", "/etc/passwd", 7],
          roles: {
            good: { documents: ["spec.md", "spec.md"], prune: ["plan.md"], modle: "opus" },
            bad: { documents: "spec.md", underReview: "../../x", answer: "reviw", sections: { "design.md": [] } },
            none: 4,
          },
        },
        other: [],
      },
    });
    expect(problems.map(({ level, path, text }) => `${level} ${path}: ${text}`)).toEqual([
      "warning extend: is not a key of artifacts.json, so it is ignored; did you mean extends?",
      "error documents.spec.md.name: must be a text, but is 3",
      'error documents.spec.md.prd: must be true or false, but is "yes"',
      'error documents.../x.md: "../x.md" must be a path inside the folder: not absolute, without ..',
      'error sets.review.dispatch: must be one of phase, code, task, but is "cod"',
      'error sets.review.documents[1]: "/etc/passwd" must be a path inside the folder: not absolute, without ..',
      "error sets.review.documents[2]: must be a text, but is 7",
      "warning sets.review.roles.good.modle: is not a key of artifacts.json, so it is ignored; did you mean model?",
      "error sets.review.roles.good.prune: plan.md is not one of this role's documents",
      'error sets.review.roles.bad.documents: must be a list of files, but is "spec.md"',
      'error sets.review.roles.bad.underReview: "../../x" must be a path inside the folder: not absolute, without ..',
      'error sets.review.roles.bad.sections.design.md: must be a heading, a list of headings or "task", but is a list',
      'error sets.review.roles.bad.answer: must be an example of the answer (an object) or one of review, simplify, tests, work, but is "reviw"; did you mean review?',
      "error sets.review.roles.none: must be an object, but is 4",
      "error sets.other: must be an object, but is a list",
    ]);
    expect(roleIn(map, "review", "good").documents).toEqual(["spec.md"]);
    expect(checkRoleMap(map)).toEqual(
      [
        {
          level: "error",
          path: "sets.review.roles.bad.documents",
          text: "the role has no documents: give it some, or remove it from the map",
        },
        {
          level: "warning",
          path: "sets.review.roles.good.underReview",
          text: "a role of a phase reviews a document, but none is named as under review",
        },
      ].reverse(),
    );
  });

  it("changes a preset key by key, adds to it and removes from it", () => {
    const { map, problems } = readRoleMap(
      {
        extends: "iflow",
        documents: { "api-notes.md": {} },
        sets: {
          implement: {
            roles: {
              "code-simplifier": { documents: ["design.md", "spec.md"], model: "haiku" },
              "test-deepener": null,
              "api-reviewer": {
                documents: ["api-notes.md"],
                sections: { "design.md": "Errors" },
                answer: { ok: true },
              },
            },
          },
          specify: null,
        },
      },
      { presets: PRESETS },
    );
    expect(problems).toEqual([]);
    expect(roleIn(map, "implement", "code-simplifier")).toMatchObject({
      documents: ["design.md", "spec.md"],
      model: "haiku",
      agentType: "iflow:code-simplifier",
    });
    expect(roleIn(map, "implement", "api-reviewer")).toMatchObject({
      documents: ["api-notes.md", "design.md"],
      sections: { "design.md": ["Errors"] },
      answer: { ok: true },
    });
    expect(findRole(map, "test-deepener").kind).toBe("unknown-role");
    expect(findRole(map, "spec-reviewer").kind).toBe("unknown-role");
    expect(map.documents.find(({ file }) => file === "api-notes.md")?.name).toBe("API Notes");
    expect(readRoleMap(IFLOW).map).toEqual(iflow);
  });

  it("names the presets when there is no such one, and survives anything", () => {
    expect(readRoleMap({ extends: "iflo", sets: {} }, { presets: PRESETS }).problems[0]).toMatchObject({
      path: "extends",
      text: "names no preset; there is iflow; did you mean iflow?",
    });
    for (const value of [
      null,
      1,
      "x",
      [],
      { sets: 1 },
      { sets: { a: { roles: [] } } },
      JSON.parse('{"sets":{"__proto__":{"roles":{}}}}'),
    ]) {
      expect(readRoleMap(value).problems.length).toBeGreaterThan(0);
    }
  });
});

describe("checkRoleMap", () => {
  it("finds documents that nobody reads, declared or lying there", () => {
    const { map } = readRoleMap({
      documents: { "old.md": {} },
      sets: {
        s: { dispatch: "code", documents: ["spec.md", "b.md"], roles: { r: { documents: ["spec.md"] } } },
        empty: { roles: {} },
      },
    });
    expect(checkRoleMap(map, { existing: ["spec.md", "notes.md", "old.md", "x.png"] })).toEqual([
      { level: "warning", path: "sets.empty.roles", text: "the set has no roles" },
      { level: "warning", path: "documents.old.md", text: "no role reads this document" },
      { level: "warning", path: "sets.s.documents", text: "no role reads b.md" },
      { level: "suggestion", path: "documents", text: "notes.md is in the feature's folder and no role reads it" },
    ]);
    expect(checkRoleMap({ documents: [], sets: [] })).toMatchObject([{ level: "error", path: "sets" }]);
  });
});
