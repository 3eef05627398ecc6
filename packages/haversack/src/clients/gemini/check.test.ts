/** Findings of `doctor` when Gemini CLI is not wired, half wired, or not trusted. Testing the events needs the built hook. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { mergeGeminiSettings } from "./settings.ts";
import { checkGemini } from "./wiring.ts";

function scene(): { place: CheckPlace; settings: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-check-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const folder of ["repo/.git", "repo/.gemini", "home"]) mkdirSync(join(base, folder), { recursive: true });
  const installed = { node: process.execPath, hook: join(base, "hook.cjs"), bin: join(base, "haversack.cjs") };
  const env = { HOME: join(base, "home"), PATH: "" };
  const cwd = join(base, "repo");
  const place = { cwd, env, installed, hasGuards: false, scratch: undefined, cards: [], isOff: false, wasWired: true };
  return { place, settings: join(cwd, ".gemini/settings.json") };
}

const told = (findings: readonly Finding[]) => findings.map(({ level, text }) => `${level}: ${text}`).join("\n");

it("says what is missing, with a remedy for each", async () => {
  const { place } = scene();
  const findings = await checkGemini(place);
  expect(told(findings)).toMatch(/fail: not connected[\s\S]*fail: no server "haversack"/);
  for (const { level, remedy } of findings) expect(level === "ok" || remedy).toBeTruthy();
});

it("says what is gone, switched off or not trusted", async () => {
  const { place, settings } = scene();
  const { text } = mergeGeminiSettings('{"hooksConfig": {"disabled": ["haversack"]}}', {
    ...place.installed,
    file: settings,
    hasGuards: false,
  });
  writeFileSync(settings, text.replace('"trust": true', '"trust": false'));
  const findings = await checkGemini(place);
  expect(told(findings)).toContain("switched off");
  expect(told(findings)).toContain("hook.cjs is gone");
  expect(told(findings)).toContain("is not trusted");
  expect(told(findings)).toContain("haversack.cjs is gone");
});

it("says when a file cannot be read", async () => {
  const { place, settings } = scene();
  writeFileSync(settings, "{ // mine\n}");
  expect(told(await checkGemini(place))).not.toContain("warn: ");
  writeFileSync(settings, "{ // mine\n,}");
  expect(told(await checkGemini(place))).toContain("warn: ");
});
