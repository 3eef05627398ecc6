import { describe, expect, it } from "vitest";
import { promptTerms } from "./tokenize.ts";

describe("promptTerms", () => {
  it.each([
    ["/planner add dark mode", "=planner"],
    ["use systematic-debugging here", "=systematicdebugging"],
    ["Use the superpowers:writing-plans skill.", "=writingplans"],
    ["please use the code review skill", "=codereview"],
    ["load the skill `brainstorming` first", "=brainstorming"],
    ["$deploy-app now", "=deployapp"],
  ])("sees a skill called by name: %s", (prompt, name) => {
    expect(promptTerms(prompt).names).toContain(name);
  });

  it.each(["commit this", "improve my testing skills", "see docs/code-review/README.md", "run /usr/bin/env"])(
    "sees no call in: %s",
    (prompt) => {
      const { names } = promptTerms(prompt);
      for (const name of ["=commit", "=testing", "=codereview", "=usr", "=env"]) expect(names).not.toContain(name);
    },
  );

  it("reads what is asked, not what was pasted, unless there is nothing else", () => {
    const texts = (prompt: string) => promptTerms(prompt).terms.map((term) => term.text);
    expect(texts("why does this fail?\n```\nkubernetes error\n```")).not.toContain("kubernetes");
    expect(texts("```\nkubernetes error\n```")).toContain("kubernetes");
  });

  it("tells an order of one word from a remark about it", () => {
    for (const prompt of ["deploy", "Deploy!", "please deploy this", "can you deploy it now?"])
      expect([prompt, promptTerms(prompt).isOrder]).toEqual([prompt, true]);
    for (const prompt of ["what's the plan", "design looks good to me", "deploy the walrus", "is it deployed?", ""])
      expect([prompt, promptTerms(prompt).isOrder]).toEqual([prompt, false]);
  });

  it("counts the first words of a long prompt most, the last ones next, and what stands between them least", () => {
    const { terms } = promptTerms(
      `kubernetes ${"filler words of a log ".repeat(60)} walrus ${"more of the log ".repeat(60)} terraform`,
    );
    const weight = (text: string) => terms.find((term) => term.text === text)!.weight;
    expect(weight("kubernetes")).toBe(1);
    expect(weight("terraform")).toBe(1);
    expect(weight("walrus")).toBeLessThan(0.4);
  });

  it("looks at the start and the end of a very long prompt", () => {
    const { terms } = promptTerms(`kubernetes ${"filler ".repeat(200_000)} terraform`);
    expect(terms.map((term) => term.text)).toEqual(expect.arrayContaining(["kubernetes", "filler", "terraform"]));
  });
});
