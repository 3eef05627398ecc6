import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileTools } from "./file-tools.ts";
import { scratchFolder, tenderFolder } from "./fixtures.suite.ts";
import { SkillRegistry } from "./skill-registry.ts";

function toolsIn(root: string, skills = new SkillRegistry()) {
  const tools = fileTools(root, skills) as unknown as Record<
    string,
    {
      execute: (input: unknown, options: object) => Promise<string>;
      inputSchema: { validate: (value: unknown) => { success: boolean } };
    }
  >;
  const call =
    (name: string) =>
    (input: unknown, options = {}) =>
      tools[name]!.execute(input, options);
  return { read: call("read"), write: call("write"), grep: call("grep"), tools };
}

function writeAt(path: string, text: string): string {
  writeFileSync(path, text);
  return path;
}

describe("read", () => {
  it("returns numbered lines, in parts if there are many", async () => {
    const root = scratchFolder({
      "a.txt": "one\ntwo\nthree",
      "long.txt": Array.from({ length: 3_000 }, (_, at) => `line ${at + 1}`).join("\n"),
    });
    const { read } = toolsIn(root);
    expect(await read({ path: "a.txt" })).toBe("1\tone\n2\ttwo\n3\tthree");
    expect(await read({ path: `${root}/a.txt`, offset: 2, limit: 1 })).toBe(
      "2\ttwo\n(1 more lines; continue with offset 3)",
    );
    expect(await read({ path: "long.txt" })).toMatch(/\(1000 more lines; continue with offset 2001\)$/);
  });

  it("returns a bounded number of characters, says where a line was cut, and how to go on", async () => {
    const root = scratchFolder({
      "wide.txt": Array.from({ length: 200 }, () => "x".repeat(1_000)).join("\n"),
      "line.txt": `${"y".repeat(9_000)}\nend`,
    });
    const { read } = toolsIn(root);
    const seen: string[] = [];
    for (let offset = 1; offset > 0; ) {
      const part = await read({ path: "wide.txt", offset });
      expect(part.length).toBeLessThan(51_000);
      seen.push(...part.split("\n").filter((line) => line.endsWith("x")));
      offset = Number(/continue with offset (\d+)\)$/.exec(part)?.[1] ?? 0);
    }
    expect(seen.map((line) => Number.parseInt(line, 10))).toEqual(Array.from({ length: 200 }, (_, at) => at + 1));
    expect(await read({ path: "line.txt" })).toMatch(
      /^1\ty{2000}… \(the first 2000 of 9000 characters of this line; .*\)\n2\tend$/,
    );
    expect(await read({ path: "line.txt", offset: 7 })).toBe("(line.txt has 2 lines, so nothing is at offset 7)");
  });

  it("says that a folder is a folder", async () => {
    const root = scratchFolder({ "sub/a.txt": "x" });
    const outside = scratchFolder();
    symlinkSync(outside, join(root, "out"));
    const { read } = toolsIn(root);
    await expect(read({ path: "." })).rejects.toThrow(". is a folder");
    await expect(read({ path: "" })).rejects.toThrow(". is a folder");
    await expect(read({ path: "sub" })).rejects.toThrow("sub is a folder");
    await expect(read({ path: "out" })).rejects.toThrow("leads out");
  });

  it("never leaves its folder, by path or by link", async () => {
    const outside = scratchFolder({ "secret.txt": "secret" });
    const root = scratchFolder({ "a.txt": "x" });
    symlinkSync(join(outside, "secret.txt"), join(root, "link.txt"));
    symlinkSync(outside, join(root, "folder"));
    const { read } = toolsIn(root);
    for (const path of [
      "../x",
      join(outside, "secret.txt"),
      "link.txt",
      "folder/secret.txt",
      "a.txt\u0000",
      "none.txt",
      ".",
    ])
      await expect(read({ path })).rejects.toThrow();
  });

  it("reads the resources of skills outside its folder, through their guard", async () => {
    const folder = tenderFolder({
      "skills/secret.txt": "secret",
      "skills/a-single.md": "---\nname: a-single\n---\nx\n",
    });
    const { read } = toolsIn(scratchFolder(), new SkillRegistry(`${folder}/skills`));
    const skill = `${folder}/skills/danish-tender-guidelines`;
    expect(await read({ path: `${skill}/reference/marker-system.md` })).toContain("[FAKTA] needs a page number.");
    await expect(read({ path: `${skill}/../secret.txt` })).rejects.toThrow();
    await expect(read({ path: `${skill}/reference/none.md` })).rejects.toThrow(/there is no/);
    await expect(read({ path: `${folder}/skills/secret.txt` })).rejects.toThrow(/cannot leave/);
  });
});

