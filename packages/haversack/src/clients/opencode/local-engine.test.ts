/** The engine that the plugin runs in the client's process, on a real store: kept open, replaced, switched off, warmed up. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { diskFileSystem } from "../../base/file-system.ts";
import { recordTrust, userStateFolder } from "../../base/project-trust.ts";
import { refreshIndex } from "../../engine/refresh-index.ts";
import { findSkillSources } from "../../engine/skill-sources.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { openDatabase } from "../../store/sqlite/open.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { SessionTasks } from "../../store/sqlite/work/events/session-tasks.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { localEngine } from "./local-engine.ts";
import { opencodeProfile } from "./profile.ts";

const RELEASE = "Write the release notes for version 2.4 from the merged pull requests.";
const TABLES = ["sessions", "ledger", "injections", "prompt_matches", "skill_uses", "session_files"];

function scene() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-engine-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "repo");
  const file = join(root, ".haversack/haversack.db");
  const env = { HOME: join(base, "home"), XDG_CONFIG_HOME: join(base, "home/.config") };
  write("repo/.claude/skills/release-notes/SKILL.md", skillText());
  makeStore(file);
  trust();

  function write(path: string, text: string): string {
    const at = join(base, path);
    mkdirSync(join(at, ".."), { recursive: true });
    writeFileSync(at, text);
    return at;
  }
  /** Like `haversack trust`. */
  function trust(): void {
    recordTrust(join(root, ".haversack"), userStateFolder(env), { at: new Date() });
  }
  function makeStore(at: string): void {
    mkdirSync(join(at, ".."), { recursive: true });
    const handle = openDatabase(at, { durability: "normal" });
    const sources = findSkillSources(root, { env, folders: [], fs: diskFileSystem });
    refreshIndex(handle, { ...sources, fs: diskFileSystem });
    handle.db.close();
  }
  function inStore<T>(look: (handle: StoreHandle) => T): T {
    const handle = openDatabase(file, { durability: "normal" });
    try {
      return look(handle);
    } finally {
      handle.db.close();
    }
  }
  const engine = localEngine({ root, env, cli: [] });
  const event = { client: opencodeProfile(), sessionId: "o1", agentId: "", cwd: root };
  return {
    ...{ root, base, file, engine, event, write, makeStore, trust, inStore },
    ask: (prompt: string) => engine.answer({ ...event, kind: "prompt", prompt, promptId: "p" }).context ?? "",
    counts: () =>
      inStore(({ db }) => TABLES.map((table) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]))),
    log: () => {
      const path = join(root, ".haversack/log/haversack.log");
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    },
  };
}

const skillText = () =>
  "---\nname: release-notes\ndescription: Writes release notes and changelog entries from merged pull requests.\n---\n\nBODY\n";

describe("a prompt", () => {
  it("gets its skill once", () => {
    const { ask } = scene();
    expect(ask(RELEASE)).toContain("Writes release notes");
    // The window already has the description.
    expect(ask(RELEASE)).not.toContain("Writes release notes");
    expect(ask("Thanks, please go on.")).toBe("");
  });

  it("gets nothing where Haversack is switched off, or there is no store", () => {
    const { ask, write, root, file } = scene();
    write("repo/.haversack/off", "");
    expect(ask(RELEASE)).toBe("");
    rmSync(join(root, ".haversack/off"));
    expect(ask(RELEASE)).not.toBe("");
    rmSync(file);
    expect(ask(RELEASE)).toBe("");
  });

  it("sees a store that has taken the old one's place", () => {
    const { ask, file, makeStore, trust } = scene();
    expect(ask(RELEASE)).not.toBe("");
    for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    makeStore(`${file}.new`);
    renameSync(`${file}.new`, file);
    expect(ask(RELEASE)).toBe("");
    trust();
    // The new store has not seen this session.
    expect(ask(RELEASE)).not.toBe("");
  });

  it("of a broken store is a fault for the guard, not silence", () => {
    const { ask, file } = scene();
    for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    writeFileSync(file, "no database, and long enough to look like none at all");
    expect(() => ask(RELEASE)).toThrow();
  });
});

it("keeps what a tool did", () => {
  const { engine, event, root, inStore } = scene();
  engine.answer({ ...event, kind: "after-tool", tool: { tool: "write", path: join(root, "src/a.ts") } });
  expect(inStore((handle) => new SessionState(handle).wip({ sessionId: "o1" }))?.data).toMatchObject({
    files_modified: ["src/a.ts"],
  });
});

