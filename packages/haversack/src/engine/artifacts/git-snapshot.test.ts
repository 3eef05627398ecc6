import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { differenceBetween, takeSnapshot } from "./git-snapshot.ts";

function scratch({ hasRepository = true } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "haversack-snapshot-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const state = join(root, ".haversack");
  mkdirSync(state);
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], {
      cwd: root,
      encoding: "utf8",
    });
  if (hasRepository) git("init", "-q");
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const take = () => takeSnapshot(root, state) ?? "none";
  const between = (from: string, to: string, only?: string[]) =>
    differenceBetween(root, { state, from, to, ...(only && { only }) })?.diff;
  return { root, state, git, write, take, between };
}

it("holds what is committed, changed, staged, new and deleted, before the first commit too", () => {
  const { write, take, between, git, root } = scratch();
  write("a.md", "one\n");
  write("ä ö.md", "umlauts\n");
  const first = take();
  git("add", ".");
  git("commit", "-qm", "start");
  expect(between(first, take())).toBe("");
  write("a.md", "two\n");
  git("add", "a.md");
  write("a.md", "three\n");
  write("new/b.md", "fresh\n");
  rmSync(join(root, "ä ö.md"));
  const index = readFileSync(join(root, ".git/index"));
  const second = take();
  expect(readFileSync(join(root, ".git/index")).equals(index)).toBe(true);
  const diff = between(first, second) ?? "";
  for (const line of ["-one", "+three", "+fresh", "-umlauts"]) expect(diff).toContain(`${line}\n`);
  expect(diff).not.toContain("two");
  expect(between(first, second, ["new"])).not.toContain("three");
});

it("leaves out what git ignores, what is too large, our own state, and the history of reviews", () => {
  const { write, take, between } = scratch();
  write(".gitignore", "secret.txt\n");
  const first = take();
  write("secret.txt", "SECRET\n");
  write("data.bin", "x".repeat(5_000_001));
  write(".haversack/note.md", "STATE\n");
  write("f/.review-history.md", "HISTORY\n");
  write("f/.meta.json", "{}\n");
  expect(between(first, take())).toBe("");
});

it("is unknown without a repository, without our folder, and for what is no tree", () => {
  expect(scratch({ hasRepository: false }).take()).toBe("none");
  const { root, take, between, state } = scratch();
  const tree = take();
  expect(between("--output=/tmp/x", tree)).toBeUndefined();
  expect(between("0".repeat(40), tree)).toBeUndefined();
  rmSync(state, { recursive: true });
  expect(takeSnapshot(root, state)).toBeUndefined();
});
