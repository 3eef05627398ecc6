/**
 * Sessions that start later are told about left work, no matter what ran in between. Uses the built bins, called like Claude Code's hooks and a
 * shell. Time passes by moving the store's timestamps into the past.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { DIST, type Scratch, scratchProject } from "./bins.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 7 * 24 * HOUR_MS;

const ONE = "11111111-aaaa-4000-8000-000000000001";
const TWO = "22222222-bbbb-4000-8000-000000000002";
const HOLDER = "@claude-code-11111111";

describe("a task whose claim has ended", () => {
  it("is told after the lease ended, however many commands ran since", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.wait(2 * HOUR_MS);
    for (const words of [
      ["status"],
      ["task", "list"],
      ["next"],
      ["task", "list", "--tree"],
      ["status"],
      ["task", "show", id],
    ]) {
      expect(project.haversack(words).code).toBe(0);
    }
    const text = project.start(TWO);
    expect(text).toContain(
      `To go on with ${id} "Limit logins", claim it with update_task_status in_progress: it was ${HOLDER}'s`,
    );
    for (const part of ["limit.txt", "NEXT-STEP-OF-IT", "AT-MOST-FIVE"]) expect(text).toContain(part);
  });

  it("is told as `status` tells it, before and after a command has returned it to the queue", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.wait(2 * HOUR_MS);
    const left = new RegExp(
      `${id} "Limit logins" was left unfinished \\(claim expired (\\d\\d-\\d\\d )?\\d\\d:\\d\\d\\)`,
    );
    // Only hooks have run since, so no operation has returned the claim.
    const text = project.start(TWO);
    expect(text).toMatch(left);
    expect(text).not.toContain("in progress");
    const { out } = project.haversack(["status"]);
    expect(out).toContain("Left unfinished");
    expect(out).not.toContain("In progress");
    expect(project.start("33333333-cccc-4000-8000-000000000003")).toMatch(left);
  });

  it("is told a week later, at every start until somebody takes it, and then no more", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.end(ONE);
    project.wait(WEEK_MS);
    expect(project.haversack(["status"]).out).toContain("Limit logins");
    expect(project.start("s3")).toContain("whose session has ended");
    project.end("s3");
    project.wait(WEEK_MS);
    expect(project.haversack(["store", "purge", "--older-than", "1d", "--yes"]).code).toBe(0);
    expect(project.start("s4")).toContain("NEXT-STEP-OF-IT");
    expect(project.claim(id, "s4").code).toBe(0);
    expect(project.start("s5")).toBe("");
  });

  it("is told after kill -9, when commands ran and the lease is over", async () => {
    const project = leftProject();
    const client = startClient();
    const { id } = project.begin(ONE, { client });
    await kill(client);
    project.wait(2 * HOUR_MS);
    project.haversack(["status"]);
    const text = project.start(TWO);
    expect(text).toContain(`To go on with ${id}`);
    expect(text).toContain("whose client is gone");
    expect(text).toContain("limit.txt");
  });

  it("is shown by `status` as a task on which nobody works, after kill -9 and after the session's end", async () => {
    const project = leftProject();
    const client = startClient();
    project.begin(ONE, { client });
    expect(project.haversack(["status"]).out).toMatch(/claude-code-11111111, \d+ min left/);
    await kill(client);
    expect(project.haversack(["status"]).out).toContain("claude-code-11111111, its session has ended");
    expect(project.haversack(["status", "--json"]).json()).toMatchObject({
      in_progress: [{ claim: { session_ended: true } }],
    });
    project.begin(TWO, { client: RUNNING });
    expect(project.haversack(["status"]).out).toMatch(/claude-code-22222222, \d+ min left/);
    project.end(TWO);
    expect(project.haversack(["status"]).out).toContain("claude-code-22222222, its session has ended");
  });

  it("is told though a session in another worktree has claimed a task of its own", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.end(ONE);
    project.wait(2 * HOUR_MS);
    const other = project.worktree("other");
    const own = project.create("Of the other");
    project.start(TWO, { cwd: other });
    project.claim(own, TWO, { cwd: other });
    expect(project.start("s3")).toContain(`To go on with ${id}`);
  });

  it("is told to its own worktree first, and to others in a line that says where it is", () => {
    const project = leftProject();
    const feature = project.worktree("feature");
    const main = project.begin(ONE);
    project.wait(MINUTE_MS);
    const side = project.begin(TWO, { cwd: feature, title: "Count logins" });
    for (const session of [ONE, TWO]) project.end(session, session === ONE ? project.root : feature);
    project.wait(2 * HOUR_MS);
    project.haversack(["status"]);

    const here = project.start("s3");
    expect(here).toContain(`To go on with ${main.id} "Limit logins", claim it`);
    expect(here).toMatch(
      new RegExp(
        `- ${side.id} "Count logins" \\(in ${feature}, branch feature; @claude-code-22222222, last seen .*; its session has ended\\)`,
      ),
    );
    const there = project.start("s4", { cwd: feature });
    expect(there).toContain(`To go on with ${side.id} "Count logins", claim it`);
    expect(there).toMatch(new RegExp(`- ${main.id} "Limit logins" \\(in ${project.root}, branch main; `));

    project.haversack(["task", "done", side.id]);
    const third = project.start("s5", { cwd: feature });
    expect(third).toMatch(
      /^From Haversack: tasks that earlier sessions left unfinished; times are UTC\.\n- T\d+ "Limit logins" \(in /,
    );
    expect(third).not.toContain("NEXT-STEP-OF-IT");
  });

  it.each([
    ["released", (id: string) => ["task", "release", id]],
    ["done", (id: string) => ["task", "done", id]],
    ["archived", (id: string) => ["task", "archive", id]],
    ["blocked", (id: string) => ["task", "block", id, "waits for a key"]],
    ["taken over", (id: string) => ["claim", id, "--agent", "june"]],
  ])("says nothing when it was %s, before the lease ended or after", (_, words) => {
    for (const waitMs of [0, 2 * HOUR_MS]) {
      const project = leftProject();
      const { id } = project.begin(ONE);
      project.end(ONE);
      project.wait(waitMs);
      if (waitMs) project.haversack(["status"]);
      // Taking the task while its claim is valid needs a reason.
      const more = words(id)[0] === "claim" && !waitMs ? ["--steal", "it is mine"] : [];
      expect(project.haversack([...words(id), ...more])).toMatchObject({ code: 0 });
      expect(project.start(TWO)).toBe("");
    }
  });

  it("says nothing while its session runs, and one line when that has been quiet for longer than its lease", () => {
    const project = leftProject();
    const client = startClient();
    const { id } = project.begin(ONE, { client });
    expect(project.start(TWO)).toBe("");
    project.wait(2 * HOUR_MS);
    project.haversack(["status"]);
    const text = project.start("s3");
    expect(text).toMatch(
      new RegExp(
        `^From Haversack: .*\\n- ${id} "Limit logins" \\(in this worktree; ${HOLDER}, quiet since .*may still be open\\)$`,
      ),
    );
  });

  it("is in haversack status until it is released", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.end(ONE);
    project.wait(2 * HOUR_MS);
    expect(project.haversack(["status"]).out).toMatch(new RegExp(`Left unfinished\\n +${id} .*claude-code-11111111`));
    expect(project.haversack(["status", "--json"]).json().left).toMatchObject([
      { id, agent: "claude-code-11111111", worktree: project.root, ended_as: "ended" },
    ]);
    expect(project.haversack(["task", "release", id]).code).toBe(0);
    expect(project.haversack(["status"]).out).not.toContain("Left unfinished");
  });

  it("is in the packet of its agent when somebody asks for that", () => {
    const project = leftProject();
    const id = project.create("Limit logins");
    const june = ["--agent", "june"];
    expect(project.haversack(["claim", id, ...june]).code).toBe(0);
    project.haversack(["wip", id, '{"next_step":"NEXT-STEP-OF-IT"}', ...june]);
    project.wait(WEEK_MS);
    project.haversack(["status"]);
    const { out, code } = project.haversack(["wake", "june"]);
    expect(code).toBe(0);
    expect(out).toContain(`To go on with ${id} "Limit logins", claim it`);
    expect(out).toContain("NEXT-STEP-OF-IT");
    project.haversack(["task", "release", id]);
    expect(project.haversack(["wake", "june"])).toMatchObject({ code: 1, out: "" });
  });

  it("does not push aside what the session itself holds", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.end(ONE);
    project.wait(2 * HOUR_MS);
    const own = project.create("Count logins");
    project.claim(own, TWO);
    const text = project.start(TWO, { source: "clear" });
    expect(text).toContain(`${own} "Count logins" is in progress`);
    expect(text).toContain(`Also left unfinished:\n- ${id} "Limit logins" (in this worktree; ${HOLDER}, last seen`);
    expect(text).not.toContain("claim it with");
  });

  it("goes with an export, and is told where that was imported", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.end(ONE);
    project.wait(2 * HOUR_MS);
    const bytes = project.haversack(["export"]).out;
    const copy = leftProject();
    expect(copy.haversack(["import", "-"], { stdin: bytes }).code).toBe(0);
    expect(copy.haversack(["export"]).out).toBe(bytes);
    expect(copy.start(TWO)).toMatch(new RegExp(`- ${id} "Limit logins" \\(in ${project.root}, branch main; ${HOLDER}`));
  });
});

describe("a session that comes back after its lease ended", () => {
  it("has its task again with --resume, and is told so in one line", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.end(ONE);
    project.wait(WEEK_MS);
    project.haversack(["status"]);
    expect(project.start(ONE, { source: "resume" })).toBe(
      `From Haversack, as this session resumes.\n${id} "Limit logins" is yours again: its claim had expired.`,
    );
    expect(project.haversack(["task", "show", id, "--fields", "full", "--json"]).json()).toMatchObject({
      status: "in_progress",
      claim: { agent: "claude-code-11111111" },
    });
    project.edit(ONE, "more.txt");
    expect(project.haversack(["wip", id, "--json"]).json().wip.files_modified).toEqual(["limit.txt", "more.txt"]);
    expect(project.start(ONE, { source: "resume" })).toBe("");
  });

  it("does not get it when somebody has taken it", () => {
    const project = leftProject();
    const { id } = project.begin(ONE);
    project.end(ONE);
    project.wait(WEEK_MS);
    project.start(TWO);
    project.claim(id, TWO);
    expect(project.start(ONE, { source: "resume" })).toContain(`You no longer hold ${id}`);
    expect(project.haversack(["task", "show", id, "--fields", "full", "--json"]).json().claim.agent).toBe(
      "claude-code-22222222",
    );
  });

  it("goes on with its task when it was only quiet: its next edit and its compaction know it", () => {
    const project = leftProject();
    const client = startClient();
    const { id } = project.begin(ONE, { client });
    project.wait(3 * HOUR_MS);
    project.haversack(["status"]);
    project.edit(ONE, "more.txt");
    expect(project.haversack(["task", "show", id, "--fields", "full", "--json"]).json()).toMatchObject({
      status: "in_progress",
    });
    expect(project.haversack(["wip", id, "--json"]).json().wip.files_modified).toEqual(["limit.txt", "more.txt"]);
    project.wait(3 * HOUR_MS);
    project.haversack(["status"]);
    const packet = project.start(ONE, { source: "compact" });
    expect(packet).toContain(`${id} "Limit logins" is in progress`);
    expect(packet).not.toContain("claim it with");
  });
});

describe("a session that had edits and no task", () => {
  it("is told of in one line, in its own worktree, once", () => {
    const project = leftProject();
    const feature = project.worktree("feature");
    project.start(ONE);
    project.edit(ONE, "a.txt");
    project.edit(ONE, "src/b.txt");
    project.end(ONE);
    expect(project.start("s2", { cwd: feature })).toBe("");
    expect(project.start("s3")).toMatch(
      /^From Haversack: the last session here \(claude-code\) ended at \d\d:\d\d UTC with edits that belong to no task and that it had not committed: a\.txt, src\/b\.txt\.$/,
    );
    expect(project.start("s4")).toBe("");
  });

  it("is not told of what was committed since, by whoever", () => {
    const project = leftProject();
    project.start(ONE);
    project.edit(ONE, "a.txt");
    project.edit(ONE, "b.txt");
    project.end(ONE);
    execFileSync("git", ["add", "a.txt"], { cwd: project.root });
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "a"], { cwd: project.root });
    expect(project.start("s2")).toMatch(/had not committed: b\.txt\.$/);
  });

  it("is told of when it was killed, and not while it runs", async () => {
    const project = leftProject();
    const client = startClient();
    project.start(ONE, { client });
    project.edit(ONE, "a.txt", { client });
    expect(project.start("s2")).toBe("");
    await kill(client);
    expect(project.start("s3")).toMatch(/the last session here \(claude-code\) was last seen at .*: a\.txt\.$/);
    expect(project.start("s4")).toBe("");
  });

  // A shell that does not replace itself with the hook ends with it, so it must not be mistaken for the client.
  it.each([
    ["claude-code", { hook_event_name: "SessionStart", source: "startup" }],
    ["codex", { hook_event_name: "SessionStart", source: "startup" }],
    ["gemini", { hook_event_name: "BeforeAgent", prompt: "hello" }],
  ])("is told of at once when it was killed in a client that does not name its process: %s", async (name, event) => {
    const project = leftProject();
    const client = await namelessClient(name, { ...event, session_id: ONE, cwd: project.root }, project);
    project.edit(ONE, "a.txt");
    expect(project.start("s2")).toBe("");
    await kill(client);
    const told = project.start("s3");
    expect(told).toContain(`the last session here (${name}) was last seen at `);
    expect(told).toMatch(/: a\.txt\.$/);
    expect(project.start("s4")).toBe("");
  });

  it("is told of when its process number is another program's by now", () => {
    const project = leftProject();
    project.start(ONE);
    project.edit(ONE, "a.txt");
    expect(project.start("s2")).toBe("");
    const { db } = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "normal" });
    db.prepare("UPDATE sessions SET process_start = process_start - 1 WHERE session_id = ?").run(ONE);
    db.close();
    expect(project.start("s3")).toContain("a.txt");
  });

  it("is not told of when nobody knows its process and it was quiet for less than an hour", () => {
    const project = leftProject();
    project.start(ONE, { client: undefined });
    project.edit(ONE, "a.txt");
    project.wait(HOUR_MS / 2);
    expect(project.start("s2")).toBe("");
    project.wait(HOUR_MS);
    expect(project.start("s3")).toContain("a.txt");
  });

  it("is not told of when it changed nothing, or committed what it changed", () => {
    const project = leftProject();
    project.start(ONE);
    project.end(ONE);
    project.start(TWO);
    project.edit(TWO, "a.txt");
    project.git("add", "a.txt");
    project.git("commit", "-q", "-m", "done");
    project.tool(
      TWO,
      "Bash",
      { command: "git commit -am done" },
      { stdout: "[main 1234567] done\n 1 file changed, 1 insertion(+)\n" },
    );
    project.end(TWO);
    expect(project.start("s3")).toBe("");
  });

  it("stands beside the packet of a task that another session left, within what the client takes", () => {
    const project = leftProject();
    const { id } = project.begin(ONE, { title: "Limit logins", description: "word ".repeat(5_000) });
    project.end(ONE);
    project.start(TWO);
    project.edit(TWO, "a.txt");
    project.end(TWO);
    const text = project.start("s3");
    expect(text).toContain("and that it had not committed: a.txt.");
    expect(text).toContain(`To go on with ${id}`);
    expect(text.length).toBeLessThanOrEqual(10_000);
  });
});

interface Options {
  cwd?: string;
  /** The client's process, as Claude Code names it to its hooks. */
  client?: Pick<ChildProcess, "pid"> | undefined;
}

