import { describe, expect, it } from "vitest";
import { denySkills, isSkillDenied, type Permission } from "./own-config.ts";

describe("denySkills", () => {
  it.each<[Permission, unknown]>([
    [undefined, { skill: { knots: "deny" } }],
    ["ask", { "*": "ask", skill: { knots: "deny" } }],
    [
      { skill: "ask", "*": "allow" },
      { "*": "allow", skill: { "*": "ask", knots: "deny" } },
    ],
    [
      { bash: "ask", skill: { "*": "allow" } },
      { bash: "ask", skill: { "*": "allow", knots: "deny" } },
    ],
  ])("adds to %j, behind what is there", (before, after) => {
    const result = denySkills(before, ["knots"]);
    expect(JSON.stringify(result)).toBe(JSON.stringify(after));
    expect(isSkillDenied(result, "knots")).toBe(true);
    expect(isSkillDenied(result, "sails")).toBe(false);
  });

  it("leaves a rule that the person has for the very name, and everything where nothing is deferred", () => {
    expect(denySkills({ skill: { knots: "allow" } }, ["knots"])).toEqual({ skill: { knots: "allow" } });
    expect(denySkills("ask", [])).toBe("ask");
  });
});

it.each<[Permission, boolean]>([
  [{ skill: { "in*-kn*s": "deny" } }, true],
  [{ skill: { "in*-ropes": "deny" } }, false],
  [{ skill: { "*": "deny", "inner-*": "allow" } }, false],
  [{ skill: { "inner-*": "allow", "*": "deny" } }, true],
  [{ skill: { "inner-knotsinner-knots*": "deny" } }, false],
  [{ "*": "deny" }, true],
  ["deny", true],
  [undefined, false],
])("reads the person's own rules: %j", (permission, isDenied) => {
  expect(isSkillDenied(permission, "inner-knots")).toBe(isDenied);
});
