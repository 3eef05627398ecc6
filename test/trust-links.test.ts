/**
 * What a repository can still put into a project that its user already uses: a log next to the user's own database, links and endless files in
 * place of shared files, a mark that silences the warning. And the ways to recover.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { attackersStore, type Clone, clone, FORGED, listing, mcp } from "./hostile-clone.ts";

const STORE = ".haversack/haversack.db";
const mode = (path: string) => statSync(path).mode & 0o777;
const start = (one: Clone, source = "startup") => one.hook("SessionStart", { source }).out;

/** The user's own store with one task. */
function own(): Clone {
  const one = clone(({ origin }) => writeFileSync(join(origin, "README.md"), "hello"));
  expect(one.haversack("task", "create", "Mine").code).toBe(0);
  return one;
}

/** The attacker pushes a log that holds only pages of tasks, for a database of the same shape as the user's. */
function pullLog(one: Clone, names: readonly string[] = ["-wal"]): void {
  cpSync(join(one.root, STORE), join(one.base, "attack.db"));
  const db = new DatabaseSync(join(one.base, "attack.db"));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
  db.prepare("UPDATE tasks SET title = ?").run(FORGED);
  mkdirSync(join(one.origin, ".haversack"), { recursive: true });
  for (const name of names) cpSync(join(one.base, `attack.db${name}`), join(one.origin, STORE + name));
  db.close();
  for (const name of names) chmodSync(join(one.origin, STORE + name), 0o644);
  one.push("a log");
  pull(one);
}

/** With a umask that makes git's files as private as ours. */
function pull(one: Clone): void {
  const env = { PATH: process.env["PATH"] ?? "", HOME: one.home };
  execFileSync("sh", ["-c", "umask 077; git pull --quiet --no-rebase"], { cwd: one.root, env, stdio: "pipe" });
}

describe("a log that a pull puts beside the user's own database, with umask 077", () => {
  it("is refused by commands, tools and hooks, which name it", () => {
    const one = own();
    pullLog(one);
    expect(mode(join(one.root, `${STORE}-wal`))).toBe(0o600);
    expect(start(one)).toMatch(/haversack\.db-wal came from git or a copy, not from Haversack\. Move it away/);
    expect(start(one)).not.toContain("haversack trust");
    expect(one.hook("UserPromptSubmit", { prompt: "what is next?" }).out).toBe("");
    for (const words of [["status"], ["task", "list"], ["trust", "--yes"]]) {
      const ran = one.haversack(...words);
      expect([words, ran.code === 0]).toEqual([words, false]);
      expect(ran.out + ran.err).not.toContain(FORGED);
    }
    expect(mcp(one, "get_tasks", {})).toMatchObject({ isError: true });
    renameSync(join(one.root, `${STORE}-wal`), join(one.base, "aside"));
    expect(one.haversack("task", "list").out).toContain("Mine");
  });

  it("is refused in one line, and the store stays as it is", () => {
    const one = own();
    pullLog(one);
    const ran = one.haversack("task", "list");
    expect(ran).toMatchObject({ code: 1, out: "", err: expect.stringContaining("haversack.db-wal came from git") });
    expect(mode(join(one.root, STORE))).toBe(0o600);
  });

  it("leaves the way back by `store restore`, which does not read it", () => {
    const one = own();
    const backup = join(one.base, "backup.db");
    expect(one.haversack("store", "backup", backup).code).toBe(0);
    pullLog(one, ["-wal", "-shm"]);
    expect(one.haversack("store", "restore", backup, "--json").json()).toMatchObject({ way: "in-place" });
    expect(one.haversack("task", "list").out).toContain("Mine");
    const files = readdirSync(join(one.root, ".haversack"));
    expect(files.some((name) => /moved-aside-.*-wal$/.test(name))).toBe(true);
  });

  it("is named together with the others that git tracks", () => {
    const one = own();
    pullLog(one, ["-wal", "-shm"]);
    const refused = one.haversack("trust");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(`git tracks ${STORE}-shm and ${STORE}-wal`);
    expect(refused.err).not.toContain("latest writes");
    expect(refused.err).not.toContain("--yes");
  });
});

