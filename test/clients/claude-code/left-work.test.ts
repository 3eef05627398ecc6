/** Work that a session left is in the client's request of the next sessions, even after its lease has ended and other commands have run. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { messagesText } from "../request-text.ts";
import { type Reply, steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { haversack, haversackRepo, ORDINARY, ours } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";
import { OURS } from "./work-scenario.ts";

describe("a task whose lease has ended", () => {
  it("comes with its WIP in a new session though `haversack status` ran, until it is released", async () => {
    const { repo, id } = taskRepo();
    const { sessionId } = await work(repo, begin(repo, id));
    endLeases(repo);
    expect(haversack(repo, "status")).toContain("Left unfinished");
    haversack(repo, "task", "list");
    for (const _ of ["once", "again"]) {
      const text = await nextSession(repo);
      expect(text).toContain(
        `To go on with ${id} "Limit logins", claim it with update_task_status in_progress: it was @claude-code-${sessionId.slice(0, 8)}'s, whose session has ended.`,
      );
      for (const part of ["BODY-OF-pdf-forms", "DESCRIPTION-OF-THE-TASK", "limit.txt", "NEXT-STEP-OF-IT"]) {
        expect(text).toContain(part);
      }
    }
    haversack(repo, "release", id);
    expect(await nextSession(repo)).toBe("");
  });

  it("comes after kill -9 too", async () => {
    const { repo, id } = taskRepo();
    await work(repo, begin(repo, id), { isKilled: true });
    endLeases(repo);
    haversack(repo, "status");
    const text = await nextSession(repo);
    expect(text).toContain(`To go on with ${id} "Limit logins", claim it`);
    expect(text).toContain("whose client is gone");
    expect(text).toContain("NEXT-STEP-OF-IT");
  });

  it("is its session's own again with --resume, and its edits are the task's", async () => {
    const { repo, id } = taskRepo();
    const { sessionId } = await work(repo, begin(repo, id));
    endLeases(repo);
    haversack(repo, "status");
    const server = await testServer(steps([write(repo, "more.txt"), { text: "end" }]));
    await runClaude({ repo, server, prompt: ORDINARY, args: ["--resume", sessionId] });
    expect(ours(server.of("main")[0]).map(({ text }) => text)).toEqual([
      `From Haversack, as this session resumes.\n${id} "Limit logins" is yours again: its claim had expired.`,
    ]);
    const { wip } = JSON.parse(haversack(repo, "wip", id, "--json")) as { wip: Record<string, unknown> };
    expect(wip["files_modified"]).toEqual(["limit.txt", "more.txt"]);
  });

  it("comes in its own worktree, and in another one only as a line that says where it is", async () => {
    const { repo, id } = taskRepo();
    await work(repo, begin(repo, id));
    endLeases(repo);
    const side = join(repo.root, "..", "side");
    const git = (...args: string[]) => execFileSync("git", args, { cwd: repo.root });
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "one");
    git("worktree", "add", "-q", side);
    for (const own of [".claude", ".mcp.json"]) {
      if (existsSync(join(repo.root, own))) cpSync(join(repo.root, own), join(side, own), { recursive: true });
    }
    const there = await nextSession({ ...repo, root: side });
    expect(there).toMatch(
      new RegExp(
        `^From Haversack: tasks that earlier sessions left.*\\n- ${id} "Limit logins" \\(in ${repo.root}, branch main; `,
      ),
    );
    expect(there).not.toContain("NEXT-STEP-OF-IT");
    expect(await nextSession(repo)).toContain("NEXT-STEP-OF-IT");
  });
});

it("a session that was killed with edits and no task is told of in one line, once", async () => {
  const repo = haversackRepo();
  await work(repo, [write(repo, "a.txt"), write(repo, "b.txt")], { isKilled: true });
  expect(await nextSession(repo)).toMatch(
    /^From Haversack: the last session here \(claude-code\) was last seen at \d\d:\d\d UTC with edits that belong to no task and that it had not committed: a\.txt, b\.txt\.$/m,
  );
  expect(await nextSession(repo)).toBe("");
});

function taskRepo(): { repo: ScratchRepo; id: string } {
  const repo = haversackRepo();
  const fields = ["--description", "DESCRIPTION-OF-THE-TASK", "--skill", "pdf-forms", "--json"];
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", ...fields)) as { id: string };
  return { repo, id };
}

/** Claims, writes, and says what is next. */
function begin(repo: ScratchRepo, id: string): Reply[] {
  return [
    { tools: [toolCall(`${OURS}update_task_status`, { task_id: id, status: "in_progress" })] },
    write(repo, "limit.txt"),
    { tools: [toolCall(`${OURS}update_task_wip`, { task_id: id, wip_data: { next_step: "NEXT-STEP-OF-IT" } })] },
  ];
}

function write(repo: ScratchRepo, path: string): Reply {
  return { tools: [toolCall("Write", { file_path: join(repo.root, path), content: "five" })] };
}

/** A session that does this and then ends or is killed. */
async function work(
  repo: ScratchRepo,
  replies: Reply[],
  { isKilled = false }: { isKilled?: boolean } = {},
): Promise<{ sessionId: string }> {
  let client: { kill(): void } | undefined;
  const server = await testServer((request, n) => {
    if (request.kind !== "main") return undefined;
    const reply = replies[n - 1];
    if (!reply && isKilled) client?.kill();
    return reply ?? { text: "end" };
  });
  const { sessionId, exitCode } = await runClaude({
    repo,
    server,
    prompt: "Begin.",
    onStart: (started) => {
      client = started;
    },
  });
  expect(exitCode).toBe(isKilled ? null : 0);
  return { sessionId };
}

/** What we put into the first request of another session; "" when nothing. */
async function nextSession(repo: ScratchRepo): Promise<string> {
  const server = await testServer();
  await runClaude({ repo, server, prompt: ORDINARY });
  const [request] = server.of("main");
  expect(messagesText(request!)).toContain(ORDINARY);
  return ours(request)
    .map(({ text }) => text)
    .join("\n");
}

/** As if the time of every lease had passed. */
function endLeases(repo: ScratchRepo): void {
  const db = new DatabaseSync(join(repo.root, ".haversack/haversack.db"));
  db.exec("UPDATE claims SET lease_until = 1000");
  db.close();
}
