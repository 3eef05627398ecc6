import { describe, expect, it } from "vitest";
import type { SkillCard } from "../types.ts";
import { extensionTable, tieOf } from "./ecosystems.ts";
import { learnedShift, PRIOR, priorReasons, type SkillContext, shifted } from "./match-skills.ts";

const project = { has: ["javascript", "react"], extensions: extensionTable() };
const context = (more: Partial<SkillContext> = {}): SkillContext => ({
  project,
  prompt: "run the tests again",
  files: [],
  ofTask: new Map(),
  uses: new Map(),
  isLearning: false,
  judged: new Map(),
  ...more,
});
const card = (name: string, description = ""): SkillCard => {
  const tied = tieOf({ name, description });
  return { key: 1, id: name, name, description, ...(tied && { tied }) } as SkillCard;
};
const shiftOf = (one: SkillCard, more: Partial<SkillContext> = {}) =>
  priorReasons(one, context(more)).reduce((sum, { shift = 0 }) => sum + shift, 0);

describe("what a skill is for", () => {
  it.each([
    ["dotnet-test", "Run tests.", ["dotnet"]],
    ["unit-tests", "Write xUnit tests for C# projects.", ["dotnet"]],
    ["angular-forms", "Typed forms in TypeScript.", ["angular"]],
    ["code-review", "Review Python, Go, Rust and Java changes.", undefined],
    ["release-notes", "Write release notes.", undefined],
  ] as const)("%s", (name, description, of) => {
    expect(tieOf({ name, description })?.of).toEqual(of);
  });
});

describe("the project", () => {
  it("makes a skill for another language less likely", () => {
    expect(shiftOf(card("dotnet-test"))).toBe(PRIOR.foreign);
    expect(shiftOf(card("angular-forms"))).toBe(PRIOR.foreign);
    expect(shiftOf(card("react-forms"))).toBe(PRIOR.home);
    expect(shiftOf(card("release-notes"))).toBe(0);
  });

  it("has no say if the prompt names the language or a file of it", () => {
    for (const prompt of ["port this to C#", "use dotnet test", "why does src/Cart.cs not compile"])
      expect(shiftOf(card("dotnet-test"), { prompt })).toBe(0);
  });

  it("includes what this session touched", () => {
    expect(shiftOf(card("dotnet-test"), { files: ["tools/Gen.cs"] })).toBe(PRIOR.touched);
  });

  it("has no say where nothing is known about it", () => {
    expect(shiftOf(card("dotnet-test"), { project: undefined })).toBe(0);
    expect(shiftOf(card("dotnet-test"), { project: { ...project, has: [] } })).toBe(0);
  });
});

it("a task and earlier use make a skill more likely, and say why", () => {
  const more = {
    ofTask: new Map([[1, "invoice"]]),
    uses: new Map([["a", { loaded: 2, used: 0, ignored: 0, searched: 0 }]]),
  };
  expect(priorReasons(card("a"), context(more))).toEqual([
    { feature: "task", text: '"invoice" in the task\'s title', strength: 0, shift: PRIOR.task },
    { feature: "use", text: "used in this project before", strength: 0, shift: PRIOR.before },
  ]);
});

describe("learning", () => {
  const use = (used: number, ignored: number, searched = 0) => ({ loaded: 0, used, ignored, searched });

  it("is bounded, and one session decides little", () => {
    expect(learnedShift(use(0, 0))).toBe(0);
    expect(Math.abs(learnedShift(use(0, 1)))).toBeLessThan(0.2);
    expect(learnedShift(use(500, 0))).toBe(PRIOR.learned);
    expect(learnedShift(use(0, 500))).toBe(-PRIOR.learned);
    expect(learnedShift(use(0, 0, 3))).toBeGreaterThan(0);
  });

  it("happens only if it is switched on", () => {
    const uses = new Map([["a", use(0, 20)]]);
    expect(shiftOf(card("a"), { uses })).toBe(0);
    expect(shiftOf(card("a"), { uses, isLearning: true })).toBeLessThan(0);
  });
});

it("a prior raises only what is shown anyway, and not without bounds", () => {
  const up = [{ feature: "use" as const, text: "", strength: 0, shift: 5 }];
  expect(shifted(0.05, up, 0.057)).toBe(0.05);
  expect(shifted(0.3, up, 0.057)).toBeCloseTo(1 / (1 + Math.exp(-(Math.log(0.3 / 0.7) + PRIOR.most))));
  expect(shifted(0.9, [{ ...up[0]!, shift: PRIOR.foreign }], 0.057)).toBeLessThan(0.45);
});
