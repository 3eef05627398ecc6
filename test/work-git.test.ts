/** File changes without a tool event, and work in linked worktrees: the built hook and CLI on real repositories. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";

interface Repository extends Scratch {
  git(...words: string[]): string;
  /** Claims a new task for a session, in a folder. */
  claim(session: string, options?: { cwd?: string; files?: string }): string;
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  wip(task: string): any;
}

function repository(): Repository {
  const scratch = scratchProject();
  const { root, home } = scratch;
  rmSync(join(root, ".git"), { recursive: true });
  const identity = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", HOME: home };
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  const git = (...words: string[]) =>
    execFileSync("git", [...who, ...words], { cwd: root, encoding: "utf8", env: { ...process.env, ...identity } });
  git("init", "-q", "-b", "main");
  for (const name of ["a", "b", "c", "d"]) scratch.write(`src/${name}.ts`, `${name}\n`);
  scratch.write(".gitignore", ".haversack\nignored.txt\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  scratch.haversack(["init", "--bare"]);
  scratch.haversack(["skill", "index"]);
  return {
    ...scratch,
    git,
    claim(session, { cwd = root, files } = {}) {
      const more = files === undefined ? [] : ["--files", files];
      const { id } = scratch.haversack(["task", "create", `Work of ${session}`, ...more, "--json"]).json();
      const claimed = scratch.haversack(["claim", id], { cwd, env: { CLAUDE_CODE_SESSION_ID: session } });
      expect(claimed).toMatchObject({ code: 0, err: "" });
      return id;
    },
    wip: (task) => scratch.haversack(["wip", task, "--json"]).json().wip,
  };
}

const event = (cwd: string, session: string, name: string, more = {}) => ({
  session_id: session,
  cwd,
  transcript_path: join(cwd, "none.jsonl"),
  hook_event_name: name,
  ...more,
});
const wrote = (cwd: string, session: string, file: string) =>
  event(cwd, session, "PostToolUse", {
    tool_name: "Write",
    tool_use_id: `write-${file}`,
    tool_input: { file_path: file, content: "x" },
    tool_response: { type: "create" },
  });

describe("files that shell commands changed", () => {
  it.each([
    ["Stop", {}],
    ["SessionEnd", { reason: "other" }],
    ["PreCompact", { trigger: "auto" }],
    ["SessionStart", { source: "compact" }],
  ])("are in the WIP after %s, without what was there before the claim", (name, more) => {
    const { root, write, git, claim, wip, hook } = repository();
    write("src/d.ts", "changed before\n");
    write("notes.txt", "new before\n");
    const task = claim("s1");
    write("src/a.ts", "changed by sed\n");
    git("mv", "src/b.ts", "src/moved.ts");
    write("src/c.ts", "changed and committed\n");
    git("commit", "-qm", "second", "src/c.ts");
    write("generated.ts", "new\n");
    write("ignored.txt", "new\n");

    expect(hook(event(root, "s1", name, more))).toMatchObject({ code: 0, err: "" });
    const { files_modified: changed, uncommitted_files: open, worktree } = wip(task);
    expect([...changed].sort()).toEqual(["generated.ts", "src/a.ts", "src/b.ts", "src/c.ts", "src/moved.ts"]);
    expect([...open].sort()).toEqual(["generated.ts", "src/a.ts", "src/b.ts", "src/moved.ts"]);
    expect(worktree).toBeUndefined();

    // A file that was dirty before counts as ours once it changes again. Committed files are no longer open.
    write("src/d.ts", "changed again, and longer\n");
    git("add", "generated.ts", "src");
    git("commit", "-qm", "third");
    hook(event(root, "s1", name, more));
    expect(wip(task).files_modified).toContain("src/d.ts");
    expect(wip(task)).toMatchObject({ uncommitted_files: [], uncommitted_changes: false });
  });

  it("are nobody's when they may be another's", () => {
    const { root, write, claim, wip, hook } = repository();
    const one = claim("s1", { files: "src/a.ts" });
    const two = claim("s2", { files: "src/b.ts" });
    for (const name of ["a", "b", "c"]) write(`src/${name}.ts`, "changed by somebody\n");
    hook(event(root, "s1", "Stop"));
    hook(event(root, "s2", "Stop"));
    expect(wip(one).files_modified).toEqual(["src/a.ts"]);
    expect(wip(two).files_modified).toEqual(["src/b.ts"]);
  });

  it("are not taken from a session that has no task; what it committed is settled", () => {
    const { root, write, git, hook, haversack } = repository();
    hook(wrote(root, "s1", write("src/a.ts", "edited\n")));
    write("src/b.ts", "by sed\n");
    hook(event(root, "s1", "Stop"));
    const wip = () => haversack(["wip", "--session", "s1", "--json"]).json().wip;
    expect(wip()).toMatchObject({ files_modified: ["src/a.ts"], uncommitted_files: ["src/a.ts"] });
    git("commit", "-qam", "by hand, in another terminal");
    hook(event(root, "s1", "Stop"));
    expect(wip()).toMatchObject({ files_modified: ["src/a.ts"], uncommitted_files: [], uncommitted_changes: false });
  });

  it.each([
    ["takes too long", "#!/bin/sh\nexec sleep 30\n"],
    ["has too much to say", "#!/bin/sh\nhead -c 5000000 /dev/zero\n"],
    ["fails", "#!/bin/sh\nexit 128\n"],
  ])("are not looked for when git %s", (_, script) => {
    const { root, home, write, claim, wip, hook, haversack } = repository();
    const task = claim("s1");
    hook(wrote(root, "s1", write("src/a.ts", "edited\n")));
    write("src/b.ts", "by sed\n");
    const bin = join(home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "git"), script);
    chmodSync(join(bin, "git"), 0o755);
    const env = { PATH: `${bin}:${process.env["PATH"]}` };
    expect(hook(event(root, "s1", "Stop"), { env })).toMatchObject({ code: 0, out: "", err: "" });
    expect(wip(task)).toMatchObject({ files_modified: ["src/a.ts"], uncommitted_files: ["src/a.ts"] });
    expect(haversack(["log", "--json"]).json().entries).toEqual([]);
  });
});

