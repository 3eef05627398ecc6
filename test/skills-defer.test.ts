/** `skill defer` and `undefer` with several clients wired: each uses its own setting and reports what it did. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Repo, repository, snapshot } from "./wiring-repo.ts";

const CODEX = ".codex/config.toml";
const OPENCODE = ".haversack/opencode-skills.json";

/** One skill that every client lists, and one that only Claude Code and opencode list. */
function repositoryWith(...clients: string[]): Repo {
  const repo = repository();
  repo.skill("knots");
  const text = "---\nname: sails\ndescription: Sets sails.\n---\n\nBody of sails.\n";
  repo.write(".agents/skills/sails/SKILL.md", text);
  repo.write(join(repo.home, ".agents/skills/flags/SKILL.md"), text.replaceAll("sails", "flags"));
  for (const client of clients) repo.run("init", "--yes", "--client", client);
  return repo;
}

const report = (repo: Repo, ...words: string[]) => JSON.parse(repo.run("skills", ...words, "--json").out).clients;

describe("skills defer --all", () => {
  it("hides in every wired client what that one lists, and undefer gives all of it back", () => {
    const repo = repositoryWith("claude-code", "codex", "gemini", "opencode");
    const before = snapshot(repo.root, repo.home);
    expect(report(repo, "defer", "--all")).toMatchObject([
      { client: "claude-code", skills: ["knots"] },
      { client: "codex", skills: ["sails"] },
      { client: "gemini", skills: ["flags", "sails"] },
      { client: "opencode", skills: ["flags", "knots", "sails"] },
    ]);
    expect(repo.read(join(repo.home, CODEX))).toBe(
      `[[skills.config]]\npath = ${JSON.stringify(join(repo.root, ".agents/skills/sails/SKILL.md"))}\nenabled = false\n`,
    );
    expect(statSync(join(repo.home, CODEX)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(repo.read(OPENCODE))).toEqual({ hidden: ["flags", "knots", "sails"] });
    expect(report(repo, "undefer", "sails")).toMatchObject([
      { client: "claude-code", skills: [] },
      { client: "codex", skills: ["sails"] },
      { client: "gemini", skills: ["sails"] },
      { client: "opencode", skills: ["sails"] },
    ]);
    repo.run("skill", "undefer", "--all");
    expect(snapshot(repo.root, repo.home)).toEqual(before);
    expect(existsSync(join(repo.root, OPENCODE))).toBe(false);
  });

  it("leaves clients alone that are not wired, and refuses one that is named", () => {
    const repo = repositoryWith("codex");
    expect(report(repo, "defer", "--all")).toMatchObject([{ client: "codex" }]);
    const before = snapshot(repo.root, repo.home);
    expect(repo.run("skill", "defer", "--all", "--client", "opencode")).toMatchObject({
      code: 1,
      err: "haversack: error: Haversack is not connected to opencode here: nothing would load hidden skills\nhaversack: hint: run `haversack init --client opencode` first\n",
    });
    expect(snapshot(repo.root, repo.home)).toEqual(before);
  });

  it("is refused before init, and writes nothing", () => {
    const repo = repositoryWith();
    const before = snapshot(repo.root, repo.home);
    expect(repo.run("skill", "defer", "--all")).toMatchObject({
      code: 1,
      err: "haversack: error: Haversack is not connected to any client here: nothing would load hidden skills\nhaversack: hint: run `haversack init` first\n",
    });
    expect(snapshot(repo.root, repo.home)).toEqual(before);
    expect(existsSync(join(repo.root, ".haversack"))).toBe(false);
  });

  it("undefer fails for a skill that does not exist, as defer does", () => {
    const repo = repositoryWith("claude-code");
    repo.run("skill", "defer", "knots");
    expect(repo.run("skill", "undefer", "nope", "knots")).toMatchObject({
      code: 1,
      out: expect.stringContaining("1 skill is back in the listing"),
      err: 'haversack: error: there is no skill "nope"\nhaversack: hint: `haversack skill list` shows all\n',
    });
    expect(repo.run("skill", "undefer", "knots")).toMatchObject({ code: 0, err: "" });
  });

  it("says of a skill for all projects why Codex cannot hide it in one", () => {
    const repo = repositoryWith("codex");
    const { out } = repo.run("skill", "defer", "--all");
    expect(out).toContain("1 skill is hidden from the listing");
    expect(out).toContain("skipped flags: it is a skill for all your projects");
    expect(out).not.toContain("skipped knots");
  });

  it("--names does what Claude Code alone can, and says so of the others", () => {
    const repo = repositoryWith("claude-code", "codex", "opencode");
    const { code, out } = repo.run("skill", "defer", "--all", "--names");
    expect(code).toBe(0);
    expect(out).toContain("Claude Code: 1 skill is listed by name alone");
    expect(out).toContain("skipped by name alone: Codex cannot list a skill's name without its description");
    expect(repo.run("skill", "defer", "--all", "--names", "--client", "codex")).toMatchObject({
      code: 2,
      err: expect.stringContaining("without --names"),
    });
  });
});

it("uninstall lets them back in, also where init writes nothing into that file", () => {
  const repo = repositoryWith();
  repo.write(join(repo.home, CODEX), 'model = "mine"\n');
  const before = snapshot(repo.root, repo.home);
  for (const client of ["codex", "opencode"]) repo.run("init", "--yes", "--client", client);
  repo.run("skill", "defer", "--all");
  expect(repo.read(join(repo.home, CODEX))).toContain("[[skills.config]]");
  repo.run("uninstall", "--yes");
  expect(snapshot(repo.root, repo.home)).toEqual(before);
  expect(existsSync(join(repo.root, OPENCODE))).toBe(false);
  expect(existsSync(join(repo.root, ".haversack/wiring.json"))).toBe(false);
});
