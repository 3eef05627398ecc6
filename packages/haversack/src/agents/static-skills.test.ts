import { expect, it } from "vitest";
import { tenderFolder } from "./fixtures.suite.ts";
import { SkillRegistry } from "./skill-registry.ts";
import { findStaticSkills, formatStaticSkills } from "./static-skills.ts";

const agent = (name: string, skills: string) => `---\nname: ${name}\nskills: ${skills}\n---\n\nYou work.\n`;

it("names each static list, its cost, and what to do for each skill", () => {
  const folder = tenderFolder({
    "agents/old.md": agent("old", "[danish-tender-guidelines, plain, kept, missing]"),
    "agents/comma.md": agent("comma", "complexity-calculator, architecture-analyzer"),
    "skills/plain/SKILL.md": "---\nname: plain\ndescription: Without triggers.\n---\n\nText.\n",
    "skills/kept/SKILL.md": "---\nname: kept\ndescription: For people.\ndisable-model-invocation: true\n---\n\nText.\n",
  });
  const found = findStaticSkills(`${folder}/agents`, new SkillRegistry(`${folder}/skills`));
  expect(found.map(({ file }) => file)).toEqual([`${folder}/agents/comma.md`, `${folder}/agents/old.md`]);
  const [comma, old] = found;
  expect(comma?.skills.map(({ state }) => state)).toEqual(["ready", "ready"]);
  expect(old?.skills.map(({ name, state }) => [name, state])).toEqual([
    ["danish-tender-guidelines", "ready"],
    ["plain", "needs-triggers"],
    ["kept", "for-people"],
    ["missing", "not-installed"],
  ]);
  expect(old!.tokens).toBeGreaterThan(40);
  expect(formatStaticSkills(old!)).toContain(`plain has no triggers: add some to ${folder}/skills/plain/SKILL.md`);
});

it("finds nothing where skills are dynamic", () => {
  const folder = tenderFolder();
  expect(findStaticSkills(`${folder}/agents`, new SkillRegistry(`${folder}/skills`))).toEqual([]);
});
