import { describe, expect, it } from "vitest";
import { trackIssues } from "../../../artifacts/review-issue.ts";
import type { NewReview } from "../../artifact-records.ts";
import { openMemoryStore } from "../open.ts";
import { SqliteArtifactStore } from "./artifact-store.ts";

const LOOP = { feature: "docs/features/031", phase: "specify", role: "spec-reviewer" };
const at = (minute: number) => ({ name: "tester", at: new Date(Date.UTC(2031, 4, 6, 7, minute)) });
const ISSUE = {
  severity: "blocker" as const,
  description: "The limit of an upload is not a number",
  location: "spec.md:9",
};

function review(iteration: number, more: Partial<NewReview> = {}): NewReview {
  const issues = more.issues ?? [];
  return {
    loop: LOOP,
    iteration,
    verdict: "rejected",
    issues,
    track: (before) => trackIssues(before, issues, { iteration }),
    notes: [],
    answerHash: `hash ${iteration}`,
    ...more,
  };
}

describe("reviews", () => {
  it("keeps issues over iterations: open, resolved, and open again", async () => {
    const store = new SqliteArtifactStore(openMemoryStore());
    await store.recordReview(review(1, { issues: [ISSUE] }), at(1));
    const second = await store.recordReview(review(2), at(2));
    expect(second).toMatchObject({ kind: "recorded", issues: [{ id: "R1", status: "resolved", lastIteration: 1 }] });
    await store.recordReview(review(3, { issues: [{ ...ISSUE, id: "R1" }] }), at(3));
    const loop = await store.getLoop(LOOP);
    expect(loop.issues).toEqual([
      { ...ISSUE, id: "R1", status: "open", firstIteration: 1, lastIteration: 3, isReopened: true },
    ]);
    expect(loop.reviews.map(({ iteration, verdict, by }) => [iteration, verdict, by])).toEqual([
      [1, "rejected", "tester"],
      [2, "rejected", "tester"],
      [3, "rejected", "tester"],
    ]);
    expect(await store.listLoops(LOOP.feature)).toEqual([loop]);
    expect(await store.listLoops("another")).toEqual([]);
  });

  it("records an iteration once: the same answer is the same, another is refused and changes nothing", async () => {
    const store = new SqliteArtifactStore(openMemoryStore());
    const first = review(2, { issues: [ISSUE], receipts: receipts(true) });
    await store.recordReview(first, at(1));
    expect(await store.recordReview(first, at(2))).toMatchObject({ kind: "same", review: { at: at(1).at } });
    const other = review(2, { answerHash: "other", verdict: "approved" });
    expect(await store.recordReview(other, at(3))).toMatchObject({ kind: "already-recorded", last: 2 });
    expect(await store.recordReview(review(1), at(4))).toMatchObject({ kind: "already-recorded", last: 2 });
    expect((await store.getLoop(LOOP)).reviews).toHaveLength(1);
    expect(await store.countReceipts({})).toMatchObject([{ total: 1 }]);
  });

  it("an accepted issue stays accepted when it is raised again", async () => {
    const store = new SqliteArtifactStore(openMemoryStore());
    expect(await store.decideIssue(LOOP, { issueId: "R1", text: "x" }, at(0))).toEqual({ kind: "no-loop" });
    await store.recordReview(review(1, { issues: [ISSUE] }), at(1));
    expect(await store.decideIssue(LOOP, { issueId: "R9", text: "x" }, at(2))).toEqual({
      kind: "no-issue",
      known: ["R1"],
    });
    expect(await store.decideIssue(LOOP, { issueId: "r1", text: "Out of scope" }, at(2))).toMatchObject({
      kind: "decided",
      issue: { id: "R1", status: "accepted" },
    });
    await store.recordReview(review(2, { issues: [{ ...ISSUE, id: "R1" }] }), at(3));
    const { issues, decisions } = await store.getLoop(LOOP);
    expect(issues).toMatchObject([{ id: "R1", status: "accepted", lastIteration: 2 }]);
    expect(decisions).toEqual([{ issueId: "R1", text: "Out of scope", by: "tester", at: at(2).at }]);
  });

  it("goes on with the agent of the last iteration; a failure holds until another agent answers", async () => {
    const store = new SqliteArtifactStore(openMemoryStore());
    const agent = { agentId: "a1", sessionId: "s1", promptChars: 900 };
    await store.recordReview(review(1, { agent }), at(1));
    await store.recordReview(review(2, { agent: { agentId: "a1", promptChars: 40 } }), at(2));
    expect((await store.getLoop(LOOP)).resume).toEqual({
      agentId: "a1",
      sessionId: "s1",
      iteration1PromptChars: 900,
      lastIteration: 2,
    });
    await store.failResume(LOOP, "400");
    expect((await store.getLoop(LOOP)).resume).toMatchObject({ failure: "400" });
    await store.recordReview(review(3, { agent: { agentId: "a2", promptChars: 700 } }), at(3));
    expect((await store.getLoop(LOOP)).resume).toEqual({ agentId: "a2", iteration1PromptChars: 700, lastIteration: 3 });
  });
});

