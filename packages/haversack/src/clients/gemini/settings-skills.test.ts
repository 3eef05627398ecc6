import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { geminiProfile, SKILL_TOOL } from "./adapter.ts";
import { disableSkills, enableSkills } from "./settings.ts";

const disable = (text: string, names: string[], own: Record<string, string> = {}) =>
  disableSkills(text, names, { file: "s.json", mode: "hidden", own });

it.each(["{}\n", '{"skills": {}}', '{\n  "skills": {\n    "disabled": []\n  }\n}\n', '{"ui":{"x":1}}'])(
  "puts names into %j and takes them out again",
  (before) => {
    const { text, own, keep } = disable(before, ["a", "b"]);
    expect(JSON.parse(text).skills.disabled).toEqual(["a", "b"]);
    expect(disable(text, ["a", "b"], own).text).toBe(text);
    expect(enableSkills(text, own, { file: "s.json", keep })).toBe(before);
  },
);

it("leaves a person's own entries alone, and refuses what the client cannot do", () => {
  const before = '{"skills": {"disabled": ["a"]}}';
  const { text, own, foreign, keep } = disable(before, ["a", "b"]);
  expect(foreign).toEqual([{ key: "a", value: "disabled" }]);
  expect(own).toEqual({ b: "disabled" });
  expect(enableSkills(text, own, { file: "s.json", keep })).toBe(before);
  expect(() => disableSkills("{}", ["a"], { file: "s.json", mode: "names", own: {} })).toThrow(/name without/);
  expect(() => disable('{"skills": {"disabled": "a"}}', ["b"])).toThrow(/must be a list/);
});

it("makes the profile name our own tool for a hidden skill", () => {
  const root = mkdtempSync(join(tmpdir(), "haversack-hidden-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, ".gemini"));
  writeFileSync(join(root, ".gemini/settings.json"), '{"skills": {"disabled": ["knots", 3]}}');
  const profile = geminiProfile(root, { HOME: join(root, "home") });
  expect([...(profile.hidden ?? [])]).toEqual(["knots"]);
  expect(profile.skillTool).toBe(SKILL_TOOL);
});
