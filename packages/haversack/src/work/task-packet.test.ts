import fc from "fast-check";
import { expect, it } from "vitest";
import { type PacketTask, taskPacket } from "./task-packet.ts";

const TASK: PacketTask = {
  id: "T482913577204",
  title: "Limit logins",
  status: "todo",
  type: "feature",
  skill: "rate-limits",
  note: "The claim of a expired; go on from its WIP.",
  description: "At most five tries a minute.",
  acceptanceCriteria: "The sixth try gets 429.",
  files: ["src/login.ts"],
  steps: [{ text: "test", done: true }, { text: "build" }],
  wip: { next_step: "count per address" },
  handoffs: [{ role: "spec-reviewer", status: "FAIL", summary: "IPv6 is\nnot counted" }],
};

it("has the task, what to do, when it is done, and where it stands", () => {
  expect(taskPacket(TASK, { maxChars: 9_000 })).toBe(`# Task T482913577204: Limit logins
status todo, type feature, skill rate-limits

Note: The claim of a expired; go on from its WIP.

## What to do
At most five tries a minute.

## Done when
The sixth try gets 429.

## Steps
- [x] test
- [ ] build

## Files
- src/login.ts

## Work in progress
- Next: count per address

## Said so far
- spec-reviewer FAIL: IPv6 is not counted`);
});

it("cuts the description before it drops the criteria, and says how to get the rest", () => {
  const text = taskPacket(
    { ...TASK, description: "word ".repeat(2_000), contextSummary: "x ".repeat(3_000) },
    { maxChars: 2_000 },
  );
  expect(text).toContain("The sixth try gets 429.");
  expect(text).toMatch(/## What to do\n(word )+… \(cut; get_task has all of it\)/);
  const small = taskPacket({ ...TASK, contextSummary: "x ".repeat(3_000) }, { maxChars: 400 });
  expect(small).toMatch(/\n\nLeft out: .*context/);
});

it("never exceeds the room, and names the task in all but the smallest", () => {
  const words = fc.string({ unit: "grapheme", maxLength: 3_000 });
  const task = fc.record({
    title: words,
    description: words,
    acceptanceCriteria: words,
    note: words,
    contextSummary: words,
  });
  fc.assert(
    fc.property(task, fc.integer({ min: 0, max: 9_500 }), (fields, maxChars) => {
      const text = taskPacket({ ...TASK, ...fields }, { maxChars });
      expect(text.length).toBeLessThanOrEqual(maxChars);
      if (maxChars >= 30) expect(text).toContain(TASK.id);
    }),
  );
});
