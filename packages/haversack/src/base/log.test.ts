import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { appendLog, type LogEntry, type LogLevel, readLog } from "./log.ts";

let dir: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "haversack-log-"));
});
afterEach(() => {
  fs.rmSync(dir, { recursive: true, force: true });
});

const noon = Date.UTC(2026, 0, 1, 12);
function entry(
  text: string,
  { minute = 0, level = "info" as LogLevel, part = "test", data = undefined as unknown } = {},
): LogEntry {
  const plain = { at: new Date(noon + minute * 60_000), level, part, text };
  return data === undefined ? plain : { ...plain, data };
}
const texts = (entries: LogEntry[]) => entries.map(({ text }) => text);
const logFile = () => path.join(dir, "haversack.log");

describe("appendLog and readLog", () => {
  it("give back what was written, newest last", () => {
    const written = [entry("one", { data: { n: 1, list: ["a"] } }), entry("two", { minute: 1, level: "error" })];
    for (const each of written) appendLog(dir, each);
    expect(readLog(dir)).toEqual(written);
    expect(fs.readFileSync(logFile(), "utf8").split("\n")).toHaveLength(3);
  });

  it("make the folder, and let only its owner read the file", () => {
    const deep = path.join(dir, "a", "b");
    appendLog(deep, entry("one"));
    expect(texts(readLog(deep))).toEqual(["one"]);
    expect(fs.statSync(path.join(deep, "haversack.log")).mode & 0o077).toBe(0);
  });

  it("filter by level and above, part, time and number", () => {
    appendLog(dir, entry("a", { minute: 0, level: "debug" }));
    appendLog(dir, entry("b", { minute: 1, level: "warn", part: "hook" }));
    appendLog(dir, entry("c", { minute: 2, level: "error" }));
    appendLog(dir, entry("d", { minute: 3, level: "info" }));
    expect(texts(readLog(dir, { level: "warn" }))).toEqual(["b", "c"]);
    expect(texts(readLog(dir, { part: "hook" }))).toEqual(["b"]);
    expect(texts(readLog(dir, { since: new Date(noon + 2 * 60_000) }))).toEqual(["c", "d"]);
    expect(texts(readLog(dir, { limit: 2 }))).toEqual(["c", "d"]);
    expect(readLog(dir, { limit: 0 })).toEqual([]);
  });

  it("mask secrets and strip controls in text and data", () => {
    const key = `ghp_${"a1B2".repeat(9)}`;
    appendLog(
      dir,
      entry(`failed\u001b[31m with ${key}`, {
        data: { why: [`DB_PASSWORD=hunter2 ${key}`], password: "hunter3", n: 4 },
      }),
    );
    const raw = fs.readFileSync(logFile(), "utf8");
    expect(raw).not.toMatch(/hunter|ghp_|u001b|\[31m/);
    expect(readLog(dir)[0]).toMatchObject({
      text: "failed with [masked:github-token]",
      data: { why: ["DB_PASSWORD=[masked:password] [masked:github-token]"], password: "[masked:password]", n: 4 },
    });
  });

  it("mask a private key whose lines are a list", () => {
    const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    const key = [["-----BEGIN", "PRIVATE KEY-----"].join(" "), body, body, ["-----END", "PRIVATE KEY-----"].join(" ")];
    appendLog(dir, entry("read", { data: { lines: key, argv: ["--password", "hunter2"] } }));
    expect(readLog(dir)[0]?.data).toEqual({
      lines: ["[masked:private-key]"],
      argv: ["--password", "[masked:password]"],
    });
  });

  it("cut what is too long, and keep an entry whose data cannot be written", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    appendLog(dir, entry("x".repeat(10_000), { data: "y".repeat(40_000) }));
    appendLog(dir, entry("cycle", { minute: 1, data: cycle }));
    appendLog(dir, entry("bigint", { minute: 2, data: 1n }));
    const [long, ...others] = readLog(dir);
    expect(long!.text).toBe(`${"x".repeat(8_000)}… (2000 more characters)`);
    expect(long!.data).toBe("40002 characters, too long to log");
    expect(others.map(({ data }) => data)).toEqual(["not serialisable", "not serialisable"]);
  });

  it("pass over torn and foreign lines, and save the entry behind a torn one", () => {
    appendLog(dir, entry("one"));
    fs.appendFileSync(
      logFile(),
      'hello\n\n{"at":"never","level":"info","part":"p","text":"t"}\n[1]\nnull\n{"at":"2026-01-01T12:0',
    );
    appendLog(dir, entry("two", { minute: 1 }));
    fs.appendFileSync(logFile(), '{"at":"2026-01-01T12:00:00.000Z","level":"loud","part":"p","text":"t"}\n{"at":"20');
    expect(texts(readLog(dir))).toEqual(["one", "two"]);
  });

  it("read an empty log where there is none", () => {
    expect(readLog(path.join(dir, "nothing"))).toEqual([]);
  });
});

