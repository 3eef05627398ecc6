/**
 * A cloned repository is hostile until its user accepts it. Each test is a real attack: a repository that brings its own store, wiring, settings,
 * templates or links, followed by a session or a command of the user.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { DIST } from "./bins.ts";
import { attackersStore, type Clone, clone, FORGED, listing, mcp } from "./hostile-clone.ts";

const NOTICE = /^\{"systemMessage":"Haversack does not use [^\n]*`haversack trust` shows what is there[^\n]*"\}$/;
/** The notice for what `trust` cannot accept: it names what is wrong. */
const OTHER_NOTICE = /^\{"systemMessage":"Haversack does not use [^\n]*(symbolic link|came from git)[^\n]*"\}$/;
describe("a store that came with a clone", () => {
  it("is not opened by a hook: nothing is injected, nothing is written, and the user is told in one line", () => {
    const one = clone();
    const before = listing(join(one.root, ".haversack"));
    for (const client of ["claude-code", "codex", "gemini"]) {
      const start = one.hook("SessionStart", { source: "startup" }, client);
      expect(start).toMatchObject({ code: 0, err: "" });
      expect(start.out).toMatch(NOTICE);
      expect(start.out).not.toContain(FORGED);
    }
    const tool = { tool_name: "Bash", tool_input: { command: "ls" }, tool_response: { stdout: "" }, tool_use_id: "t1" };
    for (const [event, more] of [
      ["UserPromptSubmit", { prompt: "@june what is next?" }],
      ["PreToolUse", tool],
      ["PostToolUse", tool],
      ["Stop", {}],
      ["SessionEnd", { reason: "exit" }],
    ] as const) {
      expect(one.hook(event, more)).toMatchObject({ code: 0, out: "", err: "" });
    }
    expect(listing(join(one.root, ".haversack"))).toEqual(before);
  });

  it("is refused by commands and tools with one line, and `trust --yes` heals it", () => {
    const one = clone();
    for (const words of [
      ["status"],
      ["task", "list"],
      ["log"],
      ["store", "backup", "x.db"],
      ["agent", "inbox", "june"],
    ]) {
      const { code, out, err } = one.haversack(...words);
      expect([words, code, out]).toEqual([words, 1, ""]);
      expect(err).toMatch(
        /^haversack: error: .* is new to this account: [^\n]*\nhaversack: hint: `haversack trust` [^\n]*\n$/,
      );
    }
    const answer = mcp(one, "get_tasks", {});
    expect(answer.isError).toBe(true);
    expect(answer.content[0]?.text).toContain("is new to this account");

    const asked = one.haversack("trust");
    expect(asked).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^haversack: error: nothing was accepted: [^\n]*\n[^\n]*--yes[^\n]*\n[^\n]*store of your own, move \.haversack\/haversack\.db\* away\.\n$/,
      ),
    });
    expect(asked.out).toMatch(/\.haversack\/haversack\.db +\d.*TRACKED BY GIT/);
    expect(one.haversack("status").code).toBe(1);

    expect(one.haversack("trust", "--yes")).toMatchObject({ code: 0, err: "" });
    const status = one.haversack("status");
    expect(status.out).toContain(FORGED);
    expect(status.err).toMatch(/^haversack: warning: git tracks \.haversack\/haversack\.db: [^\n]*\n$/);
    expect(mcp(one, "get_tasks", {}).isError).not.toBe(true);
    expect(one.hook("SessionStart", { source: "startup" }).out).not.toContain("systemMessage");
    expect(one.haversack("trust")).toMatchObject({ code: 0, out: expect.stringContaining("Nothing to accept") });
  });

  it("is shown by doctor with what to do; `init --yes` wires, and leaves it to `trust`", () => {
    const one = clone();
    const doctor = () => one.haversack("doctor", "--json").json().findings;
    const before = doctor();
    const hint = expect.stringContaining("haversack trust");
    expect(before).toContainEqual(expect.objectContaining({ part: "store", level: "fail", remedy: hint }));
    const tracked = expect.stringContaining("git tracks .haversack/haversack.db");
    expect(before).toContainEqual(expect.objectContaining({ part: "git", text: tracked }));
    expect(one.haversack("init", "--client", "claude-code").code).toBe(1);
    expect(one.haversack("status").code).toBe(1);
    const init = one.haversack("init", "--client", "claude-code", "--yes");
    expect(init).toMatchObject({ code: 0, out: expect.stringContaining("TRACKED BY GIT") });
    expect(init.out).toMatch(/^Not accepted, so not used: store\. `haversack trust` [^\n]*$/m);
    expect(one.haversack("status").code).toBe(1);
    const again = one.haversack("init", "--client", "claude-code", "--yes", "--json");
    expect(again.json()).toMatchObject({ accepted: [], unaccepted: ["store"] });
    expect(one.haversack("trust", "--yes").code).toBe(0);
    expect(one.haversack("status").code).toBe(0);
    const after = doctor();
    expect(after).toContainEqual(expect.objectContaining({ part: "store", level: "ok" }));
    expect(after).toContainEqual(expect.objectContaining({ part: "claude-code events", level: "ok" }));
  }, 180_000);

  it("does not keep `init --user` from wiring all projects", () => {
    const one = clone();
    const ran = one.haversack("init", "--user", "--client", "claude-code", "--yes");
    expect(ran).toMatchObject({ code: 0, err: "", out: expect.stringContaining("Not accepted, so not used: store.") });
    expect(one.haversack("status").code).toBe(1);
  });

  it("is not used after `git pull` has put it in the place of the user's own", () => {
    const one = clone(({ origin }) => writeFileSync(join(origin, "README.md"), "hello"));
    expect(one.haversack("task", "create", "Mine").code).toBe(0);
    attackersStore(one.attacker);
    rmSync(join(one.origin, ".haversack/.gitignore"));
    one.push("a store");
    // Git treats an ignored file as disposable.
    one.git("pull", "--quiet", "--no-rebase");
    expect(one.hook("SessionStart", { source: "startup" }).out).toMatch(NOTICE);
    const { code, err } = one.haversack("status");
    expect([code, err]).toEqual([1, expect.stringContaining("is not the file that you used before")]);
    expect(one.haversack("trust", "--yes").code).toBe(0);
    expect(one.haversack("status").code).toBe(0);
  });

  it("is not reached through links, which `trust` refuses too", () => {
    for (const link of [".haversack", ".haversack/haversack.db", ".haversack/haversack.db-wal"]) {
      const one = clone(({ base, origin }) => {
        writeFileSync(join(base, "secret"), "of the user");
        mkdirSync(dirname(join(origin, link)), { recursive: true });
        symlinkSync(link === ".haversack" ? base : join(base, "secret"), join(origin, link));
      });
      expect(one.hook("SessionStart", { source: "startup" }).out).toMatch(OTHER_NOTICE);
      expect(one.haversack("task", "create", "x")).toMatchObject({
        code: 1,
        err: expect.stringContaining("symbolic link"),
      });
      expect(one.haversack("trust", "--yes")).toMatchObject({ code: 1, err: expect.stringContaining("symbolic link") });
      expect(readFileSync(join(one.base, "secret"), "utf8")).toBe("of the user");
      expect(existsSync(join(one.base, "haversack.db"))).toBe(false);
    }
  });

  it("never lets two projects share a store by a link", () => {
    const one = clone(({ origin }) => writeFileSync(join(origin, "README.md"), "hello"));
    expect(one.haversack("task", "create", "Mine").code).toBe(0);
    mkdirSync(join(one.base, "second/.git"), { recursive: true });
    symlinkSync(join(one.root, ".haversack"), join(one.base, "second/.haversack"));
    const second = { ...one, root: join(one.base, "second") };
    const payload = {
      session_id: "s1",
      transcript_path: "/x",
      cwd: second.root,
      hook_event_name: "SessionStart",
      source: "startup",
    };
    expect(one.hook("SessionStart", payload).out).toMatch(OTHER_NOTICE);
  });
});

