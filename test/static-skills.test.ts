/** `skill check --agents` finds agents that load skills into every conversation. */
import { expect, it } from "vitest";
import { scratchProject } from "./bins.ts";

it("names the agent, its skills, their cost and what to do; other checks stay as they are", () => {
  const project = scratchProject();
  project.write(
    ".claude/skills/tides/SKILL.md",
    "---\nname: tides\ndescription: Use when a boat must leave the harbour at the right time.\n---\n\n# Tides\n\nLook it up.\n",
  );
  project.write("agents/pilot.md", "---\nname: pilot\nskills: [tides, winds]\n---\n\nYou steer.\n");
  project.write("agents/README.md", "# Agents\n");
  expect(project.haversack(["skill", "check"]).out).not.toContain("pilot");
  const { out, code } = project.haversack(["skill", "check", "--agents", "agents"]);
  expect(code).toBe(0);
  expect(out.replace(/\s+/g, " ")).toContain("warning: skills: preloads tides, winds into every conversation (about ");
  const { problems } = project.haversack(["skill", "check", "--agents", "agents", "--json"]).json();
  expect(problems).toContainEqual({
    level: "warning",
    code: "agent-static-skills",
    file: `${project.root}/agents/pilot.md`,
    where: "skills",
    text: expect.stringMatching(
      /tides has no triggers: add some to .*SKILL\.md, then remove it from the list\. winds is not installed/,
    ),
  });
  expect(project.haversack(["skill", "check", "--agents", "nowhere"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("nowhere"),
  });
});

it("knows the skills in the folder beside the agents, and --strict exits 1 while a list remains", () => {
  const project = scratchProject();
  const skill = (name: string, more: string) =>
    project.write(
      `team/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: Use when a boat must leave the harbour at the right time.\n${more}\n---\n\n# Tides\n\nLook it up.\n`,
    );
  skill("tides", "triggers:\n  keywords: [high tide]");
  skill("secret", "disable-model-invocation: true");
  const check = (list: string) => {
    project.write("team/agents/pilot.md", `---\nname: pilot\n${list}\n---\n\nYou steer.\n`);
    return project.haversack(["skill", "check", "--agents", "team/agents", "--strict"]);
  };
  const listed = check("skills: [tides]");
  expect(listed.code).toBe(1);
  expect(listed.out.replace(/\s+/g, " ")).toContain("tides has triggers: remove it from the list.");
  expect(check("skills: [secret]").code).toBe(0);
  expect(check("tools: [skill]").code).toBe(0);
});
