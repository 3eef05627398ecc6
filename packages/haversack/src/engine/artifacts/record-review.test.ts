import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectDocuments, markAgent, recordSeen } from "../../store/sqlite/artifacts/artifact-observations.ts";
import { historyPath } from "./append-history.ts";
import type { RecordOutcome } from "./artifact-operations.ts";
import { dispatchRole } from "./dispatch-role.ts";
import { decideIssue, recordReview } from "./record-review.ts";
import { reportReceipts } from "./report-receipts.ts";
import { AT, reviewAnswer, type ScratchFeature, scratchFeature } from "./scratch-feature.suite.ts";
import { settleAgent } from "./watch-reader.ts";

const FEATURE = "docs/features/031-uploads";
const ISSUE = { severity: "blocker", description: "R2 has no limit for chunks", location: "spec.md:7" };
/** True for the sample feature. */
const ALL_READ = "prd.md (7 lines), spec.md (7 lines)";

function record({ parts }: ScratchFeature, answer: string, more = {}): Promise<RecordOutcome> {
  return recordReview({ role: "design-reviewer", feature: FEATURE, iteration: 1, answer, ...more }, parts);
}

function warnings(text: string): string[] {
  return text.split("\n").filter((line) => line.startsWith("LAZY-LOAD-WARNING"));
}

