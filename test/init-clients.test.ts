/** init and uninstall with all clients at once: shared files are written once and removed with the last client. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CLIENTS } from "../packages/haversack/src/clients/table.ts";
import { applyInit, planInit } from "../packages/haversack/src/engine/init.ts";
import { applyUninstall, planUninstall } from "../packages/haversack/src/engine/uninstall.ts";
import type { WiringPlace } from "../packages/haversack/src/engine/wiring.ts";
import { type Repo, repository, snapshot } from "./wiring-repo.ts";

const EXCLUDE = ".git/info/exclude";
const NAMES = CLIENTS.map(({ name }) => name);
const PLACES: Readonly<Record<string, string>> = {
  "claude-code": ".claude",
  codex: ".codex",
  gemini: ".gemini",
  opencode: ".opencode",
};

/** Sets up signs that every client is used here. */
function repositoryOfAll(): Repo {
  const repo = repository();
  for (const folder of Object.values(PLACES)) mkdirSync(join(repo.root, folder), { recursive: true });
  return repo;
}

describe("all clients at once", () => {
  it("one plan per file, and uninstall gives everything back byte for byte in one step", async () => {
    const repo = repositoryOfAll();
    repo.write(EXCLUDE, "# mine, without a line break");
    const before = snapshot(repo.root, repo.home);

    const { changes } = JSON.parse((await repo.cli("init", "--yes", "--json")).out);
    const paths = changes.map(({ path }: { path: string }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(changes.find(({ path }: { path: string }) => path.endsWith(EXCLUDE))).toMatchObject({
      clients: ["claude-code", "codex", "gemini", "opencode"],
      kind: "change",
    });
    expect(repo.git("status", "--porcelain", "--untracked-files=all")).not.toMatch(/\.(claude|codex|gemini|opencode)/);
    expect((await repo.cli("init", "--dry-run")).out).toContain("Nothing to do");

    const { out } = await repo.cli("uninstall", "--yes");
    expect(out.match(/info\/exclude/g)).toHaveLength(1);
    expect(snapshot(repo.root, repo.home)).toEqual(before);
    expect(existsSync(join(repo.root, ".haversack/wiring.json"))).toBe(false);
    expect((await repo.cli("uninstall", "--yes")).out).toContain(
      "Nothing of Haversack in the settings of this project",
    );
  });

  it.each(NAMES)("uninstall --client %s leaves what the others need, and they go as well later", async (name) => {
    const repo = repositoryOfAll();
    repo.write(EXCLUDE, "*.log\n");
    const before = snapshot(repo.root, repo.home);
    await repo.cli("init", "--yes");
    const wired = snapshot(repo.root, repo.home);
    expect((await repo.cli("uninstall", "--yes", "--client", name)).code).toBe(0);

    const own = PLACES[name] ?? "";
    const excluded = repo.read(EXCLUDE);
    expect(excluded).not.toContain(`/${own}/`);
    const left = snapshot(repo.root, repo.home);
    for (const [path, text] of Object.entries(wired)) {
      const isTouched = path.includes(`/${own}`) || path.endsWith(EXCLUDE);
      if (!isTouched) expect(left[path], path).toBe(text);
    }
    // Their entries are complete, so there is nothing to write for the others.
    for (const other of NAMES.filter((one) => one !== name)) {
      expect((await repo.cli("init", "--dry-run", "--client", other)).out, other).toContain("Nothing to do");
    }
    expect(repo.git("status", "--porcelain", "--untracked-files=all")).not.toMatch(/\.(claude|codex|gemini|opencode)/);
    await repo.cli("uninstall", "--yes");
    expect(snapshot(repo.root, repo.home)).toEqual(before);
  });

  it("a line of the user's own that stood in the way stays, whoever goes first", async () => {
    const repo = repositoryOfAll();
    repo.write(EXCLUDE, "/.gemini/settings.json\n");
    await repo.cli("init", "--yes");
    await repo.cli("uninstall", "--yes", "--client", "gemini");
    expect(repo.read(EXCLUDE)).toMatch(/^\/\.gemini\/settings\.json\n\/\.claude/);
    // Gemini's entries were removed from our notes too, so this one counts as the user's.
    repo.write(EXCLUDE, `${repo.read(EXCLUDE)}/.gemini/commands/work.toml\n`);
    await repo.cli("init", "--yes", "--client", "gemini");
    await repo.cli("uninstall", "--yes");
    expect(repo.read(EXCLUDE)).toBe("/.gemini/settings.json\n/.gemini/commands/work.toml\n");
  });

  it("in a submodule, whose list is elsewhere", async () => {
    const repo = repositoryOfAll();
    repo.git("init", "--quiet", join(repo.base, "library"));
    repo.git("-C", join(repo.base, "library"), "commit", "--quiet", "--allow-empty", "-m", "first");
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(repo.base, "library"), "lib");
    const root = join(repo.root, "lib");
    for (const folder of Object.values(PLACES)) mkdirSync(join(root, folder));
    const before = snapshot(repo.root, repo.home);
    expect((await repo.cliIn(root, "init", "--yes")).code).toBe(0);
    expect(repo.git("-C", root, "status", "--porcelain", "--untracked-files=all")).not.toContain("settings");
    expect((await repo.cliIn(root, "uninstall", "--yes")).code).toBe(0);
    rmSync(join(root, ".haversack"), { recursive: true });
    expect(snapshot(repo.root, repo.home)).toEqual(before);
  });
});

describe("in any order", () => {
  const wholeOrder = fc.shuffledSubarray(NAMES, { minLength: NAMES.length, maxLength: NAMES.length });

  it("what was written goes, and what a person wrote in between stays", () => {
    const repo = repositoryOfAll();
    const place: WiringPlace = {
      scope: "project",
      cwd: repo.root,
      env: { HOME: repo.home, PATH: process.env["PATH"] ?? "" },
      installed: { node: process.execPath, hook: "/x/hook.cjs", bin: "/x/haversack.cjs" },
      hasGuards: false,
    };
    const folder = join(repo.base, "receipt");
    const named = (names: readonly string[]) => CLIENTS.filter(({ name }) => names.includes(name));
    const file = join(repo.root, EXCLUDE);
    fc.assert(
      fc.property(
        wholeOrder,
        wholeOrder,
        fc.constantFrom(undefined, "", "*.log", "*.log\n", "*.log\n\n# notes"),
        fc.option(fc.nat({ max: 9 }), { nil: undefined }),
        (inOrder, outOrder, text, editAt) => {
          rmSync(file, { force: true });
          if (text !== undefined) repo.write(EXCLUDE, text);
          const before = snapshot(repo.root, repo.home);
          for (const name of inOrder) applyInit(planInit(named([name]), place), folder);
          if (editAt !== undefined) {
            const lines = readFileSync(file, "utf8").split("\n");
            lines.splice(Math.min(editAt, lines.length - 1), 0, "/by-hand");
            repo.write(EXCLUDE, lines.join("\n"));
          }
          for (const [at, name] of outOrder.entries()) {
            const staying = named(outOrder.slice(at + 1));
            applyUninstall(planUninstall(named([name]), place, folder, staying), folder);
            expect(planInit(staying, place)).toEqual([]);
            if (staying.length > 0) expect(readFileSync(file, "utf8")).toMatch(/\n$/);
          }
          expect(existsSync(join(folder, "wiring.json"))).toBe(false);
          if (editAt === undefined) expect(snapshot(repo.root, repo.home)).toEqual(before);
          else {
            const rest = readFileSync(file, "utf8").trimEnd().split("\n");
            expect(rest.filter((line) => line === "/by-hand")).toHaveLength(1);
            const others = rest.filter((line) => line !== "/by-hand").join("\n");
            expect(others.trimEnd()).toBe((text ?? "").trimEnd());
          }
        },
      ),
      { numRuns: 8 },
    );
  }, 120_000);
});

it("keeps comments and line ends of settings, and uninstall gives every byte back", () => {
  const repo = repository();
  const gemini = '// mine\r\n{\r\n  "ui": { "theme": "dark" }, // at night\r\n  "skills": { /* none */ }\r\n}\r\n';
  const claude = '{\r\n\t"model": "opus",\r\n\t"hooks": {}\r\n}\r\n';
  repo.write(".gemini/settings.json", gemini);
  repo.write(".claude/settings.local.json", claude);
  repo.write(".agents/skills/knots/SKILL.md", "---\nname: knots\ndescription: Ties knots.\n---\n\nBody.\n");
  for (const client of ["gemini", "claude-code"]) expect(repo.run("init", "--yes", "--client", client).code).toBe(0);
  expect(repo.run("skill", "defer", "--all").code).toBe(0);
  const [wiredGemini, wiredClaude] = [".gemini/settings.json", ".claude/settings.local.json"].map(repo.read);
  for (const comment of ["// mine", "// at night", "/* none */"]) expect(wiredGemini).toContain(comment);
  expect(wiredGemini).toContain('"knots"');
  for (const text of [wiredGemini, wiredClaude]) expect(text?.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  expect(repo.run("init", "--yes", "--client", "gemini").out).toContain("Nothing to do");
  expect(repo.run("uninstall", "--yes").code).toBe(0);
  expect(repo.read(".gemini/settings.json")).toBe(gemini);
  expect(repo.read(".claude/settings.local.json")).toBe(claude);
});
