import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFault } from "../../base/errors.ts";
import {
  hookCommand as commandOf,
  type HookFiles,
  ownHooks as hooksOf,
  readHookCommand as readCommand,
} from "../hook-settings.ts";
import { mergeServerEntry, unmergeServerEntry } from "../server-entry.ts";
import { claudeServer, dropOverrides, mergeSettings, PERMISSION, setOverrides, unmergeSettings } from "./settings.ts";

const hookCommand = (files: HookFiles) => commandOf("claude-code", files);
const readHookCommand = (command: unknown) => readCommand("claude-code", command);
const ownHooks = (settings: unknown) => hooksOf("claude-code", settings);
type ServerOptions = { file: string; root: string | undefined; node: string; bin: string };
const mergeServer = (text: string, { file, root, ...files }: ServerOptions) =>
  mergeServerEntry(text, claudeServer(file, root), { defaults: { type: "stdio" }, shownBy: "x", ...files });
const unmergeServer = (text: string, o: { file: string; root: string | undefined; keep: string[] }) =>
  unmergeServerEntry(text, claudeServer(o.file, o.root), o.keep);

const FILES = { node: "/opt/node 24/bin/node", hook: "/home/o'neil/dist/hook.cjs" };
const OLD = { node: "/gone/node", hook: "/gone/hook.cjs" };
const file = "/project/.claude/settings.local.json";
type Options = { hasGuards: boolean; asksServer: boolean; node: string; hook: string };
const merge = (text: string, more: Partial<Options> = {}) =>
  mergeSettings(text, { file, hasGuards: false, asksServer: false, ...FILES, ...more });

describe("hookCommand", () => {
  it("can be read back, and a shell sees the paths whole", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (node, folder) => {
        const files = { node, hook: `${folder}/hook.cjs` };
        expect(readHookCommand(hookCommand(files))).toEqual(files);
      }),
    );
    expect(readHookCommand("node /x/hook.cjs claude-code")).toBeUndefined();
    expect(readHookCommand(hookCommand({ node: "/n", hook: "/other.sh" }))).toBeUndefined();
  });

  it("is silent when the runtime or the file is gone", () => {
    const run = (command: string) => execFileSync("sh", ["-c", `(${command}) 2>&1`], { encoding: "utf8" });
    expect(run(hookCommand({ node: "/gone/no'de $x", hook: "/gone/hook.cjs" }))).toBe("");
    expect(run(hookCommand({ node: process.execPath, hook: "/gone/hook.cjs" }))).toBe("");
  });
});

