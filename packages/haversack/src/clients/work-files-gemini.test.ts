import { expect, it } from "vitest";
import { stateOfStamped, wireStamped } from "./stamped-file.ts";
import { geminiWorkFiles } from "./work-files.ts";

it("has the command as TOML and four agents, in this client's words", () => {
  const files = geminiWorkFiles();
  expect(files.map(({ path }) => path)).toEqual([
    "commands/work.toml",
    ...["implementer", "spec-reviewer", "quality-reviewer", "fixer"].map((role) => `agents/haversack-${role}.md`),
  ]);
  for (const { text } of files) expect(text).not.toMatch(/ToolSearch|ARGUMENTS|run_in_background|mcp__/);
  const command = files[0]!.text;
  expect(command).toMatch(/^description = ".+"\nprompt = '''\n[\s\S]+'''\n$/);
  expect(command).toContain("{{args}}");
  expect(command).toContain("invoke_agent");
});

it.each(["x.md", "x.toml", "x.js"])("%s says whose it is, and is left alone once a person has changed it", (path) => {
  const text = path === "x.md" ? "---\nname: x\n---\n\nBody\n" : "body = 1\n";
  const file = wireStamped({ path: `/nowhere/${path}`, about: "", text });
  const ours = file.wire("").text;
  expect(ours).not.toBe(text);
  expect(file.wire(ours).text).toBe(ours);
  expect(file.unwire(ours, [])).toBe("");
  const edited = `${ours}more\n`;
  expect(file.wire(edited).text).toBe(edited);
  expect(file.unwire(edited, [])).toBe(edited);
  expect(stateOfStamped({ path: `/nowhere/${path}`, about: "", text })).toBe("absent");
});
