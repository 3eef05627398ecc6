import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { makeRecordedStore, recordTrust, userStateFolder } from "../../base/project-trust.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { openDatabase } from "../../store/sqlite/open.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { noteTurn, readEndedTurn, readTurnNote, TURN_FILE } from "./notify.ts";

const NOW = new Date("2026-03-02T09:00:00Z");
let root: string;
let env: NodeJS.ProcessEnv;
const state = () => join(root, ".haversack");

/** What the client sends at the end of the main agent's turn. */
const notice = (over: Record<string, unknown> = {}) =>
  JSON.stringify({
    type: "agent-turn-complete",
    "thread-id": "s1",
    "turn-id": "t1",
    cwd: root,
    client: "codex_exec",
    "input-messages": ["Go on."],
    "last-assistant-message": "done",
    ...over,
  });

function store<Result>(use: (handle: StoreHandle) => Result): Result {
  const handle = openDatabase(join(state(), "haversack.db"), { durability: "normal" });
  try {
    return use(handle);
  } finally {
    handle.db.close();
  }
}

const prompted = (turnId: string) =>
  store(({ db }) =>
    db
      .prepare(
        "INSERT INTO sessions (session_id, agent_id, client, cwd, started_at, last_seen_at, last_prompt_id) VALUES ('s1', '', 'codex', ?, ?, ?, ?)",
      )
      .run(root, NOW.toISOString(), NOW.toISOString(), turnId),
  );

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "haversack-notify-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(state());
  env = { HOME: root };
  makeRecordedStore(state(), userStateFolder(env), NOW);
  store(({ db }) => db.prepare("SELECT 1").get());
});

describe("the end of a turn", () => {
  it.each([
    ["t1", true],
    ["t0", false],
  ])("is noted with whether a hook had its prompt (the last one heard is %s)", (turnId, isHeard) => {
    prompted(turnId);
    noteTurn(notice(), env, NOW);
    expect(readTurnNote(state())).toEqual({ sessionId: "s1", at: NOW.toISOString(), isHeard });
  });

  it("of a session that no hook knows prolongs what it has claimed", async () => {
    const handle = openDatabase(join(state(), "haversack.db"), { durability: "normal" });
    const work = new SqliteWorkStore(handle);
    const by = { name: "codex-s1", sessionId: "s1", at: new Date("2026-03-02T08:30:00Z") };
    const { id } = await work.createTask({ title: "Limit logins" }, by);
    await work.claim({ taskId: id, leaseMs: 3_600_000 }, by);
    const until = () => Number(handle.db.prepare("SELECT lease_until FROM claims").get()?.["lease_until"]);
    expect(until()).toBe(Date.parse("2026-03-02T09:30:00Z"));
    noteTurn(notice(), env, NOW);
    expect(until()).toBe(Date.parse("2026-03-02T10:00:00Z"));
    expect(readTurnNote(state())).toMatchObject({ isHeard: false });
    handle.db.close();
  });

  it.each([
    ["of a sub-agent", () => notice({ client: undefined })],
    ["of another kind", () => notice({ type: "approval-requested" })],
    ["without a folder", () => notice({ cwd: 3 })],
    ["that is no JSON", () => "{"],
    ["that is nothing", () => undefined],
    ["that is null", () => "null"],
  ])("%s is none", (_, word) => {
    noteTurn(word(), env, NOW);
    expect(readEndedTurn(word())).toBeUndefined();
    expect(existsSync(join(state(), TURN_FILE))).toBe(false);
  });

  it("is nothing where Haversack is off, or not used", () => {
    noteTurn(notice(), { ...env, HAVERSACK: "0" }, NOW);
    writeFileSync(join(state(), "off"), "");
    noteTurn(notice(), env, NOW);
    expect(existsSync(join(state(), TURN_FILE))).toBe(false);
    rmSync(state(), { recursive: true });
    noteTurn(notice(), env, NOW);
    // The record of trusted projects is in this test's home.
    expect(readdirSync(root)).toEqual([".local"]);
  });

  it("in a broken store is logged, and no note is left", () => {
    for (const file of readdirSync(state())) rmSync(join(state(), file));
    writeFileSync(join(state(), "haversack.db"), "no database at all, and long enough to look like one");
    noteTurn(notice(), env, NOW);
    // Not the store file that was recorded as trusted, so nothing is written.
    expect(readdirSync(state())).toEqual(["haversack.db"]);
    recordTrust(state(), userStateFolder(env), { at: NOW });
    noteTurn(notice(), env, NOW);
    expect(readTurnNote(state())).toBeUndefined();
    expect(readdirSync(join(state(), "log"))).toHaveLength(1);
  });
});