describe("rotation", () => {
  it("starts a new file at the size limit and reads across all of them", () => {
    for (let index = 0; index < 30; index++)
      appendLog(dir, entry(`line ${index}`, { minute: index }), { maxBytes: 500, keep: 100 });
    expect(fs.readdirSync(dir).length).toBeGreaterThan(3);
    for (const name of fs.readdirSync(dir)) expect(fs.statSync(path.join(dir, name)).size).toBeLessThanOrEqual(500);
    expect(texts(readLog(dir))).toEqual(Array.from({ length: 30 }, (_, index) => `line ${index}`));
  });

  it("keeps as many full files as asked for, and the newest lines", () => {
    for (let index = 0; index < 100; index++)
      appendLog(dir, entry(`line ${index}`, { minute: index }), { maxBytes: 500, keep: 2 });
    const bytes = fs.readdirSync(dir).reduce((sum, name) => sum + fs.statSync(path.join(dir, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(3 * 500);
    expect(texts(readLog(dir, { limit: 3 }))).toEqual(["line 97", "line 98", "line 99"]);
  });

  it("does not count the small files of a lost race", () => {
    const before = { "haversack.000000000000001-a.log": 500, "haversack.000000000000002-b.log": 500 };
    const small = { "haversack.000000000000003-c.log": 3, "haversack.000000000000004-d.log": 3 };
    for (const [name, bytes] of Object.entries({ ...before, ...small })) {
      fs.writeFileSync(path.join(dir, name), "x".repeat(bytes));
    }
    for (let index = 0; index < 8; index++) appendLog(dir, entry(`line ${index}`), { maxBytes: 500, keep: 2 });
    const kept = fs.readdirSync(dir).filter((name) => name.includes(".00000000000000"));
    expect(kept).toEqual(["haversack.000000000000002-b.log", ...Object.keys(small)]);
    expect(readLog(dir)).toHaveLength(8);
  });

  it("leaves files that are not its own alone", () => {
    fs.writeFileSync(path.join(dir, "haversack.notes.log"), "mine");
    for (let index = 0; index < 20; index++) appendLog(dir, entry("x".repeat(100)), { maxBytes: 300, keep: 0 });
    expect(fs.readFileSync(path.join(dir, "haversack.notes.log"), "utf8")).toBe("mine");
  });

  it("writes an entry that is larger than the limit", () => {
    appendLog(dir, entry("x".repeat(1_000)), { maxBytes: 100 });
    expect(readLog(dir)).toHaveLength(1);
  });
});

describe("a log that cannot be written", () => {
  it("is silence when its folder is a file", () => {
    fs.writeFileSync(path.join(dir, "file"), "");
    appendLog(path.join(dir, "file"), entry("one"));
    expect(readLog(path.join(dir, "file"))).toEqual([]);
  });

  it("does not follow a link in its place", () => {
    const target = path.join(dir, "target");
    fs.writeFileSync(target, "before");
    fs.symlinkSync(target, logFile());
    appendLog(dir, entry("one"));
    expect(fs.readFileSync(target, "utf8")).toBe("before");
  });

  it("is silence for an entry without a valid time", () => {
    appendLog(dir, { ...entry("one"), at: new Date(Number.NaN) });
    expect(readLog(dir)).toEqual([]);
  });
});

describe("eight processes at once", () => {
  const writer = `
    const { appendLog } = await import(${JSON.stringify(new URL("./log.ts", import.meta.url).href)});
    const [dir, id, lines, maxBytes] = process.argv.slice(1);
    for (let n = 0; n < Number(lines); n++) {
      const text = id + "/" + n + " " + "x".repeat(n % 97);
      appendLog(dir, { at: new Date(), level: "info", part: "p" + id, text }, { maxBytes: Number(maxBytes), keep: 1e6 });
    }`;

  function write(id: number, lines: number, maxBytes: number): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const args = ["--input-type=module", "-e", writer, dir, String(id), String(lines), String(maxBytes)];
      spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] })
        .on("error", reject)
        .on("exit", resolve);
    });
  }

  it.each([
    ["one file", 10_000_000],
    ["a rotation about every ten lines", 1_500],
  ])("lose and tear no line: %s", async (_, maxBytes) => {
    const lines = 300;
    const codes = await Promise.all(Array.from({ length: 8 }, (_, id) => write(id, lines, maxBytes)));
    expect(codes).toEqual(Array(8).fill(0));

    const raw = fs.readdirSync(dir).flatMap((name) => fs.readFileSync(path.join(dir, name), "utf8").split("\n"));
    for (const line of raw) if (line) JSON.parse(line);
    const seen = readLog(dir, { limit: 1e9 }).map(({ text }) => text.split(" ")[0]);
    expect(new Set(seen).size).toBe(8 * lines);
    expect(seen).toHaveLength(8 * lines);
  });
});
