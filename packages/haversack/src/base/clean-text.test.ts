import { expect, it } from "vitest";
import { cleanLine, cutAt, stripControl } from "./clean-text.ts";

it("removes control characters and whole terminal sequences", () => {
  expect(cleanLine("a\u0000b\u0007 \u001b[31mred\u001b[0m \u001b]0;title\u0007end")).toBe("ab red end");
  expect(stripControl("one\r\ntwo\rthree\tfour\u0085")).toBe("one\ntwo\nthree\tfour");
});

it("removes marks that turn the reading direction, and keeps joined emoji", () => {
  expect(cleanLine("safe\u202egnp.exe")).toBe("safegnp.exe");
  expect(cleanLine("👩\u200d💻 codes")).toBe("👩\u200d💻 codes");
});

it("cuts between characters, never through one", () => {
  expect(cutAt("ab😀", 3)).toBe("ab");
  expect(cleanLine("  much   white\n\nspace ", { maxChars: 8 })).toBe("much whi");
});
