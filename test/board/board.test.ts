/** The board's server: who may ask it, what it answers, and what it does when something is wrong. */
import { once } from "node:events";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { AuditView } from "../../packages/haversack/src/board-server/board-types.ts";
import { scratchProject } from "../bins.ts";
import { type RunningBoard, startBoard } from "./start-board.ts";

interface Columns {
  counts: Record<string, number>;
  columns: { status: string; total: number; tasks: { id: string; title: string; note?: string; agent?: string }[] }[];
}

function localDay(): string {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

async function columns(board: RunningBoard, query = ""): Promise<Record<string, string[]>> {
  const { columns: all } = (await (await board.get(`/api/board${query}`)).json()) as Columns;
  return Object.fromEntries(all.map(({ status, tasks }) => [status, tasks.map(({ title }) => title)]));
}

describe("who may ask", () => {
  it("every request for data needs the token, in a header", async () => {
    const board = await startBoard();
    const token = board.authorization.slice("Bearer ".length);
    // The page is the same for everybody and contains nothing from the project.
    const page = await fetch(board.origin);
    expect(page.status).toBe(200);
    expect(await page.text()).not.toContain(board.project.root);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
    // Cookies go to every port of this machine.
    expect((await fetch(board.url)).headers.get("set-cookie")).toBeNull();
    expect((await fetch(`${board.origin}/?token=wrong`)).status).toBe(401);
    for (const path of ["board", "events", "project", "audit", "nothing"])
      expect((await fetch(`${board.origin}/api/${path}`)).status).toBe(401);
    expect((await fetch(`${board.origin}/api/board?token=${token}`)).status).toBe(401);
    expect((await board.get("/api/board", { authorization: board.authorization.slice(0, -1) })).status).toBe(401);
    expect((await board.get("/api/board", { authorization: "" })).status).toBe(401);
    expect((await board.get("/api/board")).status).toBe(200);
  });

  it("requests of other pages are refused, also with the token", async () => {
    const board = await startBoard();
    const make = { title: "from elsewhere" };
    expect((await board.post("/api/tasks", make, { origin: "https://example.com" })).status).toBe(403);
    expect((await board.post("/api/tasks", make, { "content-type": "text/plain" })).status).toBe(403);
    expect((await board.get("/api/board", { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await board.get("/api/board", { "sec-fetch-site": "same-origin" })).status).toBe(200);
    // A name that points to this machine is not the board's address. `fetch` sets Host itself.
    const { hostname, port } = new URL(board.origin);
    const asked = request({
      hostname,
      port,
      path: "/",
      headers: { host: `evil.test:${port}`, authorization: board.authorization },
    });
    asked.end();
    const [answer] = (await once(asked, "response")) as [{ statusCode: number; resume(): void }];
    answer.resume();
    expect(answer.statusCode).toBe(403);
    expect(await columns(board)).toMatchObject({ todo: [] });
  });
});

describe("what it does", () => {
  it("creates, moves, claims and releases, and tells why it refuses", async () => {
    const board = await startBoard();
    const { id } = (await (await board.post("/api/tasks", { title: "Sew the strap", priority: "P1" })).json()) as {
      id: string;
    };
    expect(await columns(board)).toMatchObject({ todo: ["Sew the strap"] });
    await board.post(`/api/tasks/${id}/status`, { status: "in_progress" });
    expect(board.project.haversack(["task", "show", id, "--fields", "full", "--json"]).json().claim.agent).toBe(
      "robin",
    );
    // Another agent holds the task now.
    board.project.haversack(["task", "claim", id, "--steal", "it is mine"], { env: { HAVERSACK_AGENT: "june" } });
    const refused = (await (await board.post(`/api/tasks/${id}/status`, { status: "in_progress" })).json()) as object;
    expect(refused).toMatchObject({ refused: expect.stringContaining("june") });
    await board.post(`/api/tasks/${id}/status`, { status: "blocked", notes: "no thread left" });
    const { columns: all } = (await (await board.get("/api/board")).json()) as Columns;
    expect(all.find(({ status }) => status === "blocked")?.tasks).toMatchObject([{ id, note: "no thread left" }]);
    await board.post(`/api/tasks/${id}/status`, { status: "todo" });
    expect(await columns(board)).toMatchObject({ todo: ["Sew the strap"], blocked: [] });
    expect((await board.post("/api/tasks", { title: "" })).status).toBe(400);
    expect((await board.post("/api/tasks", { title: 7 })).status).toBe(400);
    expect((await board.post("/api/tasks", { title: "long", description: "x".repeat(1_000_001) })).status).toBe(413);
    expect((await board.get("/api/tasks/T0000")).status).toBe(404);
    expect((await board.get("/api/nothing")).status).toBe(404);
  });

  it("shows one epic, finds by text, and says what a prompt would bring", async () => {
    const board = await startBoard();
    const { project } = board;
    const epic = project.haversack(["epic", "create", "Bags", "--json"]).json().id;
    const story = project.haversack(["story", "create", "Straps", "--epic", epic, "--json"]).json().id;
    project.haversack(["task", "create", "Cut leather", "--story", story]);
    project.haversack(["task", "create", "Buy wax"]);
    expect((await columns(board, `?epic=${epic}`))["todo"]).toEqual(["Cut leather"]);
    expect((await columns(board))["todo"]).toHaveLength(2);
    const found = (await (await board.get("/api/find?text=WAX")).json()) as { tasks: { title: string }[] };
    expect(found.tasks.map(({ title }) => title)).toEqual(["Buy wax"]);
    const about = "Use when stitching leather: thread, awl, saddle stitch.";
    project.write(
      ".claude/skills/saddle-stitch/SKILL.md",
      `---\nname: saddle-stitch\ndescription: "${about}"\n---\nB\n`,
    );
    const tried = (await (
      await board.post("/api/try", { prompt: "do a saddle stitch in leather with an awl" })
    ).json()) as {
      text: string;
      skills: { id: string; reasons: object[] }[];
    };
    expect(tried.text).toContain("saddle-stitch");
    expect(tried.skills[0]).toMatchObject({
      id: "saddle-stitch",
      reasons: expect.arrayContaining([expect.objectContaining({ text: expect.any(String) })]),
    });
    const skills = (await (await board.get("/api/skills")).json()) as { skills: object[] };
    expect(skills.skills).toMatchObject([{ id: "saddle-stitch", shown: 0, used: 0 }]);
  });

  it("shows epics and stories with how far they are, and a task's group on its card", async () => {
    const board = await startBoard();
    const make = async (fields: object) =>
      ((await (await board.post("/api/tasks", fields)).json()) as { id: string }).id;
    const epic = await make({ kind: "epic", title: "Bags" });
    const story = await make({ kind: "story", title: "Straps", epic_id: epic });
    const task = await make({ title: "Cut leather", story_id: story });
    await make({ title: "Buy wax", story_id: story });
    board.project.haversack(["task", "done", task]);
    const groups = async (kind: string) => (await board.get(`/api/groups?kind=${kind}`)).json();
    expect(await groups("epic")).toEqual({
      groups: [{ id: epic, kind: "epic", title: "Bags", status: "in_progress", done: 1, total: 2 }],
      total: 1,
    });
    expect(await groups("story")).toMatchObject({ groups: [{ id: story, epic_id: epic, done: 1, total: 2 }] });
    const { columns: all } = (await (await board.get("/api/board")).json()) as Columns;
    expect(all.find(({ status }) => status === "todo")?.tasks).toMatchObject([{ title: "Buy wax", group: "Straps" }]);
  });

  it("audits the project's transcripts in the background", async () => {
    const board = await startBoard();
    const { root, home } = board.project;
    const look = async () => (await (await board.get("/api/audit")).json()) as AuditView;
    const settled = () => expect.poll(async () => (await look()).state, { timeout: 20_000 });
    expect(await look()).toEqual({ state: "none", days: 30 });
    await board.post("/api/audit", { days: 7 });
    await settled().toBe("failed");
    expect((await look()).problem).toBe("no transcripts found");
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const common = { sessionId: "s1", cwd: root };
    const lines = [
      { type: "user", timestamp: at(9), ...common, message: { role: "user", content: "Why is it red? ".repeat(20) } },
      {
        ...{ type: "assistant", timestamp: at(8), ...common },
        message: {
          id: "m",
          role: "assistant",
          content: [{ type: "text", text: "Because." }],
          usage: { input_tokens: 900 },
        },
      },
    ];
    const text = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"type":"user","cut`;
    mkdirSync(join(home, ".claude/projects/-p"), { recursive: true });
    writeFileSync(join(home, ".claude/projects/-p/s1.jsonl"), text);
    expect((await board.post("/api/audit", { days: 7 })).status).toBe(202);
    await settled().toBe("ready");
    const { report, days } = await look();
    expect(days).toBe(7);
    expect(report).toMatchObject({ sessions: 1, windows: 1, compactions: 0, broken: 1, by_day: [{ day: localDay() }] });
    const total = report?.categories.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(total).toBe(report?.tokens);
    expect(report?.by_day[0]?.tokens.reduce((sum, one) => sum + one, 0)).toBe(total);
    for (const days of [0, 1.5, "7", 1e9]) expect((await board.post("/api/audit", { days })).status).toBe(400);
  });

  it("tells the page when another process has written", async () => {
    const board = await startBoard();
    board.project.haversack(["task", "create", "Before"]);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const events = await fetch(`${board.origin}/api/events`, {
      headers: { authorization: board.authorization },
      signal: stop.signal,
    });
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (count: number) => {
      while (text.split("event: changed").length - 1 < count) text += (await reader.read()).value ?? "";
    };
    // The greeting, and the state at the first look.
    await until(2);
    board.project.haversack(["task", "create", "Elsewhere"]);
    await until(3);
    expect((await columns(board))["todo"]).toContain("Elsewhere");
  });
});

describe("what may go wrong", () => {
  it("a port in use is one clear line", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const { code, err } = scratchProject().haversack(["board", "--port", String(port)]);
    expect(code).toBe(2);
    expect(err).toContain(`port ${port} is in use`);
    expect(err).toContain("leave --port out");
  });

  it("a store that vanishes and comes back", async () => {
    const board = await startBoard();
    const { project } = board;
    project.haversack(["task", "create", "Kept"]);
    expect(await columns(board)).toMatchObject({ todo: ["Kept"] });
    const [state, away] = [join(project.root, ".haversack"), join(project.home, "away")];
    renameSync(state, away);
    const gone = await board.get("/api/board");
    expect(gone.status).toBe(503);
    expect(await gone.json()).toMatchObject({ error: expect.stringContaining("is gone"), hint: expect.any(String) });
    // No new store may be created in its place, or the old one could not come back.
    expect((await board.post("/api/tasks", { title: "Lost" })).status).toBe(503);
    expect(existsSync(state)).toBe(false);
    renameSync(away, state);
    expect(await columns(board)).toMatchObject({ todo: ["Kept"] });
  });

  it("ends with 0 when it is told to", async () => {
    const board = await startBoard();
    const ended = once(board.child, "exit");
    board.child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
  });

  it("does not serve a store that this user has not accepted", () => {
    const project = scratchProject();
    project.write(".haversack/haversack.db", "not ours");
    const { code, err } = project.haversack(["board"]);
    expect(code).not.toBe(0);
    expect(err).toContain("haversack trust");
  });
});