describe("recordReview", () => {
  it("writes the entry exactly, below what was there", async () => {
    const scratch = scratchFeature();
    const before = "# My own notes\n\n## Spec Review - Iteration 1\nby hand, without a verdict\n";
    scratch.write(`${FEATURE}/.review-history.md`, before);
    const answer = reviewAnswer({ approved: false, issues: [ISSUE], filesRead: ALL_READ, summary: "Almost." });
    expect(await record(scratch, answer)).toMatchObject({
      kind: "recorded",
      review: { verdict: "rejected" },
      issues: [{ id: "R1", status: "open" }],
      judgement: { source: "claim", missing: [] },
    });
    expect(scratch.history()).toBe(`${before}
## Design Review - Iteration 1 - 2031-05-06T07:00:00.000Z
**Reviewer:** design-reviewer
**Decision:** Needs Revision

**Issues:**
- [blocker] R2 has no limit for chunks (at: spec.md:7)

**Summary:** Almost.
`);
  });

  it("hands open issues, and decisions about others, to the next iteration", async () => {
    const scratch = scratchFeature();
    const other = { severity: "warning", description: "Names of chunks may clash", location: "design.md" };
    await record(scratch, reviewAnswer({ approved: false, issues: [ISSUE, other] }));
    const request = { role: "design-reviewer", feature: FEATURE };
    await decideIssue({ ...request, issueId: "R2", text: "One upload per folder" }, scratch.parts);
    const next = await dispatchRole(request, scratch.parts);
    if (next.kind !== "dispatched") throw new Error(next.text);
    expect(next.iteration).toBe(2);
    expect(next.call.prompt).toContain(`This is iteration 2 of 3.
Previous issues to re-evaluate:
- R1 [blocker] R2 has no limit for chunks (at: spec.md:7)
- R2 [warning] Names of chunks may clash (decided, do not raise it again: One upload per folder) (at: design.md)
`);
    expect(scratch.history()).toContain("\nDECISION: design-reviewer R2 — One upload per folder\n");
  });

  it("finds previous issues in a history that others wrote", async () => {
    const scratch = scratchFeature();
    const text = "## Design Review - Iteration 1 - yesterday\n**Reviewer:** iflow:design-reviewer (opus)\n";
    const mine = text.replace(" (opus)", "");
    scratch.write(
      `${FEATURE}/.review-history.md`,
      `${mine}**Decision:** Needs Revision\n- [blocker] No owner for chunks\n`,
    );
    const next = await dispatchRole({ role: "design-reviewer", feature: FEATURE, iteration: 2 }, scratch.parts);
    expect(next).toMatchObject({ call: { prompt: expect.stringContaining("- [blocker] No owner for chunks\n") } });
  });

  it("gives the fixer what all reviewers of the phase still hold against the code", async () => {
    const scratch = scratchFeature();
    for (const role of ["security-reviewer", "code-quality-reviewer"]) {
      await record(scratch, reviewAnswer({ approved: false, issues: [{ ...ISSUE, description: `by ${role}` }] }), {
        role,
      });
    }
    const next = await dispatchRole({ role: "implementer", feature: FEATURE, files: ["src/a.ts"] }, scratch.parts);
    if (next.kind !== "dispatched") throw new Error(next.text);
    expect(next.call.prompt).toContain(
      "## Issues to Fix\n- security-reviewer/R1 [blocker] by security-reviewer (at: spec.md:7)\n- code-quality-reviewer/R1 [blocker] by code-quality-reviewer (at: spec.md:7)\n",
    );
  });

  it("refuses an answer without a verdict, none at all, and a second answer to one iteration", async () => {
    const scratch = scratchFeature();
    expect(await record(scratch, " \n")).toMatchObject({
      kind: "refused",
      text: expect.stringContaining("the answer is empty"),
    });
    expect(await record(scratch, "Looks good to me overall.")).toMatchObject({
      kind: "refused",
      text: expect.stringContaining("cannot be read as a review"),
    });
    const first = reviewAnswer({ approved: false, issues: [ISSUE] });
    await record(scratch, first);
    const history = scratch.history();
    expect(await record(scratch, reviewAnswer({ approved: true }))).toMatchObject({
      kind: "refused",
      text: expect.stringContaining("iteration 1 of design-reviewer is recorded already (Needs Revision"),
    });
    expect(await record(scratch, first)).toMatchObject({ kind: "recorded", isRepeated: true });
    expect(scratch.history()).toBe(history);
  });

  it("refuses an iteration that leaves one out, and says which is next", async () => {
    const scratch = scratchFeature();
    const rejected = (iteration: number) =>
      record(scratch, reviewAnswer({ approved: false, issues: [ISSUE], summary: `No ${iteration}` }), { iteration });
    expect(await rejected(2)).toMatchObject({
      kind: "refused",
      text: "iteration 2 of design-reviewer cannot be recorded: none is recorded yet, so the next is 1. Nothing was recorded",
    });
    await rejected(1);
    await rejected(2);
    expect(await rejected(5)).toMatchObject({
      kind: "refused",
      text: "iteration 5 of design-reviewer cannot be recorded: the last one is 2, so the next is 3. Nothing was recorded",
    });
    expect(await rejected(3)).toMatchObject({ kind: "recorded", review: { iteration: 3 } });
  });

  it("in a clone goes on from the committed history, and refuses what stands there", async () => {
    const origin = scratchFeature();
    const answer = (summary: string) => reviewAnswer({ approved: false, issues: [ISSUE], summary });
    await record(origin, answer("one"));
    await record(origin, answer("two"), { iteration: 2 });
    const clone = scratchFeature();
    const committed = origin.history().replaceAll("2031-05-06", "2031-05-05");
    clone.write(`${FEATURE}/.review-history.md`, committed);
    expect(await record(clone, answer("one"))).toMatchObject({
      kind: "refused",
      text: expect.stringMatching(
        /^iteration 1 of design-reviewer is recorded already in .*\.review-history\.md \(Needs Revision, 2031-.*Z\); the next is 3\. Nothing was recorded$/,
      ),
    });
    expect(await record(clone, answer("four"), { iteration: 4 })).toMatchObject({ kind: "refused" });
    expect(clone.history()).toBe(committed);
    expect(await record(clone, answer("three"), { iteration: 3 })).toMatchObject({ kind: "recorded" });
    // The same reviewer has another count in each stage.
    const other = scratchFeature();
    other.write(`${FEATURE}/.review-history.md`, committed.replaceAll("## Design Review", "## Spike Review"));
    expect(await record(other, answer("one"))).toMatchObject({ kind: "recorded" });
  });

  it("completes what was interrupted between the store and the file, once", async () => {
    const scratch = scratchFeature();
    const answer = reviewAnswer({ approved: true, filesRead: ALL_READ });
    const folder = historyPath(scratch.folder);
    scratch.write(`${FEATURE}/.review-history.md/in-the-way`, "");
    await expect(record(scratch, answer)).rejects.toMatchObject({ code: "file-unwritable" });
    rmSync(folder, { recursive: true });
    await record(scratch, answer);
    const once = scratch.history();
    expect(once.match(/## Design Review/g)).toHaveLength(1);
    // Simulates a kill after the append: the entry is there, the mark is not.
    scratch.handle.db.exec("UPDATE reviews SET is_in_history = 0");
    await record(scratch, answer);
    expect(scratch.history()).toBe(once);
  });

  it("says which role, phase or feature is meant", async () => {
    const scratch = scratchFeature();
    const wrong = (more: object) => expect(record(scratch, "x", more)).rejects;
    await wrong({ role: "desing-reviewer" }).toMatchObject({
      code: "not-found",
      message: expect.stringContaining("did you mean design-reviewer"),
    });
    await wrong({ role: "phase-reviewer" }).toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("specify, design"),
    });
    await wrong({ role: "phase-reviewer", phase: "desing" }).toMatchObject({
      message: expect.stringContaining("did you mean design?"),
    });
    await wrong({ feature: "docs/features/031-upload" }).toMatchObject({
      message: expect.stringContaining("did you mean docs/features/031-uploads?"),
    });
    await wrong({ feature: `${FEATURE}/spec.md` }).toMatchObject({ message: expect.stringContaining("is a file") });
    await wrong({ feature: "/" }).toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("outside of the repository"),
    });
    await wrong({ iteration: 0 }).toMatchObject({ code: "input-invalid" });
  });
});

