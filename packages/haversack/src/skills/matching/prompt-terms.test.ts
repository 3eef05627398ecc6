import { describe, expect, it } from "vitest";
import { promptTerms } from "./prompt-terms.ts";

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

  it("tells a question about a general matter from one about the user's own code", () => {
    expect(promptTerms("Explain how TLS works").asksToKnow).toBe(true);
    expect(promptTerms("what is the difference between TCP and UDP?").asksToKnow).toBe(true);
    expect(promptTerms("explain this function").asksToKnow).toBe(false);
    expect(promptTerms("what is the difference between my two files?").asksToKnow).toBe(false);
  });

  it("tells an order of one word from a remark about it", () => {
    for (const prompt of ["deploy", "Deploy!", "please deploy this", "can you deploy it now?"])
      expect([prompt, promptTerms(prompt).isOrder]).toEqual([prompt, true]);
    for (const prompt of ["what's the plan", "design looks good to me", "deploy the walrus", "is it deployed?", ""])
      expect([prompt, promptTerms(prompt).isOrder]).toEqual([prompt, false]);
  });

  it("adds synonyms at a discount, never in place of a word that was said", () => {
    const { terms } = promptTerms("debug the crash");
    expect(terms.find((term) => term.term === "diagnos")).toMatchObject({
      kind: "synonym",
      origin: "debug",
      weight: 0.5,
    });
    const both = promptTerms("debug and diagnose").terms.filter((term) => term.term === "diagnos");
    expect(both).toMatchObject([{ kind: "word", weight: 1 }]);
  });

  it("looks at the start and the end of a very long prompt", () => {
    const { terms } = promptTerms(`kubernetes ${"filler ".repeat(200_000)} terraform`);
    expect(terms.map((term) => term.text)).toEqual(expect.arrayContaining(["kubernetes", "filler", "terraform"]));
  });
});