describe("mergeSettings", () => {
  it("adds every hook once, and the permission", () => {
    const { text } = merge("{}");
    const settings = JSON.parse(text);
    expect(Object.keys(settings.hooks)).toEqual(
      "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure SubagentStart SubagentStop Stop SessionEnd".split(
        " ",
      ),
    );
    expect(settings.permissions).toEqual({ allow: [PERMISSION] });
    expect(merge(text).text).toBe(text);
  });

  it("watches edits before they happen only where rules guard files", () => {
    const matcher = (text: string) => JSON.parse(text).hooks.PreToolUse[0].matcher;
    const before = merge("{}").text;
    expect(matcher(before)).not.toContain("Edit");
    const after = merge(before, { hasGuards: true }).text;
    expect(matcher(after)).toMatch(/^mcp__.*Edit\|Write/);
    expect(merge(after).text).toBe(before);
  });

  it("has the running server asked where the client can, and a process where something may have to be refused", () => {
    const ways = (more: Partial<Options>) => {
      const hooks = ownHooks(JSON.parse(merge("{}", more).text));
      return Object.fromEntries(hooks.map(({ event, way }) => [event, way]));
    };
    const server = ways({ asksServer: true });
    expect(server).toMatchObject({
      UserPromptSubmit: "server",
      PostToolUse: "server",
      PreToolUse: "server",
      Stop: "server",
    });
    expect(server).toMatchObject({ SessionStart: "command", SessionEnd: "command" });
    expect(ways({ asksServer: true, hasGuards: true })["PreToolUse"]).toBe("command");
    const { UserPromptSubmit } = JSON.parse(merge("{}", { asksServer: true }).text).hooks;
    expect(UserPromptSubmit[0].hooks[0]).toMatchObject({
      ...{ type: "mcp_tool", server: "haversack", tool: "hook" },
      input: { client: "claude-code", session_id: "$" + "{session_id}", prompt: "$" + "{prompt}" },
    });
  });

  it("moves from one way to the other and back, and takes out either", () => {
    const start = '{\n  "model": "x"\n}\n';
    const command = merge(start);
    const server = merge(command.text, { asksServer: true });
    expect(ownHooks(JSON.parse(server.text))).toHaveLength(9);
    expect(merge(server.text).text).toBe(command.text);
    expect(unmergeSettings(server.text, { file, keep: command.keep })).toBe(start);
  });

  it("leaves a foreign hook that asks another server alone", () => {
    const foreign = { hooks: [{ type: "mcp_tool", server: "other", tool: "hook" }] };
    const text = JSON.stringify({ hooks: { Stop: [foreign] } });
    expect(JSON.parse(unmergeSettings(merge(text, { asksServer: true }).text, { file, keep: [] })).hooks.Stop).toEqual([
      foreign,
    ]);
  });

  it("replaces the entry of another runtime where it stands, and keeps foreign ones", () => {
    const foreign = { matcher: "Bash", hooks: [{ type: "command", command: "echo hi" }] };
    const start = JSON.stringify({ hooks: { PostToolUse: [foreign] }, model: "x" }, null, 2);
    const moved = merge(merge(start, OLD).text);
    expect(ownHooks(JSON.parse(moved.text)).map(({ node }) => node)).not.toContain("/gone/node");
    expect(moved.text).toBe(merge(start).text);
    expect(JSON.parse(moved.text).hooks.PostToolUse[0]).toEqual(foreign);
  });

  it("leaves one of ours when there are several, and foreign hooks in the same group", () => {
    const own = { type: "command", command: hookCommand(OLD), timeout: 5 };
    const other = { type: "command", command: "echo hi" };
    const start = { hooks: { SessionEnd: [{ hooks: [own, other] }, { hooks: [own] }, { hooks: [own] }] } };
    const { SessionEnd } = JSON.parse(merge(JSON.stringify(start)).text).hooks;
    expect(SessionEnd).toEqual([
      { hooks: [other] },
      { hooks: [{ type: "command", command: hookCommand(FILES), timeout: 5 }] },
    ]);
  });

  it.each([
    ["{", "line 1:2"],
    ["[]", "is not a JSON object"],
    ['{"hooks": []}', "hooks must be an object"],
    ['{"hooks": {"PreToolUse": {}}}', "hooks.PreToolUse must be a list"],
    ['{"permissions": {"allow": "x"}}', "permissions.allow must be a list"],
  ])("does not touch %j", (text, problem) => {
    try {
      merge(text);
      expect.unreachable();
    } catch (error) {
      expect(isFault(error, "config-invalid")).toBe(true);
      expect(String(error)).toContain(problem);
    }
  });
});

