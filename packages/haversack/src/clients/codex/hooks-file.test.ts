import { describe, expect, it } from "vitest";
import { hookCommand, readHookCommand } from "./hook-command.ts";
import { hookGroups, mergeHooks, ownHooks, unmergeHooks } from "./hooks-file.ts";
import { hookKey, readTrust } from "./trust.ts";

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
