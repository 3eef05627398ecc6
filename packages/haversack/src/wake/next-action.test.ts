import { describe, expect, it } from "vitest";
import type { WakeState } from "./state.ts";
import { at, emptyState, handoff, implementing, midReview, skill, task } from "./wake-scenes.suite.ts";
import { nextAction } from "./workflow.ts";

const next = (state: WakeState) => nextAction(state);
const orchestrator = (over: Partial<WakeState>) => next(emptyState({ task: task(), ...over }));
const worker = (over: Partial<WakeState>) =>
  next(emptyState({ agent: { name: "backend", role: "implementer" }, task: task(), ...over }));

describe("nextAction of an orchestrator", () => {
  it("sends the next reviewer when the one before has passed", () => {
    expect(next({ ...midReview(), reason: "compact" })).toEqual([
      'Mark T22 "Spec review" done: it passed.',
      'Dispatch quality-reviewer for T2 "Add login endpoint".',
    ]);
  });

  it("goes by handoffs when there are no sub-tasks", () => {
    expect(orchestrator({})).toEqual(['Dispatch implementer for T2 "Add login endpoint".']);
    const built = handoff({ role: "implementer" });
    expect(orchestrator({ handoffs: [built] })).toEqual(['Dispatch spec-reviewer for T2 "Add login endpoint".']);
    expect(orchestrator({ handoffs: [built, handoff()] })).toEqual([
      'Dispatch quality-reviewer for T2 "Add login endpoint".',
    ]);
    expect(orchestrator({ task: task({ status: "review" }) })[0]).toContain("Dispatch spec-reviewer");
  });

  it("waits for a review that runs", () => {
    const state = midReview();
    const tree = state.tree.map(({ lastVerdict: _, ...each }) => each);
    expect(next({ ...state, reason: "compact", tree, handoffs: [] })).toEqual([
      'Check whether spec-reviewer has finished T22 "Spec review".',
    ]);
  });

  it("sends the fixer with what was found and the attempt, then the reviewer again, and blocks after the third", () => {
    const built = handoff({ role: "implementer", at: at("10:00") });
    const failed = handoff({ status: "FAIL", summary: "No lock after five.", at: at("10:10") });
    const fixed = (attempt: number, time: string) => handoff({ role: "fixer", attempt, status: "PASS", at: at(time) });
    expect(orchestrator({ handoffs: [failed, built] })).toEqual([
      "Dispatch fixer for T2, attempt 1 of 3. spec-reviewer found: No lock after five.",
    ]);
    expect(orchestrator({ handoffs: [fixed(1, "10:20"), failed, built] })).toEqual([
      "Dispatch spec-reviewer for T2 again (attempt 2): the fixer is done.",
    ]);
    const again = { ...failed, attempt: 2, at: at("10:30") };
    expect(orchestrator({ handoffs: [again, fixed(1, "10:20"), failed, built] })[0]).toContain("attempt 2 of 3");
    const fixes = [fixed(1, "10:20"), fixed(2, "10:21"), fixed(3, "10:22")];
    expect(orchestrator({ handoffs: [again, ...fixes, built] })).toEqual([
      "Block T2 and report it: 3 attempts did not fix what spec-reviewer found.",
    ]);
  });

  it("reports a blocked role", () => {
    const handoffs = [handoff({ role: "implementer", status: "BLOCKED", summary: "No access to staging" })];
    expect(orchestrator({ handoffs })[0]).toMatch(/^implementer is blocked on T2: No access to staging\. /);
  });

  it("sends nobody to a task that waits for another or is blocked", () => {
    const [open] = midReview().tree;
    expect(orchestrator({ task: task({ status: "todo", waitsFor: [open!] }) })).toEqual([
      expect.stringContaining(`T2 waits for ${open!.id}`),
    ]);
    expect(orchestrator({ task: task({ status: "blocked", blockers: ["no key"] }) })).toEqual([
      expect.stringContaining("T2 is blocked: no key."),
    ]);
  });

  it("marks the task done when all passed, and names the one after it", () => {
    const handoffs = ["implementer", "spec-reviewer", "quality-reviewer"].map((role) => handoff({ role }));
    const tree = midReview().tree.filter(({ parentId }) => !parentId);
    expect(orchestrator({ handoffs, tree })).toEqual([
      "Mark T2 done: every review passed.",
      'Then go on with T3 "Add JWT middleware".',
    ]);
  });

  it("goes on itself with what it has begun, and dispatches what it coordinates or has not begun", () => {
    const wip = { files_modified: ["login.go"] };
    const held = task({ agent: "june" });
    expect(orchestrator({ task: held, wip })).toEqual([
      'Go on with T2 "Add login endpoint" from its work in progress.',
    ]);
    const steps = [
      { text: "a", done: true },
      { text: "b", done: false },
    ];
    expect(orchestrator({ task: task({ agent: "june", steps }), wip })).toEqual(["Step 2 of 2: b"]);
    expect(orchestrator({ task: held, wip, handoffs: [handoff({ role: "implementer" })] })).toEqual([
      'Dispatch spec-reviewer for T2 "Add login endpoint".',
    ]);
    expect(orchestrator({ task: held, wip, isCoordinating: true })).toEqual([
      'Dispatch implementer for T2 "Add login endpoint".',
    ]);
    expect(orchestrator({ task: held })).toEqual(['Dispatch implementer for T2 "Add login endpoint".']);
  });

  it("looks after a task that another agent holds", () => {
    expect(orchestrator({ task: task({ agent: "june.a1" }) })).toEqual([
      'Check whether @june.a1 has finished T2 "Add login endpoint".',
    ]);
  });

  it("offers what another session left, and says how to claim it", () => {
    const wip = { next_step: "count wrong passwords" };
    const left = (because: "ended" | "gone" | "expired", held = task({ agent: "claude-code-1" })) =>
      orchestrator({ task: held, wip, leftBy: { agent: "claude-code-1", because } });
    expect(left("gone")).toEqual([
      'To go on with T2 "Add login endpoint", claim it with update_task_status in_progress: it was @claude-code-1\'s, whose client is gone.',
      "Go on with: count wrong passwords",
    ]);
    expect(left("ended")[0]).toMatch(/whose session has ended\.$/);
    // The claim has ended, so the task is back in the queue.
    const { agent: _, ...back } = task({ status: "todo" });
    expect(left("expired", back)).toEqual([
      expect.stringMatching(/whose claim has expired\.$/),
      "Go on with: count wrong passwords",
    ]);
  });

  it("speaks of the task above when a review itself is in hand", () => {
    const state = midReview();
    const inHand = task({ id: "T22", title: "Spec review", parentId: "T2" });
    expect(next({ ...state, reason: "compact", task: inHand })[1]).toBe(
      'Dispatch quality-reviewer for T2 "Add login endpoint".',
    );
  });
});

