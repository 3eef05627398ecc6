/** `off` restores the clients' own listings, `on` defers the same skills again, and `doctor` reports unreachable skills. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Repo, repository, snapshot } from "./wiring-repo.ts";

const CLIENTS = ["claude-code", "codex", "gemini", "opencode"];
const CLAUDE = ".claude/settings.local.json";
const GEMINI = ".gemini/settings.json";

/** Every client lists `sails`; Claude Code and opencode list `knots` and `flags` too. */
function deferredRepo({ clients = CLIENTS, names = ["--all"] } = {}): Repo {
  const repo = repository();
  for (const name of ["knots", "flags"]) repo.skill(name);
  repo.write(".agents/skills/sails/SKILL.md", "---\nname: sails\ndescription: Sets sails.\n---\n\nBody of sails.\n");
  for (const client of clients) repo.run("init", "--yes", "--client", client);
  expect(repo.run("skill", "defer", ...names)).toMatchObject({ code: 0 });
  return repo;
}

/** Leaves out the hooks' compile cache. */
const state = (repo: Repo) =>
  Object.fromEntries(Object.entries(snapshot(repo.root, repo.home)).filter(([path]) => !path.includes("/.cache")));
const overrides = (repo: Repo) => JSON.parse(repo.read(CLAUDE)).skillOverrides;
interface Finding {
  part: string;
  level: string;
  text: string;
  remedy?: string;
}
const doctor = (repo: Repo): Finding[] => JSON.parse(repo.run("doctor", "--json").out).findings;
const hidden = (repo: Repo) => doctor(repo).filter(({ part }) => part.endsWith("hidden skills"));

describe("off and on", () => {
  it("restore every client's settings, and hide exactly the same skills again", () => {
    const repo = deferredRepo();
    const deferred = state(repo);
    const off = repo.run("off");
    expect(off).toMatchObject({ code: 0, err: "" });
    expect(off.out).toContain("Claude Code: 2 skills are back in the listing");
    expect(off.out).toContain("opencode: 3 skills are back in the listing");
    expect(overrides(repo)).toBeUndefined();
    expect(repo.read(GEMINI)).not.toContain("sails");
    expect(existsSync(join(repo.home, ".codex/config.toml"))).toBe(false);
    expect(existsSync(join(repo.root, ".haversack/opencode-skills.json"))).toBe(false);
    expect(hidden(repo)).toEqual([]);
    // Running it again changes nothing.
    const listed = state(repo);
    expect(repo.run("off").out).not.toContain("back in the listing");
    expect(state(repo)).toEqual(listed);

    const on = repo.run("on");
    expect(on).toMatchObject({ code: 0, err: "" });
    expect(on.out).toContain("Codex: 1 skill is deferred again");
    expect(state(repo)).toEqual(deferred);
    expect(repo.run("on").out).toBe("Haversack was on already.\n");
    expect(state(repo)).toEqual(deferred);
  });

  it("keep the mode of each skill, and leave those alone that were never deferred", () => {
    const repo = deferredRepo({ clients: ["claude-code"], names: ["knots"] });
    repo.run("skill", "defer", "flags", "--names");
    repo.run("off");
    expect(overrides(repo)).toBeUndefined();
    repo.skill("masts");
    repo.run("on");
    expect(overrides(repo)).toEqual({ knots: "user-invocable-only", flags: "name-only" });
  });

  it("never touch what a person changed before or in between", () => {
    const repo = deferredRepo({ clients: ["claude-code", "gemini"] });
    const edit = (path: string, change: (value: Record<string, Record<string, unknown>>) => void) => {
      const value = JSON.parse(repo.read(path));
      change(value);
      repo.write(path, JSON.stringify(value, null, 2));
    };
    // The user listed it again before `off`, so `on` does not hide it.
    edit(CLAUDE, (value) => delete value["skillOverrides"]?.["flags"]);
    repo.run("off");
    // Set by the user while off: it stays as the user set it.
    edit(CLAUDE, (value) => Object.assign(value, { skillOverrides: { knots: "off" }, model: "mine" }));
    edit(GEMINI, (value) => Object.assign(value, { skills: { disabled: ["sails", "own"] } }));
    const on = repo.run("on");
    expect(on.out).toContain("not knots: already has an entry of yours: off");
    expect(overrides(repo)).toEqual({ knots: "off" });
    repo.run("off");
    repo.run("skill", "undefer", "--all");
    expect(overrides(repo)).toEqual({ knots: "off" });
    expect(JSON.parse(repo.read(CLAUDE)).model).toBe("mine");
    expect(JSON.parse(repo.read(GEMINI)).skills.disabled).toEqual(["sails", "own"]);
  });

  it("go on with the other clients when one client's settings are broken, and say so", () => {
    const repo = deferredRepo({ clients: ["claude-code", "opencode"] });
    const whole = repo.read(CLAUDE);
    repo.write(CLAUDE, `${whole.trimEnd().slice(0, -1)}, }`);
    const off = repo.run("off");
    expect(off.code).toBe(0);
    expect(off.err).toContain("Claude Code: skills stay hidden");
    expect(off.out).toContain("opencode: 3 skills are back");
    repo.write(CLAUDE, whole);
    expect(hidden(repo)).toMatchObject([{ part: "claude-code hidden skills", level: "fail" }]);
    repo.run("off");
    expect(hidden(repo)).toEqual([]);
    repo.run("on");
    expect(overrides(repo)).toMatchObject({ knots: "user-invocable-only" });
  });

  it("undefer and uninstall while off leave nothing for `on` to hide", () => {
    const repo = deferredRepo();
    repo.run("off");
    expect(repo.run("skill", "undefer", "knots").out).toContain("Claude Code: 1 skill is back");
    repo.run("on");
    expect(overrides(repo)).toEqual({ flags: "user-invocable-only" });
    repo.run("off");
    expect(repo.run("uninstall", "--yes").code).toBe(0);
    expect(existsSync(join(repo.root, ".haversack/wiring.json"))).toBe(false);
    repo.run("on");
    expect(existsSync(join(repo.root, CLAUDE))).toBe(false);
    expect(existsSync(join(repo.home, ".config"))).toBe(false);
  });

  it("skills are not deferred while it is off", () => {
    const repo = deferredRepo({ clients: ["claude-code"], names: ["knots"] });
    repo.run("off");
    expect(repo.run("skill", "defer", "flags")).toMatchObject({
      code: 1,
      err: expect.stringContaining("haversack on"),
    });
    expect(overrides(repo)).toBeUndefined();
  });
});

