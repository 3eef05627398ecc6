/**
 * A repository with symbolic links wherever Haversack writes. The user accepted the project before a pull brought the links. No command or event
 * may change anything outside of the project.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DIST } from "./bins.ts";

/** Paths in `.haversack/` and beside it. Those that end with a slash are folders. */
const LINKS = [
  ".haversack/codex-turn.json",
  ".haversack/off",
  ".haversack/wiring.json",
  ".haversack/config.json",
  ".haversack/artifacts.json",
  ".haversack/opencode-skills.json",
  ".haversack/log/",
  ".haversack/spool/",
  ".haversack/snapshots/",
  ".haversack/skills/",
  ".claude/settings.local.json",
  ".claude/commands/",
  ".codex/",
  ".gemini/settings.json",
  ".opencode/plugins/",
  "work.jsonl",
  "backup.db",
  "results.jsonl",
];

type Kind = "to what is there" | "to nothing" | "in the middle";

function attacked(kind: Kind) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-links-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [origin, root, home, outside] = ["origin", "clone", "home", "outside"].map((name) => join(base, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const folder of [origin, home, outside]) mkdirSync(folder);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: base };
  const git = (cwd: string, ...words: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.invalid", ...words], {
      cwd,
      env,
      stdio: "pipe",
    });
  const run = (args: string[], input = "") => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, input, encoding: "utf8" });
    return { code: status, out: stdout, err: stderr };
  };
  const haversack = (...words: string[]) => run([join(DIST, "haversack.cjs"), ...words]);
  const hook = (event: object, client = "claude-code") =>
    run([join(DIST, "hook.cjs"), client], JSON.stringify({ session_id: "s", cwd: root, ...event }));

  git(origin, "init", "--quiet");
  mkdirSync(join(origin, "skills/a"), { recursive: true });
  writeFileSync(join(origin, "skills/a/SKILL.md"), "---\nname: a\ndescription: Use for errors.\n---\n");
  writeFileSync(join(origin, "cases.jsonl"), '{"prompt":"errors","expected":["a"]}\n');
  git(origin, "add", "--all");
  git(origin, "commit", "--quiet", "--message", "one");
  git(base, "clone", "--quiet", origin, root);
  expect(haversack("init", "--bare").code).toBe(0);
  expect(haversack("task", "create", "first").code).toBe(0);

  for (const path of LINKS) {
    const isFolder = path.endsWith("/");
    const name = path.replace(/\/$/, "").replaceAll("/", "_");
    const goal = join(outside, name);
    // The parent folder of a file or folder is the link.
    const link =
      kind === "in the middle" && path.includes("/") && !path.startsWith(".haversack/") ? dirname(path) : path;
    const place = join(origin, link.replace(/\/$/, ""));
    if (lstatSync(place, { throwIfNoEntry: false })) continue;
    mkdirSync(dirname(place), { recursive: true });
    if (kind !== "to nothing") {
      if (isFolder || link !== path) mkdirSync(goal);
      else writeFileSync(goal, "{}");
      if (isFolder || link !== path) writeFileSync(join(goal, "kept"), "kept");
    }
    symlinkSync(goal, place);
  }
  git(origin, "add", "--all", "--force");
  git(origin, "commit", "--quiet", "--message", "links");
  for (const path of LINKS) rmSync(join(root, path), { recursive: true, force: true });
  git(root, "pull", "--quiet");
  expect(lstatSync(join(root, ".haversack/log")).isSymbolicLink()).toBe(true);

  const contents = () =>
    readdirSync(outside, { recursive: true, withFileTypes: true })
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return entry.isFile() ? `${path}: ${readFileSync(path, "utf8")}` : path;
      })
      .sort();
  return { base, root, home, outside, git, haversack, hook, run, contents, before: contents() };
}

