import { expect, it } from "vitest";
import { ruleTargets } from "./rule-reach.ts";

it("finds a skill by its id, its folder, another case, or without its plugin", () => {
  const targets = ruleTargets(["create-skill", "tools:review", "pdf"]);
  expect(
    ["create-skill", "CreateSkill", "global/create_skill", "review", "tools:review", "other:pdf"].map(targets.find),
  ).toEqual(["create-skill", "create-skill", "create-skill", "tools:review", "tools:review", "pdf"]);
});

it("does not guess between two", () => {
  const targets = ruleTargets(["a:review", "b:review"]);
  expect(targets.find("review")).toBeUndefined();
  expect(targets.find("b:review")).toBe("b:review");
  expect(targets.find("nothing")).toBeUndefined();
});
