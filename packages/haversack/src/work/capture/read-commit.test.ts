import { describe, expect, it } from "vitest";
import { readCommit } from "./read-commit.ts";
import { commandsIn } from "./shell-words.ts";

const read = (line: string, text: string, isOk = true) => readCommit(commandsIn(line), { text, isOk: () => isOk });
const ONE = "[main 26bb204] Fix it\n 1 file changed, 1 insertion(+)\n";

describe("readCommit", () => {
  // Recorded from git 2.39.
  it.each([
    [
      "a first commit",
      "[main (root-commit) 81da786] first one\n 1 file changed, 1 insertion(+)\n create mode 100644 a\n",
      "81da786",
    ],
    ["a detached head", "[detached HEAD 03a4a34] third\n 1 file changed, 1 insertion(+)\n", "03a4a34"],
    ["a message with brackets", "[main 26bb204] fix [x]: second\n 1 file changed, 1 insertion(+)\n", "26bb204"],
    [
      "an amended commit",
      "[main a3a4cf9] amended\n Date: Sun Nov 1 21:07:01 2026 +0000\n 1 file changed, 1 insertion(+)\n",
      "a3a4cf9",
    ],
  ])("reads %s", (_, text, sha) => expect(read("git commit -m x", text)).toMatchObject({ sha, files: "all" }));

  it.each([
    ["git commit -am x", "all"],
    ["git commit --all -m x", "all"],
    ["git add -A && git commit -m x", "all"],
    ["git add src/*.ts && git commit -m x", "all"],
    ["git add a.ts b.ts && git commit -m 'c.ts d.ts'", ["a.ts", "b.ts"]],
    ["git add . && git commit -m x", ["."]],
    ["git commit -m x -- a.ts", ["a.ts"]],
    ["git commit a.ts -m x", ["a.ts"]],
    ["git commit -m x", "all"],
    ["git commit -F message.txt", "all"],
    ["git -c user.name=a commit -m x lib", ["lib"]],
  ])("%s settles what it names", (line, files) => expect(read(line, ONE)?.files).toEqual(files));

  it("keeps the folder of the command", () => {
    expect(read("cd web && git -C lib commit a.ts -m x", ONE)).toMatchObject({
      folders: ["web", "lib"],
      files: ["a.ts"],
    });
  });

  it("takes the last of several commits, and all their files", () => {
    expect(read("git commit a -m 1 && git commit b -m 2", `${ONE}[main 1234567] Two\n 1 file changed\n`)).toEqual({
      sha: "1234567",
      files: ["a", "b"],
      folders: [],
    });
  });

  it("believes a quiet commit when the exit code speaks for it", () => {
    expect(read("git commit -qm x", "")).toEqual({ files: "all", folders: [] });
    expect(read("git commit -qm x && git log --oneline -1", "3942ee6 x\n")?.sha).toBe("3942ee6");
    expect(read("git commit -qm x", "", false)).toBeUndefined();
  });

  it("settles no files with an empty commit, a merge or a cherry-pick", () => {
    expect(read("git commit --allow-empty -m x", "[main 26bb204] x\n")).toMatchObject({ sha: "26bb204", files: [] });
    expect(read("git cherry-pick abc", ONE)).toMatchObject({ sha: "26bb204", files: [] });
  });

  it.each([
    ["git commit -m x", "On branch main\nnothing to commit, working tree clean\n"],
    ["git commit -m x", "husky - pre-commit script failed (code 1)\n"],
    ["git commit --dry-run", "On branch main\nChanges to be committed:\n"],
    ["git checkout main", ONE],
    ["git stash", ONE],
    ["git reset --hard", "HEAD is now at 26bb204 x\n"],
    ["echo '[main 26bb204] x'", ONE],
    ["git log", ONE],
  ])("makes nothing up from %s", (line, text) => expect(read(line, text, line.includes("dry"))).toBeUndefined());
});
