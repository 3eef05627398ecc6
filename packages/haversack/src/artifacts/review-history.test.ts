import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseReviewAnswer } from "./parse-review-answer.ts";
import {
  appendReviewEntry,
  appendReviewNote,
  formatReviewEntry,
  type ReviewEntry,
  readReviewHistory,
} from "./review-history.ts";
import { type ReviewIssue, readSeverity, trackIssues } from "./review-issue.ts";

const at = new Date("2026-01-02T03:04:05Z");
const entry: ReviewEntry = {
  stage: "Spec",
  iteration: 1,
  at,
  reviewer: "spec-reviewer",
  decision: "Needs Revision",
  issues: [
    { severity: "blocker", category: "testability", description: "R2 has no number", location: "spec.md:6" },
    { severity: "suggestion", description: "Say what a byte is" },
  ],
  summary: "Close.",
  notes: ["LAZY-LOAD-WARNING: spec-reviewer did not confirm artifact reads: prd.md (0 of 7 lines seen)"],
};
const WRITTEN = `## Spec Review - Iteration 1 - 2026-01-02T03:04:05.000Z
**Reviewer:** spec-reviewer
**Decision:** Needs Revision

**Issues:**
- [blocker] [testability] R2 has no number (at: spec.md:6)
- [suggestion] Say what a byte is

**Summary:** Close.

LAZY-LOAD-WARNING: spec-reviewer did not confirm artifact reads: prd.md (0 of 7 lines seen)
`;

describe("the review history", () => {
  it("is written in one exact form", () => {
    expect(formatReviewEntry(entry)).toBe(WRITTEN);
    expect(appendReviewEntry("", { ...entry, issues: [], decision: "Approved", summary: "", notes: [] })).toBe(
      `# Review History

## Spec Review - Iteration 1 - 2026-01-02T03:04:05.000Z
**Reviewer:** spec-reviewer
**Decision:** Approved

**Issues:**
- none
`,
    );
  });

  it("reads back what it wrote", () => {
    expect(readReviewHistory(appendReviewEntry("", entry))).toEqual({
      entries: [
        {
          line: 3,
          stage: "Spec",
          iteration: 1,
          at: "2026-01-02T03:04:05.000Z",
          reviewer: "spec-reviewer",
          decision: "Needs Revision",
          isApproved: false,
          issues: entry.issues,
          notes: entry.notes,
        },
      ],
      notes: entry.notes,
    });
  });

  it("reads the forms of other hands", () => {
    const text = `# History\r
LAZY-LOAD-WARNING: plan-reviewer did not confirm artifact reads\r
### Step 1: Spec-Reviewer Review - Iteration 1 - 2026-05-05\r
**Reviewer:** spec-reviewer (skeptic)\r
- **Decision**: Needs Revision (5 blockers)\r
\r
**Issues:**\r
- [blocker] [traceability] Numbers collide\r
  Suggestion: renumber\r
1. [WARNING] flaky (at: AC-1.9)\r
- **Suggestion**: - shorter\r
\`\`\`\r
## Fake Review - Iteration 9 - x\r
\`\`\`\r
#### Changes\r
- [suggestion] late\r
## Iteration 2\r
**Decision:** APPROVED\r
## Notes\r
- [blocker] not an issue of a review\r
`;
    const { entries, notes } = readReviewHistory(text);
    expect(notes).toEqual(["LAZY-LOAD-WARNING: plan-reviewer did not confirm artifact reads"]);
    expect(entries).toMatchObject([
      {
        line: 3,
        stage: "Step 1: Spec-Reviewer",
        iteration: 1,
        at: "2026-05-05",
        reviewer: "spec-reviewer (skeptic)",
        isApproved: false,
        issues: [
          { severity: "blocker", category: "traceability", description: "Numbers collide" },
          { severity: "warning", description: "flaky", location: "AC-1.9" },
          { severity: "suggestion", description: "- shorter" },
          { severity: "suggestion", description: "late" },
        ],
      },
      { stage: "", iteration: 2, at: "", isApproved: true, issues: [] },
    ]);
    expect(entries).toHaveLength(2);
  });

  it("keeps every byte that was there, and the entry can always be read back", () => {
    const piece = fc.constantFrom(
      "text",
      "\n",
      "\r\n",
      "\n\n",
      "```",
      "```sh\n",
      "~~~\n",
      "## H",
      "## X Review - Iteration 4 - y\n",
      "- [blocker] b",
      " ",
      "\ufeff",
      "**Decision:** Approved",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
        const before = pieces.join("");
        const after = appendReviewEntry(before, entry);
        expect(after.startsWith(before)).toBe(true);
        const last = readReviewHistory(after).entries.at(-1);
        expect(last).toMatchObject({
          stage: "Spec",
          iteration: 1,
          reviewer: "spec-reviewer",
          issues: entry.issues,
          notes: entry.notes,
        });
        const noted = appendReviewNote(before, "LAZY-LOAD-WARNING: x");
        expect(noted.startsWith(before)).toBe(true);
        expect(readReviewHistory(noted).notes).toContain("LAZY-LOAD-WARNING: x");
      }),
      { numRuns: 1_000 },
    );
  });

  it("keeps to the file's line ends", () => {
    expect(appendReviewNote("a\r\nb", "LAZY-LOAD-WARNING: x")).toBe("a\r\nb\r\n\r\nLAZY-LOAD-WARNING: x\r\n");
    expect(appendReviewNote("a\r\nb\n", "LAZY-LOAD-WARNING: x")).toBe("a\r\nb\n\nLAZY-LOAD-WARNING: x\n");
  });

  it("lets no issue write headings", () => {
    const text = formatReviewEntry({
      ...entry,
      issues: [{ severity: "blocker", description: "x\n## Spec Review - Iteration 9 - now" }],
    });
    expect(readReviewHistory(text).entries).toHaveLength(1);
  });
});

