import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type HookFiles, hookCommand, ownHooks, readHookCommand, readSettings } from "../hook-settings.ts";
import { serverEntry } from "../server-entry.ts";
import { GEMINI_HOOKS, mergeGeminiSettings, SERVERS, unmergeGeminiSettings } from "./settings.ts";

const geminiHookCommand = (own: HookFiles) => hookCommand("gemini", own);
const readGeminiHookCommand = (command: unknown) => readHookCommand("gemini", command);
const ownGeminiHooks = (settings: unknown) => ownHooks("gemini", settings);
const readGeminiSettings = (text: string, file: string) => readSettings(GEMINI_HOOKS, text, file);
const serverOf = (settings: unknown) => serverEntry(settings, SERVERS);

const files = { node: "/opt/it's/node", hook: "/opt/x/hook.cjs", bin: "/opt/x/haversack.cjs" };
const options = { ...files, file: "settings.json", hasGuards: false };
const merge = (text: string, more = {}) => mergeGeminiSettings(text, { ...options, ...more });
const unmerge = (text: string, keep: readonly string[] = []) =>
  unmergeGeminiSettings(text, { file: "settings.json", keep });

describe("merging", () => {
  it("writes every hook with a time in milliseconds, and the server with trust", () => {
    const settings = readGeminiSettings(merge("{}\n").text, "x");
    expect(ownGeminiHooks(settings).map(({ event }) => event)).toEqual([
      "SessionStart",
      "BeforeAgent",
      "BeforeTool",
      "AfterTool",
      "SessionEnd",
    ]);
    for (const { timeout } of ownGeminiHooks(settings)) expect(timeout).toBeGreaterThanOrEqual(5_000);
    expect(serverOf(settings)).toMatchObject({ trust: true, args: expect.arrayContaining([files.bin, "mcp"]) });
  });

  it("sees sub-agents and calls of our own tools beforehand, edits only where rules guard files", () => {
    const matcher = (hasGuards: boolean) =>
      new RegExp(
        ownGeminiHooks(readGeminiSettings(merge("{}", { hasGuards }).text, "x")).find(
          ({ event }) => event === "BeforeTool",
        )?.matcher ?? "",
      );
    expect(matcher(false).test("write_file")).toBe(false);
    expect(matcher(true).test("write_file")).toBe(true);
    for (const tool of ["invoke_agent", "mcp_haversack_update_task_status"]) {
      for (const hasGuards of [true, false]) expect(matcher(hasGuards).test(tool)).toBe(true);
    }
    expect(matcher(true).test("mcp_other_update")).toBe(false);
  });

  it("changes nothing the second time, and repairs what an older version wrote", () => {
    const first = merge("{}\n").text;
    expect(merge(first).text).toBe(first);
    const older = first.replaceAll("/opt/x/hook.cjs", "/old/hook.cjs").replaceAll("/opt/x/haversack", "/old/haversack");
    expect(merge(older).text).toBe(first);
  });

  it("keeps foreign hooks, servers and a person's own choice for our server", () => {
    const foreign = '{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "mine"}]}]}, "ui": {"x": 1}}';
    const { text } = merge(foreign);
    expect(readGeminiSettings(text, "x")).toMatchObject({ ui: { x: 1 }, hooks: { BeforeAgent: [{}, {}] } });
    const distrusted = merge("{}").text.replace('"trust": true', '"trust": false');
    expect(serverOf(readGeminiSettings(merge(distrusted).text, "x"))).toMatchObject({ trust: false });
  });

  it("refuses another server of our name, and a file that the client cannot read either", () => {
    expect(() => merge('{"mcpServers": {"haversack": {"command": "other"}}}')).toThrow(/another MCP server/);
    expect(() => merge("{ // comment\n,}")).toThrow(/settings\.json/);
    expect(() => merge('{"hooks": []}')).toThrow(/hooks must be an object/);
  });
});

it("keeps comments and line ends, and gives every byte back", () => {
  const text = [
    "// mine",
    "{",
    '  "ui": { "theme": "dark" }, // at night',
    '  "mcpServers": {',
    '    /* the old one */ "other": { "command": "x" } // stays',
    "  },",
    '  "hooks": {',
    "    // none yet",
    "  }",
    "}",
    "",
  ].join("\r\n");
  const { text: merged, keep } = merge(text);
  for (const comment of ["// mine", "// at night", "/* the old one */", "// stays", "// none yet"]) {
    expect(merged.split(comment)).toHaveLength(2);
  }
  expect(merged.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  expect(ownGeminiHooks(readGeminiSettings(merged, "x"))).toHaveLength(5);
  expect(merge(merged).text).toBe(merged);
  expect(unmerge(merged, keep)).toBe(text);
});

it("takes out what it put in, byte for byte, whatever was there", () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.constant({}), fc.constant([]));
  const others = fc.dictionary(fc.constantFrom("ui", "general", "model", "a b"), value);
  const hooks = fc.constantFrom(undefined, {}, { BeforeAgent: [] }, { AfterTool: [{ hooks: [{ command: "x" }] }] });
  const servers = fc.constantFrom(undefined, {}, { other: { command: "y" } });
  fc.assert(
    fc.property(others, hooks, servers, fc.constantFrom(undefined, 2, "\t"), (rest, own, mcpServers, indent) => {
      const before = JSON.stringify(
        { ...rest, ...(own && { hooks: own }), ...(mcpServers && { mcpServers }) },
        null,
        indent,
      );
      const { text, keep } = merge(before);
      expect(ownGeminiHooks(JSON.parse(text))).toHaveLength(5);
      expect(unmerge(text, keep)).toBe(before);
    }),
  );
});

it("knows its own commands and no others", () => {
  expect(readGeminiHookCommand(geminiHookCommand(files))).toEqual({ node: files.node, hook: files.hook });
  expect(readGeminiHookCommand(geminiHookCommand(files).replace(/gemini$/, "claude-code"))).toBeUndefined();
  expect(geminiHookCommand(files)).not.toContain("$");
});
