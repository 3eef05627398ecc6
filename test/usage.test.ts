import { expect, it } from "vitest";
import { scratchProject } from "./bins.ts";

it("says per session what was added, and what the client's listing would have cost, cached and uncached apart", () => {
  const project = scratchProject();
  const body = "Return problem details.\n";
  project.write(
    ".claude/skills/api-errors/SKILL.md",
    `---\nname: api-errors\ndescription: Use when an HTTP endpoint reports error status codes.\n---\n\n${body}`,
  );
  project.haversack(["skills", "index"]);
  const prompt = (text: string) =>
    project.hook({ session_id: "s", cwd: project.root, hook_event_name: "UserPromptSubmit", prompt: text });
  expect(prompt("report error status codes from the endpoint").out).toContain("api-errors");
  expect(prompt("continue").out).toBe("");
  expect(prompt("thanks").out).toBe("");

  const { sessions } = project.haversack(["usage", "--session", "s", "--json"]).json();
  const [{ prompts, windows, added, native, injections }] = sessions;
  expect({ prompts, windows }).toEqual({ prompts: 3, windows: 1 });
  expect(injections.map(({ format }: { format: string }) => format)).toEqual(["full", "none", "none"]);
  expect(added).toEqual({ uncached: injections[0].tokens, cached: 2 * injections[0].tokens });
  expect(native).toMatchObject({ skills: 1, cached: 2 * native.uncached });
  expect(native.uncached).toBeGreaterThan(5);
  expect(project.haversack(["usage"]).out).toContain("3 prompts in 1 window");
});