/** A process that runs as long as the test. */
const RUNNING = { pid: process.pid };

function leftProject() {
  const project = scratchProject();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project.root, stdio: "pipe" });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "a");
  git("config", "user.email", "a@b.c");
  git("commit", "-q", "--allow-empty", "-m", "one");
  project.haversack(["skill", "index"]);
  const env = ({ client }: Options, sessionId: string) => ({
    ...(client?.pid && { CLAUDE_PID: String(client.pid) }),
    CLAUDE_CODE_SESSION_ID: sessionId,
  });
  const hook = (session_id: string, fields: object, options: Options = {}) => {
    const { cwd = project.root } = options;
    const { code, err, out } = project.hook({ session_id, cwd, ...fields }, { cwd, env: env(options, session_id) });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return out && (JSON.parse(out).hookSpecificOutput.additionalContext as string);
  };
  const create = (title: string, description = "AT-MOST-FIVE") =>
    project.haversack(["task", "create", title, "--description", description, "--json"]).json().id as string;
  const tool = (session: string, tool_name: string, tool_input: object, tool_response: object, options?: Options) =>
    hook(session, { hook_event_name: "PostToolUse", tool_name, tool_use_id: "t", tool_input, tool_response }, options);
  const edit = (session: string, path: string, options: Options = {}) => {
    const file_path = join(options.cwd ?? project.root, path);
    // Written to disk, because at the end of a session git is asked which of its files are uncommitted.
    mkdirSync(dirname(file_path), { recursive: true });
    writeFileSync(file_path, "x");
    tool(session, "Write", { file_path, content: "x" }, { type: "create", filePath: file_path }, options);
  };
  const start = (session: string, { source = "startup", ...options }: Options & { source?: string } = {}) =>
    hook(session, { hook_event_name: "SessionStart", source }, { client: RUNNING, ...options });
  const claim = (id: string, session: string, { cwd = project.root }: Options = {}) =>
    project.haversack(["task", "claim", id], { cwd, env: { CLAUDE_CODE_SESSION_ID: session } });
  return {
    ...project,
    git,
    create,
    tool,
    edit,
    start,
    claim,
    worktree(name: string): string {
      const path = join(project.root, "..", name);
      git("worktree", "add", "-q", path);
      return path;
    },
    /** A session that claims a task, changes a file and notes what comes next. */
    begin(session: string, options: Options & { title?: string; description?: string } = {}): { id: string } {
      const { cwd = project.root, title = "Limit logins", description } = options;
      const id = create(title, description);
      start(session, { client: undefined, ...options });
      expect(claim(id, session, options).code).toBe(0);
      edit(session, "limit.txt", options);
      const words = ["wip", id, '{"next_step":"NEXT-STEP-OF-IT"}'];
      expect(project.haversack(words, { cwd, env: { CLAUDE_CODE_SESSION_ID: session } }).code).toBe(0);
      return { id };
    },
    end(session: string, cwd?: string) {
      hook(session, { hook_event_name: "SessionEnd", reason: "other" }, cwd ? { cwd } : {});
    },
    wait: (ms: number) => moveBack(project, ms),
  };
}