describe("a repository with links where Haversack writes", () => {
  it.each<Kind>(["to what is there", "to nothing", "in the middle"])(
    "links %s: nothing outside changes",
    (kind) => {
      const { root, haversack, hook, run, contents, before } = attacked(kind);
      const turn = { type: "agent-turn-complete", client: "tui", "thread-id": "s", "turn-id": "t", cwd: root };
      const events = [
        () => run([join(DIST, "hook-codex-notify.cjs"), JSON.stringify(turn)]),
        () => hook({ hook_event_name: "SessionStart", source: "startup" }),
        () => hook({ hook_event_name: "UserPromptSubmit", prompt: "errors" }),
        // Causes a fault, which has to be logged.
        () => hook({ hook_event_name: "PostToolUse", tool_name: "Edit", tool_input: 7, tool_response: [] }),
      ];
      const happen = () => {
        for (const event of events) expect(event()).toMatchObject({ code: 0, err: "" });
        expect(contents()).toEqual(before);
      };
      happen();
      const commands = [
        ["off"],
        ["on"],
        ["init", "--yes", "--client", "claude-code"],
        ["init", "--yes", "--client", "codex"],
        ["init", "--yes", "--client", "gemini"],
        ["init", "--yes", "--client", "opencode"],
        ["config", "set", "skills.max_skills", "3"],
        ["skill", "defer", "--all", "--client", "claude-code"],
        ["skill", "new", "b", "--in", ".haversack/skills"],
        ["workflow", "add", "development"],
        ["artifacts", "init"],
        ["skill", "eval", "--skills", "skills", "--cases", "cases.jsonl", "--results", "results.jsonl"],
        ["export", "work.jsonl"],
        ["store", "backup", "backup.db"],
        ["store", "purge", "--older-than", "0d", "--yes"],
        ["uninstall", "--yes"],
      ];
      for (const words of commands) {
        const { code, err } = haversack(...words);
        // The error has no stack trace.
        expect(err, words.join(" ")).not.toMatch(/\n\s+at /);
        expect([0, 1, 3], words.join(" ")).toContain(code);
        expect(contents(), words.join(" ")).toEqual(before);
        // Until now a link in place of the file `off` kept the hooks silent.
        if (words[0] === "on") happen();
      }
      expect(contents()).toEqual(before);
    },
    300_000,
  );

  it("says in one line which link is in the way", () => {
    const { root, git, haversack } = attacked("to nothing");
    // Commands would report this one first: settings are not read through a link.
    rmSync(join(root, ".haversack/config.json"));
    const refused = (path: string) =>
      new RegExp(
        `^haversack: [^\\n]*${path.replaceAll(".", "\\.")}: nothing was written, because it is a symbolic link`,
      );
    expect(haversack("off")).toMatchObject({ code: 3, out: "", err: expect.stringMatching(refused(".haversack/off")) });
    expect(haversack("export", "work.jsonl").err).toMatch(refused("work.jsonl"));
    const init = () => haversack("init", "--yes", "--client", "claude-code").err;
    expect(init()).toContain(".claude/settings.local.json is committed in this repository");
    git(root, "rm", "--quiet", "--cached", ".claude/settings.local.json");
    expect(init()).toMatch(refused(".claude/settings.local.json"));
    expect(readlinkSync(join(root, ".claude/settings.local.json"))).toContain("outside");
  }, 120_000);

  it("may still be switched on: the link goes, and what it leads to stays", () => {
    const { root, haversack, contents, before } = attacked("to what is there");
    expect(haversack("on").out).toContain("Haversack is on");
    expect(lstatSync(join(root, ".haversack/off"), { throwIfNoEntry: false })).toBeUndefined();
    expect(contents()).toEqual(before);
  }, 120_000);
});

describe("a hostile wiring.json", () => {
  it("makes uninstall remove nothing outside, and each strange entry is named", () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-wiring-")));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    const [root, home, outside] = [join(base, "p"), join(base, "home"), join(base, "outside")];
    for (const folder of [join(root, ".git"), join(root, ".claude"), home, join(outside, "empty/inner")]) {
      mkdirSync(folder, { recursive: true });
    }
    writeFileSync(join(outside, "settings.json"), "{}\n");
    const haversack = (...words: string[]) =>
      spawnSync(process.execPath, [join(DIST, "haversack.cjs"), ...words], {
        cwd: root,
        env: { PATH: process.env["PATH"] ?? "", HOME: home },
        encoding: "utf8",
      });
    expect(haversack("init", "--yes", "--client", "claude-code").status).toBe(0);
    const file = join(root, ".haversack/wiring.json");
    const receipt = JSON.parse(readFileSync(file, "utf8"));
    const settings = join(root, ".claude/settings.local.json");
    receipt.files[settings].folders = [
      join(outside, "empty"),
      join(outside, "empty/inner"),
      `${root}/.claude/../../outside/empty`,
    ];
    receipt.files[join(outside, "settings.json")] = { isNew: true, folders: [outside], keep: [] };
    receipt.files[join(outside, "broken")] = null;
    receipt.deferred = { entries: { [join(outside, "settings.json")]: { a: "off" } }, files: 7, paused: [] };
    writeFileSync(file, JSON.stringify(receipt));
    const { status, stderr } = haversack("uninstall", "--yes");
    expect(status).toBe(0);
    expect(existsSync(settings)).toBe(false);
    expect(existsSync(join(outside, "empty/inner"))).toBe(true);
    expect(readFileSync(join(outside, "settings.json"), "utf8")).toBe("{}\n");
    const said = stderr.replace(/\s+/g, " ");
    expect(said).toContain("outside/settings.json");
    expect(said).toContain("which Haversack does not write: it was left alone");
    expect(said).toContain("outside/empty/inner");
  });
});

describe("settings that the user keeps elsewhere", () => {
  it("are changed where the user's link leads, and the link stays", () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-dotfiles-")));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    const [root, home, dotfiles] = [join(base, "p"), join(base, "home"), join(base, "dotfiles")];
    for (const folder of [join(root, ".git"), join(home, ".claude"), join(home, ".config"), dotfiles]) {
      mkdirSync(folder, { recursive: true });
    }
    writeFileSync(join(dotfiles, "settings.json"), "{}\n");
    symlinkSync(join(dotfiles, "settings.json"), join(home, ".claude/settings.json"));
    symlinkSync(dotfiles, join(home, ".config/haversack"));
    const haversack = (...words: string[]) =>
      spawnSync(process.execPath, [join(DIST, "haversack.cjs"), ...words], {
        cwd: root,
        env: { PATH: process.env["PATH"] ?? "", HOME: home },
        encoding: "utf8",
      });
    expect(haversack("init", "--user", "--yes", "--client", "claude-code").status).toBe(0);
    expect(readFileSync(join(dotfiles, "settings.json"), "utf8")).toContain("hook.cjs");
    expect(haversack("config", "set", "--user", "skills.max_skills", "3").status).toBe(0);
    expect(readFileSync(join(dotfiles, "config.json"), "utf8")).toContain("max_skills");
    expect(haversack("uninstall", "--user", "--yes").status).toBe(0);
    expect(readFileSync(join(dotfiles, "settings.json"), "utf8")).toBe("{}\n");
    expect(lstatSync(join(home, ".claude/settings.json")).isSymbolicLink()).toBe(true);
  });
});
