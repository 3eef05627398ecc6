import { expect, it } from "vitest";
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
  expect(text()).toContain("chain 1 of 10  batch size 2");
  expect(text()).toContain("░ 0% of the window");
  shown.close();
  expect(text().endsWith("\x1b[3A\x1b[0J")).toBe(true);
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
