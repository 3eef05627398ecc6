import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeNotify, mergeServer, notifyOf, unmergeNotify, unmergeServer } from "./config.ts";

const files = { node: "/usr/bin/node", program: "/opt/haversack/dist/hook-codex-notify.cjs" };

const CONFIGS = [
  "",
  'model = "gpt"\n',
  'model = "gpt"',
  "\n\n# a comment\n[tui]\nnotifications = true\n",
  '\ufeffmodel = "gpt"\r\n\r\n[mcp_servers.x]\r\ncommand = "x"\r\n',
  '[[hooks.x]]\nnotify = ["inside a table"]\n',
];

describe("notify", () => {
  it.each(CONFIGS)("is put before every table and taken out without a trace: %j", (config) => {
    const wired = mergeNotify(config, files);
    expect(notifyOf(wired)).toEqual({ kind: "own", files });
    expect(mergeNotify(wired, files)).toBe(wired);
    expect(unmergeNotify(wired)).toBe(config);
  });

  it("and the server's table go out together", () => {
    for (const config of CONFIGS) {
      const { text, keep } = mergeServer(config, { file: "f", node: files.node, bin: "/opt/haversack.cjs" });
      expect(unmergeServer(unmergeNotify(mergeNotify(text, files)), { keep })).toBe(config);
    }
  });

  it.each([
    'notify = ["notify-send", "Codex"]\n',
    "notify = []\n",
    'notify = """x"""\n',
    'model = "x"\nnotify=[\n  "sh", # mine\n  "/x/hook-codex-notify.cjs",\n]\n',
  ])("of the person's own is never changed: %j", (config) => {
    expect(notifyOf(config)).toEqual({ kind: "foreign" });
    expect(mergeNotify(config, files)).toBe(config);
    expect(unmergeNotify(config)).toBe(config);
  });

  it("follows an installation that moved, where it stands", () => {
    const wired = mergeNotify('model = "gpt"\n', { node: "/old/node", program: "/old/hook-codex-notify.cjs" });
    const moved = `# first\n${wired}`;
    expect(mergeNotify(moved, files)).toBe(`# first\n${mergeNotify('model = "gpt"\n', files)}`);
  });

  it("has paths with every sign", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (word) => {
        const odd = { node: `/n/${word}`, program: `/p/${word}/hook-codex-notify.cjs` };
        const wired = mergeNotify("", odd);
        expect(notifyOf(wired)).toEqual({ kind: "own", files: odd });
        expect(unmergeNotify(wired)).toBe("");
      }),
    );
  });
});
