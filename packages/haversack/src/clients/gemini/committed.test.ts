/** If git tracks .gemini/settings.json, nothing is written there, and the user is told the alternative. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { planInit } from "../../engine/init.ts";
import type { WiringPlace } from "../../engine/wiring.ts";
import { mergeGeminiSettings } from "./settings.ts";
import { checkGemini, gemini } from "./wiring.ts";

function scene({ isCommitted = true } = {}): { place: WiringPlace; userSettings: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-committed-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const cwd = join(base, "repo");
  for (const folder of ["repo/.gemini", "home/.gemini"]) mkdirSync(join(base, folder), { recursive: true });
  const git = (...args: string[]) => execFileSync("git", args, { cwd, stdio: "ignore" });
  git("init", "--quiet");
  writeFileSync(join(cwd, ".gemini/settings.json"), '{"ui": {}}\n');
  if (isCommitted) git("add", ".gemini/settings.json");
  const installed = { node: process.execPath, hook: join(base, "hook.cjs"), bin: join(base, "haversack.cjs") };
  const env = { HOME: join(base, "home"), PATH: process.env["PATH"] ?? "" };
  return {
    place: { scope: "project", cwd, env, installed, hasGuards: false },
    userSettings: join(base, "home/.gemini/settings.json"),
  };
}

const COMMAND = "`haversack init --user --client gemini`";

it("writes nothing, and names the command that wires it for the user", () => {
  const { place, userSettings } = scene();
  expect(planInit([gemini], place)).toEqual([]);
  const { why, instead } = gemini.blocked!(place)!;
  expect(why).toContain(".gemini/settings.json is committed");
  expect(instead).toContain(COMMAND);
  expect(instead).toContain(userSettings);
  expect(planInit([gemini], { ...place, scope: "user" }).map(({ path }) => path)).toContain(userSettings);
});

it("is no obstacle once the user's settings are wired, nor where nothing is committed", () => {
  const { place, userSettings } = scene();
  const wired = mergeGeminiSettings("{}\n", { ...place.installed, file: userSettings, hasGuards: false });
  writeFileSync(userSettings, wired.text);
  expect(gemini.blocked!(place)).toBeUndefined();
  writeFileSync(userSettings, "{ // comments\n}");
  expect(gemini.blocked!(place)).toBeDefined();
  expect(gemini.blocked!(scene({ isCommitted: false }).place)).toBeUndefined();
});

it("has doctor say the same, not a command that would do nothing", async () => {
  const { place } = scene();
  const findings = await checkGemini({ ...place, scratch: undefined, cards: [], isOff: false, wasWired: true });
  const failed = findings.filter(({ level }) => level === "fail");
  expect(failed).toHaveLength(2);
  for (const { remedy } of failed) expect(remedy).toContain(COMMAND);
});
