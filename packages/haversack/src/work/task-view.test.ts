import { describe, expect, it } from "vitest";
import type { Handoff } from "./handoff.ts";
import type { TaskDetails } from "./task.ts";
import { FIELD_SETS, present, traceabilityRef, viewEpic, viewHandoff, viewStory, viewTask } from "./task-view.ts";

const at = new Date("2031-05-06T07:08:09.000Z");

const bare: TaskDetails = {
  id: "T100000000001",
  title: "Add login",
  status: "todo",
  type: "feature",
  priority: "P2",
  files: [],
  steps: [],
  createdAt: at,
  updatedAt: at,
  waitsFor: [],
  waitedForBy: [],
  relatesTo: [],
  parts: [],
  blockers: [],
  failureCount: 0,
};

const rich: TaskDetails = {
  ...bare,
  description: "With a form",
  acceptanceCriteria: "It works",
  storyId: "S1",
  epicId: "E1",
  files: ["src/login.ts"],
  steps: [
    { text: "write", done: true },
    { text: "test", done: false },
  ],
  skill: "api-design",
  planFile: "plan.md",
  planSection: "Task 3",
  contextSummary: "begun",
  handoffNotes: "go on",
  note: "came back",
  wip: { phase: "testing" },
  wipUpdatedAt: at,
  claim: { taskId: "T100000000001", agent: "ann", claimedAt: at, heartbeatAt: at, leaseUntil: at },
  waitsFor: [{ id: "T2", title: "Schema", status: "todo" }],
  blockers: [{ id: 1, taskId: "T100000000001", reason: "no key", actor: "ann", at }],
  failureCount: 2,
};

describe("viewTask", () => {
  it("minimal is id, title and status, whatever the task has", () => {
    expect(viewTask(rich, "minimal")).toEqual({ id: "T100000000001", title: "Add login", status: "todo" });
  });

  it("standard is what is needed to start", () => {
    expect(viewTask(rich, "standard")).toEqual({
      id: "T100000000001",
      title: "Add login",
      status: "todo",
      description: "With a form",
      acceptance_criteria: "It works",
      task_type: "feature",
      priority: "P2",
      skill: "api-design",
      files: ["src/login.ts"],
      steps: [{ text: "write", done: true }, { text: "test" }],
      waits_for: [{ id: "T2", title: "Schema", status: "todo" }],
      blockers: ["no key"],
      note: "came back",
    });
  });

  it("full has everything, with times as texts in JSON", () => {
    const full = JSON.parse(JSON.stringify(viewTask(rich, "full")));
    expect(full).toMatchObject({
      ...JSON.parse(JSON.stringify(viewTask(rich, "standard"))),
      story_id: "S1",
      epic_id: "E1",
      traceability_ref: "plan.md#Task 3",
      context_summary: "begun",
      handoff_notes: "go on",
      wip: { phase: "testing" },
      wip_updated_at: "2031-05-06T07:08:09.000Z",
      claim: { agent: "ann", lease_until: "2031-05-06T07:08:09.000Z" },
      failures: 2,
      created_at: "2031-05-06T07:08:09.000Z",
    });
  });

  it("absent means absent: no nulls, no empty lists, in any form", () => {
    for (const fields of FIELD_SETS) {
      for (const value of Object.values(viewTask(bare, fields))) {
        expect(value).not.toBeNull();
        expect(value).not.toBeUndefined();
        expect(value).not.toEqual([]);
      }
    }
    expect(Object.keys(viewTask(bare, "standard"))).toEqual(["id", "title", "status", "task_type", "priority"]);
  });
});

describe("the others", () => {
  it("show a group with its tasks counted, zeros left out", () => {
    const counts = { todo: 2, in_progress: 0, review: 0, done: 1, blocked: 0, archived: 0, ready: 1 };
    const epic = { id: "E1", title: "Auth", status: "todo" as const, priority: "P1" as const, counts };
    expect(viewEpic({ ...epic, createdAt: at, updatedAt: at }, "standard")).toEqual({
      id: "E1",
      title: "Auth",
      status: "todo",
      priority: "P1",
      tasks: { todo: 2, done: 1, ready: 1 },
    });
    const story = { id: "S1", title: "Log in", status: "done" as const, createdAt: at, updatedAt: at, completedAt: at };
    expect(viewStory(story, "minimal")).toEqual({ id: "S1", title: "Log in", status: "done" });
    expect(viewStory(story, "full")).toMatchObject({ created_at: at, completed_at: at });
  });

  it("show a handoff without its details", () => {
    const handoff: Handoff = {
      id: "H1",
      taskId: "T1",
      role: "implementer",
      attempt: 2,
      status: "PASS",
      summary: "Done.",
      filesChanged: [],
      detailsChars: 12,
      actor: "ann",
      createdAt: at,
      state: "whole",
    };
    const brief = { id: "H1", task_id: "T1", role: "implementer", attempt: 2, status: "PASS", summary: "Done." };
    expect(viewHandoff(handoff, "minimal")).toEqual(brief);
    expect(viewHandoff(handoff, "standard")).toEqual({ ...brief, details_chars: 12 });
    expect(viewHandoff(handoff, "full")).toMatchObject({ state: "whole", actor: "ann" });
  });

  it("keep false and 0: they are values", () => {
    expect(present({ a: false, b: 0, c: "", d: [], e: null, f: undefined, g: {} })).toEqual({ a: false, b: 0 });
  });

  it("name the plan, its section, or both", () => {
    expect(traceabilityRef({ planFile: "p.md" })).toBe("p.md");
    expect(traceabilityRef({ planSection: "2" })).toBe("#2");
    expect(traceabilityRef({})).toBeUndefined();
  });
});
