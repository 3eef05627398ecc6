/** `notify` in the real Codex, as `init --user` writes it: what tells that hooks do not run. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { readTurnNote } from "../../../packages/haversack/src/clients/codex/notify.ts";
import { namespaceCall } from "../responses-api.ts";
import { steps } from "../script.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { DIST, haversack, haversackRepo, ours } from "./haversack-repo.ts";
import { runCodex } from "./run-codex.ts";
import { shell, spawnAgent } from "./tour.ts";

const FITTING = "Make the slow SQL queries of the report fast.";

it("says that no hook heard the turn, then that one did, and the session is as without it", async () => {
  const repo = haversackRepo("user");
  const { run, server } = await codexOnce(FITTING, [], { repo, trustHooks: false, args: ["--strict-config"] });
  expect(run, run.stderr).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
  expect(ours(server.requests[0])).toEqual([]);
  const note = await nextNote(repo, undefined);
  expect(note).toMatchObject({ sessionId: run.threadId, isHeard: false });
  expect(doctor(repo)).toContain("Codex had run no hook of ours for its prompt");

  await runCodex({ repo, server, prompt: FITTING, resume: run.threadId });
  expect(ours(server.requests.at(-1))).toHaveLength(1);
  expect(await nextNote(repo, note?.at)).toMatchObject({ sessionId: run.threadId, isHeard: true });
  expect(doctor(repo)).toContain("and its hooks had run");
});

it("keeps what a session without hooks has claimed, and does not take a sub-agent's turn for the session's", async () => {
  const repo = haversackRepo("user");
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--json")) as { id: string };
  const claim = namespaceCall("mcp__haversack", "update_task_status", { task_id: id, status: "in_progress" });
  const script = steps([{ tools: [claim] }, spawnAgent("Look."), shell("sleep 2")], {
    kind: "sub-agent",
    reply: { text: "Report." },
  });
  const { run } = await codexOnce("Go.", script, { repo, trustHooks: false });
  expect(await nextNote(repo, undefined)).toMatchObject({ sessionId: run.threadId, isHeard: false });
  expect(haversack(repo, "task", "show", id)).toContain("in progress");
});

it("does nothing in a project that does not use Haversack", async () => {
  const repo = haversackRepo("user");
  spawnSync("rm", ["-r", join(repo.root, ".haversack")]);
  const { run } = await codexOnce("Go.", [], { repo });
  expect(run.exitCode).toBe(0);
  expect(existsSync(join(repo.root, ".haversack"))).toBe(false);
});

/** The client does not wait for the program. */
function nextNote(repo: CodexRepo, before: string | undefined) {
  const state = join(repo.root, ".haversack");
  return vi.waitUntil(
    () => {
      const note = readTurnNote(state);
      return note && note.at !== before ? note : undefined;
    },
    { timeout: 10_000, interval: 100 },
  );
}

/** Exits with 1: nobody has reviewed the hooks. */
function doctor(repo: CodexRepo): string {
  const { stdout } = spawnSync(process.execPath, [join(DIST, "haversack.cjs"), "doctor"], {
    cwd: repo.root,
    env: { ...repo.env, PATH: process.env["PATH"] },
    encoding: "utf8",
  });
  return stdout;
}
