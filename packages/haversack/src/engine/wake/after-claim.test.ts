import { expect, it } from "vitest";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { Actor } from "../../store/work-store.ts";
import { fakeProject } from "../fake-project.suite.ts";
import { claimTask } from "../work/claims.ts";
import { setStatus } from "../work/set-status.ts";
import { afterClaim } from "./after-claim.ts";

const AT = new Date("2026-03-02T09:00:00Z");

async function world() {
  const project = fakeProject();
  const { handle } = project;
  const store = new SqliteWorkStore(handle);
  const install = (name: string, body: string) => {
    project.skill(name, "Limits how often a call may be made.", { body });
  };
  const parts = (by: Actor) => ({
    store,
    by,
    settings: { leaseMs: 1_000 },
    afterClaim: (taskId: string) =>
      afterClaim(taskId, { store, by, handle, settings: {}, cwd: "/nowhere", freshen: () => project.refresh() }),
  });
  const { id } = await store.createTask({ title: "Limit logins", skill: "rate-limits, gone" }, { name: "ann", at: AT });
  const pinned = async () =>
    (await store.skillHistory({ taskId: id, limit: 9 })).map(({ agent, skill, hash }) => [
      agent,
      skill,
      project.index().body(hash)?.trim(),
    ]);
  return { store, install, parts, id, pinned, refresh: () => project.refresh() };
}

it("keeps the version on disk, whatever the index knew before", async () => {
  const { install, parts, id, pinned, refresh } = await world();
  install("rate-limits", "v1");
  refresh();
  install("rate-limits", "v2");
  await claimTask({ taskId: id }, parts({ name: "a", at: AT }));
  expect(await pinned()).toEqual([["a", "rate-limits", "v2"]]);
});

it("keeps the version that a task was begun with; a claim again by the same agent does not move it, another's does", async () => {
  const { install, parts, id, pinned } = await world();
  install("rate-limits", "v1");
  await setStatus({ taskId: id, status: "in_progress" }, parts({ name: "a", at: AT }));
  expect(await pinned()).toEqual([["a", "rate-limits", "v1"]]);
  install("rate-limits", "v2");
  await claimTask({ taskId: id }, parts({ name: "a", at: AT }));
  expect(await pinned()).toEqual([["a", "rate-limits", "v1"]]);
  await claimTask({ taskId: id, stealReason: "gone" }, parts({ name: "b", at: AT }));
  expect(await pinned()).toEqual([
    ["b", "rate-limits", "v2"],
    ["a", "rate-limits", "v1"],
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
  install("rate-limits", "v1");
  await claimTask({ taskId: id }, parts({ name: "a", at: AT }));
  await claimTask({ taskId: id }, parts({ name: "b", at: AT }));
  expect(await pinned()).toHaveLength(1);
});
