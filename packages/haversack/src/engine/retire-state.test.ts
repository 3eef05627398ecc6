import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { appendLog, readLog } from "../base/log.ts";
import { openDatabase } from "../store/sqlite/open.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { retireOldState } from "./open-project.ts";
import { describeState } from "./state-size.ts";

const NOW = new Date("2031-05-06T07:00:00.000Z");
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 86_400_000);

function scene() {
  const state = mkdtempSync(join(tmpdir(), "haversack-retire-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const paths = { state, log: join(state, "log"), store: join(state, "haversack.db") };
  const handle = openDatabase(paths.store, { durability: "normal" });
  onTestFinished(() => handle.db.close());
  const { db } = handle;
  const seen = (sessionId: string, at: Date) => {
    new SqliteLocalStore(handle).touchSession({ sessionId, client: "plain", cwd: "/", at, event: "seen" });
    db.prepare("INSERT INTO session_wip VALUES (?, '', '{}', ?)").run(sessionId, at.toISOString());
  };
  const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
  const retire = (options: { days?: number; now?: Date } = {}) =>
    retireOldState(handle, { paths, days: 90, now: NOW, ...options });
  return { paths, handle, db, seen, count, retire };
}

describe("local state that is older than its limit", () => {
  it("goes, once a day, and younger state stays", () => {
    const { seen, count, retire } = scene();
    seen("old", daysAgo(100));
    seen("young", daysAgo(80));
    seen("now", NOW);
    expect(retire()).toBe(true);
    expect([count("sessions"), count("session_wip")]).toEqual([2, 2]);
    expect(retire({ days: 30 })).toBe(false);
    expect(retire({ days: 30, now: daysAgo(-2) })).toBe(true);
    expect(count("sessions")).toBe(1);
  });

  it("stays when the setting is 0", () => {
    const { seen, count, retire } = scene();
    seen("old", daysAgo(1_000));
    seen("now", NOW);
    expect(retire({ days: 0 })).toBe(false);
    expect(count("sessions")).toBe(2);
  });

  it("stays where no session is younger: a wrong clock empties no store", () => {
    const { seen, count, retire } = scene();
    seen("a", NOW);
    retire({ now: daysAgo(-36_500) });
    expect(count("sessions")).toBe(1);
  });

  it("goes in bounded parts", () => {
    const { seen, count, retire } = scene();
    for (let n = 0; n < 450; n++) seen(`s${n}`, new Date(daysAgo(200).getTime() + n));
    seen("now", NOW);
    retire();
    expect(count("sessions")).toBe(251);
    retire({ now: daysAgo(-1) });
    retire({ now: daysAgo(-2) });
    expect(count("sessions")).toBe(1);
  });

  it("stays with a task that its session holds, and work never goes", () => {
    const { db, seen, count, retire } = scene();
    const at = daysAgo(400).toISOString();
    seen("holder", daysAgo(400));
    seen("now", NOW);
    db.exec(`INSERT INTO activity (at, actor, kind, text) VALUES ('${at}', 'a', 'x', 'y')`);
    const columns = db.prepare("PRAGMA table_info(tasks)").all();
    const needed = columns.filter(
      (column) => column["notnull"] === 1 && column["dflt_value"] === null && column["pk"] === 0,
    );
    const names = needed.map((column) => String(column["name"]));
    const values = needed.map((column) => (column["type"] === "TEXT" ? (column["name"] === "id" ? "T1" : at) : 0));
    db.prepare(`INSERT INTO tasks (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`).run(...values);
    db.prepare("INSERT INTO claims VALUES (1, 'a', 'holder', '', ?, ?, 0)").run(at, at);
    db.prepare("INSERT INTO git_states VALUES ('T1', '/', '', '[]', ?)").run(at);
    db.prepare("INSERT INTO git_states VALUES ('T2', '/', '', '[]', ?)").run(at);
    expect(retire()).toBe(true);
    expect([count("tasks"), count("claims"), count("activity")]).toEqual([1, 1, 1]);
    expect([count("sessions"), count("session_wip"), count("git_states")]).toEqual([2, 2, 1]);
  });

  it("goes from the log and the snapshots too", () => {
    const { paths, seen, retire } = scene();
    seen("now", NOW);
    const entry = (at: Date, text: string) => appendLog(paths.log, { at, level: "info", part: "x", text });
    entry(daysAgo(100), "old");
    const rotated = join(paths.log, "haversack.000000000000001-abc.log");
    writeFileSync(rotated, "{}\n");
    utimesSync(rotated, daysAgo(100), daysAgo(100));
    mkdirSync(join(paths.state, "snapshots/ab"), { recursive: true });
    const object = join(paths.state, "snapshots/ab/cd");
    writeFileSync(object, "x");
    utimesSync(object, daysAgo(100), daysAgo(100));
    utimesSync(join(paths.log, "haversack.log"), NOW, NOW);
    retire();
    expect(existsSync(rotated)).toBe(false);
    expect(existsSync(object)).toBe(false);
    // The current file covers more than a week: it is rotated now, and expires with its last line.
    expect(readdirSync(paths.log)).toEqual([expect.stringMatching(/^haversack\.\d{15}-\w+\.log$/)]);
    entry(NOW, "new");
    expect(readLog(paths.log).map(({ text }) => text)).toEqual(["old", "new"]);
  });

  it("is described with its size and age", () => {
    const { paths, handle, seen } = scene();
    seen("a", daysAgo(12));
    expect(describeState(paths, { handle, days: 90, now: NOW }).text).toMatch(
      /^store \d+\.\d MB, log 0\.0 MB, snapshots 0\.0 MB; 1 session, 12 days old; kept for 90 days/,
    );
  });
});
