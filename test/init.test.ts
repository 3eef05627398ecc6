/** init, uninstall, doctor and deferred skills, with the built bins, in separate repositories. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DIST } from "./bins.ts";
import { type Repo, repository, snapshot } from "./wiring-repo.ts";

const LOCAL = ".claude/settings.local.json";

describe("init", () => {
  it("names a file that is in the place of .haversack", () => {
    const repo = repository();
    repo.write(".haversack", "mine");
    for (const words of [
      ["init", "--bare"],
      ["task", "create", "A"],
    ]) {
      expect(repo.run(...words)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/\.haversack is a file, and Haversack needs a folder there\n.*move the file away/),
      });
    }
  });

  it("--dry-run shows a line per file, with --diff every line, and writes nothing", () => {
    const repo = repository();
    const before = snapshot(repo.root, repo.home);
    const short = repo.run("init", "--dry-run").out;
    expect(short).toMatch(/^ {2}make +\.claude\/settings\.local\.json +\+\d+ {2}hooks, and the permission/m);
    expect(short).toMatch(/^ {2}make +\.claude\/agents\/haversack-\*\.md +\+\d+ {2}4 files: agents/m);
    expect(short).toMatch(/^ {2}make +~\/\.claude\.json /m);
    expect(short).toContain("--diff shows every line");
    expect(short.split("\n").length).toBeLessThan(20);
    const { code, out } = repo.run("init", "--dry-run", "--diff");
    expect(code).toBe(0);
    expect(out).toContain(`make ${join(repo.root, LOCAL)}`);
    expect(out).toMatch(/\+ {5}"UserPromptSubmit": \[/);
    expect(out).toContain("Nothing was written");
    expect(snapshot(repo.root, repo.home)).toEqual(before);
    expect(existsSync(join(repo.root, ".haversack"))).toBe(false);
  });

  it("without a terminal and without --yes writes nothing and says so", () => {
    const repo = repository();
    const before = snapshot(repo.root, repo.home);
    const { code, out, err } = repo.run("init");
    expect(code).toBe(1);
    expect(out).toContain(".claude/settings.local.json");
    expect(err).toContain("--yes writes what is shown");
    expect(snapshot(repo.root, repo.home)).toEqual(before);
  });

  it("writes hooks, permission, server and index once; a second run has nothing to do", () => {
    const repo = repository();
    repo.skill("knots");
    expect(repo.run("init", "--yes")).toMatchObject({ code: 0, err: "" });
    const settings = JSON.parse(repo.read(LOCAL));
    expect(Object.keys(settings.hooks)).toHaveLength(9);
    expect(settings.permissions.allow).toEqual(["mcp__haversack"]);
    const state = join(repo.home, ".claude.json");
    expect(JSON.parse(repo.read(state)).projects[repo.root].mcpServers.haversack).toEqual({
      type: "stdio",
      command: "/bin/sh",
      args: ["-c", expect.stringContaining("exec "), process.execPath, join(DIST, "haversack.cjs"), "mcp"],
    });
    expect(statSync(state).mode & 0o777).toBe(0o600);
    expect(existsSync(join(repo.root, ".haversack/haversack.db"))).toBe(true);

    const before = snapshot(repo.root, repo.home);
    expect(repo.run("init").out).toContain("Nothing to do");
    expect(snapshot(repo.root, repo.home)).toEqual(before);
  });

  it("keeps the settings out of commits, and refuses where they are committed", () => {
    const repo = repository();
    repo.run("init", "--yes");
    expect(repo.git("status", "--porcelain", "--untracked-files=all")).not.toContain("settings.local.json");

    const committed = repository();
    committed.write(LOCAL, "{}");
    committed.git("add", "--force", LOCAL);
    const { code, err } = committed.run("init", "--yes");
    expect(code).toBe(1);
    expect(err).toContain("is committed in this repository");
    expect(err).toContain("init --user");
    expect(committed.read(LOCAL)).toBe("{}");
  });

  it("wires the repository's root from a folder below it", () => {
    const repo = repository();
    mkdirSync(join(repo.root, "packages/a"), { recursive: true });
    expect(repo.runIn(join(repo.root, "packages/a"), "init", "--yes").code).toBe(0);
    expect(existsSync(join(repo.root, LOCAL))).toBe(true);
    expect(existsSync(join(repo.root, "packages/a/.claude"))).toBe(false);
  });

  it("repairs the entries of a runtime that moved", () => {
    const repo = repository();
    repo.run("init", "--yes");
    const right = snapshot(repo.root, repo.home);
    for (const path of [LOCAL, join(repo.home, ".claude.json")]) {
      repo.write(path, repo.read(path).replaceAll(process.execPath, "/gone/node"));
    }
    expect(repo.run("init", "--yes").code).toBe(0);
    expect(snapshot(repo.root, repo.home)).toEqual(right);
  });

  it("gives the server of an older version its guard, and takes it out without one", () => {
    const repo = repository();
    const state = join(repo.home, ".claude.json");
    repo.write(state, "{}\n");
    repo.run("init", "--yes");
    const right = repo.read(state);
    const older = JSON.parse(right);
    older.projects[repo.root].mcpServers.haversack = {
      type: "stdio",
      command: process.execPath,
      args: [join(DIST, "haversack.cjs"), "mcp"],
    };
    repo.write(state, JSON.stringify(older, null, 2));
    expect(repo.run("init", "--yes").code).toBe(0);
    expect(JSON.parse(repo.read(state))).toEqual(JSON.parse(right));
    repo.write(state, JSON.stringify(older, null, 2));
    expect(repo.run("uninstall", "--yes").code).toBe(0);
    expect(JSON.parse(repo.read(state))).toEqual({});
  });

  it("sees edits before they happen only with rules that guard files", () => {
    const repo = repository();
    repo.skill("knots");
    const rule = { type: "guardrail", enforcement: "block", fileTriggers: { pathPatterns: ["src/**"] } };
    repo.write(".claude/skills/skill-rules.json", JSON.stringify({ version: "1.0", skills: { knots: rule } }));
    repo.run("init", "--yes");
    expect(JSON.parse(repo.read(LOCAL)).hooks.PreToolUse[0].matcher).toContain("Edit|Write");
  });

  it("stops before the first write at a file that it does not understand", () => {
    const repo = repository();
    repo.write(join(repo.home, ".claude.json"), '{"projects": [');
    const before = snapshot(repo.root, repo.home);
    const { code, err } = repo.run("init", "--yes");
    expect(code).toBe(1);
    expect(err).toContain(".claude.json: line 1");
    expect(snapshot(repo.root, repo.home)).toEqual(before);
  });

  it("writes nothing at all where it cannot note what it wrote, and says which folder it is", () => {
    const repo = repository();
    repo.write(".haversack", "a file in its place");
    const before = snapshot(repo.home, join(repo.root, ".claude"));
    const { code, err } = repo.run("init", "--yes");
    expect(code).toBe(3);
    expect(err).toMatch(/\.haversack: cannot be made \(EEXIST\)\nhaversack: hint: give yourself write access/);
    expect(snapshot(repo.home, join(repo.root, ".claude"))).toEqual(before);
  });

  it("does not take the home folder for a project, nor the root of the disk", () => {
    const repo = repository();
    const before = snapshot(repo.home);
    expect(repo.runIn(repo.home, "init", "--yes")).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /is your home folder, not a project\nhaversack: hint: go to a project's folder; .*--user/,
      ),
    });
    expect(repo.runIn("/", "init", "--dry-run").err).toContain("the root of the disk");
    mkdirSync(join(repo.home, ".haversack"));
    mkdirSync(join(repo.home, "notes"));
    expect(repo.runIn(join(repo.home, "notes"), "init", "--yes").err).toContain("may be there by mistake");
    rmSync(join(repo.home, "notes"), { recursive: true });
    expect(snapshot(repo.home)).toEqual(before);
    expect(repo.runIn(repo.home, "init", "--user", "--yes", "--client", "claude-code").code).toBe(0);
  });

  it("says when there is no client, and wires the one that is named", () => {
    const repo = repository();
    rmSync(join(repo.root, ".claude"), { recursive: true });
    expect(repo.run("init", "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no coding client was found"),
    });
    expect(repo.run("init", "--yes", "--client", "claude-code").code).toBe(0);
    expect(existsSync(join(repo.root, LOCAL))).toBe(true);
  });

  it("--user writes to the user's own settings and nothing into the project's", () => {
    const repo = repository();
    repo.write(join(repo.home, ".claude/settings.json"), '{"model": "x"}\n');
    const { code, out } = repo.run("init", "--user", "--yes");
    expect(code).toBe(0);
    expect(out).toContain("`haversack uninstall --user` removes it again.");
    expect(existsSync(join(repo.root, LOCAL))).toBe(false);
    expect(JSON.parse(repo.read(join(repo.home, ".claude/settings.json")))).toMatchObject({ model: "x", hooks: {} });
    expect(JSON.parse(repo.read(join(repo.home, ".claude.json"))).mcpServers.haversack.args.at(-1)).toBe("mcp");
    expect(repo.run("uninstall", "--user", "--yes").code).toBe(0);
    expect(repo.read(join(repo.home, ".claude/settings.json"))).toBe('{"model": "x"}\n');
  });
});

describe("uninstall", () => {
  it("is not stopped by a broken file of a client that was never wired", () => {
    const repo = repository();
    repo.write(".gemini/settings.json", '{"a": 1,}');
    expect(repo.run("init", "--client", "claude-code", "--yes").code).toBe(0);
    expect(repo.run("uninstall", "--yes")).toMatchObject({ code: 0, err: "" });
    expect(existsSync(join(repo.root, LOCAL))).toBe(false);
  });

  it("gives every file back byte for byte, with its mode, and removes what init made", () => {
    const repo = repository();
    const foreign = {
      hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "true" }] }], Stop: [] },
      permissions: { deny: ["Read(.env)"] },
      env: { A: "1" },
    };
    chmodSync(repo.write(LOCAL, `${JSON.stringify(foreign, null, 2)}\n`), 0o640);
    repo.write(
      join(repo.home, ".claude.json"),
      JSON.stringify({ numStartups: 3, projects: { [repo.root]: { allowedTools: [], mcpServers: {} } } }, null, 2),
    );
    repo.write(".git/info/exclude", "# mine, without a line break");
    const before = snapshot(repo.root, repo.home);
    repo.run("init", "--yes");
    expect(snapshot(repo.root, repo.home)).not.toEqual(before);
    const { code, out } = repo.run("uninstall", "--yes");
    expect(code).toBe(0);
    expect(out).toContain("stays in");
    expect(snapshot(repo.root, repo.home)).toEqual(before);
    expect(existsSync(join(repo.root, ".haversack/haversack.db"))).toBe(true);
    expect(repo.run("uninstall", "--yes").out).toContain("Nothing of Haversack in the settings of this project");
  });

  it("removes the files and folders that init made, also when it runs again after skills were deferred", () => {
    for (const order of [
      ["init", "defer"],
      ["init", "defer", "init"],
    ]) {
      const repo = repository();
      rmSync(join(repo.root, ".claude"), { recursive: true });
      repo.write(
        join(repo.home, ".claude/skills/knots/SKILL.md"),
        "---\nname: knots\ndescription: Ties knots.\n---\nx\n",
      );
      const before = snapshot(repo.root, repo.home);
      for (const step of order) {
        const words = step === "init" ? ["init", "--yes"] : ["skill", "defer", "--all"];
        expect(repo.run(...words).code).toBe(0);
      }
      expect(JSON.parse(repo.read(LOCAL)).skillOverrides).toEqual({ knots: "user-invocable-only" });
      repo.run("uninstall", "--yes");
      expect(snapshot(repo.root, repo.home)).toEqual(before);
    }
  });

  it.each(["", "\n"])("gives a settings file that was there with nothing but %j in it back as it was", (text) => {
    const repo = repository();
    const state = join(repo.home, ".claude.json");
    for (const file of [LOCAL, state]) repo.write(file, text);
    repo.run("init", "--yes");
    expect(repo.read(LOCAL)).toContain("UserPromptSubmit");
    repo.run("init", "--yes", "--hooks", "command");
    repo.run("uninstall", "--yes");
    for (const file of [LOCAL, state]) expect(repo.read(file)).toBe(text);
  });

  it("--dry-run and a missing --yes change nothing", () => {
    const repo = repository();
    repo.run("init", "--yes");
    const before = snapshot(repo.root, repo.home);
    expect(repo.run("uninstall", "--dry-run")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Nothing was written"),
    });
    expect(repo.run("uninstall")).toMatchObject({ code: 1, err: expect.stringContaining("--yes removes") });
    expect(snapshot(repo.root, repo.home)).toEqual(before);
  });
});

describe("the files of /work", () => {
  const COMMAND = ".claude/commands/work.md";
  const FIXER = ".claude/agents/haversack-fixer.md";

  it("come with init, stay out of commits, name no path of the machine, and go with uninstall", () => {
    const repo = repository();
    repo.run("init", "--yes");
    expect(readdirSync(join(repo.root, ".claude/agents"))).toHaveLength(4);
    for (const path of [COMMAND, FIXER]) expect(repo.read(path)).not.toContain(repo.base);
    expect(repo.git("status", "--porcelain", "--untracked-files=all")).not.toContain(".claude");
    repo.run("uninstall", "--yes");
    expect(readdirSync(join(repo.root, ".claude"))).toEqual([]);
  });

  it("--user come into the user's folder", () => {
    const repo = repository();
    repo.run("init", "--user", "--yes");
    expect(existsSync(join(repo.root, COMMAND))).toBe(false);
    expect(existsSync(join(repo.home, COMMAND))).toBe(true);
    repo.run("uninstall", "--user", "--yes");
    expect(existsSync(join(repo.home, ".claude"))).toBe(false);
  });

  it("never take the place of a file of that name, and say so", () => {
    const repo = repository();
    repo.write(COMMAND, "My own way to work.\n");
    const { code, err } = repo.run("init", "--yes");
    expect(code).toBe(0);
    expect(err).toContain(`${join(repo.root, COMMAND)} is not Haversack's and stays as it is`);
    expect(repo.read(COMMAND)).toBe("My own way to work.\n");
    repo.run("uninstall", "--yes");
    expect(repo.read(COMMAND)).toBe("My own way to work.\n");
    expect(existsSync(join(repo.root, FIXER))).toBe(false);
  });

  it("that a person has changed stay as they are, and are named", () => {
    const repo = repository();
    repo.run("init", "--yes");
    const mine = `${repo.read(FIXER)}\nAnd be quick.\n`;
    repo.write(FIXER, mine);
    expect(repo.run("init", "--yes").err).toContain(`${join(repo.root, FIXER)} was changed by hand and stays as it is`);
    const { err } = repo.run("uninstall", "--yes");
    expect(err).toContain(`${join(repo.root, FIXER)} was changed by hand and stays`);
    expect(repo.read(FIXER)).toBe(mine);
    expect(existsSync(join(repo.root, COMMAND))).toBe(false);
  });

  it("of another version are brought up to date; without the receipt they still go", () => {
    const repo = repository();
    repo.run("init", "--yes");
    const right = repo.read(COMMAND);
    // A text with a valid checksum that this version does not write to this file.
    repo.write(COMMAND, repo.read(FIXER));
    expect(repo.run("doctor").out).toContain(`${join(repo.root, COMMAND)} is of another version`);
    repo.run("init", "--yes");
    expect(repo.read(COMMAND)).toBe(right);
    rmSync(join(repo.root, ".haversack/wiring.json"));
    repo.run("uninstall", "--yes");
    expect(existsSync(join(repo.root, COMMAND))).toBe(false);
  });

  it("are missed by doctor when they are gone", () => {
    const repo = repository();
    repo.run("init", "--yes");
    expect(repo.run("doctor").out).toMatch(/claude-code \/work.*the command and its agents are in/);
    rmSync(join(repo.root, FIXER));
    expect(repo.run("doctor").out).toMatch(/haversack-fixer\.md is missing/);
  });

  it("leave a line of the user's own in the list of what git ignores", () => {
    const repo = repository();
    repo.write(".git/info/exclude", "/.claude/commands/work.md\n*.log\n");
    const before = repo.read(".git/info/exclude");
    repo.run("init", "--yes");
    expect(repo.read(".git/info/exclude")).toContain("settings.local.json");
    repo.run("uninstall", "--yes");
    expect(repo.read(".git/info/exclude")).toBe(before);
  });
});

describe("skills defer", () => {
  /** Wired for all projects: the project's own settings are as the user left them. */
  const wired = () => {
    const repo = repository();
    repo.run("init", "--user", "--yes", "--client", "claude-code");
    return repo;
  };

  it("hides skills and lets them back in, and leaves the user's own entries", () => {
    const repo = wired();
    for (const name of ["knots", "sails", "ropes"]) repo.skill(name);
    repo.write(LOCAL, '{"skillOverrides": {"ropes": "off"}}\n');
    const { code, out } = repo.run("skill", "defer", "--all");
    expect(code).toBe(0);
    expect(out).toContain("2 skills are hidden");
    expect(out).toContain("skipped ropes: already has an entry of yours: off");
    expect(JSON.parse(repo.read(LOCAL)).skillOverrides).toEqual({
      ropes: "off",
      knots: "user-invocable-only",
      sails: "user-invocable-only",
    });
    expect(JSON.parse(repo.run("skill", "undefer", "knots", "ropes", "--json").out).clients).toMatchObject([
      {
        client: "claude-code",
        skills: ["knots"],
        skipped: [{ name: "ropes", why: expect.stringContaining("not deferred") }],
        changed: true,
      },
    ]);
    repo.run("skill", "undefer", "--all");
    expect(repo.read(LOCAL)).toBe('{"skillOverrides": {"ropes": "off"}}\n');
  });

  it("--names keeps the names in the listing; --dry-run writes nothing; an unknown name is told the nearest", () => {
    const repo = wired();
    repo.skill("knots");
    expect(repo.run("skill", "defer", "--all", "--dry-run").out).toContain("Nothing was written");
    expect(existsSync(join(repo.root, LOCAL))).toBe(false);
    repo.run("skill", "defer", "knots", "--names");
    expect(JSON.parse(repo.read(LOCAL))).toEqual({ skillOverrides: { knots: "name-only" } });
    repo.run("skill", "undefer", "--all");
    expect(existsSync(join(repo.root, LOCAL))).toBe(false);
    expect(repo.run("skill", "defer", "knot")).toMatchObject({
      code: 1,
      err: expect.stringContaining("did you mean knots?"),
    });
    expect(repo.run("skill", "defer").code).toBe(2);
  });

  it("is keyed by the skill's folder, which is the client's name for it", () => {
    const repo = wired();
    repo.write(".claude/skills/folder-name/SKILL.md", "---\nname: other-name\ndescription: Ties knots.\n---\nx\n");
    repo.run("skill", "defer", "--all");
    expect(JSON.parse(repo.read(LOCAL)).skillOverrides).toEqual({ "folder-name": "user-invocable-only" });
    for (const name of ["folder-name", "other-name"]) {
      expect(repo.run("skill", "undefer", name).out).toContain("1 skill is back");
      expect(repo.run("skill", "defer", name).out).toContain("1 skill is hidden");
    }
  });

  it("also takes in a skill that another of the same name stands before: the client lists both", () => {
    const repo = wired();
    for (const folder of ["one", "two"]) {
      repo.write(`.claude/skills/${folder}/SKILL.md`, "---\nname: same\ndescription: Ties knots.\n---\nx\n");
    }
    repo.run("skill", "defer", "--all");
    expect(Object.keys(JSON.parse(repo.read(LOCAL)).skillOverrides)).toEqual(["one", "two"]);
  });
});

