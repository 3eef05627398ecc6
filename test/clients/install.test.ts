/** The clients that are run are the pinned ones, a failed installation is loud, and any registry can be used. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import * as claude from "./claude-code/install.ts";
import * as codex from "./codex/install.ts";
import * as gemini from "./gemini/install.ts";
import * as opencode from "./opencode/install.ts";

const CLIENTS = [
  { name: "claude-code", title: "Claude Code", client: claude, command: () => [claude.claudeProgram()] },
  { name: "codex", title: "Codex", client: codex, command: () => [codex.codexProgram()] },
  { name: "gemini", title: "Gemini CLI", client: gemini, command: () => [process.execPath, gemini.geminiProgram()] },
  { name: "opencode", title: "opencode", client: opencode, command: () => [opencode.opencodeProgram()] },
];

const FILES = ["package.json", "package-lock.json", ".npmrc", "install.ts"];
/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:1/";

describe.each(CLIENTS)("$title", ({ name, title, client, command }) => {
  it("is the pinned one", () => {
    const home = scratchFolder();
    const env = { PATH: process.env["PATH"], HOME: home, HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE };
    const [program = "", ...words] = command();
    const { status, stdout } = spawnSync(program, [...words, "--version"], { cwd: home, env, encoding: "utf8" });
    expect(status).toBe(0);
    expect(stdout.split(/\s+/)).toContain(client.pinnedVersion());
  });

  it("names what could not be installed and why", () => {
    const base = scratchFolder();
    const folder = join(base, name);
    mkdirSync(folder);
    for (const file of FILES) copyFileSync(join(import.meta.dirname, name, file), join(folder, file));
    copyFileSync(join(import.meta.dirname, "install-client.ts"), join(base, "install-client.ts"));
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--input-type=module", "-e", `(await import(${JSON.stringify(join(folder, "install.ts"))})).default()`],
      {
        encoding: "utf8",
        env: {
          PATH: process.env["PATH"],
          HOME: base,
          npm_config_cache: join(base, "cache"),
          npm_config_registry: NOWHERE,
          npm_config_fetch_retries: "0",
        },
      },
    );
    expect(status).not.toBe(0);
    expect(stderr).toContain(`${title} ${client.pinnedVersion()} could not be installed`);
    expect(stderr).toMatch(/ECONNREFUSED/);
  });

  it("ties the lock file to no registry", () => {
    const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, name, "package-lock.json"), "utf8"));
    const entries = Object.values(packages as Record<string, { resolved?: string; integrity?: string }>);
    expect(entries.filter(({ resolved }) => resolved)).toEqual([]);
    expect(entries.filter(({ integrity }) => integrity).length).toBeGreaterThan(1);
  });
});

function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "haversack-install-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
