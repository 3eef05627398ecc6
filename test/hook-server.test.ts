/** The event server under faults: the session continues, nothing is recorded twice, and nothing that the transcript has is lost. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";
import { type Call, claudeSession, wireServer, write } from "./claude-session.ts";
import { startServer } from "./mcp-client.ts";

type Server = Awaited<ReturnType<typeof startServer>>;

function begin() {
  const project = scratchProject();
  wireServer(project);
  const session = claudeSession(project);
  project.hook(session.event("SessionStart", { source: "startup" }));
  const edit = (name: string) => write(name, join(project.root, `${name}.ts`));
  return { project, session, edit };
}

const tell = async (server: Server, payload: object) =>
  (await server.call("hook", { client: "claude-code", ...payload })).text;

function rows(project: Scratch, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(join(project.root, ".haversack/haversack.db"), { readOnly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

/** The system call that the server's main thread waits in, from Linux. Two equal readings: it rests there. */
async function restingPlace({ pid }: Server): Promise<string> {
  const now = () => readFileSync(`/proc/${pid}/syscall`, "utf8").split(" ")[0]!;
  for (let last = ""; ; ) {
    const place = now();
    if (place === last && place !== "running") return place;
    last = place;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** False: the server still rests there after a second. */
async function leaves(server: Server, place: string): Promise<boolean> {
  for (const end = Date.now() + 1000; Date.now() < end; ) if ((await restingPlace(server)) !== place) return true;
  return false;
}

/** The next server finds in the transcript what the killed ones have not recorded. */
async function expectEachOnce(project: Scratch, session: ReturnType<typeof claudeSession>, calls: Call[]) {
  expect(await tell(await startServer(project), session.event("Stop"))).toBe("{}");
  expect(files(project)).toEqual(calls.map(({ id }) => `${id}.ts`));
  expect(session.wip().files_modified.toSorted()).toEqual(files(project));
  expect(rows(project, "SELECT * FROM seen_calls")).toEqual([]);
  expect(project.haversack(["store", "check"]).code).toBe(0);
}

const files = (project: Scratch) =>
  rows(project, "SELECT path FROM session_files ORDER BY path").map(({ path }) => String(path));

describe("the server that answers events", () => {
  it("is killed in the middle of an event ten times: every call is recorded, once", async () => {
    const { project, session, edit } = begin();
    const calls: Call[] = [];
    let hits = 0;
    // A kill that comes too late for the event does not count, and another one follows.
    for (let n = 0; hits < 10 && n < 40; n++) {
      const server = await startServer(project);
      await tell(server, session.event("UserPromptSubmit", { prompt: `Part ${n}.` }));
      const call = edit(`f${String(n).padStart(2, "0")}`);
      calls.push(call);
      session.answers(call);
      const idle = await restingPlace(server);
      const lock = new DatabaseSync(join(project.root, ".haversack/haversack.db"));
      lock.exec("BEGIN IMMEDIATE");
      const answer = tell(server, session.toolEvent(call)).catch(() => "lost");
      // The server waits for the lock: it has begun the event and has recorded nothing yet.
      const isInside = await leaves(server, idle);
      server.kill("SIGKILL");
      if ((await answer) === "lost" && isInside) hits++;
      await server.exited;
      lock.exec("ROLLBACK");
      lock.close();
      session.results(call);
    }
    expect(hits).toBe(10);
    await expectEachOnce(project, session, calls);
  });

  it("is killed at any point of an event: every call is recorded, once", async () => {
    const { project, session, edit } = begin();
    const calls: Call[] = [];
    for (let n = 0; n < 10; n++) {
      const server = await startServer(project);
      await tell(server, session.event("UserPromptSubmit", { prompt: `Part ${n}.` }));
      const call = edit(`f${n}`);
      calls.push(call);
      session.answers(call);
      // Not awaited: the server is killed at a different point each time, also after it has recorded the call.
      const lost = tell(server, session.toolEvent(call)).catch(() => "lost");
      await new Promise((resolve) => setTimeout(resolve, n));
      server.kill("SIGKILL");
      await Promise.all([lost, server.exited]);
      session.results(call);
    }
    await expectEachOnce(project, session, calls);
  });

  it("hangs: a process records the call from the transcript, and the server does not record it again", async () => {
    const { project, session, edit } = begin();
    const server = await startServer(project);
    await tell(server, session.event("UserPromptSubmit", { prompt: "Go." }));
    server.kill("SIGSTOP");
    const call = edit("slow");
    session.answers(call);
    const late = tell(server, session.toolEvent(call));
    session.results(call);
    project.hook(session.event("SessionEnd", { reason: "exit" }));
    expect(files(project)).toEqual(["slow.ts"]);
    const before = rows(project, "SELECT data FROM session_wip");
    server.kill("SIGCONT");
    expect(await late).toBe("{}");
    const [wip] = rows(project, "SELECT data FROM session_wip");
    expect(JSON.parse(String(wip?.["data"])).files_modified).toEqual(["slow.ts"]);
    expect(before).toHaveLength(1);
    expect(rows(project, "SELECT * FROM wip_changes")).toEqual([]);
  });

  it("is one of two on the same store: each call is recorded once, whoever was told of it", async () => {
    const { project, session, edit } = begin();
    const servers = await Promise.all([startServer(project), startServer(project)]);
    for (let n = 0; n < 6; n++) {
      const [one, other] = n % 2 === 0 ? servers : servers.toReversed();
      const [told, missed] = [edit(`told${n}`), edit(`missed${n}`)];
      await tell(one!, session.toolEvent(told));
      session.logs(told);
      session.logs(missed);
      await Promise.all([one!, other!].map((server) => tell(server, session.event("Stop"))));
    }
    expect(files(project)).toHaveLength(12);
    expect(session.wip().files_modified).toHaveLength(12);
    expect(rows(project, "SELECT * FROM seen_calls")).toEqual([]);
  });

  it("takes a payload of 10 MB", async () => {
    const { project, session } = begin();
    const server = await startServer(project);
    const output = `${"x".repeat(10 * 1024 * 1024)}\nTests  3 passed (3)`;
    const call: Call = { id: "big", tool: "Bash", input: { command: "npm test" }, response: { stdout: output } };
    expect(await tell(server, session.toolEvent(call))).toBe("{}");
    expect(session.wip().test_results).toMatchObject({ passed: 3 });
    expect(await tell(server, session.event("UserPromptSubmit", { prompt: output }))).toBe("{}");
  });

  it("is told of 50 events at once, of several sessions", async () => {
    const { project, edit } = begin();
    const server = await startServer(project);
    const sessions = ["a", "b", "c", "d", "e"].map((id) => claudeSession(project, id));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => tell(server, sessions[n % 5]!.toolEvent(edit(`f${n}`)))),
    );
    expect(new Set(answers)).toEqual(new Set(["{}"]));
    expect(files(project)).toHaveLength(50);
    for (const session of sessions) expect(session.wip().files_modified).toHaveLength(10);
  });

  it("stands back for an event that a process is started for too; the next session's server takes it when that has changed", async () => {
    const { project, session, edit } = begin();
    const server = await startServer(project);
    project.haversack(["init", "--yes", "--user", "--client", "claude-code", "--hooks", "command"]);
    await tell(server, session.toolEvent(edit("a")));
    expect(files(project)).toEqual([]);
    project.haversack(["uninstall", "--yes", "--user"]);
    await tell(server, session.toolEvent(edit("b")));
    expect(files(project)).toEqual([]);
    await tell(await startServer(project), session.toolEvent(edit("c")));
    expect(files(project)).toEqual(["c.ts"]);
  });

  it("is told nonsense, and answers with silence", async () => {
    const { session } = begin();
    const server = await startServer(begin().project);
    for (const input of [{}, { client: "nobody" }, { client: "claude-code" }, { client: 7, hook_event_name: [] }]) {
      expect((await server.call("hook", input)).text).toBe("{}");
    }
    expect(await tell(server, { ...session.event("Stop"), transcript_path: "/dev/zero" })).toBe("{}");
    expect(await tell(server, { ...session.event("Stop"), transcript_path: "/no/such.jsonl", cwd: "/no" })).toBe("{}");
  });
});

