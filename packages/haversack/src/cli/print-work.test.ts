import { describe, expect, it } from "vitest";
import type { Call, Io } from "./command.ts";
import { commandLine, formatAgo, formatClaim, formatCounts, formatSpan, table } from "./print-work.ts";

const now = new Date("2026-05-10T12:00:00Z");
const before = (ms: number) => new Date(now.getTime() - ms);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function fakeIo(changes: Partial<Io> = {}): Io {
  const nothing = () => undefined;
  const readStdin = async () => "";
  return { env: {}, cwd: "/", isTerminal: false, isColour: false, out: nothing, err: nothing, readStdin, ...changes };
}

describe("times", () => {
  it.each([
    [0, "just now"],
    [-30_000, "just now"],
    [59_000, "just now"],
    [3 * MINUTE, "3 min ago"],
    [80 * MINUTE, "80 min ago"],
    [2 * HOUR, "2 h ago"],
    [DAY, "1 day ago"],
    [5 * DAY, "5 days ago"],
    [40 * DAY, "2026-03-31"],
    // The clock was ahead: do not print "in 2 hours ago".
    [-2 * HOUR, "2026-05-10 14:00"],
  ])("%i ms ago is %s", (ms, text) => {
    expect(formatAgo(before(ms), now)).toBe(text);
  });

  it("an hour's lease has 60 minutes, and one that is over says so", () => {
    expect(formatSpan(HOUR - 5)).toBe("60 min");
    const claim = { taskId: "T1", agent: "ann", claimedAt: now, heartbeatAt: now };
    expect(formatClaim({ ...claim, leaseUntil: before(-43 * MINUTE) }, now)).toBe("ann, 43 min left");
    expect(formatClaim({ ...claim, leaseUntil: before(1) }, now)).toBe("ann, lease over");
  });
});

describe("table", () => {
  const rows = [
    [{ text: "a" }, { text: "" }, { text: "first title" }],
    [{ text: "long id" }, { text: "" }, { text: "second" }],
  ];

  it("lines up and leaves out columns that nobody uses", () => {
    expect(table(fakeIo(), rows)).toEqual(["a        first title", "long id  second"]);
  });

  it("cuts the last column at the terminal's edge, and only there", () => {
    const [line] = table(fakeIo({ width: 25 }), [[{ text: "T1" }, { text: "x".repeat(100) }]]);
    expect(line).toHaveLength(25);
    expect(line?.endsWith("…")).toBe(true);
  });

  it("takes out what would steer the terminal, and keeps the indentation", () => {
    const rows = [[{ text: "  a\u001b[31m\nb\u001b]0;owned\u0007" }, { text: "c\u202e" }]];
    expect(table(fakeIo(), rows)).toEqual(["  a b  c"]);
  });

  it("counts Chinese and emoji as two columns", () => {
    const [first, second] = table(fakeIo({ width: 24 }), [
      [{ text: "界" }, { text: "界".repeat(40) }],
      [{ text: "abcd" }, { text: "x" }],
    ]);
    expect(first).toBe(`界    ${"界".repeat(8)}…`);
    expect(second).toBe("abcd  x");
  });

  it("in a narrow terminal leaves out columns that are only dim, the last one too", () => {
    const row = [
      { text: "name-of-a-client" },
      { text: "60 prompts" },
      { text: "seven hours ago", style: "dim" as const },
    ];
    expect(table(fakeIo({ width: 40 }), [row])).toEqual(["name-of-a-client  60 prompts"]);
    expect(table(fakeIo({ width: 80 }), [row])).toEqual(["name-of-a-client  60 prompts  seven hours ago"]);
  });

  it("pads before it paints, so that colours do not shift columns", () => {
    const painted = table(fakeIo({ isColour: true }), [
      [{ text: "ab", style: "red" }, { text: "x" }],
      [{ text: "abcd" }, { text: "y" }],
    ]);
    expect(painted[0]).toBe("\u001b[31mab  \u001b[39m  x");
  });
});

describe("the command again", () => {
  const call = (changes: Partial<Call>): Call => ({
    name: "task list",
    arguments: [],
    options: {},
    json: false,
    io: fakeIo(),
    ...changes,
  });

  it("repeats what was given, with what changes, quoted for a shell", () => {
    const given = call({
      arguments: ["T1"],
      options: { assignee: "it's me", wip: true, files: ["a", "b c"], offset: 2 },
      json: true,
    });
    expect(commandLine(given, { offset: 4 })).toBe(
      "haversack task list T1 --assignee 'it'\\''s me' --wip --files a --files 'b c' --offset 4 --json",
    );
  });
});

it("counts name only what there is", () => {
  const none = { todo: 0, in_progress: 0, review: 0, done: 0, blocked: 0, archived: 0, ready: 0 };
  expect(formatCounts(none)).toBe("none");
  expect(formatCounts({ ...none, todo: 3, ready: 1, done: 2 })).toBe("3 todo (1 ready), 2 done");
});
