import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type InputSchema, readInput } from "./tool-input.ts";

const SCHEMA = {
  type: "object",
  properties: {
    id: { type: "string" },
    status: { type: "string", enum: ["todo", "done"] },
    limit: { type: "integer", minimum: 1, maximum: 50 },
    share: { type: "number" },
    full: { type: "boolean" },
    files: { type: "array", items: { type: "string" } },
    rows: { type: "array" },
    data: { type: "object" },
  },
  required: ["id"],
} as const satisfies InputSchema;

describe("readInput", () => {
  it("takes what fits", () => {
    const input = {
      id: "T-1",
      status: "done",
      limit: 3,
      share: 0.5,
      full: true,
      files: ["a"],
      rows: [1],
      data: { a: 1 },
    };
    expect(readInput(input, SCHEMA)).toEqual({ value: input });
  });

  it("takes null as absent, and texts that mean a value", () => {
    const input = { id: "T-1", status: null, limit: "3", full: "false", files: '["a"]', data: '{"a": 1}' };
    expect(readInput(input, SCHEMA)).toEqual({
      value: { id: "T-1", limit: 3, full: false, files: ["a"], data: { a: 1 } },
    });
  });

  it.each([
    [undefined, "id is missing"],
    [{ id: null }, "id is missing"],
    [[], "the arguments must be an object, but are []"],
    [{ id: 4 }, "id must be a string, but is 4"],
    [{ id: "x", status: "doing" }, 'status must be one of todo, done, but is "doing"'],
    [{ id: "x", limit: 0 }, "limit must be a whole number of at least 1 and at most 50, but is 0"],
    [{ id: "x", limit: 1.5 }, "limit must be a whole number of at least 1 and at most 50, but is 1.5"],
    [{ id: "x", limit: "" }, 'limit must be a whole number of at least 1 and at most 50, but is ""'],
    [{ id: "x", share: "much" }, 'share must be a number, but is "much"'],
    [{ id: "x", full: "yes" }, 'full must be true or false, but is "yes"'],
    [{ id: "x", files: "a" }, 'files must be a list, but is "a"'],
    [{ id: "x", files: [1] }, "files must be a list of strings, but is [1]"],
    [{ id: "x", data: [] }, "data must be an object, but is []"],
    [{ id: "x", data: "{" }, 'data must be an object, but is "{"'],
    [{ id: "x", stauts: "todo" }, 'there is no parameter "stauts"; did you mean status?'],
    [
      { id: "x", toString: 1 },
      'there is no parameter "toString"; it takes id, status, limit, share, full, files, rows, data',
    ],
  ])("%j: %s", (input, problem) => {
    expect(readInput(input, SCHEMA)).toEqual({ problem });
  });

  it("answers anything with a value of the schema or one line, and never throws", () => {
    const named = fc.record(Object.fromEntries(Object.keys(SCHEMA.properties).map((name) => [name, fc.anything()])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), named), (input) => {
        const read = readInput(input, SCHEMA);
        if ("problem" in read) expect(read.problem).toMatch(/^.{1,300}$/);
        else expect(readInput(read.value, SCHEMA)).toEqual(read);
      }),
    );
  });
});
