import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as settings from "../hook-settings.ts";
import { hookCommand as commandOf, type HookFiles, readHookCommand as readCommand } from "../hook-settings.ts";
import { CODEX_HOOKS } from "./hooks-file.ts";
import { hookKey, readTrust } from "./trust.ts";

const hookCommand = (own: HookFiles) => commandOf("codex", own);
const readHookCommand = (command: unknown) => readCommand("codex", command);
const ownHooks = (value: unknown) => settings.ownHooks("codex", value);
const hookGroups = (command: string, hasGuards: boolean) => settings.hookGroups(CODEX_HOOKS, command, { hasGuards });
const serverHookGroups = (command: string, hasGuards: boolean) =>
  settings.hookGroups(CODEX_HOOKS, command, { hasGuards, asksServer: true });
const mergeHooks = (text: string, own: Parameters<typeof settings.mergeHooks>[2]) =>
  settings.mergeHooks(CODEX_HOOKS, text, own);
const unmergeHooks = (text: string, own: { file: string; keep: string[] }) =>
  settings.unmergeHooks(CODEX_HOOKS, text, own);

const files = { node: "/opt/it's/node", hook: "/opt/dist/hook.cjs" };
const options = { ...files, file: "hooks.json", hasGuards: false };
const foreign = (command: string) => ({ hooks: [{ type: "command", command }] });

describe("the command of a hook", () => {
  it("is read back, and no other is", () => {
    expect(readHookCommand(hookCommand(files))).toEqual(files);
    expect(hookCommand(files)).toMatch(/ codex$/);
    expect(readHookCommand(hookCommand(files).replace(/codex$/, "claude-code"))).toBeUndefined();
    expect(readHookCommand("echo codex")).toBeUndefined();
  });
});

describe("hooks.json", () => {
  it("gets one group for every event, and none the second time", () => {
    const { text, keep } = mergeHooks("{}\n", options);
    expect(ownHooks(JSON.parse(text)).map(({ event }) => event)).toEqual(Object.keys(hookGroups("", false)));
    expect(mergeHooks(text, options).text).toBe(text);
    expect(unmergeHooks(text, { file: "hooks.json", keep })).toBe("{}\n");
  });

  it("keeps foreign hooks byte for byte and where they are", () => {
    const before = `{"hooks":{"Stop":[${JSON.stringify(foreign("echo a"))}],  "SessionStart":[${JSON.stringify(foreign("echo b"))}]}}`;
    const { text, keep } = mergeHooks(before, options);
    expect(JSON.parse(text).hooks.SessionStart[0]).toEqual(foreign("echo b"));
    expect(unmergeHooks(text, { file: "hooks.json", keep })).toBe(before);
  });

  it("replaces an older form where it stands, so that the ones behind it need no new review", () => {
    const { text } = mergeHooks("{}", options);
    const value = JSON.parse(text);
    value.hooks.PreToolUse.push(foreign("echo c"));
    const after = JSON.parse(mergeHooks(JSON.stringify(value), { ...options, hasGuards: true }).text);
    expect(after.hooks.PreToolUse).toHaveLength(2);
    expect(after.hooks.PreToolUse[0].matcher).toBe("spawn_agent|apply_patch");
    expect(after.hooks.PreToolUse[1]).toEqual(foreign("echo c"));
  });

  it.each(["[]", "{", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}'])("refuses %s", (text) => {
    expect(() => mergeHooks(text, options)).toThrow(/hooks\.json/);
  });
});

describe("the person's review", () => {
  const file = "/repo/.codex/hooks.json";
  const hooks = ownHooks(JSON.parse(mergeHooks("{}", options).text));
  const [first] = hooks;

  it("has the client's own key", () => {
    expect(hookKey(file, first!)).toBe("/repo/.codex/hooks.json:session_start:0:0");
  });

  it("is missing until every hook has one", () => {
    const trust = (config: string) => readTrust(config, { root: "/repo", file, hooks });
    expect(trust("")).toMatchObject({ isFolderTrusted: false, areHooksOff: false, switchedOff: [] });
    expect(trust("").unreviewed).toHaveLength(hooks.length);
    const all = hooks.map((hook) => `[hooks.state."${hookKey(file, hook)}"]\ntrusted_hash = "sha256:00"\n`).join("\n");
    expect(trust(all).unreviewed).toEqual([]);
    expect(trust(`${all}enabled = false\n`).switchedOff).toEqual(["SessionEnd"]);
    expect(trust('[projects."/repo"]\ntrust_level = "trusted"\n').isFolderTrusted).toBe(true);
    expect(trust("[features]\nhooks = false\n").areHooksOff).toBe(true);
  });
});

describe("with the running MCP server", () => {
  const FOLDER = join(import.meta.dirname, "../../../../../test/fixtures/codex");
  const recorded = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")).payload as Record<string, unknown> | undefined);
  type ServerHook = { type: string; server: string; tool: string; input: Record<string, string> };
  const asked = (hasGuards: boolean) =>
    Object.entries(serverHookGroups("run it", hasGuards) as unknown as Record<string, { hooks: ServerHook[] }>).filter(
      ([, { hooks }]) => hooks[0]?.type === "mcp_tool",
    );

  it("asks at prompts and after tool calls; what may have to be refused never depends on it", () => {
    for (const hasGuards of [false, true]) {
      expect(asked(hasGuards).map(([event]) => event)).toEqual(["UserPromptSubmit", "PostToolUse"]);
    }
  });

  it("names only fields that every recorded event of the kind has: the client drops a call in silence when one is missing", () => {
    for (const [event, { hooks }] of asked(false)) {
      const payloads = recorded.filter((payload) => payload?.["hook_event_name"] === event);
      expect(payloads.length).toBeGreaterThan(1);
      const { client, ...fields } = hooks[0]!.input;
      expect(client).toBe("codex");
      for (const [name, value] of Object.entries(fields)) {
        expect(value).toBe(`\${${name}}`);
        for (const payload of payloads) expect(payload, name).toHaveProperty(name);
      }
    }
  });

  it("goes from one way to the other where each hook stands, and out without a trace", () => {
    const { text: commands, keep } = mergeHooks("{}\n", options);
    const { text: server } = mergeHooks(commands, { ...options, asksServer: true });
    expect(ownHooks(JSON.parse(server)).filter(({ way }) => way === "server")).toHaveLength(2);
    expect(mergeHooks(server, { ...options, asksServer: true }).text).toBe(server);
    expect(JSON.parse(mergeHooks(server, options).text)).toEqual(JSON.parse(commands));
    expect(unmergeHooks(server, { file: "hooks.json", keep })).toBe("{}\n");
  });
});
