import { describe, expect, it } from "vitest";
import { parseCases } from "./evaluate.ts";

describe("parseCases", () => {
  it("reads JSON lines and derives id and source", () => {
    const { cases, problems } = parseCases(
      '{"prompt":"a","expected":["azure/cost"]}\n\n{"id":"n1","prompt":"b","expected":[],"negative_for":["x"],"lang":"en"}\n',
      { file: "cases.jsonl" },
    );
    expect(problems).toEqual([]);
    expect(cases).toEqual([
      { id: "1", prompt: "a", expected: ["azure/cost"], negativeFor: [], acceptable: [], source: "azure" },
      { id: "n1", prompt: "b", expected: [], negativeFor: ["x"], acceptable: [], source: "all", lang: "en" },
    ]);
  });

  it("reads an author's list for one skill", () => {
    const text = JSON.stringify([
      { query: "plan this", should_trigger: true },
      { query: "hello", should_trigger: false },
    ]);
    expect(parseCases(text, { file: "evals.json", skill: "planner" }).cases).toMatchObject([
      { expected: ["planner"], negativeFor: [] },
      { expected: [], negativeFor: ["planner"] },
    ]);
    expect(parseCases(text, { file: "evals.json" }).problems[0]!.text).toContain("--skill");
  });

  it("names each bad line and reads the others", () => {
    const { cases, problems } = parseCases('nonsense\n{"prompt":1}\n{"prompt":"x"}\n{"prompt":"ok","expected":["a"]}', {
      file: "c.jsonl",
    });
    expect(cases).toHaveLength(1);
    expect(problems.map((problem) => problem.where)).toEqual(["line 1", "line 2", "line 3"]);
  });
});

describe("parseCases with conditions", () => {
  const text = [
    { id: "a", prompt: "x", expect: ["s"], pool: "one", half: "held" },
    { id: "b", prompt: "x", expect: [], pool: "one", half: "tune" },
    { id: "c", prompt: "x", expected: ["s"], pool: "two", half: "held" },
    { id: "d", pool: "two" },
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");
  const read = (...where: [string, string][]) => parseCases(text, { file: "cases.jsonl", where });

  it("takes expect for expected, and only the entries that are asked for", () => {
    expect(read(["pool", "one"]).cases.map(({ id, expected }) => [id, expected])).toEqual([
      ["a", ["s"]],
      ["b", []],
    ]);
    expect(read(["pool", "one"], ["half", "held"]).cases.map(({ id }) => id)).toEqual(["a"]);
    expect(read(["none", "x"]).cases).toEqual([]);
  });

  it("reports bad entries only where they are asked for", () => {
    expect(read(["pool", "one"]).problems).toEqual([]);
    expect(read(["pool", "two"]).problems).toHaveLength(1);
  });
});
