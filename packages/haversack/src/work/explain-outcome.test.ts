import { describe, expect, it } from "vitest";
import { explain, type Refusal } from "./explain-outcome.ts";
import type { Claim, TaskBrief } from "./task.ts";

const at = new Date("2031-05-06T07:08:09.000Z");
const task: TaskBrief = { id: "T1", title: "Add login", status: "in_progress" };
const other: TaskBrief = { id: "T2", title: "Schema", status: "todo" };
const by: Claim = { taskId: "T1", agent: "ann", claimedAt: at, heartbeatAt: at, leaseUntil: at };

describe("explain", () => {
  const cases: [Refusal, string, string][] = [
    [
      { kind: "held", task, by },
      "T1 is held by ann until 2031-05-06T07:08:09.000Z; take another (get_next_batch); it comes back by itself when its holder gives it up or the time is over.",
      "T1 is held by ann until 2031-05-06T07:08:09.000Z; `haversack claim T1 --steal REASON` takes it over.",
    ],
    [
      { kind: "waits", task, for: [other] },
      "T1 waits for T2 (todo: Schema); finish those first, or take what get_next_batch gives.",
      "T1 waits for T2 (todo: Schema); `haversack next` shows what is ready, `haversack task claim T1 --force` starts it anyway.",
    ],
    [
      { kind: "blocked", task, reasons: ["no key", "no\nserver"] },
      'T1 is blocked: no key; no server; once that is settled, update_task_status with status "todo".',
      "T1 is blocked: no key; no server; once that is settled, `haversack task unblock T1`.",
    ],
    [
      { kind: "too-many", limit: 2, holding: ["T3", "T4"] },
      'No more than 2 tasks at once (work.max_claims), and you hold T3 and T4; finish one, or give one back (update_task_status "todo").',
      "No more than 2 tasks at once (work.max_claims), and you hold T3 and T4; finish one, or `haversack task release ID`.",
    ],
    [
      { kind: "cannot-follow", task: { ...task, status: "done" }, allowed: ["todo", "archived"], wanted: "blocked" },
      "T1 is done and cannot become blocked; from done it can go to todo or archived.",
      "T1 is done and cannot become blocked; from done it can go to todo or archived.",
    ],
    [
      { kind: "cannot-follow", task: { ...task, status: "done" }, allowed: ["todo", "archived"] },
      "T1 is done and cannot be taken; from done it can go to todo or archived.",
      "T1 is done and cannot be taken; from done it can go to todo or archived.",
    ],
    [
      { kind: "cycle", path: [task, other, task] },
      "That would be a cycle: T1 -> T2 -> T1. Nothing was changed; one of these must go first.",
      "That would be a cycle: T1 -> T2 -> T1. Nothing was changed; `haversack task dep --rm` removes one of these.",
    ],
    [
      { kind: "lost", task, by },
      "Your claim on T1 is over and ann has it until 2031-05-06T07:08:09.000Z; stop working on it.",
      "Your claim on T1 is over and ann has it until 2031-05-06T07:08:09.000Z; `haversack claim T1` takes it again.",
    ],
    [
      { kind: "lost", task: { ...task, status: "todo" } },
      "Your claim on T1 is over and it is todo again; stop working on it; update_task_status in_progress takes it again.",
      "Your claim on T1 is over and it is todo again; `haversack claim T1` takes it again.",
    ],
    [
      { kind: "not-held", task },
      "T1 is held by nobody, so there is nothing to release.",
      "T1 is held by nobody, so there is nothing to release.",
    ],
  ];

  it.each(cases)("%j", (refusal, agent, person) => {
    expect(explain(refusal, { for: "agent" })).toBe(agent);
    expect(explain(refusal, { for: "person" })).toBe(person);
  });

  it("tells an agent of no tool that the default set lacks, and of no command", () => {
    for (const [refusal] of cases) {
      expect(explain(refusal, { for: "agent" })).not.toMatch(
        /`haversack|claim_task|steal|release_task|remove_dependency/,
      );
    }
  });

  it("tells an agent at a command line of commands, but not how to take or force anything", () => {
    for (const [refusal] of cases) {
      expect(explain(refusal, { for: "shell" })).not.toMatch(/--steal|--force|get_next_batch|update_task_status/);
    }
    expect(explain({ kind: "held", task, by }, { for: "shell" })).toContain("take another (`haversack next`)");
    expect(explain({ kind: "lost", task, by }, { for: "shell" })).toMatch(/; stop working on it\.$/);
  });

  it("closes a cycle that the store gave open, and a task that waits for itself", () => {
    expect(explain({ kind: "cycle", path: [task, other] }, { for: "agent" })).toContain("T1 -> T2 -> T1.");
    expect(explain({ kind: "cycle", path: [task] }, { for: "agent" })).toContain("T1 -> T1.");
  });

  it("names the first ten of a long cycle, and counts the rest", () => {
    const path = Array.from({ length: 120 }, (_, number) => ({ ...other, id: `T${number}` }));
    for (const reader of ["agent", "person"] as const)
      expect(explain({ kind: "cycle", path }, { for: reader })).toMatch(
        /^That would be a cycle: T0 -> T1 -> [^,]* -> T9 and 111 more\. Nothing was changed; /,
      );
  });

  it("names five of many, and counts the rest", () => {
    const many = Array.from({ length: 9 }, (_, number) => ({ ...other, id: `T${number}` }));
    expect(explain({ kind: "waits", task, for: many }, { for: "agent" })).toContain("T4 (todo: Schema) and 4 more;");
  });

  it("is one line, however the reasons were written", () => {
    const refusal: Refusal = { kind: "blocked", task, reasons: ["a\n\nb ".repeat(1000)] };
    expect(explain(refusal, { for: "agent" })).toMatch(/^.{1,500}$/);
  });
});