describe("off --user and on --user", () => {
  it("restore the listings of every project, and hide again where the project itself is on", () => {
    const one = deferredRepo({ clients: ["claude-code", "gemini"] });
    const root = join(one.base, "other");
    mkdirSync(join(root, ".claude/skills/masts"), { recursive: true });
    writeFileSync(
      join(root, ".claude/skills/masts/SKILL.md"),
      "---\nname: masts\ndescription: Steps masts.\n---\n\nBody.\n",
    );
    const other = (...words: string[]) => one.runIn(root, ...words);
    other("init", "--yes", "--bare");
    other("init", "--yes", "--client", "claude-code");
    other("skill", "defer", "--all");
    const settings = join(root, CLAUDE);
    const deferred = [one.read(CLAUDE), one.read(GEMINI), one.read(settings)];
    const now = () => [one.read(CLAUDE), one.read(GEMINI), one.read(settings)];

    // Run from a folder that is not a project.
    const off = one.runIn(one.home, "off", "--user");
    expect(off.code).toBe(0);
    expect(off.out).toContain(root);
    for (const text of now()) expect(text).not.toMatch(/user-invocable-only|sails/);
    // A project that is switched on stays off while the user's switch is off.
    expect(one.run("on").code).toBe(1);
    for (const text of now()) expect(text).not.toMatch(/user-invocable-only|sails/);
    other("off");
    expect(one.run("on", "--user").code).toBe(0);
    expect(now().slice(0, 2)).toEqual(deferred.slice(0, 2));
    expect(one.read(settings)).not.toContain("masts");
    other("on");
    expect(now()).toEqual(deferred);

    // A deleted project does no harm.
    rmSync(root, { recursive: true });
    expect(one.run("off", "--user").code).toBe(0);
    expect(one.run("on", "--user").code).toBe(0);
    one.run("skill", "undefer", "--all");
    expect(existsSync(join(one.home, ".config"))).toBe(false);
  });
});

describe("doctor says that skills are hidden and nothing brings them", () => {
  const { part, level } = { part: "claude-code hidden skills", level: "fail" };
  const reason = (text: string) => expect.stringContaining(text);

  it("not while all is well", () => {
    expect(hidden(deferredRepo({ clients: ["claude-code"] }))).toEqual([]);
  });

  it("when a mark was put there by hand, or the environment switches it off", () => {
    const repo = deferredRepo({ clients: ["claude-code"] });
    repo.write(".haversack/off", "");
    expect(hidden(repo)).toMatchObject([
      { part, level, text: reason("Haversack is off"), remedy: reason("haversack off") },
    ]);
    rmSync(join(repo.root, ".haversack/off"));
    const { findings } = JSON.parse(repo.runWith({ HAVERSACK: "0" }, "doctor", "--json").out) as {
      findings: Finding[];
    };
    expect(findings.filter((one) => one.part === part)).toMatchObject([{ level, text: reason("HAVERSACK=0") }]);
  });

  it("when the hooks or the MCP server are gone", () => {
    const repo = deferredRepo({ clients: ["claude-code"] });
    const whole = repo.read(CLAUDE);
    const { hooks: _, ...rest } = JSON.parse(whole);
    repo.write(CLAUDE, JSON.stringify(rest));
    expect(hidden(repo)).toMatchObject([
      { part, level, text: reason("not connected"), remedy: reason("undefer --all") },
    ]);
    repo.write(CLAUDE, whole);
    writeFileSync(join(repo.home, ".claude.json"), "{}");
    expect(hidden(repo)).toMatchObject([{ part, level, text: reason("no server"), remedy: reason("haversack init") }]);
  });

  it("and not of skills that a person hides, or that are listed by name", () => {
    const repo = deferredRepo({ clients: ["claude-code"], names: ["knots", "--names"] });
    repo.write(".haversack/off", "");
    expect(hidden(repo)).toEqual([]);
  });
});
