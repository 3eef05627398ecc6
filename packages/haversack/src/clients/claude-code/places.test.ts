import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { claudePlaces, findClaude } from "./places.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-test-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  mkdirSync(join(base, "repo/sub"), { recursive: true });
});
const git = (...args: string[]) =>
  execFileSync("git", ["-C", join(base, "repo"), "-c", "user.name=t", "-c", "user.email=t@example.invalid", ...args], {
    stdio: "pipe",
  });

describe("claudePlaces", () => {
  it("is the main repository's root from a sub-folder, a worktree and through a link", () => {
    git("init", "--quiet");
    git("commit", "--quiet", "--allow-empty", "-m", "x");
    git("worktree", "add", "--quiet", join(base, "tree"));
    symlinkSync(join(base, "repo"), join(base, "link"));
    for (const folder of ["repo", "repo/sub", "tree", "link/sub"]) {
      expect(claudePlaces(join(base, folder), { HOME: "/h" }).root).toBe(join(base, "repo"));
    }
  });

  it("knows where the client keeps its own files", () => {
    expect(claudePlaces(base, { HOME: "/h" })).toMatchObject({
      userSettings: "/h/.claude/settings.json",
      state: "/h/.claude.json",
    });
    expect(claudePlaces(base, { HOME: "/h", CLAUDE_CONFIG_DIR: "/c" })).toMatchObject({
      userSettings: "/c/settings.json",
      state: "/c/.claude.json",
    });
  });
});

describe("findClaude", () => {
  it("finds the program and the folders, or nothing", () => {
    const env = { HOME: join(base, "home"), PATH: join(base, "bin") };
    expect(findClaude(base, env)).toEqual([]);
    mkdirSync(join(base, "bin"));
    writeFileSync(join(base, "bin/claude"), "", { mode: 0o755 });
    mkdirSync(join(base, ".claude"));
    mkdirSync(join(base, "home/.claude"), { recursive: true });
    expect(findClaude(base, env)).toEqual([
      `the program ${join(base, "bin/claude")}`,
      `the folder ${join(base, ".claude")}`,
      `the folder ${join(base, "home/.claude")}`,
    ]);
  });
});
