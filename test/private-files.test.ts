/** Only the owner can read files with prompts or work, even where an older version set wider permissions. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { appendLog } from "../packages/haversack/src/base/log.ts";
import { takeSnapshot } from "../packages/haversack/src/engine/artifacts/git-snapshot.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { addToSpool } from "../packages/haversack/src/store/sqlite/spool/spool-files.ts";
import { scratchProject } from "./bins.ts";

/** Only the owner reads and writes. The execute bit tells SQLite's files from git's: see docs/explanation/trust.md. */
const OWN = "600";
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

it("makes the store, its copies and exports for the owner alone", () => {
  const project = scratchProject();
  expect(project.haversack(["task", "create", "A secret plan"]).code).toBe(0);
  const state = join(project.root, ".haversack");
  const store = join(state, "haversack.db");
  expect([mode(state), mode(store)]).toEqual(["700", OWN]);

  const handle = openDatabase(store, { durability: "normal" });
  handle.db.exec("BEGIN IMMEDIATE; COMMIT");
  handle.db.exec("UPDATE tasks SET title = title");
  const beside = readdirSync(state).filter((name) => name.startsWith("haversack.db-"));
  expect(beside.map((name) => mode(join(state, name)))).toEqual(beside.map(() => OWN));
  expect(beside.length).toBeGreaterThan(0);
  handle.db.close();

  const backup = join(project.root, "copy.db");
  expect(project.haversack(["store", "backup", backup]).code).toBe(0);
  expect(mode(backup)).toBe("600");
  expect(project.haversack(["store", "restore", backup]).code).toBe(0);
  const copies = readdirSync(state).filter((name) => name.startsWith("haversack.db"));
  expect(copies.map((name) => mode(join(state, name)))).toEqual(
    copies.map((name) => (name.includes("before-restore") ? "600" : OWN)),
  );
  expect(project.haversack(["export", "work.jsonl"]).code).toBe(0);
  expect(mode(join(project.root, "work.jsonl"))).toBe("600");
});

it("makes the record of what init wrote for the owner alone, also one of an older version", () => {
  const project = scratchProject();
  const receipt = join(project.root, ".haversack/wiring.json");
  expect(project.haversack(["init", "--yes", "--client", "claude-code"]).code).toBe(0);
  expect(mode(receipt)).toBe("600");
  chmodSync(receipt, 0o644);
  expect(project.haversack(["init", "--yes", "--client", "gemini"]).code).toBe(0);
  expect(mode(receipt)).toBe("600");
});

it("makes the log, the spool and snapshots for the owner alone", () => {
  const project = scratchProject();
  const state = join(project.root, ".haversack");
  appendLog(join(state, "log"), { at: new Date(), level: "info", part: "test", text: "a prompt" });
  expect([state, join(state, "log"), join(state, "log/haversack.log")].map(mode)).toEqual(["700", "700", "600"]);
  addToSpool(join(state, "haversack.db"), { entry: { kind: "x", args: {} } as never, isBlind: false });
  const spool = readdirSync(state).find((name) => name.includes("spool")) ?? "";
  expect(mode(join(state, spool))).toBe("700");

  spawnSync("git", ["init", "-q"], { cwd: project.root });
  mkdirSync(join(state, "snapshots"));
  chmodSync(join(state, "snapshots"), 0o755);
  project.write("notes.md", "secret\n");
  expect(takeSnapshot(project.root, state)).toBeDefined();
  expect(mode(join(state, "snapshots"))).toBe("700");
});

it("tightens what an older version made, and leaves the shared parts as they are", () => {
  const project = scratchProject();
  project.haversack(["task", "create", "A plan"]);
  const state = join(project.root, ".haversack");
  const store = join(state, "haversack.db");
  const config = project.write(".haversack/config.json", "{}");
  chmodSync(state, 0o755);
  chmodSync(config, 0o644);
  for (const end of ["", "-wal", "-shm"]) {
    if (!existsSync(store + end)) writeFileSync(store + end, "");
    chmodSync(store + end, 0o644);
  }
  expect(project.haversack(["status"]).code).toBe(0);
  expect([mode(state), mode(store), mode(config)]).toEqual(["700", OWN, "644"]);
});
