import { expect, it, onTestFinished, vi } from "vitest";
import type { RunEvent } from "../runs/run-event.ts";
import { makeRunView } from "./run-view.ts";

function view({ isTerminal, isJson = false }: { isTerminal: boolean; isJson?: boolean }) {
  const written: string[] = [];
  const io = {
    env: {},
    cwd: "/",
    isTerminal,
    isColour: false,
    width: 100,
    err: () => undefined,
    readStdin: async () => "",
  };
  const shown = makeRunView({ ...io, out: (text) => void written.push(text) }, { isJson });
  return { shown, text: () => written.join("") };
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
  expect(text()).toContain("1:02:05  T10\n  now    starting\n  tests  npm test\n");
  shown.close();
  const { length } = text();
  vi.advanceTimersByTime(10_000);
  expect(text()).toHaveLength(length);
});

it("counts what running sessions cost", () => {
  const { shown, text } = view({ isTerminal: true });
  shown.on(SESSION);
  const usage = { inputTokens: 900, cachedTokens: 0, outputTokens: 100, costUsd: 1.25 };
  const state = { usedTokens: 1, windowTokens: 2, usage, doing: "x", toolCalls: 0, compactions: 0 };
  shown.on({ kind: "stream", number: 1, event: { kind: "busy" }, state });
  shown.on({ kind: "note", text: "so far" });
  expect(text()).toContain("1000 tokens, $1.25");
  shown.close();
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
