/** init where git commits Gemini CLI's project settings, with the built bins. */
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