describe("nextAction of whoever builds", () => {
  it("does not go on with a task that waits", () => {
    const [open] = midReview().tree;
    const waiting = worker({ task: task({ status: "todo", waitsFor: [open!] }), wip: { next_step: "the form" } });
    expect(waiting).toEqual([expect.stringContaining(`T2 waits for ${open!.id}`)]);
  });

  it("has what a review found and the next step; what is red or not committed is a fact, not an order", () => {
    const wip = {
      test_results: { ran: true, passed: 3, failed: 1, failing_test: "login > locks", command: "go test ./..." },
      errors: [{ type: "test", message: "want 423, got 401", file: "login_test.go:12" }],
      next_step: "count wrong passwords",
      uncommitted_files: ["login.go"],
    };
    expect(worker({ wip, handoffs: [handoff({ status: "FAIL", summary: "No lock." })] })).toEqual([
      "spec-reviewer found (attempt 1): No lock.",
      "Go on with: count wrong passwords",
    ]);
  });

  it("names the first step that is not done, or the end", () => {
    expect(next(implementing())).toEqual(["Step 1 of 3: Write a failing test for the endpoint"]);
    expect(worker({ task: task({ steps: [{ text: "a", done: true }] }) })).toEqual([
      "All steps are done: check T2 against its criteria and hand it off.",
    ]);
    expect(worker({})).toEqual(["Start T2: nothing is recorded as done yet."]);
  });

  it("says what blocks, and what it waits for", () => {
    expect(worker({ task: task({ status: "blocked", blockers: ["old", "no key for staging"] }) })[0]).toBe(
      "T2 is blocked: no key for staging. Other tasks: `haversack next`.",
    );
    const waitsFor = [{ id: "T1", title: "Model", status: "in_progress" as const }];
    expect(worker({ task: task({ waitsFor }) })[0]).toMatch(/^T2 waits for T1 "Model" \(in_progress\)\. /);
  });

  it("tells reviewers what to look at", () => {
    const state = { ...implementing(), agent: { name: "rev", role: "spec-reviewer" } };
    expect(next(state)[0]).toContain("each acceptance criterion");
    expect(next(state)).toHaveLength(1);
  });
});