it("is not accepted when its pages are linked so that a search would never end, or when it holds a program", () => {
  const damage = (change: (file: string, db: DatabaseSync) => void) =>
    clone(({ attacker, origin }) => {
      attackersStore(attacker);
      const file = join(origin, ".haversack/haversack.db");
      const db = new DatabaseSync(file);
      db.exec("PRAGMA journal_mode = DELETE");
      const insert = db.prepare("INSERT INTO activity (at, actor, kind, text) VALUES ('x', 'a', 'k', ?)");
      for (let row = 0; row < 500; row++) insert.run("some words ".repeat(30));
      change(file, db);
      if (db.isOpen) db.close();
    });
  const linked = damage((file, db) => {
    const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'activity'").get() as {
      rootpage: number;
    };
    db.close();
    const bytes = readFileSync(file);
    const page = bytes.subarray((rootpage - 1) * 4096, rootpage * 4096);
    // An inner page of a table: every cell begins with the number of its child page.
    expect(page[0]).toBe(5);
    const cells = Array.from({ length: page.readUInt16BE(3) }, (_, at) => page.readUInt16BE(12 + 2 * at));
    for (const cell of cells) page.writeUInt32BE(page.readUInt32BE(cells[0]), cell);
    writeFileSync(file, bytes);
  });
  const program = damage((_, db) =>
    db.exec("CREATE TRIGGER forge AFTER INSERT ON sessions BEGIN UPDATE tasks SET title = 'x'; END"),
  );
  for (const [one, why] of [
    [linked, /cannot be accepted: .*page/i],
    [program, /cannot be accepted: .*trigger forge/],
  ] as const) {
    const refused = one.haversack("trust", "--yes");
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(why) });
    expect(one.haversack("status").code).toBe(1);
    expect(one.hook("SessionStart", { source: "startup" }).out).toMatch(NOTICE);
  }
});

