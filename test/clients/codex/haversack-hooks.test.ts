/** Haversack's hooks in the real Codex: what the model gets with a prompt, at a start and after a compaction, and what is recorded. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { namespaceCall } from "../responses-api.ts";
import { developerTexts } from "../responses-request.ts";
import { type Reply, steps, toolCall } from "../script.ts";
import { codexOnce } from "./codex-test.ts";
import { haversack, haversackRepo, ours, send, wipOf } from "./haversack-repo.ts";
import { CODE_MODEL, runCodex } from "./run-codex.ts";
import { patch, shell, spawnAgent } from "./tour.ts";

const ORDINARY = "Thanks, that looks good. Please go on.";
const COMPACTING = { config: { model_auto_compact_token_limit: 100_000 } };

const call = (tool: string, input: Record<string, unknown> = {}): Reply => ({
  tools: [namespaceCall("mcp__haversack", tool, input)],
});

describe("a prompt", () => {
  it("brings the skill that fits, once, and says how it is activated here", async () => {
    const repo = haversackRepo("user");
    const prompt = "Make the slow SQL queries of the report fast.";
    const { run, server } = await codexOnce(prompt, steps([shell("true")]), { repo });
    await runCodex({ repo, server, prompt: ORDINARY, resume: run.threadId });
    expect(server.of("main")).toHaveLength(3);
    for (const request of server.requests) {
      const [text, ...more] = ours(request);
      expect(more).toEqual([]);
      expect(text).toContain("## sql-tuning\n");
      expect(text).toContain(`Read ${repo.root}/.agents/skills/sql-tuning/SKILL.md`);
      expect(text).not.toContain("pdf-forms");
    }
    // The same words again add nothing, because the window has the skill.
    for (let n = 0; n < 2; n++) await runCodex({ repo, server, prompt, resume: run.threadId });
    expect(ours(server.requests.at(-1))).toHaveLength(1);
    await runCodex({ repo, server, prompt: "Which skill should I use?", resume: run.threadId });
    const [, names] = ours(server.requests.at(-1));
    expect(names).toMatch(/^# Skills Available\n\nsql-tuning\n\nTo activate: read \//);
  });

  it("that names a skill brings its body", async () => {
    const repo = haversackRepo("user");
    const { server } = await codexOnce("Use the pdf-forms skill and fill in the application.", [], { repo });
    expect(ours(server.requests[0]).join()).toContain("BODY-OF-pdf-forms");
  });

  it.each([undefined, CODE_MODEL])("of the ordinary kind brings nothing (model %s)", async (model) => {
    const repo = haversackRepo("user");
    const { run, server } = await codexOnce(ORDINARY, [], { repo, ...(model && { model }) });
    expect(run.lastMessage).toBe("DONE");
    expect(server.requests.flatMap((request) => ours(request))).toEqual([]);
  });
});

describe("what tools did", () => {
  it.each(["session", "task"])("is in the WIP of the %s", async (owner) => {
    const repo = haversackRepo("user");
    repo.write("check.sh", 'echo "FAIL src/add.test.ts > adds"; exit 1\n');
    const id = createTask(repo);
    const { run, server } = await codexOnce(
      "Go.",
      steps([
        ...(owner === "task" ? [call("update_task_status", { task_id: id, status: "in_progress" })] : []),
        patch("*** Add File: new.txt", "+hello", "*** Add File: more.txt", "+hello"),
        shell("sh check.sh"),
        shell("git add new.txt && git commit -qm 'Add new'"),
      ]),
      // With the approvals that `codex exec` has by itself: the claim must pass without a question.
      { repo, skipApprovals: false, args: ["-s", "workspace-write"] },
    );
    expect(run.lastMessage, JSON.stringify(server.requests[1]?.toolResults)).toBe("DONE");
    const wip = owner === "task" ? JSON.parse(haversack(repo, "wip", id, "--json")).wip : wipOf(repo, run);
    expect(wip).toMatchObject({ files_modified: ["new.txt", "more.txt"] });
  });

  it("by a sub-agent is in its own, not in that of the session", async () => {
    const repo = haversackRepo("user");
    const { run } = await codexOnce(
      "Go.",
      steps([patch("*** Add File: main.txt", "+x"), spawnAgent("Look around."), shell("sleep 2")], {
        kind: "sub-agent",
        n: 1,
        reply: patch("*** Add File: agent.txt", "+x"),
      }),
      { repo },
    );
    expect(wipOf(repo, run)).toMatchObject({ files_modified: ["main.txt"] });
  });
});

describe("a task with a skill", () => {
  it("comes back after a compaction: skill, task, WIP and next step, once", async () => {
    const repo = haversackRepo("user");
    const id = createTask(repo);
    const { run, server } = await codexOnce(
      "Begin.",
      steps([
        call("update_task_status", { task_id: id, status: "in_progress" }),
        patch("*** Add File: limit.txt", "+five"),
        call("update_task_wip", { task_id: id, wip_data: { next_step: "NEXT-STEP-OF-IT" } }),
        { ...shell("true"), usage: { inputTokens: 120_000 } },
      ]),
      { repo, ...COMPACTING },
    );
    expect(run.lastMessage).toBe("DONE");
    expect(server.of("compaction")).toHaveLength(1);
    const packets = ours(server.requests.at(-1)).filter((text) => text.includes("after a compaction"));
    expect(packets).toHaveLength(1);
    expectTask(packets[0], id);
    expect(packets[0]).not.toContain("claim it");
  });

  it("comes to the next session, which is told to claim it, and not to one that is resumed", async () => {
    const repo = haversackRepo("user");
    const id = createTask(repo);
    const script = steps([
      call("update_task_status", { task_id: id, status: "in_progress" }),
      patch("*** Add File: limit.txt", "+five"),
      call("update_task_wip", { task_id: id, wip_data: { next_step: "NEXT-STEP-OF-IT" } }),
    ]);
    const { run, server } = await codexOnce("Begin.", script, { repo });
    await runCodex({ repo, server, prompt: ORDINARY, resume: run.threadId });
    expect(ours(server.requests.at(-1))).toEqual([]);
    await runCodex({ repo, server, prompt: ORDINARY });
    const [packet, ...more] = ours(server.requests.at(-1));
    expect(more).toEqual([]);
    expectTask(packet, id);
    expect(packet).toContain(`To go on with ${id} "Limit logins", claim it`);
  });
});

it("a sub-agent whose task is named gets that task's packet with its call", async () => {
  const repo = haversackRepo("user");
  const id = createTask(repo);
  const { server } = await codexOnce("Go.", steps([spawnAgent(`Implement ${id}.`), shell("sleep 1")]), { repo });
  const text = JSON.stringify(server.of("sub-agent")[0]?.messages);
  expect(text).toContain(`You are the implementer for ${id}.`);
  expect(text.split("BODY-OF-pdf-forms")).toHaveLength(2);
});

it("a message to the agent comes with the next tool, and one at the end of the turn makes it go on", async () => {
  const repo = haversackRepo("user");
  const { run, server } = await codexOnce(
    "Go.",
    (request, n) => {
      if (request.kind !== "main") return undefined;
      if (n === 1) return { ...shell("true"), after: send(repo, "june", "MESSAGE-ONE") };
      return { text: `answer ${n}`, ...(n === 2 && { after: send(repo, "june", "@june MESSAGE-TWO") }) };
    },
    { repo, env: { HAVERSACK_AGENT: "june" } },
  );
  expect(run.lastMessage).toBe("answer 3");
  expect(ours(server.requests[1]).join()).toContain("MESSAGE-ONE");
  expect(JSON.stringify(server.requests[2]?.input)).toContain("MESSAGE-TWO");
  expect(server.requests).toHaveLength(3);
});

it("a broken store is silent: prompt, tools, compaction and end go on as without us", async () => {
  const repo = haversackRepo("user");
  writeFileSync(join(repo.root, ".haversack/haversack.db"), "this is no database, and long enough to look like none");
  const script = steps([
    patch("*** Add File: new.txt", "+x"),
    { ...shell("echo on"), usage: { inputTokens: 120_000 } },
    { tools: [toolCall("exec_command", { cmd: "echo after" })] },
  ]);
  const { run, server } = await codexOnce("Make the slow SQL queries fast.", script, { repo, ...COMPACTING });
  expect(run).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
  expect(server.of("compaction")).toHaveLength(1);
  expect(server.requests.flatMap((request) => ours(request))).toEqual([]);
  expect(server.requests.at(-1)?.toolResults.at(-1)?.text).toContain("after");
  // The client's own texts for the model are found, so the reader works and the silence is real.
  expect(developerTexts(server.requests[0]!)).not.toEqual([]);
});

function createTask(repo: ReturnType<typeof haversackRepo>): string {
  const fields = ["--description", "DESCRIPTION-OF-THE-TASK", "--skill", "pdf-forms", "--json"];
  return (JSON.parse(haversack(repo, "task", "create", "Limit logins", ...fields)) as { id: string }).id;
}

function expectTask(packet: string | undefined, id: string): void {
  for (const part of [
    "BODY-OF-pdf-forms",
    "DESCRIPTION-OF-THE-TASK",
    `**Current position:** ${id} "Limit logins" `,
    "NEXT-STEP-OF-IT",
    "limit.txt",
  ]) {
    expect((packet ?? "").split(part).length - 1, `${part} in ${packet}`).toBe(1);
  }
}
