import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { countLines } from "../../artifacts/extract-section.ts";
import { readDocument, TEXT_MAX_BYTES } from "./read-document.ts";

function folder(): { root: string; look: (name: string) => ReturnType<typeof readDocument> } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-document-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "repo");
  mkdirSync(root);
  writeFileSync(join(base, "secret.md"), "outside\n");
  return { root, look: (name) => readDocument(join(root, name), { root }) };
}

describe("readDocument", () => {
  it("says how long a text is, and hashes its bytes", () => {
    const { root, look } = folder();
    const text = "# Spec\r\n\r\nÜber 5 GB\nno end";
    writeFileSync(join(root, "spec.md"), text);
    const sha = createHash("sha256").update(text).digest("hex");
    expect(look("spec.md")).toEqual({ state: "present", lineCount: 4, sha, text });
  });

  it("tells what cannot be read apart, and never throws", () => {
    const { root, look } = folder();
    writeFileSync(join(root, "empty.md"), "");
    writeFileSync(join(root, "blank.md"), " \n\n\t\r\n");
    writeFileSync(join(root, "binary.md"), Buffer.from([35, 32, 0, 1, 2]));
    mkdirSync(join(root, "folder.md"));
    symlinkSync("../secret.md", join(root, "out.md"));
    symlinkSync("nowhere.md", join(root, "broken.md"));
    symlinkSync("loop.md", join(root, "loop.md"));
    expect(look("missing.md")).toEqual({ state: "missing" });
    expect(look("empty.md/below.md")).toEqual({ state: "missing" });
    expect(look("broken.md")).toEqual({ state: "missing" });
    expect(look("empty.md")).toEqual({ state: "empty" });
    expect(look("blank.md")).toEqual({ state: "empty" });
    expect(look("binary.md")).toEqual({ state: "binary" });
    expect(look("folder.md")).toEqual({ state: "unreadable" });
    expect(look("loop.md")).toEqual({ state: "unreadable" });
    expect(look("out.md")).toEqual({ state: "outside" });
    expect(look("../secret.md")).toEqual({ state: "outside" });
  });

  it("opens no pipe: nobody would ever write into it", () => {
    const { root, look } = folder();
    expect(spawnSync("sh", ["-c", 'mkfifo "$0"', join(root, "pipe.md")]).status).toBe(0);
    expect(look("pipe.md")).toEqual({ state: "unreadable" });
  });

  it("follows a link that stays inside", () => {
    const { root, look } = folder();
    writeFileSync(join(root, "real.md"), "text\n");
    symlinkSync("real.md", join(root, "link.md"));
    expect(look("link.md")).toMatchObject({ state: "present", text: "text\n" });
  });

  it("counts a large text and does not keep it", () => {
    const { root, look } = folder();
    const line = `${"x".repeat(99)}\n`;
    writeFileSync(join(root, "most.md"), line.repeat(TEXT_MAX_BYTES / 100));
    writeFileSync(join(root, "more.md"), line.repeat(TEXT_MAX_BYTES / 100 + 1));
    expect(look("most.md")).toMatchObject({ state: "present", lineCount: 50_000, text: expect.any(String) });
    const more = look("more.md");
    expect(more).toMatchObject({ state: "present", lineCount: 50_001 });
    expect(more.text).toBeUndefined();
  });

  it("counts lines as the rest of the part does", () => {
    const { root, look } = folder();
    const text = fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r", " "), maxLength: 30 });
    fc.assert(
      fc.property(text, (content) => {
        writeFileSync(join(root, "a.md"), content);
        const found = look("a.md");
        if (content.trim() === "") expect(found.state).toBe("empty");
        else expect(found.lineCount).toBe(countLines(content));
      }),
      { numRuns: 200 },
    );
  });
});