describe("wiring that came with a clone", () => {
  it("is not believed by uninstall, though there is no store", () => {
    const one = clone(({ base, origin }) => {
      const victim = join(base, "home/notes.txt");
      writeFileSync(victim, "precious");
      mkdirSync(join(origin, ".haversack"));
      const files = { [victim]: { isNew: true, folders: [], keep: [] } };
      const deferred = { entries: { [victim]: { x: "off" } }, paused: {}, files };
      writeFileSync(join(origin, ".haversack/wiring.json"), JSON.stringify({ files, deferred }));
    });
    const undefer = one.haversack("skill", "undefer", "--all");
    expect(undefer).toMatchObject({ code: 1, err: expect.stringContaining("haversack trust") });
    expect(one.haversack("uninstall", "--yes")).toMatchObject({ code: 0, out: expect.stringContaining("Nothing") });
    expect(one.haversack("off").code).toBe(0);
    expect(readFileSync(join(one.home, "notes.txt"), "utf8")).toBe("precious");
  });
});

describe("settings that came with a clone", () => {
  const hostile = { skills: { folders: ["/", "../other", "docs/skills"], autoLoad: "always", maxSkills: 2 } };
  const withConfig = () =>
    clone(({ origin }) => {
      mkdirSync(join(origin, ".haversack"));
      writeFileSync(join(origin, ".haversack/config.json"), JSON.stringify(hostile));
    });
  const values = (one: Clone) => {
    const { settings, ignored } = one.haversack("config", "--json").json();
    const value = (key: string) => settings.find((setting: { key: string }) => setting.key === key).value;
    return {
      folders: value("skills.folders"),
      autoLoad: value("skills.auto_load"),
      max: value("skills.max_skills"),
      ignored,
    };
  };

  it("count only as far as they stay in the project, and `config` says which were ignored and why", () => {
    const one = withConfig();
    expect(values(one)).toMatchObject({ folders: ["docs/skills"], autoLoad: "asked", max: 2 });
    const { err, code } = one.haversack("config");
    expect(code).toBe(0);
    expect(err).toMatch(/skills\.folders \["\/","\.\.\/other"\] is ignored: it names a folder outside the project/);
    expect(err).toMatch(/skills\.auto_load "always" is ignored/);
    const { findings } = one.haversack("doctor", "--json").json();
    expect(findings).toContainEqual(
      expect.objectContaining({ part: "config", text: expect.stringContaining("skills.auto_load") }),
    );
  });

  it("are not accepted by `init --yes`", () => {
    const one = clone(({ origin }) => {
      mkdirSync(join(origin, ".haversack"));
      writeFileSync(join(origin, ".haversack/config.json"), '{"skills": {"auto_load": "confident"}}');
    });
    const init = one.haversack("init", "--client", "claude-code", "--yes", "--json");
    expect(init.json()).toMatchObject({ written: true, skills: 0, accepted: [], unaccepted: ["settings"] });
    expect(one.haversack("trust").out).toContain("skills.auto_load");
  });

  it("do not stop `init` when a value is wrong: it is named, and the default counts", () => {
    const one = clone(({ origin }) => {
      mkdirSync(join(origin, ".haversack"));
      writeFileSync(join(origin, ".haversack/config.json"), '{"skills": {"auto_load": "foo"}}');
    });
    const wrong = one.haversack("init", "--client", "claude-code", "--yes");
    const named = 'skills.auto_load must be one of asked, confident, but is "foo"; "asked" is used instead';
    expect(wrong).toMatchObject({ code: 0, err: expect.stringContaining(named) });
    expect(existsSync(join(one.root, ".claude"))).toBe(true);
  });

  it("count after `trust`, until they are changed", () => {
    const one = withConfig();
    expect(one.haversack("trust").out).toContain("skills.auto_load");
    expect(one.haversack("trust", "--yes").code).toBe(0);
    expect(values(one)).toMatchObject({ folders: ["/", "../other", "docs/skills"], ignored: [] });
    writeFileSync(
      join(one.root, ".haversack/config.json"),
      JSON.stringify({ skills: { ...hostile.skills, enforce: true } }),
    );
    expect(values(one)).toMatchObject({
      folders: ["docs/skills"],
      ignored: [expect.anything(), expect.anything(), expect.anything()],
    });
  });

  it("that the user sets count at once, and bring nothing else along", () => {
    const one = clone(({ origin }) => writeFileSync(join(origin, "README.md"), "hello"));
    expect(one.haversack("config", "set", "skills.enforce", "true").out).toContain("skills.enforce = true");
    const other = withConfig();
    expect(other.haversack("config", "set", "skills.enforce", "true").out).toContain("skills.enforce = false");
    expect(values(other)).toMatchObject({ autoLoad: "asked" });
  });
});

