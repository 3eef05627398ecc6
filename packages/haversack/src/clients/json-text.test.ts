import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutComments } from "../base/json.ts";
import { removeIn, setIn } from "./json-text.ts";

describe("setIn", () => {
  it("adds at the end of an object in its own layout", () => {
    expect(setIn('{\n    "a": 1\n}\n', ["b", "c"], [1])).toBe(
      '{\n    "a": 1,\n    "b": {\n        "c": [\n            1\n        ]\n    }\n}\n',
    );
    expect(setIn('{"a":1}', ["b"], { c: 1, d: [] })).toBe('{"a":1,"b":{"c":1,"d":[]}}');
    expect(setIn('{"a": [1, 2], "b": 1}', ["a", 2], "x")).toBe('{"a": [1, 2, "x"], "b": 1}');
    expect(setIn("{}", ["a"], 1)).toBe('{\n  "a": 1\n}');
    expect(setIn('{\n\t"a": {}\n}', ["a", "b"], 1)).toBe('{\n\t"a": {\n\t\t"b": 1\n\t}\n}');
  });

  it("replaces a value and nothing else", () => {
    const text = '{ "n": 12345678901234567890,\n  "a" : [ 1,2 ], "z": "\\u00e9" }';
    expect(setIn(text, ["a", 1], { b: true })).toBe(text.replace("1,2", '1,{\n    "b": true\n  }'));
  });

  it("counts the last of two members with one name, as JSON.parse does", () => {
    expect(setIn('{"a": 1, "a": 2}', ["a"], 3)).toBe('{"a": 1, "a": 3}');
  });

  it("does not put a member into a list", () => {
    expect(() => setIn('{"a": []}', ["a", "b"], 1)).toThrow(TypeError);
  });
});

describe("removeIn", () => {
  it.each([
    ['{"a": 1, "b": 2, "c": 3}', ["a"], '{"b": 2, "c": 3}'],
    ['{"a": 1, "b": 2, "c": 3}', ["b"], '{"a": 1, "c": 3}'],
    ['{"a": 1, "b": 2, "c": 3}', ["c"], '{"a": 1, "b": 2}'],
    ['{"a": 1}', ["a"], "{}"],
    ['{\n  "a": [\n    1,\n    2\n  ]\n}', ["a", 0], '{\n  "a": [\n    2\n  ]\n}'],
    ['{"a": 1}', ["b", "c"], '{"a": 1}'],
  ])("%j without %j", (text, path, expected) => {
    expect(removeIn(text, path)).toBe(expected);
  });

  it("takes out what setIn added, byte for byte, and both leave the right value", () => {
    const layouts = [undefined, 2, 4, "\t"];
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
        fc.constantFrom(...layouts),
        fc.jsonValue({ maxDepth: 2 }),
        (object, indent, value) => {
          const plain = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
          const text = JSON.stringify(plain, null, indent);
          if ("mine" in plain) return;
          const added = setIn(text, ["mine"], value);
          expect(JSON.parse(added)).toEqual({ ...plain, mine: JSON.parse(JSON.stringify(value)) });
          expect(removeIn(added, ["mine"])).toBe(text);
        },
      ),
    );
  });
});

describe("a text with comments", () => {
  const texts = [
    '{\n  // mine\n  "a": 1, // one\n  /* two */ "b": [1] // last\n  // "c": 3,\n}\n',
    '// head\n{\n    "a": 1 // trailing spaces   \n}\n',
    "{\n  // nothing yet\n}\n",
    "{ /* nothing yet */ }",
    '{"a": 1 /* inline */}',
    '{"a": 1 // c\n}',
    '{\r\n\t"a": 1 // c\r\n}\r\n',
    '{\n  "a": "http://x", "b": "/* no */"\n}',
  ];
  const read = (text: string) => JSON.parse(withoutComments(text));

  it.each(texts)("%j keeps them, and gets back every byte", (text) => {
    const added = setIn(setIn(text, ["mine", "deep"], [1]), ["other"], "x");
    expect(read(added)).toEqual({ ...read(text), mine: { deep: [1] }, other: "x" });
    for (const comment of text.match(/\/\/[^\r\n"]*|\/\*.*?\*\//g) ?? []) expect(added).toContain(comment.trimEnd());
    expect(removeIn(removeIn(added, ["other"]), ["mine"])).toBe(text);
    expect(removeIn(removeIn(added, ["mine"]), ["other"])).toBe(text);
  });

  it.each([
    ['{\n  "a": 1, // about a\n  "b": 2\n}', ["b"], '{\n  "a": 1 // about a\n}'],
    ['{\n  "a": 1,\n  // about b\n  "b": 2\n}', ["a"], '{\n  // about b\n  "b": 2\n}'],
    ['{\n  "a": 1 // about a\n  , "b": 2\n}', ["b"], '{\n  "a": 1 // about a\n}'],
    ['{\n  // first\n  "a": 1 // about a\n}', ["a"], "{\n  // first // about a\n}"],
  ])("%j without %j", (text, path, expected) => {
    expect(removeIn(text, path)).toBe(expected);
  });
});

it("ends its lines as the text does", () => {
  const text = '{\r\n  "a": {},\r\n  "l": [\r\n    1\r\n  ]\r\n}\r\n';
  const added = setIn(setIn(setIn(text, ["a", "b"], { c: [1] }), ["l", 1], 2), ["z"], 3);
  expect(added.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  expect(removeIn(removeIn(removeIn(added, ["z"]), ["l", 1]), ["a", "b"])).toBe(text);
});
