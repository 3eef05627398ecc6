import { describe, expect, it } from "vitest";
import { isExplicitRequest, isForgotten, sessionStatus, withDomain } from "./disclosure.ts";

const now = new Date("2026-03-01T12:00:00Z");
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
const status = (tracking: object, domain?: string) =>
  sessionStatus(
    { promptCount: 3, lastPromptAt: minutesAgo(5), domainHistory: [], ...tracking },
    { now, domain, idleMinutes: 30 },
  );

describe("sessionStatus", () => {
  it("is new without a prompt before, idle after more than the time-out, else goes on", () => {
    expect(status({ promptCount: 0 })).toBe("new");
    expect(status({ lastPromptAt: undefined })).toBe("new");
    expect(status({ lastPromptAt: "not a time" })).toBe("idle");
    expect(status({ lastPromptAt: minutesAgo(30) })).toBe("continue");
    expect(status({ lastPromptAt: minutesAgo(30.1) })).toBe("idle");
  });

  it("sees a change of domain, and none where either is unknown", () => {
    expect(status({ domainHistory: ["a"] }, "b")).toBe("domain-switch");
    expect(status({ domainHistory: ["a"] }, "a")).toBe("continue");
    expect(status({ domainHistory: [] }, "b")).toBe("continue");
    expect(status({ domainHistory: ["a"] })).toBe("continue");
  });

  it("counts A, B, A as two switches and no more", () => {
    let history: string[] = [];
    const switches = ["a", "b", "a", "a", "a"].map((domain) => {
      const found = status({ domainHistory: history }, domain);
      history = withDomain(history, domain);
      return found;
    });
    expect(switches).toEqual(["continue", "domain-switch", "domain-switch", "continue", "continue"]);
    expect(history).toEqual(["a", "b", "a"]);
  });

  it("keeps the last 100 domains", () => {
    let history: string[] = [];
    for (let n = 0; n < 150; n++) history = withDomain(history, `d${n}`);
    expect(history).toHaveLength(100);
    expect(history[0]).toBe("d50");
  });
});

describe("the ledger's rules", () => {
  it("forgets after so many prompts, or never", () => {
    const entry = { skill: "x", shownAtPrompt: 1 };
    expect(isForgotten(entry, { promptNumber: 101, forgetAfterPrompts: 100 })).toBe(false);
    expect(isForgotten(entry, { promptNumber: 102, forgetAfterPrompts: 100 })).toBe(true);
    expect(isForgotten(entry, { promptNumber: 9999, forgetAfterPrompts: 0 })).toBe(false);
  });
});

describe("isExplicitRequest", () => {
  it.each([
    "Which skills do you have?",
    "what skills could help me here?",
    "show me all available skills",
    "list skills",
    "Recommend skills for this migration",
    "are there any skills for PDF forms?",
    "what relevant skills are installed",
    "recommend a skill",
    "Can you recommend a good skill for this?",
    "which skill should I use",
    "suggest some skills",
    "give me a suitable skill",
  ])("yes: %s", (prompt) => expect(isExplicitRequest(prompt)).toBe(true));

  it.each([
    "improve my writing skills",
    "add a skills table to the profile page",
    "what skill level is needed for this ticket",
    "show the skills column in the grid",
    "find the bug in skills.ts",
    "rename skill to ability",
    "show a skill tree on the profile page",
    "find the skill model and add a field",
    "create a skill",
    "",
  ])("no: %s", (prompt) => expect(isExplicitRequest(prompt)).toBe(false));
});
