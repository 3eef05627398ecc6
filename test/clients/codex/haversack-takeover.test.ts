/** A task that a killed or ended session of Claude Code has left is taken over in Codex, with its WIP and its skill. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { namespaceCall } from "../responses-api.ts";
import { steps } from "../script.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { DIST, haversack, haversackRepo, ours } from "./haversack-repo.ts";
import { patch } from "./tour.ts";

const SESSION = "1f2e3d4c-0000-4000-8000-000000000001";
const ORDINARY = "Thanks, that looks good. Please go on.";

it("comes with WIP, skill and next step when the session has ended, and not before", () =>
  takesOver("end", "whose session has ended"));

it("comes so too when the client was killed, and not before", () => takesOver("kill", "whose client is gone"));

it("comes so too when its lease has ended and other commands ran since", () =>
  takesOver("end", "whose session has ended", (repo) => {
    const db = new DatabaseSync(join(repo.root, ".haversack/haversack.db"));
    db.exec("UPDATE claims SET lease_until = 1000");
    db.close();
    haversack(repo, "status");
    haversack(repo, "task", "list");
  }));

async function takesOver(
  how: "end" | "kill",
  why: string,
  meanwhile: (repo: CodexRepo) => void = () => undefined,
): Promise<void> {
  const repo = haversackRepo("user");
  const { id, ...leave } = beginInClaudeCode(repo);
  const before = await codexOnce(ORDINARY, [], { repo });
  expect(before.server.requests.flatMap((request) => ours(request))).toEqual([]);

  await leave[how]();
  meanwhile(repo);
  const script = steps([
    { tools: [namespaceCall("mcp__haversack", "update_task_status", { task_id: id, status: "in_progress" })] },
    patch("*** Add File: more.txt", "+six"),
    { tools: [namespaceCall("mcp__haversack", "set_task_handoff", { task_id: id, status: "PASS", summary: "Done." })] },
  ]);
  // Without full permissions: tools that only add must work with a user's usual settings.
  const { run, server } = await codexOnce(ORDINARY, script, {
    repo,
    skipApprovals: false,
    args: ["-s", "workspace-write"],
  });
  const [packet, ...more] = ours(server.requests[0]);
  expect(more).toEqual([]);
  for (const part of ["BODY-OF-pdf-forms", "DESCRIPTION-OF-THE-TASK", "limit.txt", "NEXT-STEP-OF-IT"]) {
    expect(packet).toContain(part);
  }
  expect(packet).toContain(
    `1. To go on with ${id} "Limit logins", claim it with update_task_status in_progress: it was @claude-code-1f2e3d4c's, ${why}.`,
  );
  const [claimed, , handedOff] = server.requests.slice(1).map(({ toolResults }) => toolResults[0]?.text ?? "");
  expect(claimed).toContain("go on from its WIP");
  expect(handedOff).not.toMatch(/another|refused|cancelled/i);
  expect(run.lastMessage).toBe("DONE");
  const { wip } = JSON.parse(haversack(repo, "wip", id, "--json")) as { wip: Record<string, unknown> };
  expect(wip["files_modified"]).toEqual(["limit.txt", "more.txt"]);
}

/**
 * What Claude Code does until its end: the events of its hooks and the shell commands of its agent, in the name of a process that can be killed.
 * ../claude-code/wake.test.ts checks that the real client does the same.
 */
function beginInClaudeCode(repo: CodexRepo): { id: string; end(): void; kill(): Promise<void> } {
  const client = spawn("sleep", ["300"], { stdio: "ignore" });
  onTestFinished(() => void client.kill("SIGKILL"));
  const hook = (fields: Record<string, unknown>) => {
    const { status } = spawnSync(process.execPath, [join(DIST, "hook.cjs"), "claude-code"], {
      cwd: repo.root,
      env: { ...repo.env, CLAUDE_PID: String(client.pid) },
      input: JSON.stringify({ session_id: SESSION, cwd: repo.root, ...fields }),
    });
    expect(status).toBe(0);
  };
  const inShell = { ...repo, env: { ...repo.env, CLAUDE_CODE_SESSION_ID: SESSION } };
  const fields = ["--description", "DESCRIPTION-OF-THE-TASK", "--skill", "pdf-forms", "--json"];
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", ...fields)) as { id: string };
  hook({ hook_event_name: "SessionStart", source: "startup" });
  haversack(inShell, "task", "claim", id);
  const file_path = join(repo.root, "limit.txt");
  hook({
    hook_event_name: "PostToolUse",
    tool_name: "Write",
    tool_use_id: "toolu_1",
    tool_input: { file_path, content: "five" },
    tool_response: { type: "create", filePath: file_path },
  });
  haversack(inShell, "wip", id, '{"next_step":"NEXT-STEP-OF-IT"}');
  return {
    id,
    end: () => hook({ hook_event_name: "SessionEnd", reason: "other" }),
    async kill() {
      client.kill("SIGKILL");
      await once(client, "exit");
    },
  };
}
