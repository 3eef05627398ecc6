import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { WorkPusher } from "./push-work.ts";

function repository() {
  const base = mkdtempSync(join(tmpdir(), "haversack-push-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const env = { PATH: process.env["PATH"] ?? "", HOME: base, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (folder: string, ...words: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.invalid", ...words], {
      cwd: join(base, folder),
      env,
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  git(".", "init", "--quiet", "--bare", "-b", "main", "there.git");
  git(".", "clone", "--quiet", "there.git", "here");
  git("here", "switch", "--quiet", "-c", "main");
  const commit = (text: string, folder = "here") => {
    writeFileSync(join(base, folder, "file"), text);
    git(folder, "add", "file");
    git(folder, "commit", "--quiet", "-m", text);
    return git(folder, "rev-parse", "HEAD");
  };
  const pusher = (more: object = {}) =>
    new WorkPusher({
      ...{ cwd: join(base, "here"), remote: "origin", name: "{branch}", machine: "build 3", runId: "R1", env, ...more },
    });
  const there = (branch: string) => git("there.git", "rev-parse", branch);
  return { git, commit, pusher, there };
}

it("pushes each commit once, to the branch that the config names", async () => {
  const { commit, pusher, there, git } = repository();
  const first = commit("one");
  const push = pusher({ name: "work/{machine}" });
  expect(await push.push()).toEqual([{ kind: "pushed", to: "origin work/build-3" }]);
  expect(there("work/build-3")).toBe(first);
  expect(await push.push()).toEqual([{ kind: "unchanged" }]);
  const second = commit("two");
  git("here", "branch", "haversack/run-R1", first);
  expect(await push.push()).toEqual([
    { kind: "pushed", to: "origin work/build-3" },
    { kind: "pushed", to: "origin haversack/run-R1" },
  ]);
  expect([there("work/build-3"), there("haversack/run-R1")]).toEqual([second, first]);
});

it("never forces: other commits there stay, and that is said", async () => {
  const { commit, pusher, there, git } = repository();
  commit("one");
  const push = pusher();
  await push.push();
  git(".", "clone", "--quiet", "there.git", "other");
  const theirs = commit("theirs", "other");
  git("other", "push", "--quiet", "origin", "main");
  commit("ours");
  const [refused] = await push.push();
  expect(refused).toMatchObject({ kind: "refused", why: expect.stringMatching(/rejected|failed to push/) });
  expect(there("main")).toBe(theirs);
  expect(await push.push()).toEqual([{ kind: "unchanged" }]);
});

it("pushes to a remote of the repository only, and to a name that git takes", async () => {
  const { commit, pusher } = repository();
  commit("one");
  expect(await pusher({ remote: "https://example.invalid/x.git" }).push()).toEqual([
    { kind: "refused", why: "there is no remote https://example.invalid/x.git" },
  ]);
  expect(await pusher({ name: "a..b" }).push()).toEqual([{ kind: "refused", why: "a..b is not a valid branch name" }]);
});
