/** Tool calls that the running server missed are read from the client's transcript at the next chance, once. */
import { appendFileSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";
import { type Call, claudeSession, wireServer, write } from "./claude-session.ts";
import { startServer } from "./mcp-client.ts";

async function begin(sessionId?: string) {
  const project = scratchProject();
  wireServer(project);
  const session = claudeSession(project, sessionId);
  project.hook(session.event("SessionStart", { source: "startup" }));
  const server = await startServer(project);
  const tell = async (payload: object) => (await server.call("hook", { client: "claude-code", ...payload })).text;
  return { project, session, server, tell };
}

const inProject = ({ root }: Scratch, name: string) => join(root, name);

function rows(project: Scratch, sql: string): unknown[] {
  const db = new DatabaseSync(join(project.root, ".haversack/haversack.db"), { readOnly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

const fails = (id: string): Call => ({
  ...{ id, tool: "Bash", input: { command: "npm test" }, isError: true },
  shown: "Exit code 1\nTests  1 failed | 2 passed (3)",
});

describe("a call that the server was not told of", () => {
  it.each(["UserPromptSubmit", "Stop"])("is recorded at the next %s, with its own time", async (name) => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    const seen = write("seen", inProject(project, "seen.ts"));
    session.answers(seen);
    await tell(session.toolEvent(seen));
    session.results(seen);
    session.logs(write("missed", inProject(project, "missed.ts")));
    session.logs(fails("failed"));
    expect(session.wip().files_modified).toEqual(["seen.ts"]);
    await tell(session.event(name, { prompt: "More." }));
    expect(session.wip()).toMatchObject({ files_modified: ["seen.ts", "missed.ts"] });
    expect(JSON.stringify(session.wip())).toContain("npm test");
    // The transcript has been read past these calls, so they are no longer stored.
    expect(rows(project, "SELECT * FROM seen_calls")).toEqual([]);
    const changes = rows(project, "SELECT count(*) AS n FROM wip_changes");
    await tell(session.event("Stop"));
    await tell(session.event("UserPromptSubmit", { prompt: "And on." }));
    expect(rows(project, "SELECT count(*) AS n FROM wip_changes")).toEqual(changes);
  });

  it.each(["SessionStart", "SessionEnd"])(
    "is recorded by the process of %s when the server never came",
    async (name) => {
      const { project, session } = await begin();
      session.logs(write("missed", inProject(project, "missed.ts")));
      project.hook(session.event(name, { source: "resume", reason: "exit" }));
      expect(session.wip().files_modified).toEqual(["missed.ts"]);
    },
  );

  it.each([[], ["--user"]])("while Haversack was off stays unrecorded (%j)", async (...where) => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    project.haversack(["off", ...where]);
    session.logs(write("secret", inProject(project, "while-off.ts")));
    await tell(session.event("Stop"));
    project.haversack(["on", ...where]);
    session.logs(write("later", inProject(project, "later.ts")));
    await tell(session.event("UserPromptSubmit", { prompt: "More." }));
    expect(session.wip().files_modified).toEqual(["later.ts"]);
  });

  it("of a sub-agent is recorded as the sub-agent's, from its own file", async () => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    session.logs({ ...write("one", inProject(project, "one.ts")), answer: "m" }, "abc");
    session.logs(fails("two"), "abc");
    await tell(session.event("SubagentStop", { agent_id: "abc", agent_type: "general-purpose" }));
    session.logs(write("three", inProject(project, "three.ts")), "def");
    await tell(session.event("Stop"));
    expect(session.wip("abc").files_modified).toEqual(["one.ts"]);
    expect(session.wip("def").files_modified).toEqual(["three.ts"]);
    expect(session.wip()?.files_modified).toBeUndefined();
  });

  it("that is still running is recorded when it has ended", async () => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    const [slow, quick] = ["slow.ts", "quick.ts"].map((name) => ({
      ...write(name, inProject(project, name)),
      answer: "both",
    })) as [Call, Call];
    for (const call of [slow, quick]) session.answers(call);
    session.results(quick);
    await tell(session.event("UserPromptSubmit", { prompt: "Also this." }));
    expect(session.wip().files_modified).toEqual(["quick.ts"]);
    session.results(slow);
    await tell(session.event("Stop"));
    expect(session.wip().files_modified).toEqual(["quick.ts", "slow.ts"]);
  });

  it("that was refused or interrupted is no call that ran", async () => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    const refused = "The user doesn't want to proceed with this tool use.";
    session.logs({ ...write("a", inProject(project, "a.ts")), isError: true, shown: refused });
    session.logs({ id: "b", tool: "Bash", input: { command: "npm test" }, isError: true, shown: refused });
    session.answers(write("killed", inProject(project, "killed.ts")));
    await tell(session.event("Stop"));
    expect(session.wip()).toBeNull();
  });

  it("does not undo what was told after it", async () => {
    const { session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    session.logs({ ...fails("missed"), at: new Date() });
    // No real test run starts and ends within one millisecond of the one before it.
    await sleep(5);
    const green: Call = { id: "green", tool: "Bash", input: { command: "npm test" }, shown: "Tests  3 passed (3)" };
    green.response = { stdout: green.shown, stderr: "" };
    await tell(session.toolEvent(green));
    session.logs(green);
    await tell(session.event("Stop"));
    expect(session.wip().test_results).toMatchObject({ passed: 3 });
  });
});