it("takes a session id that the client has not filled in, or that is longer than any, for no session", async () => {
  const { project, session, edit } = begin();
  const server = await startServer(project);
  for (const session_id of ["$" + "{session_id}", "x".repeat(100_000)]) {
    for (const event of [session.toolEvent(edit("a")), session.event("UserPromptSubmit", { prompt: "Go." })]) {
      expect(await tell(server, { ...event, session_id })).toBe("{}");
    }
  }
  expect(rows(project, "SELECT DISTINCT session_id FROM sessions")).toHaveLength(1);
  expect(files(project)).toEqual([]);
});

describe("a model that calls the tool for events itself", () => {
  it.each([
    ["claude-code", { toolUseId: "toolu_1" }],
    ["codex-mcp-client", { more: { threadId: "forged", sessionId: "forged", callId: "call_1" } }],
    ["gemini-cli-mcp-client", {}],
    ["opencode", {}],
  ])("is refused in %s, and nothing is recorded", async (client, meta) => {
    const { project, session, edit } = begin();
    const server = await startServer(project, { client });
    const forged = { client: "claude-code", ...session.toolEvent(edit("forged")), session_id: "forged" };
    expect(await server.call("hook", forged, meta)).toMatchObject({
      isError: true,
      text: expect.stringContaining('There is no tool "hook"'),
    });
    expect(rows(project, "SELECT * FROM sessions WHERE session_id = 'forged'")).toEqual([]);
    const { tools } = await server.request("tools/list");
    expect(tools.map(({ name }: { name: string }) => name)).not.toContain("hook");
  });
});
