/** `init`, `uninstall`, `off` and `doctor` in the linked git worktrees of a project, and several `init`s at once. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DIST } from "./bins.ts";
import { type Repo, repository, snapshot } from "./wiring-repo.ts";

/** A project with all four clients, and one linked worktree. */
function project(): { repo: Repo; side: string } {
  const repo = repository();
  for (const folder of [".claude", ".codex", ".gemini", ".config/opencode"]) {
    mkdirSync(join(repo.home, folder), { recursive: true });
  }
  repo.skill("pdf");
  repo.git("add", "-A");
  repo.git("commit", "-qm", "one");
  const side = join(repo.base, "side");
  repo.git("worktree", "add", "-q", side);
  return { repo, side };
}

const OWN = [".codex/hooks.json", ".gemini/settings.json", ".opencode/plugin/haversack.js"];

function own(folder: string): string[] {
  return OWN.filter((path) => existsSync(join(folder, path)));
}

it("wires a worktree where its clients look, and leaves the main checkout wired when the worktree is unwired", async () => {
  const { repo, side } = project();
  expect(await repo.cli("init", "--yes")).toMatchObject({ code: 0 });
  const before = snapshot(repo.root);
  const wired = await repo.cliIn(side, "init", "--yes");
  expect(wired.out).toContain(`To be written for ${side}, a worktree of ${repo.root}:`);
  expect(own(side)).toEqual(OWN);
  expect(existsSync(join(side, ".haversack"))).toBe(false);
  expect(repo.git("-C", side, "status", "--short")).toBe("");

  const removed = await repo.cliIn(side, "uninstall", "--yes");
  expect(removed).toMatchObject({ code: 0 });
  expect(removed.err).toContain(`Claude Code stays connected: all worktrees share its settings in ${repo.root}.`);
  expect(own(side)).toEqual([]);
  expect(existsSync(join(side, ".codex"))).toBe(false);
  const tree = snapshot(repo.root);
  delete before[join(repo.root, ".git/index")];
  delete tree[join(repo.root, ".git/index")];
  expect(tree).toEqual(before);
});

it("keeps the files of a worktree out of commits after the main checkout is unwired, and says that it stays wired", async () => {
  const { repo, side } = project();
  await repo.cli("init", "--yes");
  await repo.cliIn(side, "init", "--yes");
  const removed = await repo.cli("uninstall", "--yes");
  expect(removed.err).toContain(`Claude Code is then no longer connected in the worktree ${side} either`);
  expect(removed.err).toContain(`other clients stay connected in the worktree ${side}: run`);
  expect(own(repo.root)).toEqual([]);
  expect(own(side)).toEqual(OWN);
  expect(repo.git("-C", side, "status", "--short")).toBe("");

  // Git removes the worktree without --force, and the next uninstall removes what was kept for it.
  repo.git("worktree", "remove", side);
  expect((await repo.cli("uninstall", "--yes")).out).toContain("info/exclude");
  expect(repo.read(".git/info/exclude")).not.toContain(".codex");
  expect(existsSync(join(repo.root, ".haversack/wiring.json"))).toBe(false);
});

it("removes everything again when only a worktree was wired", async () => {
  const { repo, side } = project();
  const before = snapshot(repo.root, side, repo.home);
  await repo.cliIn(side, "init", "--yes");
  expect(repo.read(".claude/settings.local.json")).toContain("hook.cjs");
  expect(await repo.cliIn(side, "uninstall", "--yes")).toMatchObject({ code: 0, err: "" });
  const after = snapshot(repo.root, side, repo.home);
  for (const path of Object.keys(after)) if (/\.git\/|index$/.test(path)) after[path] = before[path] ?? "new";
  expect(after).toEqual(before);
});

it("forgets a worktree that git removed, also in a receipt of an earlier version", async () => {
  const { repo, side } = project();
  await repo.cliIn(side, "init", "--yes");
  repo.git("worktree", "remove", side);
  await repo.cli("init", "--yes");
  const { checkouts, files } = JSON.parse(repo.read(".haversack/wiring.json"));
  expect(checkouts).toEqual([repo.root]);
  expect(Object.keys(files).filter((path) => path.startsWith(side))).toEqual([]);

  // Earlier versions recorded no checkouts: what they wired counts for the main one.
  writeFileSync(join(repo.root, ".haversack/wiring.json"), JSON.stringify({ files, deferred: {} }));
  repo.git("worktree", "add", "-q", side);
  const removed = await repo.cliIn(side, "uninstall", "--yes");
  expect(removed.out).toContain("Nothing of Haversack in the settings of this worktree.");
  expect(repo.read(".claude/settings.local.json")).toContain("hook.cjs");
});

it("off in one checkout lists deferred skills again in all of them, and on hides them again", async () => {
  const { repo, side } = project();
  repo.write(".agents/skills/sql/SKILL.md", "---\nname: sql\ndescription: Makes queries fast.\n---\nBody.\n");
  await repo.cliIn(side, "init", "--yes");
  await repo.cli("init", "--yes");
  const hidden = () =>
    [repo.root, side].map((folder) => repo.read(join(folder, ".gemini/settings.json")).includes('"sql"'));
  await repo.cliIn(side, "skill", "defer", "sql", "--client", "gemini");
  await repo.cli("skill", "defer", "sql", "--client", "gemini");
  expect(hidden()).toEqual([true, true]);
  const off = await repo.cliIn(side, "off");
  expect(off.out).toContain(`Haversack is off in ${repo.root} and all its worktrees`);
  expect(hidden()).toEqual([false, false]);
  expect((await repo.cli("on")).out).toContain("Haversack is on.");
  expect(hidden()).toEqual([true, true]);
});

it("doctor names the worktree, and says what is not wired in it", async () => {
  const { repo, side } = project();
  await repo.cli("init", "--yes");
  const { out, code } = await repo.cliIn(side, "doctor");
  expect(code).toBe(0);
  expect(out).toContain(`Project: ${side}, a worktree of ${repo.root}\n`);
  expect(out).toMatch(/gemini hooks: not connected; `haversack init --client gemini` connects it/);
  expect(out).toMatch(/opencode plugin: not connected/);
}, 60_000);

it("several inits at once leave settings and a receipt that uninstall removes completely", async () => {
  const { repo } = project();
  const before = snapshot(repo.root, repo.home);
  const start = () =>
    new Promise<number | null>((resolve) => {
      const words = [join(DIST, "haversack.cjs"), "init", "--yes"];
      spawn(process.execPath, words, { cwd: repo.root, env: repo.env, stdio: "ignore" }).on("close", resolve);
    });
  for (let round = 0; round < 3; round++) {
    expect(await Promise.all([start(), start(), start(), start()])).toEqual([0, 0, 0, 0]);
    expect(JSON.parse(repo.read(".claude/settings.local.json")).hooks.UserPromptSubmit).toHaveLength(1);
    expect(existsSync(join(repo.root, ".haversack/wiring.lock"))).toBe(false);
    expect(await repo.cli("uninstall", "--yes")).toMatchObject({ code: 0 });
    expect(snapshot(repo.root, repo.home)).toEqual(before);
  }
}, 120_000);
