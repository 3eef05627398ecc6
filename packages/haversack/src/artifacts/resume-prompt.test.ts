import { describe, expect, it } from "vitest";
import { decideResume, type ResumeFacts, resumePrompt } from "./resume-prompt.ts";

const ready: ResumeFacts = {
  role: "spec-reviewer",
  iteration: 2,
  isEnabled: true,
  canResume: true,
  state: { agentId: "a1", iteration1PromptChars: 4_000, lastIteration: 1 },
  deltaTokens: 300,
  referenceTokens: 2_000,
};

describe("decideResume", () => {
  it("resumes when everything speaks for it", () => {
    expect(decideResume(ready)).toEqual({ kind: "resume", agentId: "a1" });
    expect(decideResume({ ...ready, deltaTokens: 2_000 }).kind).toBe("resume");
    const state = { ...ready.state!, sessionId: "s1" };
    expect(decideResume({ ...ready, state, callerSession: "s1" }).kind).toBe("resume");
    expect(decideResume({ ...ready, state }).kind).toBe("resume");
  });

  it.each([
    [{ iteration: 1 }, "first-iteration"],
    [{ isEnabled: false }, "off"],
    [{ canResume: false }, "client-cannot"],
  ] as const)("starts afresh without a note for %j", (changes, reason) => {
    expect(decideResume({ ...ready, ...changes })).toEqual({ kind: "fresh", reason, isFallback: false });
  });

  it.each([
    [{ failure: "400\nBad Request" }, "failed", "400 Bad Request"],
    [{ state: undefined }, "no-state", "no agent is known from the iteration before"],
    [{ iteration: 3 }, "iteration-skipped", "the agent's last iteration was 1"],
    [
      { state: { ...ready.state!, sessionId: "s1" }, callerSession: "s2" },
      "other-session",
      "its agent belongs to another session",
    ],
    [{ deltaTokens: 2_001 }, "delta-too-large", "2001 tokens of changes, 2000 of documents"],
  ] as const)("falls back with a note for %j", (changes, reason, why) => {
    const facts = { ...ready, ...changes };
    const line = `RESUME-FALLBACK: spec-reviewer iteration ${facts.iteration} — ${why}`;
    expect(decideResume(facts)).toEqual({ kind: "fresh", reason, isFallback: true, line });
  });
});

describe("resumePrompt", () => {
  const input = {
    role: { answer: {} },
    iteration: 2,
    maxIterations: 3,
    fixSummary: "Limit added.",
    diffStat: " spec.md | 1 +",
    diff: "+max 5 GB\n",
  };

  it("has the fixed words, and nothing of the documents", () => {
    expect(resumePrompt(input)).toBe(`Review iteration 2 of 3. You already have the upstream artifacts
in context from your previous review.

## Changes Since Last Review
The following changes were made to address your previous issues:

### Fix Summary
Limit added.

### Diff
\`\`\`
 spec.md | 1 +
+max 5 GB
\`\`\`

Review ONLY the changes above. Assess whether your previous issues
are resolved and check for new issues introduced by the fixes.

Return your answer as JSON of this form:
\`\`\`json
{}
\`\`\`
`);
  });

  it("names the issues that are open, with their ids", () => {
    const previousIssues = [{ id: "R1", severity: "blocker", description: "No limit" }];
    expect(resumePrompt({ ...input, previousIssues })).toContain(
      "Limit added.\n\n### Previous Issues\n- R1 [blocker] No limit\n\n### Diff\n",
    );
  });

  it("says so when nothing changed, and holds a diff that has fences", () => {
    expect(resumePrompt({ ...input, diff: "", diffStat: "", fixSummary: " " })).toContain(
      "### Fix Summary\nNone was given.\n\n### Diff\nNo changes.\n",
    );
    expect(resumePrompt({ ...input, diff: "+```ts\n+x\n+```" })).toContain(
      "\n````\n spec.md | 1 +\n+```ts\n+x\n+```\n````\n",
    );
  });
});