describe("write", () => {
  it("creates folders and replaces files, only below its folder", async () => {
    const outside = scratchFolder({ "mine.txt": "mine" });
    const root = scratchFolder();
    const { write } = toolsIn(root);
    expect(await write({ path: "deep/er/a.txt", content: "one" })).toBe("Wrote 3 characters to deep/er/a.txt.");
    await write({ path: "deep/er/a.txt", content: "two" });
    expect(readFileSync(`${root}/deep/er/a.txt`, "utf8")).toBe("two");
    for (const content of ["new", "replaced"])
      expect(await write({ path: "top.txt", content })).toBe(`Wrote ${content.length} characters to top.txt.`);
    expect(readFileSync(`${root}/top.txt`, "utf8")).toBe("replaced");
    for (const path of [".", "deep", "top.txt/below.txt"])
      await expect(write({ path, content: "x" })).rejects.toThrow();
    symlinkSync(outside, join(root, "link"));
    for (const path of ["../b.txt", join(outside, "mine.txt"), "link/mine.txt", ".git/config"])
      await expect(write({ path, content: "x" })).rejects.toThrow();
    expect(readFileSync(`${outside}/mine.txt`, "utf8")).toBe("mine");
  });
});

describe("grep", () => {
  it("finds lines in files, without hidden folders, dependencies, links and binaries", async () => {
    const outside = scratchFolder({ "x.txt": "needle" });
    const root = scratchFolder({
      "a.txt": "hay\n  Needle one\n",
      "b/c.md": "needle two",
      ".git/x": "needle",
      "node_modules/x.js": "needle",
      "bin.dat": "\u0000needle",
    });
    symlinkSync(outside, join(root, "link"));
    const { grep } = toolsIn(root);
    expect(await grep({ pattern: "needle" })).toBe("a.txt:2: Needle one\nb/c.md:1: needle two");
    expect(await grep({ pattern: "need.e t", path: "b" })).toBe("b/c.md:1: needle two");
    expect(await grep({ pattern: "one", path: "a.txt" })).toBe("a.txt:2: Needle one");
    expect(await grep({ pattern: "nothing" })).toBe("No line matches nothing.");
    await expect(grep({ pattern: "needle", path: "link" })).rejects.toThrow("leads out");
    for (const input of [{ pattern: "(" }, { pattern: "x", path: ".." }, { pattern: "x", path: "none" }])
      await expect(grep(input)).rejects.toThrow();
  });

  it("searches large files and long lines, shows the match, and names what it did not search", async () => {
    const root = scratchFolder({
      "big.log": `${"hay hay hay hay\n".repeat(150_000)}the needle is here\n`,
      "min.js": `${"a;".repeat(40_000)}needle()${"b;".repeat(40_000)}`,
    });
    truncateSync(writeAt(join(root, "huge.bin"), "x"), 40_000_000);
    const { grep } = toolsIn(root);
    const lines = (await grep({ pattern: "needle" })).split("\n");
    expect(lines[0]).toBe("big.log:150001: the needle is here");
    expect(lines[1]).toMatch(/^min\.js:1: ….*needle\(\).*…$/);
    expect(lines[1]!.length).toBeLessThan(330);
    expect(lines[2]).toBe("(not searched: huge.bin is larger than 32000 kB)");
    await expect(grep({ pattern: "x", path: "none/there" })).rejects.toThrow("there is no file or folder none/there");
  });

  it("stops after many lines, on an abort, and with a pattern that never ends", async () => {
    const root = scratchFolder({ "a.txt": "needle\n".repeat(500), "b.txt": `${"a".repeat(60)}!` });
    mkdirSync(`${root}/many`);
    for (let at = 0; at < 60; at++) writeFileSync(`${root}/many/${at}.txt`, "x");
    const { grep } = toolsIn(root);
    const lines = (await grep({ pattern: "needle" })).split("\n");
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toContain("stopped after 100 lines");
    expect(await grep({ pattern: "zzz", path: "many" })).toContain("No line");
    await expect(grep({ pattern: "x" }, { abortSignal: AbortSignal.abort() })).rejects.toThrow();
    await expect(grep({ pattern: "(a+)+$", path: "b.txt" })).rejects.toThrow(/takes too long/);
  });
});

it("checks the arguments of each tool", () => {
  const { tools } = toolsIn(scratchFolder());
  const isRight = (name: string, value: unknown) => tools[name]!.inputSchema.validate(value).success;
  expect(isRight("read", { path: "a", offset: 1 })).toBe(true);
  for (const value of [undefined, null, "a", {}, { path: 1 }, { path: "a", offset: 0 }, { path: "a", limit: 1.5 }])
    expect(isRight("read", value)).toBe(false);
  expect(isRight("write", { path: "a" })).toBe(false);
});