describe("parseReviewAnswer", () => {
  it("finds the object behind words on its line, and takes talk about an answer for none", () => {
    const rejected = '{"approved": false, "issues": [{"severity": "warning", "description": "No limit"}]}';
    expect(parseReviewAnswer(`Here is my review: ${rejected}`)).toMatchObject({ approved: false });
    expect(parseReviewAnswer(`First {"approved": true, "issues": []} but then: ${rejected}.\nDone.`)).toMatchObject({
      approved: false,
      issues: [{ description: "No limit" }],
    });
    for (const talk of ['I would return {"approved": true} if it had limits.', 'Not yet `{"approved": true}`']) {
      expect(parseReviewAnswer(talk)).toMatchObject({ kind: "unreadable" });
    }
  });

  it("does not approve with a blocker that has no words", () => {
    const answer = '{"approved": true, "issues": [{"severity": "blocker", "description": ""}]}';
    expect(parseReviewAnswer(answer)).toMatchObject({ approved: false, issues: [{ severity: "blocker" }] });
  });

  const issue = { severity: "blocker", description: "No limit", location: "spec.md:6", suggestion: "Add one" };

  it.each([
    ["bare", JSON.stringify({ approved: false, issues: [issue], summary: "s" })],
    [
      "in a fence, after prose",
      `Files read: spec.md (7 lines)\n\n\`\`\`json\n${JSON.stringify({ approved: false, issues: [issue], summary: "s" }, null, 2)}\n\`\`\`\nDone {really}.`,
    ],
    [
      "after an example",
      `{"approved": true}\n\nand now\n${JSON.stringify({ approved: false, issues: [issue], summary: "s" })}`,
    ],
    [
      "with braces in texts",
      `Use {x}.\n{ not json }\n${JSON.stringify({ approved: false, issues: [issue], summary: "s", extra: '{"}' })}`,
    ],
    [
      "with other words",
      JSON.stringify({
        decision: "Needs Revision",
        findings: [{ level: "Critical", message: "No limit", file: "spec.md", line: 6, fix: "Add one" }],
        summary: "s",
      }),
    ],
  ])("reads JSON %s", (_, answer) => {
    expect(parseReviewAnswer(answer)).toEqual({
      kind: "review",
      approved: false,
      isBlocked: false,
      issues: [issue],
      summary: "s",
      source: "json",
      problems: [],
    });
  });

  it("takes no part of the review for the review", () => {
    const answer = JSON.stringify(
      { approved: false, issues: [], previous: [{ id: "R1", status: "approved" }] },
      null,
      1,
    );
    expect(answer).toContain("\n  {");
    expect(parseReviewAnswer(answer)).toMatchObject({ approved: false });
  });

  it("reads prose with a verdict, the last of them", () => {
    const answer =
      "Verdict: PASS would be too early.\n\n- [blocker] No limit (at: spec.md:6)\n2. **Warning:** vague\n- note that\n\n**VERDICT: FAIL**";
    expect(parseReviewAnswer(answer)).toMatchObject({
      approved: false,
      source: "prose",
      issues: [
        { severity: "blocker", description: "No limit", location: "spec.md:6" },
        { severity: "warning", description: "vague" },
      ],
    });
    expect(parseReviewAnswer("All good.\nVERDICT: PASS")).toMatchObject({ approved: true, isBlocked: false });
    expect(parseReviewAnswer("VERDICT: BLOCKED")).toMatchObject({ approved: false, isBlocked: true });
    expect(parseReviewAnswer("APPROVED")).toMatchObject({ approved: true });
    expect(parseReviewAnswer("## Decision: Needs Revision")).toMatchObject({ approved: false });
  });

  it("never approves what it cannot read, or what has a blocker", () => {
    expect(parseReviewAnswer("Looks fine to me.")).toMatchObject({ kind: "unreadable" });
    expect(parseReviewAnswer("")).toMatchObject({ kind: "unreadable" });
    expect(parseReviewAnswer('{"issues": []}')).toMatchObject({
      kind: "unreadable",
      reason: 'the JSON says neither "approved" nor a verdict',
    });
    expect(parseReviewAnswer('{"approved": "not approved"}')).toMatchObject({ approved: false });
    expect(
      parseReviewAnswer('{"approved": true, "issues": [{"severity": "blocker", "description": "x"}]}'),
    ).toMatchObject({
      approved: false,
      problems: ["approved, with 1 blocker: taken as not approved"],
    });
    expect(
      parseReviewAnswer('{"approved": false, "issues": [{"severity": "spicy", "description": "x"}, "y", 3, {}]}'),
    ).toMatchObject({
      issues: [
        { severity: "warning", description: "x" },
        { severity: "warning", description: "y" },
      ],
      problems: ["an issue has the unknown severity “spicy”: taken as a warning"],
    });
  });

  it("cleans what it keeps", () => {
    const answer = JSON.stringify({ approved: false, issues: [{ severity: "low", description: "a\n## b\u001b[31m" }] });
    expect(parseReviewAnswer(answer)).toMatchObject({ issues: [{ severity: "suggestion", description: "a ## b" }] });
  });

  it("never throws, and ends in a short time on anything", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (answer) => {
        expect(["review", "unreadable"]).toContain(parseReviewAnswer(answer).kind);
      }),
    );
    for (const text of ["{\n", "[blocker]", "**".repeat(10), "- ", '{"a":', " ", "```json {", "Verdict"]) {
      expect(["review", "unreadable"]).toContain(parseReviewAnswer(text.repeat(200_000)).kind);
    }
  });
});

