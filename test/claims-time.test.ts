/** Claims with wrong clocks and late reports, with the built commands: each process has its own clock and name. */
import { expect, it } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";

const YEAR_MS = 365 * 24 * 60 * 60_000;

/** Loaded before the command: sets its clock ahead by `HAVERSACK_TEST_AHEAD` milliseconds. */
const AHEAD = `const { now } = Date; const ahead = Number(process.env.HAVERSACK_TEST_AHEAD);
Date.now = () => now() + ahead;
globalThis.Date = class extends Date { constructor(...args) { if (args.length) super(...args); else super(now() + ahead); } };
`;

function people(scratch: Scratch) {
  const preload = scratch.write("../ahead.cjs", AHEAD);
  return (name: string, words: string[], aheadMs = 0) => {
    const clock = aheadMs ? { NODE_OPTIONS: `--require=${preload}`, HAVERSACK_TEST_AHEAD: String(aheadMs) } : {};
    return scratch.haversack(words, { env: { HAVERSACK_AGENT: name, ...clock } });
  };
}

it.each([95, 10])("a process that is %i years ahead neither ends the claims of others nor keeps its own", (years) => {
  const run = people(scratchProject());
  const ahead = years * YEAR_MS;
  const mine = run("ann", ["task", "create", "mine", "--json"]).json().id;
  const other = run("ann", ["task", "create", "other", "--json"]).json().id;
  expect(run("ann", ["claim", mine]).code).toBe(0);
  for (const words of [["status"], ["task", "list"], ["next"], ["task", "heartbeat"]]) {
    run("zoe", words, ahead);
  }
  expect(run("zoe", ["claim", mine], ahead).code).not.toBe(0);
  expect(run("ann", ["task", "heartbeat", mine]).code).toBe(0);
  const { claim } = run("zoe", ["claim", other, "--json"], ahead).json();
  expect(Date.parse(claim.lease_until)).toBeLessThan(Date.now() + YEAR_MS / 12);
});

it("a holder who lost its claim to another cannot report on the task", () => {
  const run = people(scratchProject());
  const id = run("ann", ["task", "create", "t", "--json"]).json().id;
  run("ann", ["claim", id]);
  expect(run("ben", ["claim", id, "--steal", "ann is stuck"]).code).toBe(0);
  const handoff = ["handoff", "set", id, "--role", "implementer", "--status", "PASS", "--summary", "done"];
  const late = run("ann", handoff);
  expect(late.code).not.toBe(0);
  expect(late.err).toContain("ben has claimed it since");
  expect(run("ann", ["task", "status", id, "done"]).code).not.toBe(0);
  expect(run("ben", handoff).code).toBe(0);
});
