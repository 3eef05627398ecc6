import { expect, it } from "vitest";
import { nativeListing } from "./skill-listings.ts";

const skills = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `skill-${at}`,
    description: `Number ${at}. ${"word ".repeat(40)}`,
    path: `/repo/.agents/skills/skill-${at}/SKILL.md`,
  }));

it("has every name in every client, as often as that one says it", () => {
  for (const [client, times] of Object.entries({ "claude-code": 1, codex: 2, gemini: 4, opencode: 2 })) {
    expect(nativeListing(client, skills(3)).match(/skill-1\b/g), client).toHaveLength(times);
  }
  expect(nativeListing("other", skills(3))).toBe(nativeListing("claude-code", skills(3)));
  for (const client of ["claude-code", "codex", "gemini", "opencode"])
    expect(nativeListing(client, [])).toBeTypeOf("string");
});

it("cuts descriptions where Codex does, all to one length, and no name", () => {
  expect(nativeListing("codex", skills(60))).toContain(skills(60)[59]!.description);
  const lines = nativeListing("codex", skills(300)).split("\n");
  expect(lines).toHaveLength(300);
  expect(lines.join("\n").length).toBeLessThanOrEqual(21_100);
  const lengths = lines.map((line) => / (Number.*) \(file/.exec(line)?.[1]?.length);
  expect(new Set(lengths).size).toBe(1);
  expect(nativeListing("opencode", skills(300)).length).toBeGreaterThan(60_000);
});