describe("rules that came with a clone", () => {
  const FILE = ".claude/skills/skill-rules.json";
  const rulesFile = (enforcement: string) =>
    JSON.stringify({
      skills: {
        evil: { enforcement, promptTriggers: { keywords: ["deploy"] } },
        loud: { alwaysActive: true, promptTriggers: { keywords: ["nothing"] } },
      },
    });
  const withRules = (enforcement = "auto") =>
    clone(({ origin }) => {
      for (const name of ["evil", "loud"]) {
        mkdirSync(join(origin, `.claude/skills/${name}`), { recursive: true });
        const text = `---\nname: ${name}\ndescription: Deploys.\n---\n\n${FORGED} ${name}\n`;
        writeFileSync(join(origin, `.claude/skills/${name}/SKILL.md`), text);
      }
      writeFileSync(join(origin, FILE), rulesFile(enforcement));
    });
  const ask = (one: Clone, session: string, prompt = "deploy it") =>
    one.hook("UserPromptSubmit", { session_id: session, prompt }).out;

  it("only recommend; `config` and doctor name them, and they count after `trust`", () => {
    const one = withRules();
    expect(one.haversack("skill", "index").code).toBe(0);
    expect(ask(one, "before")).toContain("evil");
    expect(ask(one, "before-2")).not.toContain(FORGED);
    expect(ask(one, "before-3", "tell me about the weather")).toBe("");

    const { err } = one.haversack("config");
    expect(err).toContain(`${FILE}: the rule for “evil” loads the skill's text unasked`);
    expect(err).toContain(`${FILE}: the rule for “loud” names the skill with every prompt`);
    expect(one.haversack("config", "--json").json().ignored_rules).toHaveLength(2);
    expect(one.haversack("doctor").out).toContain(`${FILE}: the rule for “evil” loads the skill's text unasked`);
    const shown = one.haversack("trust");
    expect(shown).toMatchObject({ code: 1, out: expect.stringContaining("“evil” loads the skill's text unasked") });

    expect(one.haversack("trust", "--yes").code).toBe(0);
    expect(ask(one, "after")).toContain(FORGED);
    expect(ask(one, "after-2", "tell me about the weather")).toContain("loud");
    expect(one.haversack("config").err).not.toContain("rule for");
    expect(one.haversack("trust").out).toContain("Nothing to accept");
  });

  it("need a new acceptance when a pull adds one", () => {
    const one = withRules("suggest");
    one.haversack("trust", "--yes");
    one.haversack("skill", "index");
    writeFileSync(join(one.origin, FILE), rulesFile("auto"));
    one.push("auto");
    one.git("pull", "--quiet");
    one.haversack("skill", "index");
    expect(ask(one, "s")).not.toContain(FORGED);
    expect(one.haversack("trust").code).toBe(1);
  });

  it("in the user's own folders count as they are", () => {
    const one = clone(({ origin }) => writeFileSync(join(origin, "README.md"), "hello"));
    const own = join(one.home, ".claude/skills");
    mkdirSync(join(own, "evil"), { recursive: true });
    writeFileSync(join(own, "evil/SKILL.md"), "---\nname: evil\ndescription: Deploys.\n---\n\nMINE\n");
    writeFileSync(join(own, "skill-rules.json"), rulesFile("auto"));
    expect(one.haversack("skill", "index").code).toBe(0);
    expect(ask(one, "s")).toContain("MINE");
  });
});