describe("work in a linked worktree", () => {
  it("has paths relative to it, says which it is, and what is not committed there", () => {
    const { root, git, claim, wip, hook, haversack } = repository();
    const tree = join(root, "../tree");
    git("worktree", "add", "-q", tree, "-b", "feature");
    const task = claim("s1", { cwd: tree });
    hook(wrote(tree, "s1", join(tree, "src/a.ts")));
    expect(wip(task)).toMatchObject({
      worktree: tree,
      files_modified: ["src/a.ts"],
      uncommitted_files: ["src/a.ts"],
      uncommitted_changes: true,
    });
    const shown = haversack(["wip", task]).out;
    expect(shown).toContain(`- Worktree: ${tree}`);
    expect(shown).toContain("- Not committed: src/a.ts");

    // Changes by a shell command there, seen from a subfolder.
    writeFileSync(join(tree, "src/b.ts"), "by sed\n");
    writeFileSync(join(tree, "src/a.ts"), "edited\n");
    hook(event(join(tree, "src"), "s1", "Stop"));
    expect(wip(task)).toMatchObject({ worktree: tree, files_modified: ["src/a.ts", "src/b.ts"] });

    // The packet after a compaction says so too.
    const packet = hook(event(tree, "s1", "SessionStart", { source: "compact" })).out;
    expect(packet).toContain(`Worktree: ${tree}`);
    expect(packet).not.toContain(`${tree}/src/a.ts`);
    expect(packet).toMatch(/Not committed: src\/a\.ts, src\/b\.ts|src\/a\.ts.*src\/b\.ts/);

    git("-C", tree, "commit", "-qam", "in the tree");
    hook(event(tree, "s1", "Stop"));
    expect(wip(task)).toMatchObject({ uncommitted_files: [], uncommitted_changes: false });
  });

  it("that moves on to another worktree keeps the whole paths of what it left", () => {
    const { root, git, claim, wip, hook } = repository();
    const tree = join(root, "../tree");
    git("worktree", "add", "-q", tree, "-b", "feature");
    const task = claim("s1");
    hook(wrote(root, "s1", join(root, "src/a.ts")));
    // A file of the worktree, edited from the main one.
    hook(wrote(root, "s1", join(tree, "src/b.ts")));
    expect(wip(task)).toMatchObject({
      worktree: tree,
      files_modified: [join(root, "src/a.ts"), "src/b.ts"],
      uncommitted_files: [join(root, "src/a.ts"), "src/b.ts"],
    });
    hook(wrote(root, "s1", join(root, "src/c.ts")));
    const { worktree, files_modified: files } = wip(task);
    expect(worktree).toBeUndefined();
    expect(files).toEqual(["src/a.ts", join(tree, "src/b.ts"), "src/c.ts"]);
  });
});
