/** init where git commits the project settings of Gemini CLI or Codex, with the built bins. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository, snapshot } from "./wiring-repo.ts";

const SETTINGS = ".gemini/settings.json";
const COMMAND = "`haversack init --user --client gemini`";

function committed() {
  const repo = repository();
  repo.write(SETTINGS, '{"ui": {}}\n');
  repo.git("add", "--force", SETTINGS);
  return repo;
}

it("wires the others, and says how Gemini CLI is wired", () => {
  const repo = committed();
  repo.write("opencode.json", "{}\n");
  const { code, err } = repo.run("init", "--yes");
  expect(code).toBe(0);
  expect(err).toContain("Gemini CLI is not connected");
  expect(err).toContain(COMMAND);
  expect(repo.read(SETTINGS)).toBe('{"ui": {}}\n');
  expect(repo.read(".opencode/plugin/haversack.js")).toContain("opencode-plugin.mjs");
});

it("does not say that all is well when nothing could be written", () => {
  const repo = committed();
  const before = snapshot(repo.root, repo.home);
  const { code, out, err } = repo.run("init", "--yes", "--client", "gemini");
  expect(code).toBe(1);
  expect(`${out}${err}`).not.toContain("everything is connected");
  expect(err).toContain(COMMAND);
  expect(snapshot(repo.root, repo.home)).toEqual(before);
});

it("works with that command, and is content afterwards", () => {
  const repo = committed();
  expect(repo.run("init", "--yes", "--user", "--client", "gemini").code).toBe(0);
  expect(repo.read(join(repo.home, SETTINGS))).toContain("BeforeAgent");
  expect(repo.run("init", "--yes", "--client", "gemini")).toMatchObject({ code: 0, err: "" });
});

it("does the same for Codex, whose project settings teams commit too", () => {
  const config = ".codex/config.toml";
  const command = "`haversack init --user --client codex`";
  const repo = repository();
  repo.write(config, 'model = "gpt"\n');
  repo.git("add", "--force", config);
  repo.write("opencode.json", "{}\n");
  const first = repo.run("init", "--yes");
  expect(first.code).toBe(0);
  expect(first.err).toContain("Codex is not connected");
  expect(first.err).toContain(command);
  expect(first.out).not.toMatch(/Start a new [^:]*Codex/);
  expect(repo.read(config)).toBe('model = "gpt"\n');
  expect(existsSync(join(repo.root, ".codex/hooks.json"))).toBe(false);
  expect(repo.read(".opencode/plugin/haversack.js")).toContain("opencode-plugin.mjs");

  const alone = repo.run("init", "--yes", "--client", "codex");
  expect(alone).toMatchObject({ code: 1, err: expect.stringContaining(command) });

  expect(repo.run("init", "--yes", "--user", "--client", "codex").code).toBe(0);
  const again = repo.run("init", "--yes");
  expect(again.err).not.toContain("is not connected");
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("everything is connected") });
});