describe("doctor", () => {
  const findings = (repo: Repo) => {
    const { code, out } = repo.run("doctor", "--json");
    return {
      code,
      ...(JSON.parse(out) as {
        ok: boolean;
        findings: { part: string; level: string; text: string; remedy?: string }[];
      }),
    };
  };
  const bad = (repo: Repo) => findings(repo).findings.filter(({ level }) => level !== "ok");

  it("says of each client whether it was seen to resume an agent, where that is switched on", () => {
    const repo = repository();
    repo.run("init", "--yes");
    expect(findings(repo).findings.filter(({ part }) => part.endsWith(" resume"))).toEqual([]);
    repo.write(".haversack/config.json", JSON.stringify({ "artifacts.resume": true }));
    expect(bad(repo).find(({ part }) => part === "claude-code resume")?.text).toContain("was never tried");
  });

  it("finds all well after init, and leaves no trace", () => {
    const repo = repository();
    repo.skill("knots");
    repo.run("init", "--yes");
    const { code, ok, findings: all } = findings(repo);
    expect(all.filter(({ level }) => level !== "ok" && level !== "warn")).toEqual([]);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(all.find(({ part }) => part === "claude-code events")?.text).toContain("9 test events answered");
    expect(all.find(({ part }) => part === "claude-code MCP server")?.text).toContain("skill");
    expect(repo.run("session", "list").out).toContain("No session");
    expect(readdirSync(join(repo.base, "tmp"))).toEqual([]);
  });

  it("says what is not wired, which is no fault unless init had wired it", () => {
    const repo = repository();
    for (const folder of [".gemini", ".codex", ".opencode"]) mkdirSync(join(repo.root, folder));
    expect(findings(repo)).toMatchObject({ code: 0, ok: true });
    expect(bad(repo).map(({ part, level }) => `${level} ${part}`)).toEqual(["warn store", "warn clients"]);

    repo.run("init", "--yes", "--client", "claude-code");
    const { findings: all, code } = findings(repo);
    expect(code).toBe(0);
    for (const part of ["gemini hooks", "codex hooks", "opencode plugin"]) {
      expect(all).toContainEqual({ part, level: "ok", text: expect.stringMatching(/^not connected; `haversack init/) });
    }
    expect(all.some(({ part }) => part === "gemini MCP server" || part === "clients")).toBe(false);

    rmSync(join(repo.root, LOCAL));
    expect(findings(repo).code).toBe(1);
    expect(bad(repo)).toMatchObject([{ part: "claude-code hooks", level: "fail" }]);
  });

  it("names `init --user` where that is what had wired the client", () => {
    const repo = repository();
    repo.run("init", "--yes", "--user", "--client", "claude-code");
    rmSync(join(repo.home, ".claude/settings.json"));
    rmSync(join(repo.home, ".claude.json"));
    const remedies = bad(repo).map(({ part, remedy }) => `${part}: ${remedy}`);
    expect(remedies).toContain("claude-code hooks: `haversack init --user` connects it");
    expect(remedies).toContain("claude-code MCP server: `haversack init --user` writes it");
  });

  it.each<[string, (repo: Repo) => void, string, RegExp]>([
    [
      "a hook file that is gone",
      (repo) => repo.write(LOCAL, repo.read(LOCAL).replaceAll("/hook.cjs", "/gone/hook.cjs")),
      "claude-code hooks",
      /gone\/hook\.cjs is gone/,
    ],
    [
      "a server that is gone",
      (repo) =>
        repo.write(
          join(repo.home, ".claude.json"),
          repo.read(join(repo.home, ".claude.json")).replaceAll("haversack.cjs", "x/haversack.cjs"),
        ),
      "claude-code MCP server",
      /is gone/,
    ],
    [
      "a server of an older version that is gone",
      (repo) => {
        const state = join(repo.home, ".claude.json");
        const { projects } = JSON.parse(repo.read(state));
        projects[repo.root].mcpServers.haversack = { command: "/gone/node", args: ["/gone/haversack.cjs", "mcp"] };
        repo.write(state, JSON.stringify({ projects }));
      },
      "claude-code MCP server",
      /\/gone\/node is gone/,
    ],
    [
      "a server whose runtime cannot be run",
      (repo) => {
        const state = join(repo.home, ".claude.json");
        const file = repo.write(join(repo.base, "no-program"), "");
        repo.write(state, repo.read(state).replaceAll(process.execPath, file));
      },
      "claude-code MCP server",
      /does not start/,
    ],
    [
      "a hook that was taken out",
      (repo) => {
        const settings = JSON.parse(repo.read(LOCAL));
        delete settings.hooks.SessionEnd;
        repo.write(LOCAL, JSON.stringify(settings));
      },
      "claude-code hooks",
      /no hook for SessionEnd/,
    ],
    [
      "hooks that are switched off",
      (repo) => repo.write(".claude/settings.json", '{"disableAllHooks": true}'),
      "claude-code hooks",
      /disableAllHooks/,
    ],
    [
      "settings that are no JSON",
      (repo) => repo.write(".claude/settings.json", "{,}"),
      "claude-code settings",
      /line 1/,
    ],
    [
      "a broken config",
      (repo) => repo.write(".haversack/config.json", '{"skills": {,}}'),
      "config",
      /line 1.*its settings are ignored/,
    ],
    ["a store that is no database", (repo) => repo.write(".haversack/haversack.db", "x".repeat(5000)), "store", /./],
  ])("finds %s, with a remedy", (_, breakIt, part, text) => {
    const repo = repository();
    repo.run("init", "--yes");
    breakIt(repo);
    const { code, findings: all } = findings(repo);
    expect(code).toBe(1);
    expect(all).toContainEqual({
      part,
      level: "fail",
      text: expect.stringMatching(text),
      remedy: expect.stringMatching(/.{10}/),
    });
    for (const { level, remedy } of all) if (level !== "ok") expect(remedy).toBeTruthy();
  });

  it("finds a runtime that answers but is too old", () => {
    const repo = repository();
    repo.run("init", "--yes");
    const old = repo.write(join(repo.base, "old-node"), "#!/bin/sh\nexit 0\n");
    chmodSync(old, 0o755);
    repo.write(LOCAL, repo.read(LOCAL).replaceAll(process.execPath, old));
    expect(bad(repo)).toContainEqual(
      expect.objectContaining({
        part: "claude-code events",
        level: "fail",
        text: expect.stringContaining("record nothing"),
      }),
    );
  });

  it("counts the descriptions that the client's listing drops", () => {
    const repo = repository();
    for (let at = 0; at < 40; at++) repo.skill(`skill-${at}`, "x".repeat(200));
    repo.run("init", "--yes");
    const listing = () => findings(repo).findings.find(({ part }) => part === "claude-code listing");
    expect(listing()).toMatchObject({
      level: "warn",
      text: expect.stringMatching(/keeps about \d of 40 in a window of 200k tokens/),
    });
    repo.run("skill", "defer", "--all");
    expect(listing()).toMatchObject({ level: "ok", text: expect.stringContaining("40 deferred") });
  });

  it("prints every finding for people, with marks and remedies", () => {
    const repo = repository();
    repo.run("init", "--yes");
    repo.write(".haversack/off", "");
    repo.write(LOCAL, "{}");
    const { code, out } = repo.run("doctor");
    expect(code).toBe(1);
    expect(out).toMatch(/^ok {4}runtime: Node/m);
    expect(out).toMatch(/^FAIL {2}claude-code hooks: not connected any more.*\n {6}→ `haversack init`/m);
    expect(out).toMatch(/Not working: 1 of \d+ checks failed \([a-z-]+ [^)]+\), 1 warning \([^)]+\)\.\n$/);
  });
});

describe("the plugin", () => {
  const build = () => {
    const folder = mkdtempSync(join(tmpdir(), "haversack plugin-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    execFileSync(process.execPath, [join(import.meta.dirname, "../scripts/build-plugin.mjs"), folder]);
    const json = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
    return { folder, json };
  };
  const hook = (folder: string, path: string, cwd: string, stateHome = cwd) => {
    const payload = { session_id: "s1", cwd, hook_event_name: "SessionStart", source: "startup" };
    const { hooks } = JSON.parse(readFileSync(join(folder, "hooks/hooks.json"), "utf8"));
    const [{ command }] = hooks.SessionStart[0].hooks;
    const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
      input: JSON.stringify(payload),
      encoding: "utf8",
      env: { PATH: path, HOME: cwd, XDG_STATE_HOME: stateHome, CLAUDE_PLUGIN_ROOT: folder },
    });
    return { code: status, out: stdout, err: stderr };
  };

  it("has the hooks that init writes, and is a marketplace of itself", () => {
    const { json } = build();
    const repo = repository();
    repo.run("init", "--yes");
    const wired = JSON.parse(repo.read(LOCAL)).hooks;
    const { hooks } = json("hooks/hooks.json");
    const shape = (all: Record<string, { matcher?: string; hooks: { timeout: number }[] }[]>) =>
      Object.entries(all).map(([event, [group]]) => [event, group?.matcher, group?.hooks[0]?.timeout]);
    expect(shape(hooks)).toEqual(shape(wired));
    expect(json(".claude-plugin/marketplace.json").plugins).toMatchObject([{ name: "haversack", source: "./" }]);
  });

  it("runs the hook with a Node of the PATH, the first that is new enough", () => {
    const { folder } = build();
    const repo = repository();
    // Not wired by `init`, because then the plugin would stand back.
    repo.run("skill", "index");
    const [old, fresh] = [join(repo.base, "old"), join(repo.base, "fresh")];
    repo.write(join(old, "node"), '#!/bin/sh\n[ "$1" = --version ] && echo v20.11.0 || echo started >> "$0.log"\n');
    repo.write(join(fresh, "node"), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`);
    for (const path of [old, fresh]) chmodSync(join(path, "node"), 0o755);
    expect(hook(folder, `${old}:${fresh}:/usr/bin:/bin`, repo.root, join(repo.home, ".local/state"))).toEqual({
      code: 0,
      out: expect.any(String),
      err: "",
    });
    expect(existsSync(join(old, "node.log"))).toBe(false);
    expect(repo.run("session", "list").out).toContain("s1");
  });

  it("is silent without a Node and when its files are gone", () => {
    const { folder } = build();
    const silent = { code: 0, out: "", err: "" };
    expect(hook(folder, "/nowhere", "/tmp")).toEqual(silent);
    rmSync(join(folder, "hook.cjs"));
    expect(hook(folder, dirname(process.execPath), "/tmp")).toEqual(silent);
    rmSync(join(folder, "node.sh"));
    expect(hook(folder, dirname(process.execPath), "/tmp")).toEqual(silent);
  });

  it("tells a person when the Node is missing", () => {
    const { folder } = build();
    const { status, stderr } = spawnSync("/bin/sh", [join(folder, "node.sh"), "haversack.cjs", "doctor"], {
      encoding: "utf8",
      env: { PATH: "/nowhere" },
    });
    expect(status).toBe(1);
    expect(stderr).toBe("haversack: needs Node 22.16 or newer on the PATH\n");
  });
});
