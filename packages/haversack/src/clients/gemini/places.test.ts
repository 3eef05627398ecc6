import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { folderTrust } from "./folder-trust.ts";
import { findGemini, geminiPlaces } from "./places.ts";
import { gemini } from "./wiring.ts";

function scratch(): { base: string; root: string; env: Record<string, string> } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-detect-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const folder of ["repo/.git", "repo/sub", "home"]) mkdirSync(join(base, folder), { recursive: true });
  return { base, root: join(base, "repo"), env: { HOME: join(base, "home"), PATH: "" } };
}

it("finds the client by its folders", () => {
  const { root, env } = scratch();
  expect(findGemini(root, env)).toEqual([]);
  mkdirSync(join(root, ".gemini"));
  expect(findGemini(join(root, "sub"), env)).toEqual([`the folder ${join(root, ".gemini")}`]);
});

it("reads the nearest answer about trust", () => {
  const { base, root, env } = scratch();
  const places = geminiPlaces(root, env);
  expect(folderTrust(places, env)).toBe("unknown");
  mkdirSync(places.configDir);
  const answer = (rules: object) => writeFileSync(places.trustedFolders, JSON.stringify(rules));
  answer({ [base]: "TRUST_FOLDER" });
  expect(folderTrust(places, env)).toBe("trusted");
  answer({ [base]: "TRUST_FOLDER", [root]: "DO_NOT_TRUST" });
  expect(folderTrust(places, env)).toBe("untrusted");
  answer({ [join(base, "other")]: "TRUST_PARENT" });
  expect(folderTrust(places, env)).toBe("trusted");
  writeFileSync(places.trustedFolders, "{");
  expect(folderTrust(places, env)).toBe("unknown");
});

it("trusts every folder where folder trust is switched off, and believes the environment first", () => {
  const { root, env } = scratch();
  const places = geminiPlaces(root, env);
  mkdirSync(places.configDir);
  const setting = (enabled: boolean) =>
    writeFileSync(places.userSettings, `{ // mine\n "security": {"folderTrust": {"enabled": ${enabled}}}}`);
  setting(true);
  expect(folderTrust(places, env)).toBe("unknown");
  setting(false);
  expect(folderTrust(places, env)).toBe("trusted");
  expect(folderTrust(places, { ...env, GEMINI_CLI_TRUST_WORKSPACE: "false" })).toBe("untrusted");
  setting(true);
  expect(folderTrust(places, { ...env, GEMINI_CLI_TRUST_WORKSPACE: "true" })).toBe("trusted");
  writeFileSync(join(root, "machine.json"), '{"security": {"folderTrust": {"enabled": false}}}');
  expect(folderTrust(places, { ...env, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(root, "machine.json") })).toBe("trusted");
  // A project cannot trust itself.
  mkdirSync(join(root, ".gemini"));
  writeFileSync(places.projectSettings, '{"security": {"folderTrust": {"enabled": false}}}');
  expect(folderTrust(places, env)).toBe("unknown");
});

it("says beforehand that a project's settings need trust, and whose files stay", () => {
  const { root, env } = scratch();
  mkdirSync(join(root, ".gemini/commands"), { recursive: true });
  writeFileSync(join(root, ".gemini/commands/work.toml"), 'prompt = "mine"\n');
  const installed = { node: "/n", hook: "/h/hook.cjs", bin: "/h/haversack.cjs" };
  const notes = gemini.notes({ scope: "project", cwd: root, env, installed, hasGuards: false }).join("\n");
  expect(notes).toContain("you trust");
  expect(notes).toContain("work.toml is not Haversack's");
});