describe("a write-ahead file that came with a clone", () => {
  it("alone, without a database, is not used", () => {
    const one = clone(({ origin }) => {
      mkdirSync(join(origin, ".haversack"));
      writeFileSync(join(origin, ".haversack/haversack.db-wal"), "not mine");
    });
    expect(one.hook("SessionStart", { source: "startup" }).out).toMatch(NOTICE);
    expect(one.haversack("task", "create", "x")).toMatchObject({ code: 1, out: "" });
    expect(existsSync(join(one.root, ".haversack/haversack.db"))).toBe(false);
    // A file that any pull can replace is never accepted.
    const refused = one.haversack("trust", "--yes");
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining("git rm --cached .haversack/haversack.db-wal"),
    });
    one.git("rm", "--quiet", "--cached", ".haversack/haversack.db-wal");
    expect(one.haversack("trust", "--yes").code).toBe(0);
    expect(one.haversack("task", "create", "x").code).toBe(0);
  });

  it("beside the user's own database is not read into it", () => {
    const one = clone(({ origin }) => writeFileSync(join(origin, "README.md"), "hello"));
    expect(one.haversack("task", "create", "Mine").code).toBe(0);
    const store = join(one.root, ".haversack/haversack.db");
    // The attacker's log holds the attacker's pages for a database of the same shape.
    cpSync(store, join(one.base, "attack.db"));
    const db = new DatabaseSync(join(one.base, "attack.db"));
    db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    db.prepare("UPDATE tasks SET title = ?").run(FORGED);
    mkdirSync(join(one.origin, ".haversack"));
    cpSync(join(one.base, "attack.db-wal"), join(one.origin, ".haversack/haversack.db-wal"));
    db.close();
    chmodSync(join(one.origin, ".haversack/haversack.db-wal"), 0o644);
    one.push("a log");
    one.git("pull", "--quiet");
    expect(existsSync(`${store}-wal`)).toBe(true);

    expect(one.hook("SessionStart", { source: "startup" }).out).toMatch(OTHER_NOTICE);
    const status = one.haversack("task", "list");
    expect(status).toMatchObject({ code: 1, out: "" });
    expect(status.err).toContain("-wal");
    expect(mcp(one, "get_tasks", {})).toMatchObject({ isError: true });
    expect(one.haversack("trust", "--yes").code).toBe(1);
    one.git("rm", "--quiet", "--cached", ".haversack/haversack.db-wal");
    rmSync(`${store}-wal`);
    expect(one.haversack("task", "list").out).toContain("Mine");
  });
});