describe("nextAction around the task", () => {
  it("answers the message that woke it; others are told and ask for nothing here", () => {
    const message = { id: "M1", from: "docs", text: "@june when?", at: at("10:00"), isMention: true };
    expect(next(emptyState({ messages: [message, { ...message, id: "M2" }] }))).toEqual([]);
    expect(next(emptyState({ reason: "message", newMessage: message }))[0]).toBe(
      "Deal with the new message from @docs first.",
    );
  });

  it("offers a task when nothing is in hand, and says that the last one is over", () => {
    const suggested = { id: "T9", title: "Log out", status: "todo" as const };
    expect(next(emptyState({ suggested, readyCount: 4 }))).toEqual([
      'Next could be T9 "Log out" (4 are ready): `haversack claim T9 --agent june`',
    ]);
    expect(orchestrator({ task: task({ status: "done" }), suggested })[0]).toMatch(/^T2 is done\. Next could be T9/);
  });

  it("finishes a story that is complete", () => {
    const story = { id: "S1", title: "Auth", status: "done", done: 3, total: 3 };
    expect(next(emptyState({ story }))).toEqual([
      "Story S1 is complete. The workflow's last step is finishing-a-development-branch (merge | PR | keep | discard).",
    ]);
  });

  it("knows what follows a step of the workflow", () => {
    const planning = (id: string) =>
      next(emptyState({ agent: { name: "x", role: "planner" }, task: task(), wip: {}, skills: [skill({ id })] }));
    expect(planning("superpowers:writing-plans")).toEqual([
      "Write the plan in small tasks; save it to docs/plans/<YYYY-MM-DD>-<feature>.md; then subagent-driven-development | executing-plans.",
    ]);
    expect(planning("executing-plans")[0]).toContain("report after every 3 tasks");
    expect(planning("unknown")).toEqual([]);
  });

  it("takes a WIP of any shape", () => {
    const wip = {
      test_results: "red",
      errors: { a: 1 },
      uncommitted_files: [1, null, "a"],
      next_step: 7,
      decisions: "x",
    };
    expect(() => worker({ wip: wip as never })).not.toThrow();
  });
});

it("does not go on with a step that was noted before the work was handed off as passed", () => {
  const wip = {
    updated_at: "2026-03-04T10:00:00Z",
    next_step: "mend it",
    test_results: { ran: true, passed: 1, failed: 1, failing_test: "OLD-TEST" },
  };
  const scene = (wipUpdatedAt: Date) =>
    nextAction(
      emptyState({
        task: task({ status: "review" }),
        wip,
        wipUpdatedAt,
        handoffs: [handoff({ role: "implementer", at: at("10:30") })],
      }),
    ).join("\n");
  expect(scene(at("10:00"))).toBe('Dispatch spec-reviewer for T2 "Add login endpoint".');
  expect(scene(at("10:40"))).toContain("Go on with: mend it");
});

describe("nextAction of a session", () => {
  const wip = {
    test_results: { ran: true, passed: 1, failed: 1, failing_test: "login > locks", command: "npm test" },
    errors: [{ type: "test", message: "want 423", file: "login.test.ts" }],
    uncommitted_files: ["login.ts"],
    uncommitted_changes: true,
    next_step: "count wrong passwords",
  };

  it("without a task gives no orders, whatever is red", () => {
    expect(next(emptyState({ agent: { name: "", role: "" }, wip }))).toEqual([]);
  });

  it("with one goes on where it was, and commits each step only where the project wants that", () => {
    const solo = { agent: { name: "x", role: "implementer", isSolo: true }, task: task({ agent: "x" }), wip };
    expect(next(emptyState(solo))).toEqual(["Go on with: count wrong passwords"]);
    expect(next(emptyState({ ...solo, commitsSteps: true }))).toEqual([
      "Go on with: count wrong passwords",
      "Commit after each step.",
    ]);
    const reviewer = { name: "x", role: "spec-reviewer" };
    expect(next(emptyState({ ...solo, agent: reviewer, commitsSteps: true })).join()).not.toContain("Commit");
  });
});

describe("nextAction of a reviewer", () => {
  it("reviews, and mends and commits nothing that the builder left red", () => {
    const wip = {
      test_results: { ran: true, passed: 3, failed: 1, failing_test: "login > locks" },
      errors: [{ type: "test", message: "want 423, got 401", file: "login_test.go" }],
      next_step: "count wrong passwords",
      uncommitted_files: ["login.go"],
    };
    const agent = { name: "", role: "spec-reviewer" };
    expect(next(emptyState({ agent, task: task(), wip }))).toEqual([expect.stringMatching(/^Hold the change against/)]);
    const own = { name: "", role: "security-reviewer" };
    expect(next(emptyState({ agent: own, task: task(), wip }))).toEqual([expect.stringMatching(/^Review how/)]);
  });

  it("does the review that the sub-task asks for, under whichever name", () => {
    const told = (role: string, title: string, parentId?: string) =>
      next(emptyState({ agent: { name: "rev", role }, task: task({ title, ...(parentId && { parentId }) }) }))[0];
    for (const role of ["reviewer", "security-reviewer", "spec-reviewer", "quality-reviewer"]) {
      expect(told(role, "Spec review", "T1")).toMatch(/^Hold the change against/);
      expect(told(role, "Code quality review", "T1")).toMatch(/^Review how/);
    }
    expect(told("reviewer", "Spec review of the login")).toMatch(/^Hold the change against/);
    // A task about reviews is not a review, and its implementer reviews nothing.
    expect(told("spec-reviewer", "Add the code review page")).toMatch(/^Hold the change against/);
    expect(told("implementer", "Add the spec review page", "T1")).toMatch(/^Start/);
  });
});
