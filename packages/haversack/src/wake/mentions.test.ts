import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mentionsIn } from "./text.ts";

describe("mentionsIn", () => {
  it.each([
    ["@june please look", ["june"]],
    ["(@june), @spec-reviewer: see @a.b_c.", ["june", "spec-reviewer", "a.b_c"]],
    ["@June and @june", ["June"]],
    ["Привет @ольга", ["ольга"]],
    ["mail june@example.com", []],
    ["npm i @types/node @scope/pkg", []],
    ["https://example.com/@june", []],
    ["use `@june` or ``a ` @june``", []],
    ["an open ` tick @june", ["june"]],
    ["```ts\n@Injectable()\n```\nfor @june", ["june"]],
    ["~~~\n@june\n```\n@max\n~~~\n@eva", ["eva"]],
    ["```\nnever closed @june", []],
    ["icon@2x.png and @@june", []],
    ["@", []],
    [`@${"x".repeat(100)}`, []],
  ])("%s", (text, names) => {
    expect(mentionsIn(text)).toEqual(names);
  });

  it("takes any text, and finds a name that stands alone", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }).filter((text) => !/[`~]/.test(text)),
        (text) => {
          expect(mentionsIn(`${text}\n@june`).map((name) => name.toLowerCase())).toContain("june");
        },
      ),
    );
  });

  it("takes 100,000 backticks in a short time", () => {
    expect(mentionsIn("` ``".repeat(25_000))).toEqual([]);
  });
});
