import { describe, expect, it } from "vitest";
import { mergeWip } from "../wip/merge-wip.ts";
import { planPosition } from "./plan-position.ts";

const at = new Date("2026-01-02T03:04:05Z");

describe("planPosition", () => {
  it("reads Claude Code's list", () => {
    const todos = [
      { content: "Write the parser", status: "completed", activeForm: "Writing the parser" },
      { content: "Test it", status: "in_progress", activeForm: "Testing it" },
      { content: "Document it", status: "pending", activeForm: "Documenting it" },
    ];
    const expected = {
      plan: { position: 2, done: 1, total: 3, current: "Test it", next: "Document it" },
      next_step: "Test it",
    };
    expect(planPosition(todos)).toEqual(expected);
    expect(planPosition({ todos })).toEqual(expected);
  });

  it("reads the lists of Codex, Gemini and opencode", () => {
    const codex = planPosition({
      explanation: "x",
      plan: [
        { step: "A", status: "completed" },
        { step: "B", status: "pending" },
      ],
    });
    expect(codex).toEqual({ plan: { position: 2, done: 1, total: 2, current: "B" }, next_step: "B" });
    const gemini = planPosition({
      todos: [
        { description: "A", status: "cancelled" },
        { description: "B", status: "in_progress" },
      ],
    });
    expect(gemini?.plan).toEqual({ position: 1, done: 0, total: 1, current: "B" });
    const opencode = planPosition({ todos: [{ id: "1", content: "A", status: "pending", priority: "high" }] });
    expect(opencode?.plan).toEqual({ position: 1, done: 0, total: 1, current: "A" });
  });

  it("takes the step away when all is done or the list is gone", () => {
    expect(planPosition([{ content: "A", status: "completed" }])).toEqual({
      plan: { position: 1, done: 1, total: 1 },
      next_step: null,
    });
    expect(planPosition([])).toEqual({ plan: null, next_step: null });
  });

  it.each([undefined, null, "x", 3, {}, { todos: "x" }])("sees no list in %j", (todos) =>
    expect(planPosition(todos)).toBeUndefined(),
  );

  it("survives items of any shape, cuts and masks them", () => {
    const todos = [
      null,
      3,
      [],
      { content: `use ${"sk-ant-"}${"a1".repeat(20)} ${"x".repeat(999)}\u001b[31m`, status: 7 },
    ];
    const current = planPosition(todos)!.plan!.current!;
    expect(current).toContain("[masked:anthropic-key]");
    expect(current.length).toBeLessThanOrEqual(200);
  });

  it("builds the list from single tasks", () => {
    let wip = mergeWip({}, planPosition([{ id: "1", subject: "Write it", status: "pending" }], { isPartial: true })!, {
      at,
    }).wip;
    wip = mergeWip(wip, planPosition([{ id: "2", subject: "Test it" }], { isPartial: true })!, { at }).wip;
    wip = mergeWip(wip, planPosition([{ taskId: "1", status: "completed" }], { isPartial: true })!, { at }).wip;
    expect(wip.plan).toMatchObject({ position: 2, done: 1, total: 2, current: "Test it" });
    expect(wip.next_step).toBe("Test it");
    wip = mergeWip(wip, planPosition([{ taskId: "2", status: "deleted" }], { isPartial: true })!, { at }).wip;
    expect(wip.plan).toMatchObject({ done: 1, total: 1 });
    expect(wip).not.toHaveProperty("next_step");
  });
});