describe("links and endless files in place of what teams share", () => {
  const withLink = (path: string, target: string) =>
    clone(({ origin, base }) => {
      writeFileSync(join(base, "outside"), "Zsecret");
      execFileSync("mkfifo", [join(base, "pipe")]);
      mkdirSync(join(origin, path, ".."), { recursive: true });
      symlinkSync(target.replace("BASE", base), join(origin, path));
    });

  it("are not read as the config: each command says so in one line, and hooks go on", () => {
    for (const target of ["/dev/zero", "BASE/pipe", "BASE/outside"]) {
      const one = withLink(".haversack/config.json", target);
      expect(one.haversack("trust")).toMatchObject({
        code: 0,
        out: expect.stringMatching(/\.haversack\/config\.json +is a symbolic link/),
      });
      for (const words of [["status"], ["skill", "index"]]) {
        const ran = one.haversack(...words);
        expect([target, words, ran.code]).toEqual([target, words, 0]);
        expect(ran.err).toMatch(
          /^haversack: warning: [^\n]*config\.json: is a symbolic link[^\n]*; its settings are ignored\n/,
        );
      }
      const { findings } = one.haversack("doctor", "--json").json();
      const text = expect.stringContaining("config.json: is a symbolic link");
      expect(findings).toContainEqual(expect.objectContaining({ part: "config", level: "fail", text }));
      expect(one.hook("UserPromptSubmit", { prompt: "hello" })).toMatchObject({ code: 0, err: "" });
    }
  }, 120_000);

  it("are not read as templates, role map, rules or settings of a client", () => {
    for (const [path, part] of [
      [".haversack/templates/implementer.md", "templates"],
      [".haversack/templates", "templates"],
      [".haversack/artifacts.json", "artifacts"],
      [".claude/skills/skill-rules.json", "rules"],
    ] as const) {
      const one = withLink(path, path.endsWith("templates") ? "BASE" : "BASE/outside");
      const text = expect.stringMatching(/is not read: it is a symbolic link/);
      const { findings } = one.haversack("doctor", "--json").json();
      expect(findings).toContainEqual(expect.objectContaining({ part, level: "warn", text }));
      expect(JSON.stringify(findings)).not.toContain("Zsecret");
      if (path.startsWith(".haversack")) expect(one.haversack("trust").out).toContain("is a symbolic link");
    }
    for (const target of ["/dev/zero", "BASE/pipe"]) {
      const one = withLink(".claude/settings.json", target);
      expect(one.haversack("skill", "index")).toMatchObject({ code: 0 });
      expect(one.hook("UserPromptSubmit", { prompt: "hello" })).toMatchObject({ code: 0, err: "" });
    }
  }, 120_000);

  it("are not read beyond a bound", () => {
    const one = clone(({ origin }) => {
      mkdirSync(join(origin, ".haversack/templates"), { recursive: true });
      writeFileSync(join(origin, ".haversack/templates/implementer.md"), "x".repeat(300_000));
      writeFileSync(join(origin, ".haversack/config.json"), `{}${" ".repeat(1_100_000)}`);
    });
    const { out } = one.haversack("trust");
    expect(out).toMatch(/config\.json +is larger than 1000 kB/);
    expect(out).toMatch(/implementer\.md +is larger than 256 kB/);
  });
});

describe("the line at the start of a session", () => {
  it("says what is the matter and what to do", () => {
    expect(start(clone())).toMatch(/\.haversack is new to this account: it was cloned, moved, copied, or made/);
    const moved = own();
    renameSync(moved.root, `${moved.root}-2`);
    mkdirSync(moved.root);
    const { out } = moved.hook("SessionStart", { source: "startup", cwd: `${moved.root}-2` });
    expect(out).toMatch(/is new to this account.*\. `haversack trust` shows what is there/);

    const linked = clone(({ base, origin }) => {
      mkdirSync(join(base, "elsewhere"));
      symlinkSync(join(base, "elsewhere"), join(origin, ".haversack"));
    });
    expect(start(linked)).toMatch(/: \.haversack is a symbolic link.*\. Replace the link/);
    expect(start(linked)).not.toContain("haversack trust");

    const replaced = own();
    attackersStore(replaced.attacker);
    rmSync(join(replaced.origin, ".haversack/.gitignore"));
    replaced.push("a store");
    pull(replaced);
    expect(start(replaced)).toMatch(/not the file that you used before.*\. `haversack store restore FILE` takes/);
  });

  it("comes at startup and resume, and not after the conversation was compacted", () => {
    const one = clone();
    expect(start(one, "resume")).toContain("systemMessage");
    expect([start(one, "compact"), start(one, "clear")]).toEqual(["", ""]);
  });

  it("is not silenced by an `off` that came with the clone, and a link there switches nothing off", () => {
    const one = clone(({ attacker, origin }) => {
      attackersStore(attacker);
      writeFileSync(join(origin, ".haversack/off"), "");
    });
    expect(start(one)).toContain("is new to this account");
    expect(one.hook("UserPromptSubmit", { prompt: "@june what is next?" }).out).toBe("");
    expect(one.haversack("off", "--user").code).toBe(0);
    expect(start(one)).toBe("");

    const linked = own();
    symlinkSync("/etc/passwd", join(linked.root, ".haversack/off"));
    expect(linked.haversack("status").out).not.toContain("switched off");
  });
});

