import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { CheckPlace } from "../engine/wiring.ts";
import { checkVersion } from "./client-program.ts";
import { FACTS } from "./facts.ts";

it("asks Gemini CLI for its version without leaving its files in the user's home", async () => {
  const base = mkdtempSync(join(tmpdir(), "haversack-test-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [bin, home] = [join(base, "bin"), join(base, "home")];
  for (const folder of [bin, home]) mkdirSync(folder);
  const { tested } = FACTS.gemini;
  // As Gemini CLI does: every start leaves a file in its home.
  const script = `#!/bin/sh\necho x > "\${GEMINI_CLI_HOME:-$HOME}/projects.json.$$.tmp"\necho ${tested}\n`;
  writeFileSync(join(bin, "gemini"), script);
  chmodSync(join(bin, "gemini"), 0o755);
  const place = { cwd: base, env: { PATH: `${bin}:${dirname("/bin/sh")}`, HOME: home } } as unknown as CheckPlace;
  expect(await checkVersion("gemini", place)).toMatchObject({ level: "ok", text: `${tested}; tested with ${tested}` });
  expect(readdirSync(home)).toEqual([]);
});