const foreignHook = fc.record({ type: fc.constant("command"), command: fc.string(), timeout: fc.nat() });
const group = fc.record(
  { matcher: fc.string(), hooks: fc.array(foreignHook, { maxLength: 3 }) },
  { requiredKeys: ["hooks"] },
);
const event = fc.constantFrom("SessionStart", "PreToolUse", "PostToolUse", "Stop");
const foreignSettings = fc.record(
  {
    model: fc.string(),
    hooks: fc.dictionary(event, fc.array(group, { maxLength: 3 })),
    permissions: fc.record(
      { allow: fc.array(fc.constantFrom("Bash(ls:*)", PERMISSION, "Read")), deny: fc.array(fc.string()) },
      { requiredKeys: [] },
    ),
    skillOverrides: fc.dictionary(fc.string(), fc.constantFrom("off", "name-only")),
    unknown: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

describe("unmergeSettings", () => {
  it("gives back foreign settings of any shape, byte for byte", () => {
    fc.assert(
      fc.property(
        foreignSettings,
        fc.constantFrom(2, 4, "\t", undefined),
        fc.boolean(),
        (settings, indent, hasGuards) => {
          const text = `${JSON.stringify(settings, null, indent)}\n`;
          // Repeated, and from an older runtime, as in real use.
          const first = merge(text, { hasGuards, ...OLD });
          const second = merge(first.text, { hasGuards: !hasGuards });
          expect(second.keep).toEqual([]);
          expect(unmergeSettings(second.text, { file, keep: first.keep })).toBe(text);
        },
      ),
    );
  });

  it("takes out nothing but ours when others came after it", () => {
    const { text, keep } = merge("{}\n");
    const later = JSON.parse(text);
    later.hooks.Stop = [{ hooks: [{ type: "command", command: "echo stop" }] }];
    later.hooks.SessionEnd.push({ hooks: [{ type: "command", command: "echo end" }] });
    expect(JSON.parse(unmergeSettings(JSON.stringify(later), { file, keep }))).toEqual({
      hooks: { Stop: later.hooks.Stop, SessionEnd: [later.hooks.SessionEnd[1]] },
    });
  });
});

describe("the MCP server", () => {
  const place = { file: "/home/.claude.json", root: "/project" };
  const own = { ...place, node: "/n", bin: "/d/haversack.cjs" };
  const haversack = {
    type: "stdio",
    command: "/bin/sh",
    args: ["-c", expect.any(String), "/n", "/d/haversack.cjs", "mcp"],
  };

  it("comes and goes byte for byte, for a project and for all", () => {
    const projects = fc.dictionary(
      fc.constantFrom("/project", "/other"),
      fc.record({ mcpServers: fc.constant({}), x: fc.nat() }, { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(
        fc.record({ projects, mcpServers: fc.constant({}), n: fc.nat() }, { requiredKeys: [] }),
        fc.boolean(),
        (state, isUser) => {
          const root = isUser ? undefined : "/project";
          const text = JSON.stringify(state, null, 2);
          const { text: wired, keep } = mergeServer(text, { ...own, root });
          expect(JSON.parse(wired)).toMatchObject(
            isUser ? { mcpServers: { haversack } } : { projects: { "/project": { mcpServers: { haversack } } } },
          );
          expect(mergeServer(wired, { ...own, root }).text).toBe(wired);
          expect(unmergeServer(wired, { ...place, root, keep })).toBe(text);
        },
      ),
    );
  });

  it.each([
    ["without the guard", "/old", ["/o/haversack.cjs", "mcp"]],
    ["with an older guard", "/bin/sh", ["-c", "exec false", "/old", "/o/haversack.cjs", "mcp"]],
  ])("repairs or removes its own entry %s, and keeps what the user added to it", (_, command, args) => {
    const old = JSON.stringify({ mcpServers: { haversack: { type: "stdio", command, args, alwaysLoad: true } } });
    expect(JSON.parse(mergeServer(old, { ...own, root: undefined }).text).mcpServers.haversack).toEqual({
      ...haversack,
      alwaysLoad: true,
    });
    expect(unmergeServer(old, { ...place, root: undefined, keep: [] })).toBe("{}");
  });

  it("leaves another program's server of that name alone", () => {
    const text = JSON.stringify({ mcpServers: { haversack: { command: "bag" } } });
    expect(() => mergeServer(text, { ...own, root: undefined })).toThrow("another MCP server");
    expect(unmergeServer(text, { ...place, root: undefined, keep: [] })).toBe(text);
  });
});

describe("skill overrides", () => {
  const text = JSON.stringify({ skillOverrides: { mine: "off" } }, null, 2);

  it("keeps entries of the user's", () => {
    const {
      text: after,
      own: ours,
      foreign,
    } = setOverrides(text, ["mine", "a", "b"], { file, mode: "hidden", own: {} });
    expect(Object.keys(ours)).toEqual(["a", "b"]);
    expect(foreign).toEqual([{ key: "mine", value: "off" }]);
    expect(JSON.parse(after).skillOverrides).toEqual({
      mine: "off",
      a: "user-invocable-only",
      b: "user-invocable-only",
    });
    const own = { a: "user-invocable-only", b: "user-invocable-only" };
    expect(dropOverrides(after, own, { file, keep: [] })).toBe(text);
  });

  it("changes its own from hidden to names, and forgets one that the user has changed", () => {
    const own = { a: "user-invocable-only" };
    const hidden = setOverrides("{}", ["a"], { file, mode: "hidden", own: {} }).text;
    const names = setOverrides(hidden, ["a"], { file, mode: "names", own }).text;
    expect(JSON.parse(names)).toEqual({ skillOverrides: { a: "name-only" } });
    expect(dropOverrides(names, own, { file, keep: [] })).toBe(names);
  });

  it("leaves no empty object behind, unless it was there", () => {
    const { text: after, keep } = setOverrides('{"skillOverrides": {}}', ["a"], { file, mode: "hidden", own: {} });
    const own = { a: "user-invocable-only" };
    expect(dropOverrides(after, own, { file, keep: [] })).toBe("{}");
    expect(dropOverrides(after, own, { file, keep })).toBe('{"skillOverrides": {}}');
  });
});
