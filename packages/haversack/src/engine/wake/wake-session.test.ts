/** What a session is told at its start, by kind of start, and what is recorded. The real client's side is in test/clients. */
import { expect, it } from "vitest";
import { profileOf } from "../../skills/showing/activation.ts";
import type { SkillResources } from "../../skills/showing/skill-output.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import type { SessionKey } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { SessionTasks, Spawns } from "../../store/sqlite/work/events/session-tasks.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { SessionStart } from "../events/client-event.ts";
import { type StartedSession, startSession } from "../events/start-session.ts";
import { fakeProject } from "../fake-project.suite.ts";
import { loadSkill } from "../load-skill.ts";
import { leftEdits } from "./left-edits.ts";
import { knownAs, makePacket, type SessionWakeParts, wakeSession } from "./make-packet.ts";
import { wakeAgain } from "./wake-again.ts";
import { subAgentPacket } from "./wake-sub-agent.ts";

const CLIENT = profileOf("claude-code");
const HOUR_MS = 3_600_000;

async function world() {
  const project = fakeProject();
  project.skill("rate-limits", "Limits how often a call may be made.", { body: "# Limits\n\nCOUNT-THEM" });
  project.skill("subagent-driven-development", "Sends sub-agents.", { body: "# Sub-agents\n\nSEND-THEM" });
  project.refresh();
  const { handle, sessions, ledger } = project;
  const store = new SqliteWorkStore(handle);
  const at = project.now();
  const person = { name: "ann", isPerson: true, at };
  const { id } = await store.createTask(
    { title: "Limit logins", skill: "rate-limits", description: "AT-MOST-FIVE" },
    person,
  );
  const parts = (name = "") => ({
    handle,
    index: project.index(),
    root: "/repo",
    settings: {},
    readText: () => undefined,
    now: project.now(),
    makePacket,
    name,
    process: { id: 7, space: "here" },
    isAlive: () => false,
    leaseMs: () => HOUR_MS,
  });
  const startWith = (event: StartedSession, given: SessionWakeParts) =>
    startSession(event, {
      handle,
      settings: () => project.settings,
      env: given.name ? { HAVERSACK_AGENT: given.name } : {},
      now: given.now,
      process: () => given.process,
      leftEdits: (start) => leftEdits(start, { ...given, space: given.process?.space ?? "" }),
      becomeKnown: (start) => knownAs(given.name, start, given.now),
      wakeSession: (start, noted) => wakeSession(start, noted, given),
      wakeAgain: (start, noted) =>
        wakeAgain(start, noted, given, { ledger, state: new SessionState(handle), tasks: new SessionTasks(handle) }),
      warn: () => undefined,
      checkIndex: () => undefined,
    });
  const begin = (sessionId: string, processId = 8) =>
    sessions.touchSession({
      sessionId,
      client: "claude-code",
      cwd: "/repo",
      at: project.now(),
      process: { id: processId, space: "here" },
    });
  const claim = (name: string, sessionId: string) =>
    store.claim({ taskId: id, leaseMs: HOUR_MS }, { name, sessionId, at: project.now() });
  const start = (source: SessionStart["source"], { name = "", sessionId = "new" } = {}) => {
    return startWith({ source, sessionId, agentId: "", cwd: "/repo", client: CLIENT }, parts(name)).context;
  };
  return { project, store, id, person, parts, begin, claim, start, startWith, handle };
}

it("says nothing where there is nothing, however it starts", async () => {
  const { start } = await world();
  for (const source of ["startup", "clear", "resume", "fork", "compact"] as const) {
    expect(start(source, { name: "june" })).toBeUndefined();
  }
});

it("gives a new session what a dead one left, and records what the window has seen", async () => {
  const { begin, claim, start, id, handle, project } = await world();
  begin("old");
  await claim("claude-code-old", "old");
  const text = start("startup");
  expect(text).toContain(`To go on with ${id} "Limit logins", claim it`);
  // The task is offered; it has no holder yet.
  expect(text).not.toContain("You are @");
  expect(text).toContain("COUNT-THEM");
  expect(handle.db.prepare("SELECT event FROM injections").all()).toMatchObject([{ event: "startup" }]);
  expect(project.ledger.window({ sessionId: "new", window: 1 })).toMatchObject([
    { skill: "rate-limits", loadedBy: "haversack" },
  ]);
});

