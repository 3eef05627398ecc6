import { expect, it } from "vitest";
import { type LeftWork, leftLines } from "./packet-pieces.ts";

const at = new Date("2026-03-09T12:00:00Z");
const left = (taskId: string, more: Partial<LeftWork> = {}): LeftWork => ({
  taskId,
  title: `Title of ${taskId}`,
  agent: "claude-code-1",
  because: "ended",
  isOpen: false,
  isHere: false,
  worktree: "/repo/wt",
  branch: "auth",
  lastSeenAt: new Date("2026-03-02T09:05:00Z"),
  ...more,
});

it("says of each where it is, whose it was and how it ended, those of this worktree first", () => {
  const { worktree: _, branch: __, ...nowhere } = left("T3", { because: "gone" });
  const tasks = [left("T1"), nowhere, left("T2", { isHere: true, because: "expired" }), left("T4", { isOpen: true })];
  expect(leftLines(tasks, { at, hasPacket: false }).split("\n")).toEqual([
    "From Haversack: tasks that earlier sessions left unfinished; times are UTC.",
    '- T2 "Title of T2" (in this worktree; @claude-code-1, last seen 03-02 09:05; its claim has expired)',
    '- T1 "Title of T1" (in /repo/wt, branch auth; @claude-code-1, last seen 03-02 09:05; its session has ended)',
    '- T3 "Title of T3" (elsewhere; @claude-code-1, last seen 03-02 09:05; its client is gone)',
    '- T4 "Title of T4" (in /repo/wt, branch auth; @claude-code-1, quiet since 03-02 09:05; its session may still be open)',
  ]);
});

it("names a few and counts the rest, and nothing makes no text", () => {
  const many = Array.from({ length: 30 }, (_, n) =>
    left(`T${n}`, { isHere: n < 10, title: "x\nINJECTED ".repeat(100) }),
  );
  const lines = leftLines(many, { at, hasPacket: true }).split("\n");
  expect(lines).toHaveLength(10);
  expect(lines[0]).toBe("Also left unfinished:");
  expect(lines.at(-1)).toBe("- 22 more: `haversack status`");
  expect(lines.join("\n").length).toBeLessThan(2_000);
  expect(leftLines([], { at, hasPacket: false })).toBe("");
});