function receipts(isMissing: boolean, agentId?: string) {
  return {
    source: agentId === undefined ? ("claim" as const) : ("events" as const),
    ...(agentId !== undefined && { agent: { sessionId: "s1", agentId } }),
    documents: [{ file: "prd.md", lineCount: 10, share: isMissing ? 0.5 : 1, isMissing }],
  };
}

describe("receipts and dispatches", () => {
  it("counts an agent once, whoever judged it first", async () => {
    const store = new SqliteArtifactStore(openMemoryStore());
    const { feature, role } = LOOP;
    await store.recordReceipts({ ...receipts(true, "a1"), feature, role: "iflow:spec-reviewer" }, at(1));
    await store.recordReview(review(1, { receipts: receipts(true, "a1") }), at(2));
    await store.recordReview(review(2, { receipts: receipts(false, "a1") }), at(3));
    await store.recordReceipts({ ...receipts(false), feature, role, iteration: 3 }, at(4));
    expect(await store.countReceipts({})).toEqual([
      { role, file: "prd.md", total: 3, missing: 1, share: 2.5 / 3, fromEvents: 2 },
    ]);
    expect(await store.countReceipts({ since: at(3).at })).toMatchObject([{ total: 2, missing: 0 }]);
  });

  it("keeps what a dispatch cost, and gives the newest of an iteration", async () => {
    const store = new SqliteArtifactStore(openMemoryStore());
    const tokens = { sent: 10, reads: 20, pasted: 25, pastedUnpruned: 40 };
    const documents = [{ file: "prd.md", name: "PRD", path: "/f/prd.md", lineCount: 10 }];
    const dispatch = { loop: LOOP, iteration: 1, kind: "fresh" as const, documents, tokens, promptChars: 77 };
    await store.recordDispatch(dispatch, at(1));
    await store.recordDispatch({ ...dispatch, kind: "fallback", reason: "r", gitCommit: "abc", otherTokens: 5 }, at(2));
    expect(await store.getDispatch(LOOP, 1)).toEqual({
      ...dispatch,
      kind: "fallback",
      reason: "r",
      gitCommit: "abc",
      otherTokens: 5,
      by: "tester",
      at: at(2).at,
    });
    expect(await store.getDispatch(LOOP, 2)).toBeUndefined();
    const resumed = { ...dispatch, kind: "resume" as const, iteration: 2, otherTokens: 31 };
    await store.recordDispatch({ ...resumed, tokens: { ...tokens, sent: 7, reads: 0 } }, at(3));
    const counts = { dispatches: 3, resumes: 1, fallbacks: 1 };
    expect(await store.sumDispatches({})).toEqual([
      { role: LOOP.role, ...counts, sent: 27, reads: 40, pasted: 75, pastedUnpruned: 120, saved: 24 },
    ]);
    await store.recordDispatch({ ...dispatch, kind: "fallback", iteration: 2 }, at(4));
    expect(await store.sumDispatches({})).toMatchObject([{ dispatches: 4, resumes: 0, fallbacks: 2, saved: 0 }]);
  });
});
