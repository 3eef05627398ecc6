/** A machine that is cut off from the shared store: commands, hooks and the MCP server go on, and report the outcome when the connection is back. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Scratch, scratchProject } from "../bins.ts";
import { startBoard } from "../board/start-board.ts";
import { startServer as startMcp } from "../mcp-client.ts";
import { PASSWORD, startServer, type TestServer, whyNoServer } from "./server.ts";

describe.skipIf(whyNoServer())("a shared store that cannot be reached", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.stop());
  let isDown = false;
  const goDown = async () => {
    isDown = true;
    await server.kill();
  };
  const comeBack = async () => {
    if (isDown) await server.start();
    isDown = false;
  };
  afterEach(comeBack);

  const env = { PGPASSWORD: PASSWORD };
  let count = 0;
  const project = () => `offline${++count}`;
  const machine = (name: string) => {
    const scratch = scratchProject();
    const url = new URL(server.url);
    url.password = "";
    url.searchParams.set("project", name);
    const run = (words: string[], more: Record<string, string> = {}) =>
      scratch.haversack(words, { env: { ...env, ...more } });
    expect(run(["store", "use", url.href]).code).toBe(0);
    return { ...scratch, run, url: url.href };
  };
  const ok = (ran: ReturnType<Scratch["haversack"]>) => {
    expect(ran.err).not.toContain("error:");
    expect(ran.code).toBe(0);
    return ran;
  };
  const edit = (session: string, root: string, file: string) => ({
    hook_event_name: "PostToolUse",
    session_id: session,
    cwd: root,
    tool_name: "Write",
    tool_use_id: `write ${file}`,
    tool_input: { file_path: `${root}/${file}`, content: "x" },
    tool_response: { type: "create" },
  });

  it("shows on the board what others do, what it last saw while the server is away, and goes on when it is back", {
    timeout: 180_000,
  }, async () => {
    const name = project();
    const [one, two] = [machine(name), machine(name)];
    const { id } = ok(one.run(["task", "create", "shared", "--json"])).json();
    const board = await startBoard({ project: one, env });
    const card = async () => {
      const answer = await board.get("/api/board");
      const { columns = [] } = (await answer.json()) as {
        columns?: { status: string; tasks: { id: string; agent?: string }[] }[];
      };
      const column = columns.find(({ tasks }) => tasks.some((task) => task.id === id));
      return { http: answer.status, status: column?.status, agent: column?.tasks[0]?.agent };
    };
    expect(await card()).toEqual({ http: 200, status: "todo" });
    ok(two.run(["claim", id, "--agent", "bob"]));
    await expect.poll(card, { timeout: 30_000 }).toEqual({ http: 200, status: "in_progress", agent: "bob" });
    const offline = async () => ((await (await board.get("/api/project")).json()) as { offline?: object }).offline;
    expect(await offline()).toBeUndefined();
    await goDown();
    // The page says that it shows the snapshot, which may be older than what it showed before.
    await expect.poll(offline, { timeout: 30_000 }).toEqual({ snapshot_at: expect.any(String), waiting: 0 });
    expect(await card()).toMatchObject({ http: 200, status: expect.any(String) });
    await board.post("/api/tasks", { title: "made meanwhile" });
    await expect.poll(offline, { timeout: 30_000 }).toMatchObject({ waiting: 1 });
    await comeBack();
    ok(two.run(["done", id, "--agent", "bob"]));
    await expect.poll(card, { timeout: 50_000 }).toMatchObject({ http: 200, status: "done" });
    await expect.poll(offline, { timeout: 50_000 }).toBeUndefined();
    expect(ok(two.run(["task", "list", "--json"])).out).toContain("made meanwhile");
  });

  it("shows its snapshot to each address under which it was reached, and to no other", async () => {
    const one = machine(project());
    ok(one.run(["task", "create", "mine"]));
    const at = (change: (url: URL) => void) => {
      const url = new URL(one.url);
      change(url);
      return { HAVERSACK_STORE: url.href };
    };
    const spelled = at((url) => (url.hostname = "localhost"));
    ok(one.run(["task", "list"], spelled));
    await goDown();
    const other = at((url) => url.searchParams.set("project", "another"));
    for (const known of [{}, spelled, at((url) => (url.username = "ann")), at((url) => (url.password = "changed"))]) {
      const foreign = one.run(["task", "create", "theirs"], other);
      expect(foreign).toMatchObject({ code: 3, err: expect.stringContaining("nothing was read or recorded") });
      expect(ok(one.run(["task", "list"], known)).out).toContain("mine");
    }
    ok(one.run(["task", "create", "made offline"]));
    await comeBack();
    // The failure of one address says nothing of another.
    ok(one.run(["store", "use", spelled.HAVERSACK_STORE]));
    expect(ok(one.run(["status", "--json"])).json().shared).toMatchObject({ waiting: 0 });
    const titles = ok(one.run(["task", "list"])).out;
    expect(titles).toContain("made offline");
    expect(titles).not.toContain("theirs");
  });

  it("lets work go on; on return claims are confirmed, and what others were faster with is told", async () => {
    const name = project();
    const [one, two] = [machine(name), machine(name)];
    const create = (title: string) => ok(one.run(["task", "create", title, "--json"])).json().id as string;
    const [mine, wanted] = [create("mine"), create("wanted by both")];
    ok(two.run(["status"]));

    await goDown();
    const claimed = ok(two.run(["claim", mine, "--agent", "bob", "--json"]));
    expect(claimed.json().claim).toMatchObject({ agent: "bob", unconfirmed: true });
    expect(claimed.err).toMatch(/cannot be reached.*\n?.*snapshot/);
    expect(ok(two.run(["claim", wanted, "--agent", "bob"])).out).toContain("Unconfirmed");
    expect(ok(two.run(["task", "show", mine])).out).toContain("unconfirmed");
    expect(ok(two.run(["task", "list", "--json"])).out).toContain('"unconfirmed":true');
    expect(ok(two.run(["task", "list"])).out).toContain("bob (unconfirmed)");
    ok(two.run(["wip", wanted, '{"phase":"half"}', "--agent", "bob"]));
    const added = ok(two.run(["task", "create", "made offline", "--json"])).json().id;
    const status = ok(two.run(["status", "--json"])).json();
    expect(status.shared).toMatchObject({ waiting: 6, conflicts: 0, offline_since: expect.any(String) });
    expect(ok(two.run(["status"])).out).toMatch(/snapshot .* old; offline for .*; 6 changes wait to be sent/);
    expect(two.run(["doctor"]).out).toMatch(/6 changes wait to be sent/);
    const asked = two.run(["store", "status"]);
    expect(asked).toMatchObject({
      code: 3,
      out: expect.stringMatching(/snapshot .* old; offline for .*; 6 changes wait/),
    });
    expect(two.run(["store", "status", "--json"]).json()).toMatchObject({ waiting: 6, problem: expect.any(String) });
    expect(two.run(["import", "x.json"]).code).not.toBe(0);

    await comeBack();
    ok(one.run(["claim", wanted, "--agent", "ann"]));
    await sleep(1100);
    const back = ok(two.run(["status", "--json"])).json();
    expect(back.shared).toMatchObject({ waiting: 0, conflicts: 2 });
    expect(back.shared.offline_since).toBeUndefined();
    const claims = back.in_progress.map(({ id, claim }: { id: string; claim: object }) => [id, claim]);
    expect(Object.fromEntries(claims)).toMatchObject({ [mine]: { agent: "bob" }, [wanted]: { agent: "ann" } });
    expect(JSON.stringify(claims)).not.toContain("unconfirmed");
    expect(ok(one.run(["task", "show", added])).out).toContain("made offline");
    const conflicts = ok(two.run(["store", "conflicts", "--json"])).json();
    expect(conflicts).toMatchObject([
      { operation: "claim", task_id: wanted, agent: "bob", reason: `${wanted} is held by ann` },
      { operation: "updateWip", task_id: wanted, agent: "bob" },
    ]);
    expect(JSON.stringify(conflicts)).toContain("half");
    expect(two.run(["doctor"]).out).toMatch(/2 conflicts/);
    expect(ok(two.run(["agent", "inbox", "bob"])).out).toContain("Not saved in the shared store");
    expect(ok(two.run(["store", "conflicts", "--settle"])).out).toContain("2 conflicts removed");
    expect(ok(two.run(["store", "conflicts"])).out).toContain("No conflicts.");
  });

  it("is not asked by hooks: what they write arrives with the next command", async () => {
    const one = machine(project());
    const { id } = ok(one.run(["task", "create", "edited", "--json"])).json();
    const session = { CLAUDE_CODE_SESSION_ID: "s1" };
    one.hook({ hook_event_name: "SessionStart", session_id: "s1", cwd: one.root, source: "startup" });
    ok(one.haversack(["claim", id, "--json"], { env: { ...env, ...session } }));
    await goDown();
    for (const file of ["a.ts", "b.ts", "c.ts"]) expect(one.hook(edit("s1", one.root, file)).code).toBe(0);
    const { wip } = ok(one.run(["task", "show", id, "--fields", "full", "--json"])).json();
    expect(wip.files_modified).toEqual(["a.ts", "b.ts", "c.ts"]);
    await comeBack();
    await sleep(1100);
    const two = machine(`offline${count}`);
    ok(one.run(["status"]));
    expect(ok(two.run(["task", "show", id, "--fields", "full", "--json"])).json().wip.files_modified).toEqual([
      "a.ts",
      "b.ts",
      "c.ts",
    ]);
  });

  it("gets what hooks write from a running MCP server, without a command", { timeout: 60_000 }, async () => {
    const name = project();
    const [one, two] = [machine(name), machine(name)];
    const { id } = ok(one.run(["task", "create", "watched", "--json"])).json();
    one.hook({ hook_event_name: "SessionStart", session_id: "s2", cwd: one.root, source: "startup" });
    ok(one.haversack(["claim", id], { env: { ...env, CLAUDE_CODE_SESSION_ID: "s2" } }));
    await startMcp(one, { env });
    one.hook(edit("s2", one.root, "seen.ts"));
    let files: string[] | undefined;
    for (let tries = 0; tries < 40 && !files; tries++) {
      await sleep(500);
      files = ok(two.run(["task", "show", id, "--fields", "full", "--json"])).json().wip?.files_modified;
    }
    expect(files).toEqual(["seen.ts"]);
  });
});