it("gives a session that was started with the packet as its prompt none, and what its name held all the same", async () => {
  const { begin, claim, parts, startWith, store, id, project } = await world();
  begin("old");
  await claim("june", "old");
  const event = { source: "startup", sessionId: "new", agentId: "", cwd: "/repo", client: CLIENT } as const;
  expect(startWith(event, { ...parts("june"), isWoken: true }).context).toBeUndefined();
  expect((await store.getTask(id, project.now())).claim).toMatchObject({ agent: "june", sessionId: "new" });
});

it("names in one line what was left in another work tree, and frees it", async () => {
  const { project, claim, start, store, id } = await world();
  const elsewhere = { client: "claude-code", cwd: "/elsewhere", at: project.now() };
  project.sessions.touchSession({ ...elsewhere, sessionId: "old", process: { id: 8, space: "here" } });
  await claim("claude-code-old", "old");
  expect(start("startup")).toMatch(
    /^From Haversack: tasks that earlier sessions left unfinished; times are UTC\.\n- T\d+ "Limit logins" \(in \/elsewhere; @claude-code-old, last seen \d\d:\d\d; its client is gone\)$/,
  );
  expect((await store.getTask(id, project.now())).status).toBe("todo");
});

it("tells a resumed session only what others did, and its messages once", async () => {
  const { project, begin, claim, start, store, id, person } = await world();
  begin("s1");
  await claim("june", "s1");
  const resume = () => start("resume", { name: "june", sessionId: "s1" });
  expect(resume()).toBeUndefined();
  project.wait(5);
  await store.release({ taskId: id, reason: "NOT-NOW" }, { ...person, at: project.now() });
  await store.sendMessage({ to: ["june"], text: "WHY" }, { ...person, at: project.now() });
  const news = resume();
  expect(news).toMatch(/^From Haversack, as this session resumes/);
  expect(news).toMatch(/@ann T\d+: Released by ann: NOT-NOW/);
  expect(news).toContain(`You no longer hold ${id}`);
  expect(news).toContain("the user (ann): WHY");
  project.wait(5);
  expect(resume()).toBeUndefined();
});

it("after a compaction a coordinator hears of what it gave to sub-agents, though it holds nothing", async () => {
  const { begin, start, store, id, project, handle, parts } = await world();
  begin("s1");
  const call = { toolUseId: "c1", taskId: id, agentType: "haversack-implementer" };
  new Spawns(handle).noteSpawn("s1", call, project.now());
  subAgentPacket({ ...call, sessionId: "s1", client: CLIENT }, parts());
  new SessionTasks(handle).placeAgent({ sessionId: "s1", agentId: "a1" }, "c1", project.now());
  const sub = { name: "claude-code-s1.a1", sessionId: "s1", agentId: "a1", at: project.now() };
  await store.claim({ taskId: id, leaseMs: HOUR_MS }, sub);
  await store.setHandoff({ taskId: id, role: "implementer", status: "PASS", summary: "BUILT" }, sub);
  await store.setStatus({ taskId: id, status: "review", leaseMs: 1 }, sub);
  const text = start("compact", { sessionId: "s1" });
  expect(text).toContain(`**Current position:** ${id} "Limit logins" is in review`);
  expect(text).toContain(`Dispatch spec-reviewer for ${id} "Limit logins".`);
});

it("gives sub-agents the template of their role, the task's skill, and nothing of the orchestrator", async () => {
  const { store, parts, person, id, project } = await world();
  await store.seeAgent({ name: "june", sessionId: "s1" }, project.now());
  await store.sendMessage({ to: ["june"], text: "FOR-JUNE" }, person);
  await store.updateTask(id, { skill: "rate-limits, subagent-driven-development" }, person);
  const packet = (agentType: string) =>
    subAgentPacket({ sessionId: "s1", toolUseId: "c1", taskId: id, agentType, client: CLIENT }, parts());
  for (const [type, title] of [
    ["haversack-implementer", "Implementer"],
    ["haversack:spec-reviewer", "Spec Reviewer"],
    ["haversack-quality-reviewer", "Quality Reviewer"],
    ["haversack:fixer", "Fixer"],
    ["my-implementer", "Implementer"],
    ["spec-reviewer", "Spec Reviewer"],
    ["team:code-reviewer", "Quality Reviewer"],
  ]) {
    const text = packet(type!);
    expect(text.startsWith(`# ${title} Subagent\nFrom Haversack, for a sub-agent; times are UTC.\nYou are the `)).toBe(
      true,
    );
    expect(text).toContain("AT-MOST-FIVE");
    expect(text).toContain("COUNT-THEM");
    expect(text).not.toContain("SEND-THEM");
    expect(text).not.toContain("FOR-JUNE");
  }
  // These sub-agents only read.
  expect(packet("Explore")).toBe("");
});