describe("the warm-up", () => {
  it("runs after the call, one step at a time, and leaves nothing behind", async () => {
    vi.useFakeTimers();
    try {
      const { engine, counts, ask, log } = scene();
      const prompted = vi.spyOn(engine, "answer");
      engine.warmUp();
      expect(prompted).not.toHaveBeenCalled();
      await vi.runAllTimersAsync();
      // The rehearsal got as far as a text for the model.
      expect(prompted.mock.results.at(-1)?.value).toHaveProperty("context");
      expect(counts()).toEqual(TABLES.map(() => 0));
      expect(log()).toBe("");
      expect(ask(RELEASE)).toContain("release-notes");
      expect(counts()[0]).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("ends with the first event of the client's", async () => {
    vi.useFakeTimers();
    try {
      const { engine, ask } = scene();
      engine.warmUp();
      ask(RELEASE);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("gives way to whoever writes, and logs a store that cannot be read", async () => {
    vi.useFakeTimers();
    try {
      const { engine, file, log } = scene();
      const other = openDatabase(file, { durability: "normal" });
      other.db.exec("BEGIN IMMEDIATE");
      engine.warmUp();
      await vi.runAllTimersAsync();
      other.db.exec("ROLLBACK");
      other.db.close();
      expect(log()).toBe("");

      const broken = scene();
      for (const end of ["-wal", "-shm"]) rmSync(`${broken.file}${end}`, { force: true });
      writeFileSync(broken.file, "no database, and long enough to look like none at all");
      broken.engine.warmUp();
      await vi.runAllTimersAsync();
      expect(broken.log().trim().split("\n")).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("while another process holds the store's lock", () => {
  it("answers as usual, and reads in what it could not write", () => {
    const { engine, event, root, file, inStore, log } = scene();
    const path = join(root, "src/a.ts");
    const other = openDatabase(file, { durability: "normal" });
    other.db.exec("BEGIN IMMEDIATE");
    engine.answer({ ...event, kind: "session-start", source: "startup" });
    engine.answer({ ...event, kind: "after-tool", tool: { tool: "write", path } });
    engine.answer({ ...event, kind: "after-tool", tool: { tool: "write", path: join(root, "src/b.ts") } });
    const files = () => inStore(({ db }) => db.prepare("SELECT path FROM session_files ORDER BY path").all());
    other.db.exec("ROLLBACK");
    other.db.close();
    engine.answer({ ...event, kind: "after-tool", tool: { tool: "write", path: join(root, "src/c.ts") } });
    expect(files()).toEqual([{ path: "src/a.ts" }, { path: "src/b.ts" }, { path: "src/c.ts" }]);
    expect(existsSync(join(file, "../spool"))).toBe(false);
    expect(log()).toBe("");
  });
});

describe("receipts", () => {
  const call = { callId: "call1", agentType: "reviewer" };

  function reading(read: (path: string) => { shownLines: number } | undefined) {
    const { engine, event, root, write, log } = scene();
    mkdirSync(join(root, ".git"), { recursive: true });
    const path = write("repo/docs/031/spec.md", "one\ntwo\nthree\nfour\n");
    const prompt = `Review it.\n\n## Required Artifacts\n- Spec: ${path} (4 lines)`;
    engine.answer({
      ...event,
      kind: "before-spawn",
      toolUseId: call.callId,
      agentType: call.agentType,
      prompt,
      receipts: "named",
    });
    const inside = { ...event, agentId: "child" };
    const seen = read(path);
    if (seen) {
      const observation = { tool: "read" as const, path, offset: 1, totalLines: 4, ...seen };
      const seenBy = { agentType: call.agentType, startedBy: () => call.callId, observation: () => observation };
      engine.answer({ ...inside, kind: "after-tool", tool: { tool: "read", path }, ...seenBy });
    }
    const end = { agentType: call.agentType, startedBy: () => call.callId, answer: "Fine." };
    engine.answer({ ...inside, kind: "agent-stop", ...end, receipts: "named" });
    const history = join(root, "docs/031/.review-history.md");
    return { history: existsSync(history) ? readFileSync(history, "utf8") : "", log: log() };
  }

  it("are kept for a sub-agent that read what it had to", () => {
    expect(reading(() => ({ shownLines: 4 }))).toEqual({ history: "", log: "" });
  });

  it.each([
    ["has read half of it", { shownLines: 2 }, "2 of 4 lines"],
    ["has read nothing", undefined, "LAZY-LOAD-WARNING"],
  ])("warn of one that %s", (_, seen, words) => {
    expect(reading(() => seen).history).toContain(words);
  });
});

it("counts a sub-agent's packet to its own window from its start, before it has called any tool", async () => {
  const { engine, event, file, inStore } = scene();
  const handle = openDatabase(file, { durability: "normal" });
  const { id } = await new SqliteWorkStore(handle).createTask(
    { title: "Limit logins" },
    { name: "june", at: new Date() },
  );
  handle.db.close();
  engine.answer({ ...event, kind: "session-start", source: "startup" });
  const spawn = { toolUseId: "call-1", agentType: "general", prompt: `Task ${id}` };
  expect(engine.answer({ ...event, kind: "before-spawn", ...spawn }).prompt).toContain("Limit logins");
  const child = { ...event, agentId: "ses_child" };
  engine.answer({ ...child, kind: "agent-start", agentType: "general", startedBy: () => "call-1" });
  const owners = inStore(({ db }) => db.prepare("SELECT agent_id FROM injections WHERE event = 'agent-start'").all());
  expect(owners).toMatchObject([{ agent_id: "ses_child" }]);
  expect(inStore((open) => new SessionTasks(open).isUnplaced(child))).toBe(false);
});
