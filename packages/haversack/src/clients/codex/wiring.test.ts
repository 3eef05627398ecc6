/** `init` and `uninstall` for Codex on a real folder. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { applyInit, planInit } from "../../engine/init.ts";
import { applyUninstall, planUninstall } from "../../engine/uninstall.ts";
import type { CheckPlace, WiringPlace } from "../../engine/wiring.ts";
import { ownHooks } from "../hook-settings.ts";
import { codexWorkFiles } from "../work-files.ts";
import { hookKey } from "./trust.ts";
import { codex } from "./wiring.ts";

let base: string;
let place: WiringPlace;
const at = (path: string) => join(base, path);
const git = (...args: string[]) => execFileSync("git", ["-C", at("repo"), ...args], { encoding: "utf8" });

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-codex-wiring-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const folder of ["repo/src", "home", "state"]) mkdirSync(at(folder), { recursive: true });
  git("init", "--quiet");
  place = {
    scope: "project",
    cwd: at("repo/src"),
    env: { HOME: at("home"), PATH: "" },
    installed: { node: process.execPath, hook: at("hook.cjs"), bin: at("haversack.cjs") },
    hasGuards: false,
  };
});

const wire = () => applyInit(planInit([codex], place), at("state"));
const unwire = () => applyUninstall(planUninstall([codex], place, at("state")), at("state"));

describe("in a project", () => {
  it("writes files that git does not see, and takes them out without a trace", () => {
    expect(codex.find(place)).toEqual([]);
    wire();
    for (const name of ["hooks.json", "config.toml"]) expect(existsSync(at(`repo/.codex/${name}`))).toBe(true);
    expect(git("status", "--porcelain")).toBe("");
    expect(planInit([codex], place)).toEqual([]);
    expect(codex.find(place)).toEqual([`the folder ${at("repo/.codex")}`]);
    unwire();
    expect(existsSync(at("repo/.codex"))).toBe(false);
  });

  it("gives files of the person's own back as they were", () => {
    const own = { "config.toml": 'model = "gpt" # mine', "hooks.json": '{ "hooks": {} }' };
    mkdirSync(at("repo/.codex"));
    for (const [name, text] of Object.entries(own)) writeFileSync(at(`repo/.codex/${name}`), text);
    wire();
    for (const [name, text] of Object.entries(own))
      expect(readFileSync(at(`repo/.codex/${name}`), "utf8")).not.toBe(text);
    unwire();
    for (const [name, text] of Object.entries(own)) expect(readFileSync(at(`repo/.codex/${name}`), "utf8")).toBe(text);
  });

  it("refuses a file that is committed", () => {
    mkdirSync(at("repo/.codex"));
    writeFileSync(at("repo/.codex/config.toml"), 'model = "gpt"\n');
    git("add", ".codex/config.toml");
    expect(() => planInit([codex], place)).toThrow(/is committed in this repository/);
  });

  it("says that hooks wait for a review, and the folder for trust", () => {
    const notes = codex.notes(place).join("\n");
    expect(notes).toMatch(/\/hooks/);
    expect(notes).toMatch(/trust this folder/);
    expect(codex.notes({ ...place, scope: "user" }).join("\n")).not.toMatch(/this folder/);
  });
});

it("writes into the user's folder for all projects", () => {
  place = { ...place, scope: "user", env: { ...place.env, CODEX_HOME: at("home/cx") } };
  expect(planInit([codex], place).map(({ path }) => path)).toEqual([
    at("home/cx/hooks.json"),
    at("home/cx/config.toml"),
    ...codexWorkFiles("$work").map(({ path }) => at(`home/cx/${path}`)),
  ]);
});

describe("notify in the user's settings", () => {
  const OWN = 'notify = ["notify-send", "Codex"]\n';
  beforeEach(() => {
    place = { ...place, scope: "user" };
    mkdirSync(at("home/.codex"));
  });
  const config = () => readFileSync(at("home/.codex/config.toml"), "utf8");

  it("is written where there is none, and taken out again", () => {
    writeFileSync(at("home/.codex/config.toml"), 'model = "gpt"\n');
    wire();
    expect(config()).toContain(at("hook-codex-notify.cjs"));
    expect(codex.notes(place).join()).not.toMatch(/notify/);
    expect(planInit([codex], place)).toEqual([]);
    unwire();
    expect(config()).toBe('model = "gpt"\n');
  });

  it("of the person's own stays, and init says how to have both", () => {
    writeFileSync(at("home/.codex/config.toml"), OWN);
    expect(codex.notes(place).join("\n")).toContain(`${process.execPath} ${at("hook-codex-notify.cjs")} JSON`);
    wire();
    expect(config()).toContain(OWN);
    expect(config()).not.toContain("codex-notify");
    unwire();
    expect(config()).toBe(OWN);
  });

  it("is none of a project's: the client would complain in every session", () => {
    place = { ...place, scope: "project" };
    wire();
    expect(readFileSync(at("repo/.codex/config.toml"), "utf8")).not.toContain("notify");
  });

  it("is checked by doctor: set, its files there, and hooks that ran or did not", async () => {
    wire();
    const check = async () => {
      const found = await codex.check({ ...place, scratch: undefined, cards: [], isOff: false, wasWired: true });
      const notify = found.find(({ part }) => part === "codex notify");
      return `${notify?.level}: ${notify?.text}`;
    };
    expect(await check()).toMatch(/^warn: .*hook-codex-notify\.cjs is gone/);
    writeFileSync(at("hook-codex-notify.cjs"), "");
    expect(await check()).toMatch(/^ok: set; no turn/);
    mkdirSync(at("repo/.haversack"));
    for (const [isHeard, level] of [
      [false, "fail"],
      [true, "ok"],
    ] as const) {
      const note = JSON.stringify({ sessionId: "s1", at: "2026-03-02T09:00:00.000Z", isHeard });
      writeFileSync(at("repo/.haversack/codex-turn.json"), note);
      expect(await check()).toMatch(new RegExp(`^${level}: a turn of session s1 ended at 2026-03-02T09`));
    }
  });
});

/** A program that says what the installed client would say. */
function install(version: string): void {
  mkdirSync(at("bin"), { recursive: true });
  writeFileSync(at("bin/codex"), `#!/bin/sh\necho "codex-cli ${version}"\n`, { mode: 0o755 });
  place = { ...place, env: { ...place.env, PATH: `${at("bin")}:/usr/bin:/bin` } };
}

