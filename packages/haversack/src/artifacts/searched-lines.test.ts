import fc from "fast-check";
import { expect, it } from "vitest";
import { searchedLines } from "./printed-lines.ts";

const TEXTS: Record<string, string> = {
  "/repo/docs/a.md": "one x\ntwo\nthree x\n\n12-five x\n2:two\n",
  "/repo/docs/b.md": "x b\r\nb2\r\n",
  "/far/c.md": "c x\n",
};
const FILES = Object.keys(TEXTS).map((path) => ({ path }));

function seen(path: string | undefined, text: string): string[] {
  const found = searchedLines(
    { tool: "search", text, ...(path !== undefined && { path }) },
    { cwd: "/repo", files: FILES, textOf: (file) => TEXTS[file] },
  );
  return found.map((one) => `${one.path.slice(-4)} ${one.from}`);
}

it.each<[string, string | undefined, string, string[]]>([
  ["one file with numbers", "/repo/docs/a.md", "1:one x\n2-two\n--\n5:12-five x", ["a.md 1", "a.md 2", "a.md 5"]],
  ["one file without", "docs/a.md", "one x\ntwo\n--\n\n12-five x", ["a.md 1", "a.md 2", "a.md 4", "a.md 5"]],
  ["a line that looks like a number and a text", "docs/a.md", "2:two", ["a.md 2"]],
  [
    "a folder with numbers",
    "/repo",
    "docs/b.md:1:x b\ndocs/b.md-2-b2\ndocs/a.md:3:three x",
    ["a.md 3", "b.md 1", "b.md 2"],
  ],
  [
    "a folder without",
    undefined,
    "docs/b.md:x b\ndocs/b.md-b2\n--\ndocs/a.md:12-five x",
    ["a.md 5", "b.md 1", "b.md 2"],
  ],
  ["a folder outside, by whole paths", "/far", "/far/c.md:1:c x", ["c.md 1"]],
  ["lines that were left out, cut, or shown in part", "docs/a.md", "1:[Omitted long matching line]\n3:thr\n5:x", []],
  ["numbers that are wrong", "docs/a.md", "9:one x", []],
  ["files that do not matter", "/repo/src", "src/docs/a.md:1:one x\ndocs/a.mdx:1:one x", []],
  ["another file, whose lines have no path", "/repo/log.txt", "1:one x\none x", []],
  ["nothing", "docs/a.md", "", []],
])("%s", (_, path, text, expected) => expect(seen(path, text)).toEqual(expected));

it("finds as many lines as were shown, with and without numbers, in any document", () => {
  const line = fc.constantFrom("", "a", "b", "a b", "- c", "x:1");
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1 }),
      fc.infiniteStream(fc.boolean()),
      fc.boolean(),
      (document, keep, isNumbered) => {
        const numbers = document.flatMap((_, at) => (keep.next().value ? [at + 1] : []));
        const text = numbers.map((n) => `${isNumbered ? `${n}:` : ""}${document[n - 1]}`).join("\n");
        const found = searchedLines(
          { tool: "search", path: "/d.md", text },
          { cwd: "/", files: [{ path: "/d.md" }], textOf: () => document.join("\n") },
        ).map(({ from }) => from);
        // A single empty line without a number is no output.
        if (text === "") expect(found).toEqual([]);
        else if (isNumbered) expect(found).toEqual(numbers);
        else expect(found.map((n) => document[n - 1])).toEqual(numbers.map((n) => document[n - 1]));
        expect(new Set(found).size).toBe(found.length);
      },
    ),
  );
});
