import { expect, it } from "vitest";
import { withoutComments } from "./json.ts";

it("makes comments spaces, keeps every offset and line break, and leaves strings alone", () => {
  const text = '{ // one\r\n  "a": "http://x/*y*/", /* two\n three */ "b\\"//": 1 } // end';
  const plain = withoutComments(text);
  expect(plain).toHaveLength(text.length);
  expect(JSON.parse(plain)).toEqual({ a: "http://x/*y*/", 'b"//': 1 });
  expect(plain.split("\n")).toHaveLength(text.split("\n").length);
});

it("returns a text without comments as it is, and ends with one that is not closed", () => {
  expect(withoutComments('{"a": 1}')).toBe('{"a": 1}');
  expect(withoutComments("{} /* open").trim()).toBe("{}");
  expect(withoutComments('"open // string')).toBe('"open // string');
});
