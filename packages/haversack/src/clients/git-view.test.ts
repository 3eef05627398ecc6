import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { excludeFile, gitView, gitViews } from "./git-view.ts";

let root: string;
beforeEach(() => {
  root = join(realpathSync(mkdtempSync(join(tmpdir(), "haversack-test-"))), "it's [a] repo");
  onTestFinished(() => rmSync(join(root, ".."), { recursive: true, force: true }));
  mkdirSync(join(root, "sub"), { recursive: true });
});
const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { stdio: "pipe" });

it("tells ignored, open and committed files apart", () => {
  const view = () => gitView(root, join(root, "sub/x.json"));
  expect(view()).toBe("no-repository");
  expect(excludeFile(root)).toBeUndefined();
  git("init", "--quiet");
  expect(view()).toBe("open");
  writeFileSync(join(root, ".gitignore"), "x.json\n");
  expect(view()).toBe("ignored");
  writeFileSync(join(root, "sub/x.json"), "{}");
  git("add", "--force", "sub/x.json");
  expect(view()).toBe("tracked");
  expect(excludeFile(root)).toBe(join(root, ".git/info/exclude"));
});

it("answers for several at once, in their order, whatever their names", () => {
  git("init", "--quiet");
  const names = ["a*b.json", "sub/größe.json", 'sub/"q".json', "axb.json", "sub", "none/[x].json"];
  writeFileSync(join(root, ".gitignore"), "gr*.json\nnone/\n");
  for (const name of ["axb.json", 'sub/"q".json']) {
    writeFileSync(join(root, name), "{}");
    git("add", name);
  }
  const paths = names.map((name) => join(root, name));
  expect(gitViews(root, paths)).toEqual(["open", "ignored", "tracked", "tracked", "tracked", "ignored"]);
});

it("says when git cannot be asked", () => {
  mkdirSync(join(root, ".git"));
  expect(gitView(root, join(root, "x"))).toBe("no-git");
  expect(excludeFile(root)).toBeUndefined();
});