describe("templates that came with a clone", () => {
  it("are no instructions before they are accepted, and not after they were changed", () => {
    const one = clone(({ origin }) => {
      mkdirSync(join(origin, ".haversack/templates"), { recursive: true });
      writeFileSync(join(origin, ".haversack/templates/implementer.md"), `# ${FORGED}\n{{identity}}\n{{messages}}\n`);
    });
    one.haversack("agent", "add", "june", "--role", "implementer");
    one.haversack("agent", "message", "@june", "hi");
    const wake = () => one.haversack("wake", "june").out;
    expect(wake()).toContain("You are @june");
    expect(wake()).not.toContain(FORGED);
    const { findings } = one.haversack("doctor", "--json").json();
    expect(findings).toContainEqual(expect.objectContaining({ part: "templates", level: "warn" }));
    expect(one.haversack("trust").out).toContain(".haversack/templates/implementer.md");
    expect(one.haversack("trust", "--yes").code).toBe(0);
    expect(wake()).toContain(FORGED);
    writeFileSync(join(one.root, ".haversack/templates/implementer.md"), "# Another\n{{identity}}\n{{messages}}\n");
    expect(wake()).not.toContain("# Another");
  });
});

describe("the user's own store", () => {
  const own = () => {
    const one = clone(({ origin }) => writeFileSync(join(origin, "README.md"), "hello"));
    expect(one.haversack("task", "create", "Mine").code).toBe(0);
    return one;
  };

  it("is used in all work trees", () => {
    const one = own();
    one.git("worktree", "add", "--quiet", join(one.base, "tree"));
    const payload = { cwd: join(one.base, "tree"), source: "startup" };
    expect(one.hook("SessionStart", payload).out).not.toContain("systemMessage");
  });

  it("needs one `trust` after its repository was moved or copied", () => {
    const one = own();
    renameSync(one.root, join(one.base, "aside"));
    cpSync(join(one.base, "aside"), one.root, { recursive: true });
    expect(one.haversack("status").code).toBe(1);
    expect(one.haversack("trust", "--yes").code).toBe(0);
    expect(one.haversack("status").out).toContain("Mine");
  });

  it("is recorded again when `store restore` had to make a new file", () => {
    const one = own();
    const backup = join(one.base, "backup.db");
    expect(one.haversack("store", "backup", backup).code).toBe(0);
    writeFileSync(join(one.root, ".haversack/haversack.db"), "damaged ".repeat(2000));
    expect(one.haversack("store", "restore", backup, "--json").json()).toMatchObject({ way: "moved-aside" });
    expect(one.haversack("status").out).toContain("Mine");
    expect(one.hook("SessionStart", { source: "startup" }).out).not.toContain("systemMessage");
  });

  const [asNobody = "", ...nobody] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const canBeNobody = process.getuid?.() === 0 && spawnSync(asNobody, [...nobody, "true"]).status === 0;

  it.runIf(canBeNobody)("is not another user's, who needs one `trust`", () => {
    const one = own();
    const home = join(one.base, "nobody");
    mkdirSync(home);
    for (const folder of [one.base, home, one.root]) chmodSync(folder, 0o777);
    execFileSync("chmod", ["-R", "a+rwX", join(one.root, ".haversack")]);
    const as = (...words: string[]) =>
      spawnSync(asNobody, [...nobody, process.execPath, join(DIST, "haversack.cjs"), ...words], {
        cwd: one.root,
        env: { PATH: process.env["PATH"] ?? "", HOME: home },
        encoding: "utf8",
      });
    expect(as("status").status).toBe(1);
    expect(as("trust", "--yes").status).toBe(0);
    expect(as("status").stdout).toContain("Mine");
    // A record that somebody else wrote does not count.
    expect(one.haversack("status").code).toBe(0);
    const records = join(one.home, ".local/state/haversack/projects");
    execFileSync("chown", ["-R", "65534", records]);
    expect(one.haversack("status").code).toBe(1);
  });
});

it("is not captured by a .haversack above the repository", () => {
  const one = clone(({ base, origin }) => {
    writeFileSync(join(origin, "README.md"), "hello");
    mkdirSync(join(base, ".haversack"));
    cpSync(join(DIST, "hook.cjs"), join(base, ".haversack/haversack.db"));
  });
  expect(one.hook("SessionStart", { source: "startup" })).toMatchObject({ code: 0, out: "" });
  expect(one.haversack("task", "create", "Mine").code).toBe(0);
  expect(existsSync(join(one.root, ".haversack/haversack.db"))).toBe(true);
});