describe("receipts", () => {
  it("a claim counts only with the right number of lines", async () => {
    const scratch = scratchFeature();
    const filesRead = "prd.md (7 lines), spec.md (90 lines)";
    await record(scratch, reviewAnswer({ approved: true, filesRead }));
    expect(warnings(scratch.history())).toEqual([
      "LAZY-LOAD-WARNING: design-reviewer did not confirm artifact reads: spec.md (claimed 90 lines, has 7)",
    ]);
  });

  it("tool calls beat what the answer claims, and warn once", async () => {
    const scratch = scratchFeature();
    const role = "plan-reviewer";
    const documents = ["prd.md", "spec.md", "design.md"].map((file) => ({
      file,
      name: file,
      path: join(scratch.folder, file),
      lineCount: file === "design.md" ? 16 : 7,
    }));
    const key = { sessionId: "s1", agentId: "a1" };
    expectDocuments(scratch.handle, key, { role: "iflow:plan-reviewer", folder: scratch.folder, documents }, AT);
    recordSeen(scratch.handle, key, [
      { file: "prd.md", from: 1, to: 7 },
      { file: "spec.md", from: 1, to: 7 },
      { file: "design.md", from: 1, to: 2 },
    ]);
    const settled = settleAgent(scratch.handle, key, { feature: FEATURE, sendBack: false, now: AT });
    expect(settled).toMatchObject({ kind: "settled", judgement: { missing: [{ file: "design.md" }] } });
    expect(settleAgent(scratch.handle, key, { feature: FEATURE, sendBack: false, now: AT })).toEqual({
      kind: "nothing",
    });

    const filesRead = "prd.md (7 lines), spec.md (7 lines), design.md (16 lines)";
    const outcome = await record(scratch, reviewAnswer({ approved: true, filesRead }), { role });
    expect(outcome).toMatchObject({ kind: "recorded", review: { agentId: "a1" }, judgement: { source: "events" } });
    expect(warnings(scratch.history())).toEqual([
      "LAZY-LOAD-WARNING: plan-reviewer did not confirm artifact reads: design.md (2 of 16 lines seen)",
    ]);
    const report = await reportReceipts({}, scratch.parts);
    expect(report).toMatchObject({ total: 3, missing: 1, isAboveGate: true });
    expect(report.rates[0]).toMatchObject({
      role,
      file: "design.md",
      missing: 1,
      total: 1,
      share: 0.125,
      fromEvents: 1,
    });
  });

  it("is silent in the history when a hook has told already", async () => {
    const scratch = scratchFeature();
    const document = { file: "prd.md", name: "PRD", path: join(scratch.folder, "prd.md"), lineCount: 7 };
    const key = { sessionId: "s1", agentId: "a1" };
    expectDocuments(scratch.handle, key, { role: "spec-reviewer", folder: scratch.folder, documents: [document] }, AT);
    markAgent(scratch.handle, key, "warned_at", AT);
    await record(scratch, reviewAnswer({ approved: true }), { role: "spec-reviewer" });
    expect(warnings(scratch.history())).toEqual([]);
    expect(await reportReceipts({}, scratch.parts)).toMatchObject({ missing: 1 });
  });

  it("knows an agent of another type by its documents, and never takes one of another role", async () => {
    const scratch = scratchFeature();
    const documents = ["design.md", "spec.md"].map((file) => ({
      file,
      name: file,
      path: join(scratch.folder, file),
      lineCount: 9,
    }));
    const expectation = { folder: scratch.folder, documents };
    expectDocuments(
      scratch.handle,
      { sessionId: "s1", agentId: "quality" },
      { ...expectation, role: "code-quality-reviewer" },
      AT,
    );
    const alone = await record(scratch, reviewAnswer({ approved: true }), { role: "security-reviewer" });
    expect(alone).toMatchObject({ judgement: { source: "claim" } });
    expectDocuments(
      scratch.handle,
      { sessionId: "s1", agentId: "other" },
      { ...expectation, role: "general-purpose" },
      AT,
    );
    const known = await record(scratch, reviewAnswer({ approved: true }), { role: "security-reviewer", iteration: 2 });
    expect(known).toMatchObject({ review: { agentId: "other" }, judgement: { source: "events" } });
    const later = await record(scratch, reviewAnswer({ approved: true }), { role: "security-reviewer", iteration: 3 });
    expect(later).toMatchObject({ judgement: { source: "claim" } });
  });

  it("keeps the receipts of a role that gives no verdict, and its warning", async () => {
    const scratch = scratchFeature();
    const answer = 'Files read: prd.md (7 lines)\n{"status": "done", "filesChanged": []}';
    const outcome = await record(scratch, answer, { role: "implementer", phase: "implementing" });
    expect(outcome).toMatchObject({ kind: "receipts-only", judgement: { missing: [{ file: "spec.md" }] } });
    expect(scratch.history()).toBe(
      "# Review History\n\nLAZY-LOAD-WARNING: implementer did not confirm artifact reads: spec.md (not named)\n",
    );
  });

  it("sends a sub-agent back once when the user wants that", () => {
    const { handle, folder } = scratchFeature();
    const key = { sessionId: "s1", agentId: "a1" };
    const document = { file: "prd.md", name: "PRD", path: join(folder, "prd.md"), lineCount: 7 };
    const settle = () => settleAgent(handle, key, { feature: FEATURE, sendBack: true, now: AT }).kind;
    expect(settle()).toBe("nothing");
    expectDocuments(handle, key, { role: "spec-reviewer", folder, documents: [document] }, AT);
    expect(settle()).toBe("send-back");
    recordSeen(handle, key, [{ file: "prd.md", from: 1, to: 7 }]);
    expect([settle(), settle()]).toEqual(["settled", "nothing"]);
  });

  it("asks for nothing that was not there", async () => {
    const scratch = scratchFeature({ hasPrd: false });
    writeFileSync(join(scratch.folder, "spec.md"), "");
    const outcome = await record(scratch, reviewAnswer({ approved: true }));
    expect(outcome).toMatchObject({ kind: "recorded" });
    expect(outcome).not.toHaveProperty("judgement");
    expect(await reportReceipts({}, scratch.parts)).toMatchObject({ total: 0, rate: 0, isAboveGate: false });
  });
});
