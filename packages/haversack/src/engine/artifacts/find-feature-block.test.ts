import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { foldersIn } from "./find-feature-block.ts";

it("finds the folders with documents that a prompt names, once each, inside of the project only", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-folders-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "repo");
  for (const folder of ["repo/docs/features/a", "repo/docs/features/b", "repo/src/code", "other"]) {
    mkdirSync(join(base, folder), { recursive: true });
    writeFileSync(join(base, folder, folder.endsWith("code") ? "x.ts" : "spec.md"), "x");
  }
  const find = (prompt: string, cwd = root) => foldersIn(prompt, { cwd, root });
  const a = join(root, "docs/features/a");
  expect(find(`Review docs/features/a. See \`${a}/\` and src/code/.`)).toEqual([a]);
  expect(find("Review features/a.", join(root, "docs"))).toEqual([a]);
  expect(find("docs/features/a or docs/features/b")).toHaveLength(2);
  expect(find(`${root} ${base}/other ../other docs/features/../../../other / // nothing`)).toEqual([]);
});
