import { expect, it, onTestFinished, vi } from "vitest";
import type { RunEvent } from "../runs/run-event.ts";
import { makeRunView } from "./run-view.ts";

function view({ isTerminal, isJson = false, env = {} }: { isTerminal: boolean; isJson?: boolean; env?: object }) {
  const written: string[] = [];
  const size = { columns: 100, rows: 40 };
  const io = {
    env: { ...env },
    cwd: "/",
    isTerminal,
    isColour: false,
    err: () => undefined,
    readStdin: async () => "",
  };
  const shown = makeRunView({ ...io, out: (text) => void written.push(text) }, { isJson }, size);
  /** What stands below the lines that stay. */
  const drawn = () => {
    const lines = written.join("").split("\n").slice(0, -1);
    return lines
      .slice(lines.findLastIndex((line) => line.includes("  run    ")))
      .map((line) => line.replace(/^.*\x1b\[0J/, ""));
  };
  return { shown, size, drawn, text: () => written.join("") };
}

function stateOf(doing: string, usage = { inputTokens: 900, cachedTokens: 0, outputTokens: 100, costUsd: 1.25 }) {
  return { usedTokens: 1, windowTokens: 2, usage, doing, toolCalls: 0, compactions: 0 };
}

const SESSION: RunEvent = {
  kind: "session",
  number: 1,
  purpose: "batch",
  tasks: [{ id: "T10", title: "Limit \x1b[2Jlogins" }],
  batchSize: 2,
  chain: 1,
  maxChains: 10,
};

it("draws what happens now below what has happened, and takes it away at the end", () => {
  const { shown, text } = view({ isTerminal: true });
  shown.on(SESSION);
  shown.on({ kind: "run", id: "R1", isContinued: false, client: "codex", open: 6, testCommand: "make" });
  expect(text()).toContain("Run R1 starts with codex: 6 open tasks; tests: make.");
  expect(text()).toContain("0:00  0 of 6 done, 0 blocked  chain 1 of 10  batch size 2");
  expect(text()).toContain("░ 0% of the window");
  shown.close();
  expect(text().endsWith("\x1b[3A\x1b[0J")).toBe(true);
});

it("goes on with its clock while nothing happens, and shows the tests that run beside a waiting session", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { shown, text } = view({ isTerminal: true });
  shown.on(SESSION);
  shown.on({ kind: "testing", command: "npm test" });
  vi.advanceTimersByTime(3_725_500);
  expect(text()).toContain("run    1:02:05");
  expect(text()).toContain("1:02:05  T10\n  now    starting  1:02:05\n  tests  npm test  1:02:05\n");
  shown.close();
  const { length } = text();
  vi.advanceTimersByTime(10_000);
  expect(text()).toHaveLength(length);
});

it("counts what running sessions cost", () => {
  const { shown, text } = view({ isTerminal: true });
  shown.on(SESSION);
  shown.on({ kind: "stream", number: 1, event: { kind: "busy" }, state: stateOf("x") });
  shown.on({ kind: "note", text: "so far" });
  expect(text()).toContain("1000 tokens, $1.25");
  shown.close();
});

it("says for how long it has been doing the same", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { shown, drawn } = view({ isTerminal: true });
  shown.on(SESSION);
  shown.on({ kind: "stream", number: 1, event: { kind: "busy" }, state: stateOf("Bash: npm test") });
  vi.advanceTimersByTime(5_000);
  expect(drawn().at(-1)).toBe("  now    Bash: npm test");
  vi.advanceTimersByTime(60_500);
  expect(drawn().at(-1)).toBe("  now    Bash: npm test  1:05");
  shown.close();
});

it("fits what it redraws into the terminal: cost at 80 columns, wide characters, more sessions than rows", () => {
  const { shown, size, drawn, text } = view({ isTerminal: true });
  Object.assign(size, { columns: 80, rows: 12 });
  const usage = { inputTokens: 3_200_000, cachedTokens: 0, outputTokens: 0, costUsd: 12.84 };
  for (let number = 1; number <= 6; number++) shown.on({ ...SESSION, number });
  const state = stateOf(`Bash: echo ${"日本語".repeat(20)}`, usage);
  shown.on({ kind: "stream", number: 1, event: { kind: "busy" }, state });
  shown.on({ kind: "note", text: "so far" });
  expect(drawn()[1]).toBe("  spent  3.2M tokens, $12.84");
  // Of this line, 57 characters take a column more than their number; a line that wraps could not be taken away again.
  expect(drawn()[3]?.length).toBeLessThan(50);
  expect(drawn().at(-1)).toBe("  and 2 more sessions");
  expect(drawn()).toHaveLength(11);
  shown.close();
  expect(text().endsWith("\r\x1b[11A\x1b[0J")).toBe(true);
});

it("takes away what a narrower terminal has wrapped", () => {
  const { shown, size, drawn, text } = view({ isTerminal: true });
  shown.on(SESSION);
  const rows = drawn().reduce((sum, line) => sum + Math.ceil(line.length / 40), 0);
  size.columns = 40;
  shown.close();
  expect(rows).toBeGreaterThan(3);
  expect(text().endsWith(`\x1b[${rows}A\x1b[0J`)).toBe(true);
});

it("redraws nothing in a terminal that cannot move its cursor", () => {
  const { shown, text } = view({ isTerminal: true, env: { TERM: "dumb" } });
  shown.on(SESSION);
  expect(text()).toBe('Session 1 (batch): T10 "Limit logins"\n');
});

it("lets no title move the cursor", () => {
  const { shown, text } = view({ isTerminal: false });
  shown.on(SESSION);
  expect(text()).toBe('Session 1 (batch): T10 "Limit logins"\n');
});

it("prints one object for each event with --json", () => {
  const { shown, text } = view({ isTerminal: true, isJson: true });
  shown.on(SESSION);
  expect(JSON.parse(text())).toMatchObject({ event: "session", number: 1, batch_size: 2, max_chains: 10 });
});

it("with --json names what a client has said apart from the event itself", () => {
  const { shown, text } = view({ isTerminal: true, isJson: true });
  shown.on({ kind: "stream", number: 1, event: { kind: "fill", usedTokens: 5 }, state: stateOf("x") });
  const expected = { event: "stream", number: 1, stream: { kind: "fill", used_tokens: 5 }, state: { doing: "x" } };
  expect(JSON.parse(text())).toMatchObject(expected);
});
