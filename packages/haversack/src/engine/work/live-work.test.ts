import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { recordTrust, userStateFolder } from "../../base/project-trust.ts";
import { openDatabase } from "../../store/sqlite/open.ts";
import { addToSpool } from "../../store/sqlite/spool/spool-files.ts";
import { KeptProject } from "../open-project.ts";
import { LiveWork } from "./live-work.ts";
import { createTask, listTasks } from "./tasks.ts";

const call = { marks: {}, client: "test", at: new Date("2031-05-06T07:00:00.000Z") };

function project({ hasState }: { hasState: boolean }): { root: string; work: LiveWork } {
  const root = mkdtempSync(join(tmpdir(), "haversack-live-work-"));
  mkdirSync(join(root, ".git"));
  if (hasState) mkdirSync(join(root, ".haversack"));
  const work = new LiveWork(new KeptProject({ cwd: root, env: { HOME: join(root, "home") } }));
  onTestFinished(() => {
    work.close();
    rmSync(root, { recursive: true, force: true });
  });
  return { root, work };
}

const create = (work: LiveWork, title: string) => work.write(call, (parts) => createTask({ title }, parts));
const count = async (work: LiveWork) => (await work.read(call, (parts) => listTasks({}, parts))).total;

describe("LiveWork", () => {
  it("reads nothing where Haversack is not used, and makes the folder at the first write", async () => {
    const { root, work } = project({ hasState: false });
    expect(await count(work)).toBe(0);
    expect(existsSync(join(root, ".haversack"))).toBe(false);
    await create(work, "A");
    expect(existsSync(join(root, ".haversack/.gitignore"))).toBe(true);
    expect(await count(work)).toBe(1);
  });

  it("reads in what hooks could not write, at its next call", async () => {
    const { root, work } = project({ hasState: true });
    await create(work, "A");
    const store = join(root, ".haversack/haversack.db");
    const args = { sessionId: "s1", toolUseId: "t1", agentId: "a1", at: call.at };
    expect(addToSpool(store, { entry: { kind: "tool-call", args }, isBlind: false })).toBeUndefined();
    expect(await count(work)).toBe(1);
    expect(existsSync(join(root, ".haversack/spool"))).toBe(false);
    const { db } = openDatabase(store, { durability: "normal" });
    expect(db.prepare("SELECT tool_use_id, agent_id FROM tool_calls").all()).toEqual([
      { tool_use_id: "t1", agent_id: "a1" },
    ]);
    db.close();
  });

  it("makes no folder for a call that fails", async () => {
    const { root, work } = project({ hasState: false });
    await expect(create(work, "")).rejects.toThrow("title must not be empty");
    await expect(work.write(call, (parts) => createTask({ title: "A", storyId: "S1" }, parts))).rejects.toThrow(
      'there is no story "S1"',
    );
    expect(existsSync(join(root, ".haversack"))).toBe(false);
    await create(work, "A");
    await create(work, "B");
    expect(await count(work)).toBe(2);
  });

  it("sees what another process writes, and the store that took the file's place", async () => {
    const { root, work } = project({ hasState: true });
    const other = new LiveWork(new KeptProject({ cwd: root, env: { HOME: join(root, "home") } }));
    onTestFinished(() => other.close());
    await create(work, "A");
    await create(other, "B");
    expect(await count(work)).toBe(2);
    work.close();
    other.close();
    const file = join(root, ".haversack/haversack.db");
    expect(await count(work)).toBe(2);
    renameSync(file, `${file}.old`);
    for (const ending of ["-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
    expect(await count(work)).toBe(0);
  });

  it("goes on after a fault, and calls at once do not disturb each other", async () => {
    const { root, work } = project({ hasState: true });
    const file = join(root, ".haversack/haversack.db");
    writeFileSync(file, "this is no database, and long enough to be taken for one");
    await expect(create(work, "A")).rejects.toThrow("is new to this account");
    recordTrust(join(root, ".haversack"), userStateFolder({ HOME: join(root, "home") }), { at: new Date() });
    await expect(create(work, "A")).rejects.toThrow("is not a database");
    rmSync(file);
    const results = await Promise.allSettled([create(work, "A"), create(work, ""), create(work, "B"), count(work)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(results[3]).toMatchObject({ value: 2 });
  });

  it("names the caller by client and process where nothing else is known", async () => {
    const { work } = project({ hasState: true });
    const names = await Promise.all([1, 2].map(() => work.read(call, async ({ by }) => by.name)));
    expect(names[0]).toMatch(/^test-\d{4}$/);
    expect(names[1]).toBe(names[0]);
  });
});
