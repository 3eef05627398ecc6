import { describe, expect, it } from "vitest";
import {
  type EpicRecord,
  FIRST_LINE,
  formatRecord,
  parseRecordLine,
  parseRecords,
  type TaskRecord,
  type WorkRecord,
} from "./record-fields.ts";

const at = "2026-11-16T09:30:00.000Z";
const epic: EpicRecord = {
  kind: "epic",
  id: "E000000000001",
  title: "Sign-in",
  priority: "P1",
  status: "todo",
  created_at: at,
  updated_at: at,
};
const task: TaskRecord = {
  kind: "task",
  id: "T000000000001",
  title: 'Say "hello" 👋',
  type: "feature",
  status: "in_progress",
  priority: "P2",
  created_at: at,
  updated_at: at,
};

function problemsOf(value: unknown): string[] {
  const read = parseRecordLine(JSON.stringify(value), 7);
  return read.kind === "problem" || read.kind === "record"
    ? read.problems.map(({ where, text }) => `${where}: ${text}`)
    : [];
}

describe("formatRecord", () => {
  it("puts keys in one order, whatever the record's, with no spaces", () => {
    const shuffled = Object.fromEntries(Object.entries(epic).reverse()) as unknown as EpicRecord;
    expect(formatRecord(shuffled)).toBe(
      `{"kind":"epic","id":"E000000000001","title":"Sign-in","priority":"P1","status":"todo","created_at":"${at}","updated_at":"${at}"}`,
    );
  });

  it("keeps long texts with line breaks on one line, and leaves out what is empty", () => {
    const line = formatRecord({ ...task, description: "a\nb\r\n\u2028c", files: [], steps: [] });
    expect(line.split("\n")).toHaveLength(1);
    expect(line).not.toContain("files");
    expect(parseRecordLine(line, 1)).toMatchObject({ record: { description: "a\nb\r\n\u2028c" } });
  });

  it("gives the same line for files in any order", () => {
    const line = (files: string[]) => formatRecord({ ...task, files });
    expect(line(["b.ts", "a.ts", "b.ts"])).toBe(line(["a.ts", "b.ts"]));
  });

  it("makes half a character whole, also inside WIP, so that a second export is the same", () => {
    const line = formatRecord({ ...task, description: "x\ud800", wip: { "k\udc00": ["\ud83d"] } });
    expect(JSON.parse(line)).toMatchObject({ description: "x\ufffd", wip: { "k\ufffd": ["\ufffd"] } });
  });
});

describe("parseRecordLine", () => {
  it("reads back what was written, with fields of WIP that nobody knows", () => {
    const whole: TaskRecord = {
      ...task,
      steps: [{ text: "one", done: true }],
      estimate_hours: 1.5,
      claim: { agent: "a", session_id: "s", claimed_at: at, heartbeat_at: at, lease_until: at },
      wip: { phase: "testing", own: { deep: [1, null, { __proto__: undefined }] } },
      wip_updated_at: at,
      wip_history: [{ at, actor: "a", path: "phase", before: "coding", after: null }],
    };
    const line = formatRecord(whole);
    const read = parseRecordLine(line, 1);
    expect(read).toMatchObject({ kind: "record", problems: [] });
    expect(read.kind === "record" && formatRecord(read.record)).toBe(line);
    expect(read.kind === "record" && (read.record as TaskRecord).wip_history?.[0]).toHaveProperty("after", null);
  });

  it("brings times into one form", () => {
    const read = parseRecordLine(JSON.stringify({ ...epic, created_at: "2026-11-16T10:30:00+01:00" }), 1);
    expect(read).toMatchObject({ record: { created_at: at } });
  });

  it.each<[string, unknown, string]>([
    [
      "a kind nobody knows",
      { ...epic, kind: "epik" },
      'kind must be one of epic, story, task, dependency, blocker, failure, handoff, agent, message, skill_use, activity, but is "epik"; did you mean epic?',
    ],
    [
      "a wrong choice",
      { ...task, status: "doing" },
      'status must be one of todo, in_progress, review, done, blocked, archived, but is "doing"',
    ],
    ["a missing field", { ...task, title: undefined }, "title is missing"],
    ["a title of two lines", { ...task, title: "a\nb" }, "title must be one line of text"],
    ["an id with a slash", { ...task, id: "../x" }, "id must be 1 to 64 of"],
    ["a wrong type", { ...task, estimate_hours: "2" }, "estimate_hours must be a number of hours"],
    ["a list that is none", { ...task, files: "a.ts" }, "files must be a list of texts"],
    ["a wrong element", { ...task, steps: [{ text: "x" }] }, "steps[0] must be {text, done}"],
    ["a time that is none", { ...task, created_at: "yesterday" }, "created_at must be an ISO time"],
    ["a WIP that is no object", { ...task, wip: [1] }, "wip must be an object"],
    [
      "a claim without its end",
      { ...task, claim: { agent: "a", claimed_at: at, heartbeat_at: at } },
      "claim.lease_until is missing",
    ],
  ])("names the field and the line for %s", (_, value, text) => {
    const [problem] = problemsOf(value);
    expect(problem).toMatch(/^line 7/);
    expect(problem).toContain(text);
  });

  it("takes a record with a field it does not know, and says so", () => {
    const read = parseRecordLine(JSON.stringify({ ...epic, colour: "red" }), 3);
    expect(read).toMatchObject({
      kind: "record",
      problems: [{ where: "line 3 (epic E000000000001)", text: 'unknown field "colour": left out' }],
    });
  });

  it("names the column of broken JSON and the marks of a merge conflict", () => {
    expect(parseRecordLine('{"kind":"epic",}', 4)).toMatchObject({
      problems: [{ where: "line 4", text: expect.stringMatching(/column 16/) }],
    });
    expect(parseRecordLine("<<<<<<< HEAD", 5)).toMatchObject({
      problems: [{ text: expect.stringContaining("merge conflict") }],
    });
  });
});

describe("parseRecords", () => {
  it("reads on after a broken line, over CRLF, a byte order mark and blank lines", () => {
    const lines = [`\ufeff${FIRST_LINE}`, formatRecord(epic), "{oops", "", formatRecord(task), ""];
    const { records, problems } = parseRecords(lines.join("\r\n"));
    expect(records.map((record: WorkRecord) => record.kind)).toEqual(["epic", "task"]);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.where).toBe("line 3");
  });

  it("reads nothing of a newer version's file", () => {
    const { records, problems } = parseRecords(`{"haversack":"work","version":2}\n${formatRecord(epic)}\n`);
    expect(records).toEqual([]);
    expect(problems[0]?.text).toContain("version 2");
  });
});
