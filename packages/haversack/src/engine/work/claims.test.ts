import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { Actor } from "../../store/work-store.ts";
import { freshenIndex } from "../refresh-index.ts";
import { claimTask } from "./claims.ts";
import { projectIn } from "./memory-work.suite.ts";
import { setStatus } from "./set-status.ts";

const AT = new Date("2026-03-02T09:00:00Z");

async function world() {
  const root = mkdtempSync(join(tmpdir(), "haversack-claim-"));
  const handle = openMemoryStore();
  onTestFinished(() => {
    handle.db.close();
    rmSync(root, { recursive: true });
  });
  const store = new SqliteWorkStore(handle);
  const project = projectIn(handle, root);
  const install = (name: string, body: string) => {
    const folder = join(root, ".claude/skills", name);
    mkdirSync(folder, { recursive: true });
    const head = `---\nname: ${name}\ndescription: Limits how often a call may be made.\n---\n`;
    writeFileSync(join(folder, "SKILL.md"), `${head}\n${body}\n`);
  };
  const parts = (by: Actor) => ({ store, by, settings: { leaseMs: 1_000 }, project });
  const { id } = await store.createTask({ title: "Limit logins", skill: "rate-limits, gone" }, { name: "ann", at: AT });
  const pinned = async () =>
    (await store.skillHistory({ taskId: id, limit: 9 })).map(({ agent, skill, hash }) => [
      agent,
      skill,
      new SqliteSkillIndex(handle.db).body(hash)?.trim(),
    ]);
  const refresh = () => freshenIndex(handle, { root, env: {}, folders: [] }, { isThorough: true });
  return { store, install, parts, id, pinned, refresh };
}

it("keeps the version on disk, whatever the index knew before", async () => {
  const { install, parts, id, pinned, refresh } = await world();
  install("rate-limits", "First version.");
  refresh();
  install("rate-limits", "The second version.");
  await claimTask({ taskId: id }, parts({ name: "a", at: AT }));
  expect(await pinned()).toEqual([["a", "rate-limits", "The second version."]]);
});

it("keeps the version that a task was begun with; a claim again by the same agent does not move it, another's does", async () => {
  const { install, parts, id, pinned } = await world();
  install("rate-limits", "First version.");
  await setStatus({ taskId: id, status: "in_progress" }, parts({ name: "a", at: AT }));
  expect(await pinned()).toEqual([["a", "rate-limits", "First version."]]);
  install("rate-limits", "The second version.");
  await claimTask({ taskId: id }, parts({ name: "a", at: AT }));
  expect(await pinned()).toEqual([["a", "rate-limits", "First version."]]);
  await claimTask({ taskId: id, stealReason: "gone" }, parts({ name: "b", at: AT }));
  expect(await pinned()).toEqual([
    ["b", "rate-limits", "The second version."],
    ["a", "rate-limits", "First version."],
  ]);
});

it("makes an agent known that has a name, with its session, and no other", async () => {
  const { store, parts, id } = await world();
  await claimTask({ taskId: id }, parts({ name: "claude-code-1", sessionId: "s0", at: AT }));
  expect(await store.listAgents()).toEqual([]);
  await claimTask({ taskId: id, stealReason: "x" }, parts({ name: "june", isNamed: true, sessionId: "s1", at: AT }));
  expect(await store.listAgents()).toMatchObject([{ name: "june", role: "implementer", sessionId: "s1" }]);
});

it("does nothing when the claim is refused", async () => {
  const { install, parts, id, pinned } = await world();
  install("rate-limits", "First version.");
  await claimTask({ taskId: id }, parts({ name: "a", at: AT }));
  await claimTask({ taskId: id }, parts({ name: "b", at: AT }));
  expect(await pinned()).toHaveLength(1);
});