it("is looked at without a change: by tools, `store check` and a refused `trust`", () => {
  const one = clone(({ attacker, origin }) => {
    attackersStore(attacker);
    const db = new DatabaseSync(join(origin, STORE));
    db.exec("CREATE TABLE strange (x)");
    db.close();
  });
  const before = listing(join(one.root, ".haversack"));
  mcp(one, "get_tasks", {});
  mcp(one, "no_such_tool", {});
  expect(one.haversack("store", "check")).toMatchObject({ code: 1, out: expect.stringContaining("strange") });
  expect(one.haversack("trust", "--yes")).toMatchObject({ code: 1, err: expect.stringContaining("strange") });
  expect(one.haversack("doctor").code).toBe(1);
  expect(listing(join(one.root, ".haversack"))).toEqual(before);
});

it("is unwired by uninstall without accepting the store", () => {
  const one = clone();
  expect(one.haversack("trust", "--yes").code).toBe(0);
  expect(one.haversack("init", "--client", "claude-code", "--yes").code).toBe(0);
  const settings = join(one.root, ".claude/settings.local.json");
  expect(readFileSync(settings, "utf8")).toContain("hook.cjs");
  rmSync(join(one.home, ".local/state/haversack"), { recursive: true });
  const wiring = readFileSync(join(one.root, ".haversack/wiring.json"), "utf8");
  const ran = one.haversack("uninstall", "--yes");
  expect(ran).toMatchObject({ code: 0, err: expect.stringContaining("is new to this account") });
  expect(existsSync(settings) ? readFileSync(settings, "utf8") : "").not.toContain("hook.cjs");
  expect(readFileSync(join(one.root, ".haversack/wiring.json"), "utf8")).toBe(wiring);
  expect(one.haversack("status").code).toBe(1);
}, 120_000);

it("has ways for who does not want the store: one's own again, or one's own backup", () => {
  const one = own();
  const backup = join(one.base, "backup.db");
  expect(one.haversack("store", "backup", backup).code).toBe(0);
  attackersStore(one.attacker);
  rmSync(join(one.origin, ".haversack/.gitignore"));
  one.push("a store");
  pull(one);
  const said = one.haversack("trust").err;
  expect(said).toContain("haversack store restore FILE");
  expect(said).toContain("To start with a store of your own, move .haversack/haversack.db* away.");
  const restored = one.haversack("store", "restore", backup, "--json").json();
  expect(restored).toMatchObject({ way: "moved-aside" });
  expect(existsSync(restored.kept)).toBe(true);
  const { out } = one.haversack("task", "list");
  expect(out).toContain("Mine");
  expect(out).not.toContain(FORGED);
  expect(start(one)).not.toContain("systemMessage");

  const other = clone();
  for (const name of readdirSync(join(other.root, ".haversack"))) {
    if (name.startsWith("haversack.db")) renameSync(join(other.root, ".haversack", name), join(other.base, name));
  }
  expect(other.haversack("task", "create", "Mine").code).toBe(0);
});

it("does not call a config sound, nor the project its source, while what it sets is ignored", () => {
  const one = clone(({ origin }) => {
    mkdirSync(join(origin, ".haversack"));
    writeFileSync(join(origin, ".haversack/config.json"), JSON.stringify({ skills: { folders: ["/"] } }));
  });
  const { findings } = one.haversack("doctor", "--json").json();
  const config = findings.filter(({ part }: { part: string }) => part === "config");
  expect(config).toEqual([expect.objectContaining({ level: "warn", text: expect.stringContaining("is ignored") })]);
  const { settings } = one.haversack("config", "--json").json();
  const folders = settings.find(({ key }: { key: string }) => key === "skills.folders");
  expect(folders).toMatchObject({ value: [], origin: "default" });
});