describe("hooks that ask the running MCP server", () => {
  beforeEach(() => {
    place = { ...place, hooks: "server" };
  });
  const ways = () => [
    ...new Set(ownHooks("codex", JSON.parse(readFileSync(at("repo/.codex/hooks.json"), "utf8"))).map(({ way }) => way)),
  ];

  it.each(["0.166.0", "0.166.3", "0.200.0", "1.0.0"])("are written for Codex %s", (version) => {
    install(version);
    wire();
    expect(ways()).toEqual(["command", "server"]);
    expect(codex.notes(place).join()).not.toMatch(/each event starts a process/);
    expect(planInit([codex], place)).toEqual([]);
  });

  it.each(["0.165.9", "0.99.0", "0.140.0", "nonsense"])("are not written for Codex %s, which init says", (version) => {
    install(version);
    wire();
    expect(ways()).toEqual(["command"]);
    expect(codex.notes(place).join()).toMatch(/Codex 0\.166\.0 on.*each event starts a process/);
  });

  it("are not written where no codex is on the PATH, nor while the server is switched off", () => {
    wire();
    expect(ways()).toEqual(["command"]);
    install("0.166.0");
    const config = at("repo/.codex/config.toml");
    writeFileSync(config, readFileSync(config, "utf8").replace("args =", "enabled = false\nargs ="));
    wire();
    expect(ways()).toEqual(["command"]);
    expect(codex.notes(place).join()).toMatch(/the MCP server is switched off in .*config\.toml/);
  });

  it("are the default, and go back to commands where init is told to", () => {
    install("0.166.0");
    const { hooks: _, ...usual } = place;
    place = usual;
    wire();
    expect(ways()).toEqual(["command", "server"]);
    place = { ...place, hooks: "command" };
    wire();
    expect(ways()).toEqual(["command"]);
  });
});

describe("doctor", () => {
  const check = async () => {
    const checked: CheckPlace = { ...place, scratch: undefined, cards: [], isOff: false, wasWired: true };
    return Object.fromEntries((await codex.check(checked)).map(({ part, level, text }) => [part, `${level}: ${text}`]));
  };

  it("says that nothing is wired", async () => {
    expect(await check()).toMatchObject({
      "codex hooks": expect.stringMatching(/^fail: not connected/),
      "codex MCP server": expect.stringMatching(/^fail: no server/),
    });
  });

  it("says step by step what the person has to do", async () => {
    wire();
    expect(await check()).toMatchObject({
      "codex hooks": expect.stringMatching(/^fail: .*hook\.cjs is gone/),
      "codex trust": expect.stringMatching(/^warn: Codex does not trust/),
    });
    for (const name of ["hook.cjs", "haversack.cjs"]) writeFileSync(at(name), "");
    mkdirSync(at("home/.codex"));
    const trusted = `[projects."${at("repo")}"]\ntrust_level = "trusted"\n`;
    writeFileSync(at("home/.codex/config.toml"), trusted);
    expect(await check()).toMatchObject({
      "codex hooks": expect.stringMatching(/^ok: all 9/),
      "codex trust": expect.stringMatching(/^fail: .*not reviewed the hooks for SessionStart/),
      "codex MCP server": expect.stringMatching(/^ok/),
    });
    const file = at("repo/.codex/hooks.json");
    const reviews = ownHooks("codex", JSON.parse(readFileSync(file, "utf8"))).map(
      (hook) => `[hooks.state."${hookKey(file, hook)}"]\ntrusted_hash = "sha256:00"\n`,
    );
    writeFileSync(at("home/.codex/config.toml"), trusted + reviews.join(""));
    expect(await check()).toMatchObject({ "codex trust": expect.stringMatching(/^ok/) });
  });

  it("says which way each event goes, and what keeps the server from answering", async () => {
    for (const name of ["hook.cjs", "haversack.cjs"]) writeFileSync(at(name), "");
    install("0.166.0");
    place = { ...place, hooks: "command" };
    wire();
    expect((await check())["codex hooks"]).toMatch(/^ok: all 9 .*; a process for each event; `haversack init` lets/);
    place = { ...place, hooks: "server" };
    wire();
    expect((await check())["codex hooks"]).toMatch(
      /^ok: all 9 .*; the running MCP server answers UserPromptSubmit, PostToolUse; a process each SessionStart, PreToolUse, /,
    );
    install("0.140.0");
    expect((await check())["codex hooks"]).toMatch(/^fail: .*which an installed codex is too old for/);
    install("0.166.0");
    const config = at("repo/.codex/config.toml");
    const text = readFileSync(config, "utf8");
    writeFileSync(config, text.replace("args =", "enabled = false\nargs ="));
    expect((await check())["codex hooks"]).toMatch(/^fail: .*switched off .*these events are lost/);
    writeFileSync(config, "");
    expect((await check())["codex hooks"]).toMatch(/^fail: .*there is none: these events are lost/);
  });
});
