import { describe, expect, it } from "vitest";
import { proseOf, wantedText } from "./skill-text.ts";

describe("wantedText", () => {
  it.each([
    ["Deploys apps. DO NOT USE FOR: cost analysis (use azure-cost).", "cost"],
    ["Reviews code. Do not use for poetry.", "poetry"],
    ["Writes queries. Does NOT handle vector search.", "vector"],
    ["Audits docs. Not for translating or proofreading.", "translating"],
    ["Builds artifacts - not for simple single-file pages.", "single-file"],
    ["Claude apps. SKIP when another provider is named.", "provider"],
  ])("leaves out what the skill is not for: %s", (description, unwanted) => {
    const wanted = wantedText(description);
    expect(wanted).not.toContain(unwanted);
    expect(wanted.length).toBeGreaterThan(5);
  });

  it("keeps a sentence that merely holds a not", () => {
    const text = "Use when tests do not pass. Fixes what is not working.";
    expect(wantedText(text).replace(/\s+/g, " ")).toBe(text);
  });
});

describe("proseOf", () => {
  it("keeps headings and prose, and drops code and what is out of scope", () => {
    const body = [
      "# Title",
      "Intro words.",
      "```ts",
      "const order = customer;",
      "```",
      "## Out of scope",
      "- billing",
      "### Details of that",
      "- invoices",
      "## Steps",
      "Do the work.",
    ].join("\n");
    expect(proseOf(body).split("\n")).toEqual(["Title", "Intro words.", "Steps", "Do the work."]);
  });

  it("reads on after a fence that is never closed only up to the fence", () => {
    expect(proseOf("before\n~~~\ncode\nmore")).toBe("before");
  });
});
