import { expect, it } from "vitest";
import { profileOf } from "../../skills/showing/activation.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { sessionName } from "../../work/agent-name.ts";
import { ownFork } from "./wake-again.ts";

const NOW = new Date("2031-05-06T07:00:00.000Z");
const HOUR_MS = 3_600_000;

async function world(client = "codex") {
  const handle = openMemoryStore();
  const store = new SqliteWorkStore(handle);
  const sessions = new SqliteLocalStore(handle);
  const { id } = await store.createTask({ title: "Limit logins" }, { name: "ann", at: NOW });
  const touch = { client, cwd: "/", at: NOW, process: { id: 8, space: "here" } };
  sessions.touchSession({ ...touch, sessionId: "origin" });
  const claim = (by: { name?: string; agentId?: string } = {}) =>
    store.claim(
      { taskId: id, leaseMs: HOUR_MS },
      { name: by.name ?? sessionName(client, { sessionId: "origin", ...by }), sessionId: "origin", at: NOW, ...by },
    );
  const fork = ({ isKnown = true, name = "", processId = 9, isAlive = false } = {}) =>
    ownFork(
      {
        source: "fork",
        sessionId: "fork",
        agentId: "",
        cwd: "/",
        client: profileOf(client),
        forkedFrom: () => (isKnown ? "origin" : undefined),
      },
      {
        handle,
        name,
        process: { id: processId, space: "here" },
        isRunning: () => isAlive,
        leaseMs: () => HOUR_MS,
        now: NOW,
      },
    );
  const held = async () => (await store.listClaims({ at: NOW })).map(({ agent, sessionId }) => [agent, sessionId]);
  return { id, store, sessions, touch, claim, fork, held };
}

it("takes over what its origin held, when the client said that it is over or its process is gone", async () => {
  for (const how of ["ended", "gone"]) {
    const { id, sessions, touch, claim, fork, held } = await world();
    await claim();
    if (how === "ended") sessions.touchSession({ ...touch, sessionId: "origin", event: "end" });
    const told = fork({ isAlive: how === "ended" });
    expect(told).toBe(
      `From Haversack: this session was forked from one that is over, and now holds its tasks: ${id} "Limit logins".`,
    );
    expect(await held()).toEqual([["codex-fork", "fork"]]);
  }
});

it("leaves it with an origin that still runs, and says so", async () => {
  const { id, claim, fork, held } = await world();
  await claim();
  expect(fork({ isAlive: true })).toBe(
    `From Haversack: the session this one was forked from, @codex-origin, is still open and holds ${id} "Limit logins".`,
  );
  expect(await held()).toEqual([["codex-origin", "origin"]]);
});

it("keeps a name that somebody gave, and takes its own for what a sub-agent of the origin held", async () => {
  const named = await world();
  await named.claim({ name: "june" });
  named.fork();
  expect(await named.held()).toEqual([["june", "fork"]]);
  const inside = await world();
  await inside.claim({ agentId: "sub" });
  inside.fork({ name: "june" });
  expect(await inside.held()).toEqual([["june", "fork"]]);
});

it("in the same process is the successor, but where one process has many sessions", async () => {
  const alone = await world("claude-code");
  await alone.claim();
  alone.fork({ isKnown: false, processId: 8, isAlive: true });
  expect(await alone.held()).toEqual([["claude-code-fork", "fork"]]);
  const many = await world("opencode");
  await many.claim();
  expect(many.fork({ isKnown: false, processId: 8, isAlive: true })).toBe("");
  expect(many.fork({ processId: 8, isAlive: true })).toContain("is still open");
  expect(await many.held()).toEqual([["opencode-origin", "origin"]]);
});

it("says nothing where the origin is not known or holds nothing", async () => {
  const { claim, fork, held } = await world();
  expect(fork()).toBe("");
  await claim();
  expect(fork({ isKnown: false })).toBe("");
  expect(await held()).toEqual([["codex-origin", "origin"]]);
});
