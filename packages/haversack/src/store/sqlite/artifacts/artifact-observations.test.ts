import { expect, it } from "vitest";
import { openMemoryStore } from "../open.ts";
import { agentsOf, expectDocuments, expectedOf, markAgent, readSeen, recordSeen } from "./artifact-observations.ts";

const KEY = { sessionId: "s1", agentId: "a1" };
const SPEC = { file: "spec.md", name: "Spec", path: "/f/spec.md", lineCount: 10 };
const AT = new Date("2031-05-06T07:00:00.000Z");

it("keeps what an agent must read and which lines it has seen, apart for each agent of a session", () => {
  const handle = openMemoryStore();
  expect(readSeen(handle, KEY)).toBeUndefined();
  expect(expectedOf(handle, KEY)).toEqual([]);
  expectDocuments(handle, KEY, { role: "spec-reviewer", folder: "/f", iteration: 1, documents: [SPEC] }, AT);
  expectDocuments(handle, { ...KEY, agentId: "a2" }, { role: "x", folder: "/f", documents: [] }, new Date(+AT + 1));
  recordSeen(handle, KEY, [
    { file: "spec.md", from: 1, to: 4 },
    { file: "spec.md", from: 1, to: 4 },
    { file: "spec.md", from: 6, to: 6 },
  ]);
  expect(expectedOf(handle, KEY)).toEqual([SPEC]);
  expect(expectedOf(handle, { sessionId: "s1" })).toEqual([]);
  const evidence = readSeen(handle, KEY);
  expect(evidence).toMatchObject({ ...KEY, role: "spec-reviewer", folder: "/f", iteration: 1, documents: [SPEC] });
  expect(evidence?.seen.map(({ file, from, to }) => [file, from, to])).toEqual([
    ["spec.md", 1, 4],
    ["spec.md", 6, 6],
  ]);
  expect(readSeen(handle, { ...KEY, agentId: "a2" })?.seen).toEqual([]);
  expect(agentsOf(handle, "/f").map(({ agentId }) => agentId)).toEqual(["a2", "a1"]);
});

it("marks an agent once", () => {
  const handle = openMemoryStore();
  expect(markAgent(handle, KEY, "warned_at", AT)).toBe(false);
  expectDocuments(handle, KEY, { role: "x", folder: "/f", documents: [SPEC] }, AT);
  expect(markAgent(handle, KEY, "warned_at", AT)).toBe(true);
  expect(markAgent(handle, KEY, "warned_at", AT)).toBe(false);
  expect(readSeen(handle, KEY)).toMatchObject({ isWarned: true, isSettled: false, isSentBack: false });
});
