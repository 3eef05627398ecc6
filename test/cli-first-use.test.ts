/** What a new user sees: the first screen, errors in a terminal, Haversack switched off, an unedited template. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIST, type Scratch, scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

describe("help", () => {
  it("the name alone says what Haversack would do here and what to type, in five lines", async () => {
    const project = scratchProject();
    mkdirSync(join(project.root, ".git"), { recursive: true });
    mkdirSync(join(project.root, ".claude"));
    project.write(".claude/skills/knots/SKILL.md", "---\nname: knots\ndescription: Ties knots.\n---\n\nBody.\n");
    const { code, out, err } = await run(project, []);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[0]).toContain("is not set up in");
    expect(lines[1]).toBe("It would connect Claude Code and index 1 skill.");
    expect(lines[3]).toContain("Type `haversack init`");
    expect(existsSync(join(project.root, ".haversack"))).toBe(false);
    expect((await run(project, ["--json"])).json()).toEqual({
      is_set_up: false,
      project: project.root,
      clients: ["Claude Code"],
      skills: 1,
      command: "haversack init",
    });
  });

  it("the name alone names commands as npx runs them, if that has started it", async () => {
    const { out } = await run(scratchProject(), [], { env: { npm_command: "exec" } });
    expect(out).toContain("`npx haversack init`");
    expect(out).toContain("`npx haversack help` lists all commands.");
  });

  it("the name alone names what works where no client is found", async () => {
    const project = scratchProject();
    const env = { PATH: dirname(process.execPath) };
    const { out } = await run(project, [], { env });
    expect(out).not.toContain("Type `haversack init`:");
    expect(out).toContain("No coding client was found. Install one (Claude Code, ");
    expect(out).toContain("`haversack init --bare` sets up tasks and handoffs here without a client.");
    expect((await run(project, ["init", "--bare"], { env })).code).toBe(0);
  });

  it("the name alone shows the status where Haversack is set up", async () => {
    const project = scratchProject();
    await run(project, ["task", "create", "Read the plan"]);
    const { out } = await run(project, []);
    expect(out).toBe((await run(project, ["status"])).out);
    expect(out).toContain("Read the plan");
    expect((await run(project, ["claim"])).out).toMatch(/^T\d+ is yours for 60 min: Read the plan\n/);
  });
});

describe("errors", () => {
  it("say that the folder is gone, if the shell stands in a deleted one", () => {
    const project = scratchProject();
    const script = `mkdir gone && cd gone && rmdir ../gone && "${process.execPath}" "${join(DIST, "haversack.cjs")}" status`;
    const { status, stderr } = spawnSync("sh", ["-c", script], { cwd: project.root, encoding: "utf8" });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr:
        "haversack: error: the folder that you are in does not exist any more\nhaversack: hint: change to another folder\n",
    });
  });

  it("break between words at the terminal's width, and nowhere without one", async () => {
    const project = scratchProject();
    const words = ["log", "--level", "eror"];
    const whole = (await run(project, words)).err;
    expect(Math.max(...whole.split("\n").map(({ length }) => length))).toBeGreaterThan(60);
    const { err } = await run(project, words, { errorWidth: () => 40 });
    expect(Math.max(...err.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(40);
    expect(err.replaceAll("\n  ", " ").split(/\s+/)).toEqual(whole.split(/\s+/));
  });
});

describe("status", () => {
  it("says that Haversack is off, and why", async () => {
    const project = scratchProject();
    expect((await run(project, ["status"])).out).not.toContain("off");
    await run(project, ["off"]);
    const why = "switched off for this project; `haversack on` switches it on";
    expect((await run(project, ["status"])).out).toBe(
      `Haversack is off: ${why}.\n\nNo tasks yet; \`haversack task create "TITLE"\` creates one.\n`,
    );
    await run(project, ["task", "create", "x"]);
    expect((await run(project, ["status"])).out).toMatch(/^Haversack is off: .*\n\n1 task: /);
    expect((await run(project, ["status", "--json"])).json().off).toBe(why);
    await run(project, ["on"]);
    expect((await run(project, ["status", "--json"])).json()).not.toHaveProperty("off");
    expect((await run(project, ["status"], { env: { HAVERSACK: "0" } })).out).toContain("HAVERSACK=0 is set");
  });
});

describe("discover", () => {
  const skill = "---\nname: pdf-forms\ndescription: Fills in PDF forms.\n---\n\nBody.\n";

  it("takes the prompt as words, and as one in quotes", async () => {
    const project = scratchProject();
    project.write(".claude/skills/pdf-forms/SKILL.md", skill);
    for (const words of [["fill in the PDF forms"], ["fill", "in", "the", "PDF", "forms"]]) {
      const { code, out } = await run(project, ["discover", "--force", ...words], { stdin: "something else" });
      expect(code).toBe(0);
      expect(out).toContain("pdf-forms");
    }
    const piped = await run(project, ["discover", "--force", "-"], { stdin: "fill in the PDF forms" });
    expect(piped.out).toContain("pdf-forms");
  });

  it("without one it says how in a terminal, and nothing to a script", async () => {
    const project = scratchProject();
    expect(await run(project, ["discover"])).toMatchObject({ code: 0, out: "", err: "" });
    const { code, err } = await run(project, ["discover"], { isTerminal: true });
    expect(code).toBe(2);
    expect(err).toBe(
      'haversack: error: no prompt came on standard input\nhaversack: hint: type it: `haversack discover "fix the test"`\n',
    );
  });
});

describe("skills new", () => {
  it("leaves a description that skills check asks to be written", async () => {
    const project = scratchProject();
    await run(project, ["skill", "new", "api-errors"]);
    const { problems } = (await run(project, ["skill", "check", "--json"])).json();
    expect(problems).toMatchObject([{ level: "warning", code: "description-template", where: "description" }]);
    expect((await run(project, ["skill", "check", "--strict"])).code).toBe(1);
    await run(project, ["skill", "new", "pdf-forms", "--description", "Use when a PDF form is to be filled in."]);
    expect((await run(project, ["skill", "check", "pdf-forms"])).out).toContain("nothing wrong");
  });
});

describe("doctor", () => {
  /** Programs that print only their version, and a folder for each client. */
  function withClients(version: string): { project: Scratch; env: Record<string, string> } {
    const project = scratchProject();
    for (const name of ["claude", "codex", "gemini", "opencode"]) {
      mkdirSync(join(project.root, `.${name}`));
      chmodSync(project.write(`../bin/${name}`, `#!/bin/sh\necho ${version}\n`), 0o755);
    }
    return { project, env: { PATH: `${join(project.root, "../bin")}:${dirname(process.execPath)}:/usr/bin:/bin` } };
  }

  it.each([
    ["0.1.0", /^update /],
    ["99.0.0", /^look for a newer haversack/],
  ])("for a client of version %s the remedy is %s", async (version, remedy) => {
    const { project, env } = withClients(version);
    const { findings } = (await run(project, ["doctor", "--json"], { env })).json();
    const versions = findings.filter(({ part }: { part: string }) => part.endsWith(" version"));
    expect(versions).toHaveLength(4);
    for (const finding of versions) {
      expect(finding).toMatchObject({ level: "warn", remedy: expect.stringMatching(remedy) });
    }
  });

  it("and init say that git refuses a repository of another user's, with git's own remedy", async () => {
    const project = scratchProject();
    spawnSync("git", ["init", "-q"], { cwd: project.root });
    mkdirSync(join(project.root, ".claude"));
    const path = process.env["PATH"] ?? "";
    const find = async (more: Record<string, string>) =>
      (await run(project, ["doctor", "--json"], { env: { PATH: path, ...more } }))
        .json()
        .findings.filter(({ part }: { part: string }) => part === "git");
    expect(await find({})).toEqual([]);
    // Git's own test switch: acts as if the folder belonged to another user.
    const foreign = { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };
    const remedy = `git config --global --add safe.directory '${project.root}'`;
    expect(await find(foreign)).toMatchObject([
      { level: "warn", text: expect.stringContaining("dubious ownership"), remedy: expect.stringContaining(remedy) },
    ]);
    const { err } = project.haversack(["init", "--dry-run"], { env: foreign });
    expect(err).toContain("dubious ownership");
    expect(err).toContain(remedy);
  });

  it("warns of a project that takes in all folders of the user's", async () => {
    const project = scratchProject();
    mkdirSync(join(project.home, ".haversack"));
    mkdirSync(join(project.home, "deep"));
    const { findings } = (await run(project, ["doctor", "--json"], { cwd: join(project.home, "deep") })).json();
    expect(findings).toContainEqual(
      expect.objectContaining({ part: "project", level: "warn", text: expect.stringContaining("your home folder") }),
    );
  });
});
