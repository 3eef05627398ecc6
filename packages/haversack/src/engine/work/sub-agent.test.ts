/** The answers to a call that starts a sub-agent, before and after it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { profileOf } from "../../skills/showing/activation.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { readInjections } from "../../store/sqlite/skills/injections.ts";
import { readHandoffBy, SessionTasks, Spawns } from "../../store/sqlite/work/events/session-tasks.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { Actor } from "../../store/work-store.ts";
import { explainInjection } from "../explain-session.ts";
import { actorForCall } from "./actor.ts";
import { afterSpawn, beforeSpawn, type SubAgentParts } from "./sub-agent.ts";

const NOW = new Date("2026-03-02T09:00:00Z");
const CHILD = "a33dc75fd7a7ae2cf";
const BASE = { client: profileOf("claude-code"), sessionId: "s1", agentId: "", cwd: "/" };
const PERSON: Actor = { name: "ann", isPerson: true, at: NOW };

async function world(replaceResults = true) {
  const handle = openMemoryStore();
  const store = new SqliteWorkStore(handle);
  const { id } = await store.createTask({ title: "Limit logins", description: "DESCRIPTION" }, PERSON);
  const parts: SubAgentParts = {
    handle,
    tasks: new SessionTasks(handle),
    spawns: new Spawns(handle),
    packetFor: ({ taskId, agentType, isDispatched }) =>
      isDispatched ? "THE-REST" : `PACKET of ${taskId} for ${agentType}`,
    skillsFor: ({ prompt }) => (prompt.includes("PDF") ? "SKILLS" : ""),
    handoffBy: (agentId) => readHandoffBy(handle, agentId),
    replacesResults: () => replaceResults,
    now: NOW,
  };
  const before = (prompt: string) => beforeSpawn({ ...BASE, toolUseId: "call-1", agentType: "x", prompt }, parts);
  const after = (isDone = true) => afterSpawn({ ...BASE, toolUseId: "call-1", childId: CHILD, isDone }, parts);
  const handOff = (agentId: string, summary: string, details?: string) => {
    const caller = { sessionId: "s1", agentId };
    const by = actorForCall({}, { env: {}, client: "claude-code", caller, processId: "1", at: NOW });
    return store.setHandoff(
      { taskId: id, role: agentId || "coordinator", status: "PASS", summary, ...(details && { details }) },
      by,
    );
  };
  return { store, id, parts, before, after, handOff };
}

it("adds the packet behind the prompt that names an open task, and binds the sub-agent", async () => {
  const { id, before, after, parts } = await world();
  const { prompt } = before(`Task ${id}`);
  expect(prompt).toBe(`Task ${id}\n\n---\nPACKET of ${id} for x`);
  expect(after(false)).toEqual({});
  expect(parts.tasks.taskOf({ sessionId: "s1", agentId: CHILD })).toMatchObject({ id });
});

it("makes an agent that nobody gave a role an orchestrator when it gives a task to another, not when it has help", async () => {
  const { store, id, before } = await world();
  await store.seeAgent({ name: "june", sessionId: "s1" }, NOW);
  await store.claim({ taskId: id, leaseMs: 60_000 }, { name: "june", isNamed: true, sessionId: "s1", at: NOW });
  const role = async () => (await store.getAgent({ name: "june" })).role;
  before("Look around.");
  expect(await role()).toBe("implementer");
  before(`Task ${id}`);
  expect(await role()).toBe("orchestrator");
});

it("adds the skills that fit the prompt where there is no packet, and nothing where none fits", async () => {
  const { id, before, parts, after } = await world();
  expect(before("Merge the PDF files.").prompt).toBe("Merge the PDF files.\n\n---\nSKILLS");
  expect(before("Look around.")).toEqual({});
  expect(before(`Merge the PDF files of ${id}.`).prompt).not.toContain("SKILLS");
  expect(parts.tasks.isUnplaced({ sessionId: "s1", agentId: CHILD })).toBe(true);
  expect(after(false)).toEqual({});
  expect(parts.tasks.isUnplaced({ sessionId: "s1", agentId: CHILD })).toBe(false);
});

it("leaves the skills to the sub-agent's own prompt where the client reports it", async () => {
  const { parts } = await world();
  const call = { ...BASE, toolUseId: "call-1", agentType: "x", prompt: "Merge the PDF files.", isPromptReported: true };
  expect(beforeSpawn(call, parts)).toEqual({});
  expect(parts.tasks.isUnplaced({ sessionId: "s1", agentId: CHILD })).toBe(false);
});

it("asks for the rest only where the prompt is a dispatch, which a block written by hand is not", async () => {
  const { id, before } = await world();
  const golden = join(import.meta.dirname, "../../artifacts/golden/implementing.implementer.md");
  const dispatch = `${readFileSync(golden, "utf8")}\n${id}`;
  expect(before(dispatch).prompt).toBe(`${dispatch}\n\n---\nTHE-REST`);
  expect(before(dispatch.replaceAll("\n", "\r\n")).prompt).toMatch(/THE-REST$/);
  const byHand = `Do ${id}.\n\n## Required Artifacts\n- Spec: /repo/spec.md`;
  expect(before(byHand).prompt).toContain("PACKET of");
});

it("keeps out of calls that name no open task", async () => {
  const { store, id, before, parts } = await world();
  expect(before("Look around.")).toEqual({});
  expect(before("Task T000000000000")).toEqual({});
  await store.setStatus({ taskId: id, status: "done", leaseMs: 1 }, PERSON);
  expect(before(`Task ${id}`)).toEqual({});
  expect(parts.tasks.isUnplaced({ sessionId: "s1", agentId: CHILD })).toBe(false);
});

it("binds only ids that exist, as whole words: what merely looks like one is passed over", async () => {
  const { id, before, parts } = await world();
  const packet = `PACKET of ${id}`;
  const noise = "The T0100 and T01000 boards, fixtures/T0001.json and 2026-11-16T0930Z are not tasks.";
  expect(before(noise)).toEqual({});
  expect(before(`${noise} Your task is ${id}.`).prompt).toContain(packet);
  expect(before(`Do ${id.toLowerCase()}, please`).prompt).toContain(packet);
  // Longer, shorter or surrounded ids do not match.
  for (const other of [`${id}0`, id.slice(0, -1), `x${id}`, `${id}.json`, `src/${id}/x.ts`, `${id}-series`]) {
    expect(before(`Look at ${other}`)).toEqual({});
  }
  const boards = Array.from({ length: 40 }, (_, number) => `T0${100 + number}`).join(", ");
  expect(before(`Boards ${boards}. Task: ${id}`).prompt).toContain(packet);
  expect(parts.tasks.isUnplaced({ sessionId: "s1", agentId: CHILD })).toBe(true);
});

it("counts a helper of an agent that works on one task to that task, without a packet; of several, to none", async () => {
  const { store, id, before, after, parts } = await world();
  const coordinator = { name: "main", sessionId: "s1", agentId: "", at: NOW };
  const helper = { sessionId: "s1", agentId: CHILD };
  await store.claim({ taskId: id, leaseMs: 1_000 }, coordinator);
  expect(before("Look around.")).toEqual({});
  after();
  expect(parts.tasks.taskOf(helper)).toMatchObject({ id });

  const several = await world();
  const other = await several.store.createTask({ title: "Another" }, PERSON);
  for (const taskId of [several.id, other.id]) await several.store.claim({ taskId, leaseMs: 1_000 }, coordinator);
  several.before("Look around.");
  several.after();
  expect(several.parts.tasks.taskOf(helper)).toBeUndefined();
});

it("puts the handoff that this sub-agent stored in place of its answer", async () => {
  const { id, parts, before, after, handOff } = await world();
  before(`Task ${id}`);
  const own = await handOff(CHILD, "MINE", "all of it");
  await handOff("a999999999999", "ANOTHER'S");
  expect(JSON.parse(after().result ?? "")).toEqual({
    task_id: id,
    status: "PASS",
    summary: "MINE",
    handoff: own.id,
    details: `get_task_handoff(task_id: "${id}", include_details: true)`,
  });
  const [shown] = readInjections(parts.handle, { sessionId: "s1", limit: 1 }).injections;
  expect(shown && explainInjection(shown)).toMatchObject({
    what: "handoff shown in place of a sub-agent's answer",
    parts: [{ because: `sub-agent ${CHILD} stored it for ${id}, and work.replace_results is on` }],
  });
});

it("leaves the answer alone when it stored none, when it still runs, and unless that is switched on", async () => {
  const on = await world();
  on.before(`Task ${on.id}`);
  await on.handOff("", "THE COORDINATOR'S");
  await on.handOff("a999999999999", "ANOTHER'S");
  expect(on.after()).toEqual({});
  await on.handOff(CHILD, "MINE");
  expect(on.after(false)).toEqual({});
  const off = await world(false);
  off.before(`Task ${off.id}`);
  await off.handOff(CHILD, "MINE");
  expect(off.after()).toEqual({});
});
