import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hiddenSkills } from "./adapter.ts";

it("reads the three settings, the nearest wins, and a broken one hides nothing", () => {
  const folder = mkdtempSync(join(tmpdir(), "haversack-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (path: string, overrides: unknown) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof overrides === "string" ? overrides : JSON.stringify({ skillOverrides: overrides }));
  };
  mkdirSync(join(folder, "repo/.git"), { recursive: true });
  write("config/settings.json", { a: "off", b: "off", c: "name-only" });
  write("repo/.claude/settings.json", { b: "on", d: "user-invocable-only" });
  write("repo/.claude/settings.local.json", { d: "user-invocable-only", e: "off", a: "name-only" });
  const read = (root: string) => [...hiddenSkills(join(folder, root), join(folder, "config"))].sort();
  expect(read("repo")).toEqual(["d", "e"]);
  expect(read("repo/sub/folder")).toEqual(["d", "e"]);
  expect([...hiddenSkills(join(folder, "elsewhere"))]).toEqual([]);

  write("repo/.claude/settings.local.json", '{"skillOverrides": {"x": "off"');
  expect(read("repo")).toEqual(["a", "d"]);
});
