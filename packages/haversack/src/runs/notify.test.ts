import { tmpdir } from "node:os";
import { expect, it, onTestFinished, vi } from "vitest";
import { notifyEnd } from "./notify.ts";
import { findProcesses } from "./process-tree.ts";

// biome-ignore lint/suspicious/noExplicitAny: a command reads only the run's id, the reason and the text.
const END = { run: { id: "R1" }, reason: "done", text: "all", report: undefined, input: {} as any } as const;

function output(env: Record<string, string> = {}) {
  const { PATH = "" } = process.env;
  return { env: { PATH, ...env }, cwd: tmpdir(), isTerminal: false, isQuiet: false, out: () => undefined };
}

it("says what went wrong with a command and with an address", async () => {
  expect(await notifyEnd("exit 7", END, output())).toEqual(["headless.notify failed: the command ended with 7"]);
  const [text] = await notifyEnd("http://127.0.0.1:1/hook", { ...END, input: INPUT }, output());
  expect(text).toMatch(/^headless\.notify failed: fetch failed: .+/);
});

it("ends a command that does not end, with what it has started", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const mark = `NOTIFY_TEST=${process.pid}`;
  const told = notifyEnd("sleep 600 & sleep 600; :", END, output({ NOTIFY_TEST: String(process.pid) }));
  await vi.waitFor(() => expect(findProcesses({ roots: [], mark }).length).toBeGreaterThan(2));
  vi.advanceTimersByTime(30_000);
  expect(await told).toEqual(["headless.notify failed: the command took longer than 30 seconds"]);
  await vi.waitFor(() => expect(findProcesses({ roots: [], mark })).toEqual([]));
});

const INPUT = {
  run: { id: "R1", startedAt: new Date(0), seenAt: new Date(0), client: "codex" },
  sessions: [],
  tasks: [],
  tests: [],
  batchSizes: [],
  stopped: "done",
  // biome-ignore lint/suspicious/noExplicitAny: the report reads no more of the run.
} as any;