describe("a transcript", () => {
  it("that begins with another session's calls (a fork) brings none of them", async () => {
    const { project, session, tell } = await begin();
    session.logs({ ...write("old", inProject(project, "old.ts")), at: new Date(Date.now() - 60_000) });
    session.logs(write("new", inProject(project, "new.ts")));
    await tell(session.event("Stop"));
    expect(session.wip().files_modified).toEqual(["new.ts"]);
  });

  it("of a session that processes told of is not read", async () => {
    const { project, session } = await begin();
    const call = write("told", inProject(project, "told.ts"));
    project.hook(session.toolEvent(call));
    session.logs(call);
    // A line that would be recorded if it were read.
    session.logs(write("other", inProject(project, "other.ts")));
    project.hook(session.event("SessionEnd"));
    expect(session.wip().files_modified).toEqual(["told.ts"]);
    expect(rows(project, "SELECT told_by FROM transcripts")).toEqual([{ told_by: "process" }]);
  });

  it("that is cut in the middle of a line is read on when the line is whole", async () => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    session.logs(write("one", inProject(project, "one.ts")));
    const whole = readFileSync(session.path, "utf8");
    truncateSync(session.path, whole.length - 40);
    await tell(session.event("Stop"));
    expect(session.wip()).toBeNull();
    appendFileSync(session.path, whole.slice(-40));
    await tell(session.event("Stop"));
    expect(session.wip().files_modified).toEqual(["one.ts"]);
  });

  it("that was replaced by another file is read from its beginning, and nothing is recorded twice", async () => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    session.logs(write("one", inProject(project, "one.ts")));
    session.logs(write("two", inProject(project, "two.ts")));
    await tell(session.event("Stop"));
    renameSync(session.path, `${session.path}.old`);
    writeFileSync(session.path, "");
    session.logs(write("three", inProject(project, "three.ts")));
    await tell(session.event("Stop"));
    expect(session.wip().files_modified).toEqual(["one.ts", "two.ts", "three.ts"]);
  });

  it("of garbage, of one endless line, or a folder in its place harms no event", async () => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    appendFileSync(session.path, `{"type":"tool_result"\n\0\0\n[]\n"type":"assistant"\n${"x".repeat(20_000_000)}`);
    expect(await tell(session.event("Stop"))).toBe("{}");
    appendFileSync(session.path, "\n");
    session.logs(write("one", inProject(project, "one.ts")));
    await tell(session.event("Stop"));
    await tell(session.event("Stop"));
    expect(session.wip().files_modified).toEqual(["one.ts"]);
    const folder = join(project.home, "folder.jsonl");
    mkdirSync(folder);
    expect(await tell({ ...session.event("Stop"), transcript_path: folder })).toBe("{}");
    expect(project.haversack(["log", "--level", "error"]).out).not.toContain("transcript");
  });

  it("with more calls than one event may record is caught up over several", async () => {
    const { project, session, tell } = await begin();
    await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
    for (let n = 0; n < 250; n++) session.logs(write(`c${n}`, inProject(project, `f${n}.ts`)));
    await tell(session.event("Stop"));
    expect(rows(project, "SELECT count(*) AS n FROM session_files")).toEqual([{ n: 200 }]);
    await tell(session.event("Stop"));
    expect(rows(project, "SELECT count(*) AS n FROM session_files")).toEqual([{ n: 250 }]);
    expect(rows(project, "SELECT * FROM seen_calls")).toEqual([]);
  });
});

it("a session goes on asking the server after `init` has moved the project to processes", async () => {
  const { project, session, tell } = await begin();
  project.write(
    ".claude/skills/pdf-forms/SKILL.md",
    "---\nname: pdf-forms\ndescription: Fills in PDF forms.\n---\n\nBody.\n",
  );
  project.haversack(["skill", "index"]);
  await tell(session.event("UserPromptSubmit", { prompt: "Go." }));
  project.haversack(["init", "--client", "claude-code", "--hooks", "command", "--yes"]);
  // The client still uses the settings that it read at its start.
  expect(await tell(session.event("UserPromptSubmit", { prompt: "fill in the PDF forms" }))).toContain("pdf-forms");
});