describe("trackIssues", () => {
  const limit: ReviewIssue = {
    severity: "blocker",
    description: "The spec has no upper limit for the size of an upload",
    location: "spec.md:6",
  };
  const bytes: ReviewIssue = { severity: "suggestion", description: "Say what a byte is" };
  const first = trackIssues([], [limit, bytes], { iteration: 1 });

  it("numbers what is new", () => {
    expect(first).toEqual([
      { ...limit, id: "R1", status: "open", firstIteration: 1, lastIteration: 1 },
      { ...bytes, id: "R2", status: "open", firstIteration: 1, lastIteration: 1 },
    ]);
  });

  it("knows an issue again in other words, at another line, or by its id", () => {
    const reworded: ReviewIssue = {
      severity: "warning",
      description: "Upper limit for upload size still missing",
      location: "spec.md:9",
    };
    const second = trackIssues(first, [reworded], { iteration: 2 });
    expect(second).toMatchObject([
      {
        id: "R1",
        status: "open",
        severity: "warning",
        description: reworded.description,
        firstIteration: 1,
        lastIteration: 2,
      },
      { id: "R2", status: "resolved", lastIteration: 1 },
    ]);
    const byId = trackIssues(first, [{ id: "R2", severity: "warning", description: "Entirely different text" }], {
      iteration: 2,
    });
    expect(byId.map(({ id, status }) => `${id} ${status}`)).toEqual(["R1 resolved", "R2 open"]);
  });

  it("needs fewer words in common at the same place", () => {
    const found = (location: string): ReviewIssue => ({
      severity: "blocker",
      description: "Upload size: upper limit absent, add a number",
      location,
    });
    expect(trackIssues(first, [found("spec.md:44")], { iteration: 2 })[0]).toMatchObject({ id: "R1", status: "open" });
    expect(trackIssues(first, [found("design.md:6")], { iteration: 2 })[0]).toMatchObject({
      id: "R1",
      status: "resolved",
    });
  });

  it("does not take another issue for the same, and reopens one that comes back", () => {
    const other: ReviewIssue = {
      severity: "blocker",
      description: "The spec has no error for a wrong hash",
      location: "spec.md:20",
    };
    const second = trackIssues(first, [other], { iteration: 2 });
    expect(second.map(({ id, status }) => `${id} ${status}`)).toEqual(["R1 resolved", "R2 resolved", "R3 open"]);
    const third = trackIssues(second, [limit], { iteration: 3 });
    expect(third[0]).toMatchObject({ id: "R1", status: "open", isReopened: true, firstIteration: 1, lastIteration: 3 });
    expect(third[2]).toMatchObject({ id: "R3", status: "resolved" });
  });

  it("gives each found issue one place, and never an id twice", () => {
    const anyIssue = fc.record({
      severity: fc.constantFrom("blocker" as const, "warning" as const),
      description: fc
        .array(fc.constantFrom("limit", "size", "hash", "error", "upload"), { minLength: 1, maxLength: 5 })
        .map((words) => words.join(" ")),
    });
    fc.assert(
      fc.property(fc.array(fc.array(anyIssue, { maxLength: 6 }), { maxLength: 4 }), (iterations) => {
        let tracked = trackIssues([], [], { iteration: 0 });
        for (const [index, found] of iterations.entries()) {
          tracked = trackIssues(tracked, found, { iteration: index + 1 });
          expect(tracked.filter(({ status }) => status === "open")).toHaveLength(found.length);
          expect(new Set(tracked.map(({ id }) => id)).size).toBe(tracked.length);
        }
      }),
    );
  });

  it("knows the words for severities", () => {
    expect(["Blocker", "HIGH", "must fix", "medium", "nit", "?"].map(readSeverity)).toEqual([
      "blocker",
      "blocker",
      "blocker",
      "warning",
      "suggestion",
      undefined,
    ]);
  });
});
