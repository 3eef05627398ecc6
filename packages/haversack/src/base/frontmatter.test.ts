import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFrontmatter } from "./frontmatter.ts";

const codes = (text: string) => readFrontmatter(text).problems.map(({ code }) => code);

describe("readFrontmatter", () => {
  it("splits header and body", () => {
    const text = "---\nname: deploy\nmetadata:\n  tags: [a, b]\n---\n# Deploy\n\nText\n";
    expect(readFrontmatter(text)).toEqual({
      data: { name: "deploy", metadata: { tags: ["a", "b"] } },
      body: "# Deploy\n\nText\n",
      problems: [],
    });
  });

  it("takes a byte order mark, CRLF, and ... as the end", () => {
    const { data, body, problems } = readFrontmatter(
      "\ufeff---\r\nname: deploy\r\ndescription: >-\r\n  two\r\n  lines\r\n...\r\nBody\r\n",
    );
    expect(data).toEqual({ name: "deploy", description: "two lines" });
    expect(body).toBe("Body\n");
    expect(problems).toEqual([]);
  });

  it("keeps a --- inside the body", () => {
    expect(readFrontmatter("---\na: 1\n---\none\n---\ntwo").body).toBe("one\n---\ntwo");
  });

  it("reads a file without frontmatter as a body", () => {
    expect(readFrontmatter("# Title\n\nText").body).toBe("# Title\n\nText");
    expect(codes("# Title")).toEqual(["frontmatter-missing"]);
    expect(codes("")).toEqual(["frontmatter-missing"]);
  });

  it("reads frontmatter after blank lines, and says so", () => {
    expect(readFrontmatter("\n\n---\nname: x\n---\nB").data).toEqual({ name: "x" });
    expect(codes("\n\n---\nname: x\n---\nB")).toEqual(["frontmatter-late"]);
  });

  it("finds the end of a header that is not closed", () => {
    const { data, body, problems } = readFrontmatter("---\nname: deploy\ndescription: Ships it\n\n# Deploy\nText");
    expect(data).toEqual({ name: "deploy", description: "Ships it" });
    expect(body).toBe("\n# Deploy\nText");
    expect(problems).toMatchObject([{ level: "error", code: "frontmatter-unterminated", where: "line 4" }]);
  });

  it("does not take a horizontal rule for a header", () => {
    const text = "---\nJust prose under a rule.\n---\nMore prose.";
    expect(readFrontmatter(text)).toMatchObject({ data: {}, body: text });
    expect(readFrontmatter("---\n\nJust prose").body).toBe("---\n\nJust prose");
  });

  it("reads an unquoted colon as the author meant it, and the other entries as YAML", () => {
    const { data, problems } = readFrontmatter(
      "---\nname: deploy\ndescription: Use when: shipping, and: more\nmetadata:\n  tags: [a, b]\n---\n",
    );
    expect(data).toEqual({
      name: "deploy",
      description: "Use when: shipping, and: more",
      metadata: { tags: ["a", "b"] },
    });
    expect(problems).toMatchObject([{ level: "warning", code: "frontmatter-invalid", where: "line 3" }]);
  });

  it("reads tabs, bad quotes, and lists in a broken header", () => {
    const { data } = readFrontmatter(
      '---\nname: "deploy" now\ntags:\n\t- one\n\t- two: three: four\nmetadata:\n\tdomain: ops\ndisable-model-invocation: true\n---\n',
    );
    expect(data).toMatchObject({ name: '"deploy" now', metadata: { domain: "ops" }, "disable-model-invocation": true });
    expect(data["tags"]).toEqual(["one", "two: three: four"]);
  });

  it("joins a broken value that runs over several lines", () => {
    const { data } = readFrontmatter("---\ndescription: Use when: a\n  b\n  c: d: e\nname: x\n---\n");
    expect(data).toEqual({ description: "Use when: a b c: d: e", name: "x" });
  });

  it("reports a key that is listed twice; the last one counts", () => {
    const { data, problems } = readFrontmatter("---\nname: one\nname: two\n---\n");
    expect(data).toEqual({ name: "two" });
    expect(problems).toMatchObject([
      { code: "frontmatter-duplicate-key", text: "“name” is listed twice: the last one counts" },
    ]);
  });

  it("defuses alias bombs and keeps the plain entries", () => {
    const levels = Array.from(
      { length: 9 },
      (_, n) => `l${n + 1}: &l${n + 1} [${"*l".concat(String(n)).concat(",").repeat(9)}]`,
    );
    const { data, problems } = readFrontmatter(`---\nname: bomb\nl0: &l0 [lol]\n${levels.join("\n")}\n---\nBody`);
    expect(data["name"]).toBe("bomb");
    expect(problems).toMatchObject([{ code: "frontmatter-invalid" }]);
    expect(JSON.stringify(data).length).toBeLessThan(5_000);
  });

  it("survives nesting beyond the stack and headers beyond the cap", () => {
    expect(readFrontmatter(`---\nname: deep\nx: ${"[".repeat(30_000)}\n---\n`).data["name"]).toBe("deep");
    const large = readFrontmatter(`---\nname: large\nx: ${"y".repeat(100_000)}\n---\nBody`);
    expect(large.data["name"]).toBe("large");
    expect(large.problems).toMatchObject([{ level: "error", code: "frontmatter-too-large" }]);
    expect(large.body).toBe("Body");
  });

  it.each([`x: ${"[".repeat(3_000)}`, `x: ${"{a: ".repeat(1_000)}`, `x:\n${"- ".repeat(2_000)}`])(
    "does not parse what is nested without end: %#",
    (line) => {
      const { data, problems } = readFrontmatter(`---\nname: deep\n${line}\n---\n`);
      expect(data["name"]).toBe("deep");
      expect(problems).toMatchObject([{ code: "frontmatter-too-deep" }]);
    },
  );

  it("reads only the simple entries of a header that would take long to parse", () => {
    const list = "- b\n".repeat(8_000);
    const { data, problems, body } = readFrontmatter(`---\nname: slow\nk: a: [\n${list}---\nBody`);
    expect(data["name"]).toBe("slow");
    expect(problems).toMatchObject([{ code: "frontmatter-too-large" }]);
    expect(body).toBe("Body");
  });

  it("does not let a key reach the prototype", () => {
    const { data } = readFrontmatter('---\n__proto__: {"polluted": true}\nname: x: y: z\n---\n');
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("never throws and never loses the body", () => {
    const piece = fc.constantFrom(
      "---\n",
      "name: x\n",
      "  - ",
      "key: [",
      "}",
      "\t",
      "*a ",
      "&a ",
      "!!js ",
      '"',
      "'",
      ": ",
      "|\n",
      "# h\n",
      "\r\n",
      "? ",
      "<<: ",
      "%",
      "\u0000",
      "é",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        const header = pieces.join("");
        const { body } = readFrontmatter(`---\n${header}\n---\nTHE BODY\n`);
        expect(body.endsWith("THE BODY\n")).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });
});
