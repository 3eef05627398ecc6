import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineAndColumn, readJson } from "./json.ts";

describe("readJson", () => {
  it("reads JSON, with or without a byte order mark", () => {
    expect(readJson('\ufeff{"a": [1, null, "x"]}')).toEqual({ value: { a: [1, null, "x"] } });
  });

  it.each([
    ['{"a": 1,}', "line 1:9: a value is missing before “}” (a comma too many?)"],
    ["[1, ]", "line 1:5: a value is missing before “]” (a comma too many?)"],
    ['{\n  "a": xyz\n}', "line 2:8: “x” cannot start a JSON value"],
    ['{"a": 1 "b": 2}', 'line 1:9: a comma or the closing bracket is missing before “"”'],
    ["{'a': 1}", "line 1:2: a key in double quotes is expected, not “'”"],
    ["{\"a\": 'b'}", "line 1:7: “'” cannot start a JSON value: use double quotes"],
    ['// hi\n{"a": 1}', "line 1:1: JSON has no comments: remove them"],
    ['{"a": 1}\n}', "line 2:1: “}” after the end"],
    ['{"a": [1, 2', "line 1:12: the text ends too early: 2 brackets are open"],
    ['{"a" 1}', "line 1:6: a colon is missing before “1”"],
    ['{"a": [1}', "line 1:9: “}” closes “[”"],
    ["  \n", "the file is empty; JSON needs at least {}"],
  ])("names the place in %j", (text, problem) => {
    expect(readJson(text)).toEqual({ problem });
  });

  it("says what is wrong with a bad escape", () => {
    expect(readJson('{"re": "\\d+"}').problem).toMatch(/^line 1:8: this string/);
  });

  it("survives a million brackets", () => {
    expect(readJson("[".repeat(1_000_000)).problem).toMatch(/brackets are open/);
  });

  it("survives a string of megabytes that is never closed", () => {
    expect(readJson(`{"a": "${"x\\n".repeat(2_000_000)}`).problem).toMatch(/^line 1:7: this string/);
  });

  it("agrees with JSON.parse about what is JSON, for any damaged text", () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom("", ",", "}", "]", '"', "\\", "x", "{", ":", " "),
        (json, at, put) => {
          const cut = at % (json.length + 1);
          const text = json.slice(0, cut) + put + json.slice(cut + 1);
          const reading = readJson(text);
          let valid = true;
          try {
            JSON.parse(text);
          } catch {
            valid = false; // JSON.parse rejects it.
          }
          expect(reading.problem === undefined).toBe(valid);
          // Where V8 reports an error, our own scan must find one too, with its position.
          if (!valid && text.trim() !== "") expect(reading.problem).toMatch(/^line \d+:\d+: /);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

it("counts lines and columns from one", () => {
  expect(lineAndColumn("ab\ncd", 0)).toEqual({ line: 1, column: 1 });
  expect(lineAndColumn("ab\ncd", 4)).toEqual({ line: 2, column: 2 });
});