function startClient(): ChildProcess {
  const client = spawn("sleep", ["600"], { stdio: "ignore" });
  onTestFinished(() => void client.kill("SIGKILL"));
  return client;
}

/** Starts a process with a client's name, which runs a hook through a waiting shell and keeps running. */
async function namelessClient(client: string, payload: object, { root, home }: Scratch): Promise<ChildProcess> {
  const script = `process.title = ${JSON.stringify(client.split("-")[0])};
    const command = '"$0" "$1" "$2"; :';
    const args = ["-c", command, process.execPath, ${JSON.stringify(join(DIST, "hook.cjs"))}, ${JSON.stringify(client)}];
    require("node:child_process").execFileSync("sh", args, { input: ${JSON.stringify(JSON.stringify(payload))} });
    console.log("done"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", script], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = await Promise.race([once(child.stdout, "data").then(String), once(child, "exit").then(() => "ended")]);
  expect(said).toBe("done\n");
  return child;
}

async function kill(client: ChildProcess): Promise<void> {
  client.kill("SIGKILL");
  await once(client, "exit");
}

/** Moves all timestamps back by this much. */
function moveBack({ root }: Scratch, ms: number): void {
  const { db } = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
  const earlier = (column: string) => `${column} = strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '-${ms / 1000} seconds')`;
  const times: Record<string, string[]> = {
    claims: ["claimed_at", "heartbeat_at"],
    last_holders: ["claimed_at", "last_seen_at", "ended_at"],
    sessions: ["started_at", "last_seen_at", "ended_at", "last_prompt_at"],
    session_wip: ["updated_at"],
    task_wip: ["updated_at"],
    tasks: ["updated_at"],
    activity: ["at"],
  };
  for (const [table, columns] of Object.entries(times))
    db.exec(`UPDATE ${table} SET ${columns.map(earlier).join(", ")}`);
  db.exec(`UPDATE claims SET lease_until = lease_until - ${ms}`);
  db.close();
}
