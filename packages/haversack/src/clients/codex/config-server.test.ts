import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeServer, serverTable, unmergeServer } from "./config.ts";
import { simpleValue, tomlStatements } from "./toml-statements.ts";

const files = { file: "config.toml", node: "/opt/node", bin: "/opt/dist/haversack.cjs" };
const merge = (text: string, more = {}) => mergeServer(text, { ...files, ...more });

/** A user's config in layouts that could mislead a line-based reader. */
const FOREIGN = [
  'model = "gpt"\n',
  "[mcp_servers.other]\ncommand = 'x' # [mcp_servers.haversack]\nargs = [\n  \"[mcp_servers.haversack]\", # no\n]\n",
  'notify = """\n[mcp_servers.haversack]\ncommand = "no"\n"""\n',
  "text = '''\n[mcp_servers.haversack]\n'''\n",
  '[projects."/home/me/a.b"]\ntrust_level = "trusted"\n',
  "# a comment\n\n\n",
  '[[rules]]\nname = "a"\n\n[[rules]]\nname = "b"\n',
  "[tools]\nweb = { search = true, list = [1, 2] }\n",
  'model = "gpt"',
  '[hooks.state."/r/.codex/hooks.json:session_start:0:0"]\r\ntrusted_hash = "sha256:1"\r\n',
];

describe("the server's table", () => {
  it("is found again, with the command that was written", () => {
    const { text } = merge("");
    expect(serverTable(text)).toMatchObject({ kind: "own", isEnabled: true, command: { command: "/bin/sh" } });
    expect(text).toContain("[mcp_servers.haversack]\n");
  });

  it("is put in and taken out without a trace, whatever stands before it", () => {
    const some = fc.array(fc.constantFrom(...FOREIGN), { maxLength: 5 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(some, (text) => {
        const { text: wired, keep } = merge(text);
        expect(wired.startsWith(text)).toBe(true);
        expect(serverTable(wired).kind).toBe("own");
        expect(merge(wired).text).toBe(wired);
        expect(unmergeServer(wired, { keep })).toBe(text);
      }),
    );
  });

  it("leaves what the client has added behind it", () => {
    const more = '\n[mcp_servers.other]\ncommand = "echo"\n';
    const { text, keep } = merge('model = "gpt"\n');
    expect(unmergeServer(text + more, { keep })).toBe(`model = "gpt"\n${more}`);
  });

  it("goes with the tables below it, which would be an error alone", () => {
    const { text, keep } = merge('model = "gpt"\n');
    const noted = `${text}\n[mcp_servers.haversack.tools.skill]\napproval_mode = "approve"\n\n[tools]\nx = 1\n`;
    expect(unmergeServer(noted, { keep })).toBe('model = "gpt"\n\n[tools]\nx = 1\n');
  });

  it("keeps the person's own keys when the paths change", () => {
    const before = merge("").text.replace("env_vars", "startup_timeout_sec = 30\nenv_vars");
    const after = merge(before, { node: "/new/node" }).text;
    expect(after).toContain("startup_timeout_sec = 30\n");
    expect(after).toContain('"/new/node"');
    expect(after).not.toContain('"/opt/node"');
  });

  it.each([
    '[mcp_servers.haversack]\ncommand = "mine"\n',
    '[mcp_servers]\nhaversack = { command = "mine" }\n',
    'mcp_servers.haversack.command = "mine"\n',
    'mcp_servers = { other = { command = "x" } }\n',
    '[mcp_servers."haversack"]\nurl = "http://127.0.0.1:1"\n',
  ])("of somebody else is never touched: %s", (text) => {
    expect(() => merge(text)).toThrow(/another MCP server is called "haversack"/);
    expect(unmergeServer(text, { keep: [] })).toBe(text);
  });

  it("has paths with every sign", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (name) => {
        const node = `/opt/${name.toWellFormed()}/node`;
        expect(serverTable(merge("", { node }).text).command?.args[2]).toBe(node);
      }),
    );
  });
});

describe("statements", () => {
  it("have their table, their value and their place", () => {
    const text = 'a = 1\n[b."c.d"]\ne.f = [ "x", # no\n \'y\' ] # z\n';
    expect(tomlStatements(text).map(({ path, value }) => [path.join("/"), value])).toEqual([
      ["a", "1"],
      ["b/c.d", ""],
      ["b/c.d/e/f", "[ \"x\", # no\n 'y' ]"],
    ]);
    expect(simpleValue("[ \"x\", # no\n 'y' ]")).toEqual(["x", "y"]);
  });

  it("end on any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."[]{}=.\"'#\n\\a1 ,".split("")), maxLength: 60 }), (text) => {
        for (const { start, end } of tomlStatements(text)) expect(end).toBeGreaterThan(start);
      }),
      { numRuns: 2000 },
    );
  });
});
