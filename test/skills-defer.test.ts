/** `skills defer` and `undefer` with several clients wired: each by its own setting, and each says what it did. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Repo, repository, snapshot } from "./wiring-repo.ts";

const CODEX = ".codex/config.toml";
const OPENCODE = ".haversack/opencode-skills.json";

/** A skill that every client lists, and one that Claude Code and opencode alone do. */
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
    repo.run("skills", "undefer", "--all");
    expect(snapshot(repo.root, repo.home)).toEqual(before);
    expect(existsSync(join(repo.root, OPENCODE))).toBe(false);
  });

  it("leaves clients alone that are not wired, and does one that is named", () => {
    const repo = repositoryWith("codex");
    expect(report(repo, "defer", "--all")).toMatchObject([{ client: "codex" }]);
    expect(report(repo, "defer", "--all", "--client", "opencode")).toMatchObject([{ client: "opencode" }]);
    expect(existsSync(join(repo.root, ".gemini"))).toBe(false);
  });

  it("says of a skill for all projects why Codex cannot hide it in one", () => {
    const repo = repositoryWith("codex");
    const { out } = repo.run("skills", "defer", "--all");
    expect(out).toContain("1 skill is hidden from the listing");
    expect(out).toContain("not flags: it is a skill for all your projects");
    expect(out).not.toContain("not knots");
  });

  it("--names does what Claude Code alone can, and says so of the others", () => {
    const repo = repositoryWith("claude-code", "codex", "opencode");
    const { code, out } = repo.run("skills", "defer", "--all", "--names");
    expect(code).toBe(0);
    expect(out).toContain("Claude Code: 1 skill is listed by name alone");
    expect(out).toContain("not by name alone: Codex cannot list a skill's name without its description");
    expect(repo.run("skills", "defer", "--all", "--names", "--client", "codex")).toMatchObject({
      code: 3,
      err: expect.stringContaining("without --names"),
    });
  });
});

it("uninstall lets them back in, also where init writes nothing into that file", () => {
  const repo = repositoryWith();
  repo.write(join(repo.home, CODEX), 'model = "mine"\n');
  const before = snapshot(repo.root, repo.home);
  for (const client of ["codex", "opencode"]) repo.run("init", "--yes", "--client", client);
  repo.run("skills", "defer", "--all");
  expect(repo.read(join(repo.home, CODEX))).toContain("[[skills.config]]");
  repo.run("uninstall", "--yes");
  expect(snapshot(repo.root, repo.home)).toEqual(before);
  expect(existsSync(join(repo.root, OPENCODE))).toBe(false);
  expect(existsSync(join(repo.root, ".haversack/wiring.json"))).toBe(false);
});
