/** What `doctor` says about opencode when it is not wired, and about the file that `init` writes. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { findOpencode } from "./places.ts";
import { checkOpencode, opencode } from "./wiring.ts";

function scene(): CheckPlace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-check-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const folder of ["repo", "home"]) mkdirSync(join(base, folder));
  const installed = { node: process.execPath, hook: join(base, "hook.cjs"), bin: join(base, "haversack.cjs") };
  const env = { HOME: join(base, "home"), PATH: "" };
  return {
    cwd: join(base, "repo"),
    env,
    installed,
    hasGuards: false,
    scratch: undefined,
    cards: [],
    isOff: false,
    wasWired: true,
  };
}

const told = (findings: readonly Finding[]) => findings.map(({ level, text }) => `${level}: ${text}`).join("\n");

it("says that nothing is wired, and that ripgrep is missing", async () => {
  const place = scene();
  expect(findOpencode(place.cwd, place.env)).toEqual([]);
  expect(told(await checkOpencode(place))).toMatch(/fail: not connected[\s\S]*warn: no rg/);
});

it("knows its own file, and says when what it names is gone", async () => {
  const place = scene();
  const [file] = opencode.files({ ...place, scope: "project" });
  mkdirSync(dirname(file!.path), { recursive: true });
  writeFileSync(file!.path, file!.wire("").text);
  expect(told(await checkOpencode(place))).toMatch(/fail: .*haversack\.js names .*opencode-plugin\.mjs, which is gone/);
  writeFileSync(join(dirname(place.installed.hook), "opencode-plugin.mjs"), "");
  expect(told(await checkOpencode(place))).toContain(`ok: ${file!.path}`);
  writeFileSync(file!.path, `${file!.wire("").text}// mine\n`);
  expect(told(await checkOpencode(place))).toContain("changed by hand");
  expect(opencode.notes({ ...place, scope: "project" }).join()).toContain("changed by hand");
});
