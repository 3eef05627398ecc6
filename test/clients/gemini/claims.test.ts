/** Claims in the real Gemini CLI belong to their session: by MCP tool and by shell, with its work, over a resume, and for whoever comes next. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionName } from "../../../packages/haversack/src/work/agent-name.ts";
import { claimsOf, taskWip } from "../claims-of.ts";
import { messagesText } from "../request-text.ts";
import { meeting, type Reply, type Rule, steps, toolCall } from "../script.ts";
import { testServer } from "./gemini-test.ts";
import { haversack, sqlRepo, wire } from "./haversack-repo.ts";
import { runGemini } from "./run-gemini.ts";
import type { ScratchGemini } from "./scratch-gemini.ts";

const BIN = join(import.meta.dirname, "../../../packages/haversack/dist/haversack.cjs");
const ORDINARY = "Thanks, please go on.";

function repoWithTask(): { repo: ScratchGemini; id: string } {
  const repo = sqlRepo();
  wire(repo, "project");
  repo.write("check.sh", 'echo "FAIL BAD-THING"; exit 1\n');
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--skill", "sql-tuning", "--json"));
  return { repo, id };
}

const shell = (command: string): Reply => ({ tools: [toolCall("run_shell_command", { command })] });
const ofSession = (sessionId: string) => ({ agent: sessionName("gemini", { sessionId }), sessionId });

describe.each([
  [
    "MCP tool",
    (id: string) => ({ tools: [toolCall("mcp_haversack_update_task_status", { task_id: id, status: "in_progress" })] }),
  ],
  ["shell", (id: string) => shell(`${process.execPath} ${BIN} task start ${id}`)],
])("a claim by %s", { timeout: 300_000 }, (_, claim) => {
  it("is its session's, with what it does, also after a resume; a new session hears of it", async () => {
    const { repo, id } = repoWithTask();
    const work: Reply[] = [
      claim(id),
      { tools: [toolCall("write_file", { file_path: "limit.txt", content: "five" })] },
      shell("sh check.sh"),
      shell("git add limit.txt && git commit -m LIMITED"),
      { text: "end" },
    ];
    const server = await testServer(steps(work));
    const first = await runGemini({ repo, server, prompt: ORDINARY });
    expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.sessionId) });
    expect(await taskWip(repo, id)).toMatchObject({
      files_modified: ["limit.txt"],
      errors: [{ message: expect.stringContaining("BAD-THING") }],
      last_commit: expect.stringMatching(/^[0-9a-f]{7}/),
    });

    server.setScript(
      steps([claim(id), { tools: [toolCall("write_file", { file_path: "more.txt", content: "six" })] }]),
    );
    const again = await runGemini({ repo, server, prompt: ORDINARY, args: ["--resume", first.sessionId] });
    expect(again.sessionId).toBe(first.sessionId);
    const results = server.of("main").flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    expect(results.join("\n")).not.toMatch(/held by|hand it back/);
    expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.sessionId) });
    expect((await taskWip(repo, id))?.["files_modified"]).toEqual(["limit.txt", "more.txt"]);

    server.setScript([]);
    await runGemini({ repo, server, prompt: ORDINARY });
    const heard = messagesText(server.of("main").at(-1)!);
    expect(heard).toContain(`${id} "Limit logins"`);
    expect(heard).toContain("more.txt");
  });
});

it("tells two sessions of one project apart that claim at the same time", async () => {
  const { repo, id } = repoWithTask();
  const { id: other } = JSON.parse(haversack(repo, "task", "create", "Log logins", "--json")) as { id: string };
  // Neither claims before both have started, nor ends before both have claimed.
  const [start, end] = [meeting(2), meeting(2)];
  const claiming = (task: string): Rule[] => {
    const call = toolCall("mcp_haversack_update_task_status", { task_id: task, status: "in_progress" });
    return [
      { kind: "main", times: 1, reply: () => ({ tools: [call], after: start() }) },
      { kind: "main", times: 1, reply: () => ({ text: "claimed", after: end() }) },
    ];
  };
  const [one, two] = [await testServer(claiming(id)), await testServer(claiming(other))];
  const [first, second] = await Promise.all([
    runGemini({ repo, server: one, prompt: ORDINARY }),
    runGemini({ repo, server: two, prompt: ORDINARY }),
  ]);
  expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.sessionId), [other]: ofSession(second.sessionId) });
});