it("gives a sub-agent whose type says nothing the role that its prompt gives it, else only facts", async () => {
  const { store, parts, person, id, project, handle } = await world();
  await store.updateWip(
    { taskId: id, merge: () => ({ wip: { next_step: "COUNT-FIRST", files_modified: ["limit.ts"] }, changes: [] }) },
    { ...person, at: project.now() },
  );
  const packet = (prompt: string, toolUseId = "c1") => {
    const start = { sessionId: "s1", toolUseId, taskId: id, agentType: "general-purpose", prompt, client: CLIENT };
    return subAgentPacket(start, parts());
  };
  expect(packet(`Review ${id} against its acceptance criteria.`)).toMatch(/^# Spec Reviewer Subagent/);
  expect(packet(`Implement ${id}.`)).toMatch(/^# Implementer Subagent/);
  const facts = packet(`Who worked on ${id}? Only explain, do not change anything.`, "c2");
  for (const text of ["AT-MOST-FIVE", "limit.ts"]) expect(facts).toContain(text);
  for (const text of ["You are", "Guidelines", "VERDICT", "Next Action", "COUNT-THEM"])
    expect(facts).not.toContain(text);
  // The role lasts as long as the agent. A sub-agent without a role was not sent to work on the task.
  const tasks = new SessionTasks(handle);
  for (const [agentId, call] of [
    ["a1", "c1"],
    ["a2", "c2"],
  ] as const) {
    new Spawns(handle).noteSpawn("s1", { toolUseId: call, agentType: "general-purpose", taskId: id }, project.now());
    tasks.placeAgent({ sessionId: "s1", agentId }, call, project.now());
  }
  const roles = handle.db.prepare("SELECT agent_id, role FROM agent_roles").all();
  expect(roles).toMatchObject([{ agent_id: "a1", role: "implementer" }]);
});

it("brings a sub-agent with a dispatch what that has not: skill, work in progress, and what is missing", async () => {
  const { store, parts, person, id, project } = await world();
  await store.updateTask(id, { skill: "rate-limits, gone-skill" }, person);
  const june = { name: "june", at: project.now() };
  const wip = { decisions: [{ decision: "USE-A-BUCKET" }] };
  await store.updateWip({ taskId: id, merge: () => ({ wip, changes: [] }) }, june);
  const start = { sessionId: "s1", toolUseId: "c1", taskId: id, agentType: "implementer", client: CLIENT };
  const whole = subAgentPacket(start, parts());
  for (const text of ["AT-MOST-FIVE", "VERDICT: PASS", "Test first"]) expect(whole).toContain(text);
  // Not even if the project has a template for the role.
  const readText = () => "# Ours\n{{task}}\nVERDICT";
  const rest = subAgentPacket({ ...start, isDispatched: true }, { ...parts(), readText });
  for (const text of ["COUNT-THEM", "USE-A-BUCKET", "gone-skill"]) expect(rest).toContain(text);
  for (const text of ["AT-MOST-FIVE", "VERDICT", "Guidelines", "set_task_handoff", "Next Action", "# Ours"]) {
    expect(rest).not.toContain(text);
  }
  expect(rest).toMatch(/^From Haversack, for a sub-agent; times are UTC\.\n/);
});

it("gives the version that was begun with when a skill is gone, and says that it is", async () => {
  const { begin, claim, start, project } = await world();
  begin("s1");
  await claim("june", "s1");
  expect(start("clear", { name: "june", sessionId: "s1" })).toContain("COUNT-THEM");
  project.files.remove("/repo/.claude/skills/rate-limits/SKILL.md");
  project.refresh();
  const text = start("compact", { name: "june", sessionId: "s1" });
  expect(text).toContain("COUNT-THEM");
  expect(text).toContain("Missing: The file of rate-limits is gone; the version you began with is here.");
});

it("gives a sub-agent whose type has a template of the project that template", async () => {
  const { parts, id } = await world();
  const readText = (path: string) =>
    /templates\/(?:tester|api-reviewer)\.md$/.test(path) ? "# Ours\n{{identity}}" : undefined;
  const start = { sessionId: "s1", toolUseId: "c1", taskId: id, client: CLIENT };
  const packet = (agentType: string) => subAgentPacket({ ...start, agentType }, { ...parts(), readText });
  expect(packet("team:tester")).toContain(
    "# Ours\nFrom Haversack, for a sub-agent; times are UTC.\nYou are the tester",
  );
  expect(packet("api-reviewer")).toContain("You are the api-reviewer");
  expect(packet("general-purpose")).toContain("# What Haversack Knows of the Task");
});

it("tells again after a compaction what the agent was told in that work, but not in a session that goes on", async () => {
  const { begin, claim, start, store, person, project } = await world();
  await store.seeAgent({ name: "june", sessionId: "s1" }, project.now());
  await store.sendMessage({ to: ["june"], text: "BEFORE-ITS-TIME" }, person);
  await store.markRead({ name: "june" }, project.now());
  project.wait(1);
  begin("s1");
  await claim("june", "s1");
  await store.sendMessage({ to: ["june"], text: "USE-ES256" }, person);
  const texts = ["compact", "compact", "resume", "clear"].map((source) =>
    start(source as "compact", { name: "june", sessionId: "s1" }),
  );
  expect(texts[0]).toMatch(/Unread:\n.*USE-ES256/);
  expect(texts[1]).toMatch(/Told before:\n.*USE-ES256/);
  expect(texts[1]).not.toContain("Answer");
  expect(texts[2]).toBeUndefined();
  expect(texts[3]).toContain("USE-ES256");
  expect(texts.join()).not.toContain("BEFORE-ITS-TIME");
});

it("records what a sub-agent's packet brought in the window of that agent, once it is known which one it is", async () => {
  const { parts, id, project, handle } = await world();
  const { ledger } = project;
  const tasks = new SessionTasks(handle);
  const spawns = new Spawns(handle);
  const agent = { sessionId: "s1", agentId: "a1" };
  for (const toolUseId of ["call-1", "call-2"]) {
    const agentType = "x-implementer";
    spawns.noteSpawn("s1", { toolUseId, agentType, taskId: id }, project.now());
    subAgentPacket({ sessionId: "s1", toolUseId, taskId: id, agentType, client: CLIENT }, parts());
  }
  expect(ledger.window({ ...agent, window: 1 })).toEqual([]);
  tasks.placeAgent(agent, "call-1", project.now());
  expect(ledger.window({ ...agent, window: 1 })).toMatchObject([{ skill: "rate-limits", loadedBy: "haversack" }]);
  expect(ledger.window({ sessionId: "s1", agentId: "a2", window: 1 })).toEqual([]);
  const load = (session: SessionKey) =>
    loadSkill(
      { name: "rate-limits", session, includeResources: false, at: project.now() },
      {
        index: project.index(),
        ledger,
        listResources: (): SkillResources => {
          throw new Error("not asked for");
        },
      },
    ).kind;
  expect(load(agent)).toBe("already-loaded");
  expect(load({ sessionId: "s1" })).toBe("loaded");
  expect(handle.db.prepare("SELECT agent_id, event FROM injections ORDER BY agent_id").all()).toMatchObject([
    { agent_id: "a1", event: "agent-start" },
    { agent_id: "call:call-2", event: "agent-start" },
  ]);
});

it("says in one line that another session of the agent runs, and what that holds; of one that is gone nothing", async () => {
  const { begin, claim, parts, startWith, store, id, person, project, handle } = await world();
  const { id: own } = await store.createTask({ title: "Count logins" }, person);
  const event = { source: "startup", sessionId: "new", agentId: "", cwd: "/repo", client: CLIENT } as const;
  const told = (isAlive: boolean) => startWith(event, { ...parts("june"), isAlive: () => isAlive }).context ?? "";
  begin("old");
  await claim("june", "old");
  await store.seeAgent({ name: "june", sessionId: "old" }, project.now());
  await store.claim({ taskId: own, leaseMs: HOUR_MS }, { name: "june", sessionId: "new", at: project.now() });
  const text = told(true);
  expect(text.match(/is also at work/g)).toHaveLength(1);
  expect(text).toContain(
    `\n@june is also at work in session old, which holds ${id}: leave that to it, unless it has stopped.\n`,
  );
  expect(text).toContain(`**Current position:** ${own} "Count logins"`);

  await store.release({ taskId: id }, { name: "june", sessionId: "old", at: project.now() });
  handle.db.exec("UPDATE agents SET session_id = 'old'");
  expect(told(true)).toContain("\n@june is also at work in session old.\n");
  handle.db.exec("UPDATE agents SET session_id = 'old'");
  expect(told(false)).not.toContain("also at work");
});

it("knows what a session holds that no hook has seen, whatever its start is called", async () => {
  const { claim, parts, startWith, store, id, handle } = await world();
  for (const source of ["startup", "clear", "resume"] as const) {
    await claim("claude-code-s9", "s9");
    const event = { source, sessionId: "s9", agentId: "", cwd: "/repo", client: CLIENT };
    expect(startWith(event, parts()).context).toContain("AT-MOST-FIVE");
    handle.db.exec("DELETE FROM sessions");
    await store.release({ taskId: id }, { name: "claude-code-s9", sessionId: "s9", at: parts().now });
  }
});

it("tells a session without a name of its own where else the agent of its claim is at work, while it is", async () => {
  const { begin, claim, parts, startWith, store, person, project, id } = await world();
  begin("old");
  await claim("june", "old");
  const { id: own } = await store.createTask({ title: "Count logins" }, person);
  begin("s2");
  await store.claim({ taskId: own, leaseMs: HOUR_MS }, { name: "june", sessionId: "s2", at: project.now() });
  await store.seeAgent({ name: "june", sessionId: "s2" }, project.now());
  const event = { source: "clear", sessionId: "s2", agentId: "", cwd: "/repo", client: CLIENT } as const;
  const told = (isAlive: boolean) => startWith(event, { ...parts(), isAlive: () => isAlive }).context ?? "";
  expect(told(true)).toContain(`\n@june is also at work in session old, which holds ${id}: leave that to it`);
  expect(told(true)).toContain(`**Current position:** ${own}`);
  expect(told(false)).not.toContain("also at work");
});

it("notes which agent the session is even where its packet fails", async () => {
  const { begin, claim, parts, startWith, store } = await world();
  begin("old");
  await claim("june", "old");
  const event = { source: "startup", sessionId: "new", agentId: "", cwd: "/repo", client: CLIENT } as const;
  const makePacket = () => {
    throw new Error("no packet");
  };
  expect(() => startWith(event, { ...parts("june"), makePacket })).toThrow("no packet");
  expect(await store.getAgent({ name: "june" })).toMatchObject({ sessionId: "new", client: "claude-code" });
});

it("tells one of two sessions of a name that start at once of the other", async () => {
  const { begin, claim, parts, startWith, project } = await world();
  begin("old");
  await claim("june", "old");
  const event = (sessionId: string) =>
    ({ source: "startup", sessionId, agentId: "", cwd: "/repo", client: CLIENT }) as const;
  const june = { ...parts("june"), isAlive: (processId: number) => processId !== 8 };
  let second: string | undefined;
  const makeFirst: typeof makePacket = (...args) => {
    // The first session is recorded but has no packet yet. Its client runs.
    project.handle.db.exec("UPDATE sessions SET process_id = 9, process_space = 'here' WHERE session_id = 'first'");
    second = startWith(event("second"), june).context;
    return makePacket(...args);
  };
  expect(startWith(event("first"), { ...june, makePacket: makeFirst }).context).not.toContain("also at work");
  expect(second).toContain("@june is also at work in session first");
});

it("takes no other session for its own that is only called alike", async () => {
  const { begin, claim, parts, startWith, store, person, project } = await world();
  begin("dead");
  await claim("claude-code-dead", "dead");
  const { id } = await store.createTask({ title: "Count logins" }, person);
  begin("abcdefgh-1", 9);
  const by = { name: "claude-code-abcdefgh", sessionId: "abcdefgh-1", at: project.now() };
  await store.claim({ taskId: id, leaseMs: HOUR_MS }, by);
  const event = { source: "startup", sessionId: "abcdefgh-2", agentId: "", cwd: "/repo", client: CLIENT } as const;
  const text = startWith(event, { ...parts(), isAlive: (processId) => processId === 9 }).context;
  expect(text).toContain("Limit logins");
  expect(text).not.toContain("also at work");
});
