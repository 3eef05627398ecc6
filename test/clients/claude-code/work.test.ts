/** `/work` in the real client, with a scripted model: sub-agents, their tasks, WIP and handoffs, and what the coordinator gets. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { firstChange, messagesText } from "../request-text.ts";
import { type Rule, steps, toolCall } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";
import { testServer } from "./claude-test.ts";
import { count, haversack, haversackRepo, ours, wipOf } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";
import { fileOf, firstPrompt, OURS, ROLES, summaryOf, type WorkScenario, workScript } from "./work-scenario.ts";

const TITLES = ["red", "green", "blue"];

interface TaskShown {
  id: string;
  status: string;
  wip?: { files_modified?: string[] };
}

describe("a batch of three through /work", () => {
  it("each sub-agent works on its own task and hands off; the coordinator gets summaries", async () => {
    const { repo, ids, server, run } = await work({ details: "stored", batchSize: 3 });
    expect(run).toMatchObject({ exitCode: 0, stderr: "", results: ["ALL-DONE"] });

    for (const id of ids) {
      const task = show(repo, id);
      expect(task.status).toBe("done");
      expect(task.wip?.files_modified).toEqual([fileOf(id)]);
      expect(readFileSync(join(repo.root, fileOf(id)), "utf8")).toBe(id);
      const handoffs = JSON.parse(haversack(repo, "handoff", "list", "--task", id, "--json")) as { role: string }[];
      expect(new Set(handoffs.map(({ role }) => role))).toEqual(new Set(ROLES));
    }
    expect(new Set(server.of("sub-agent").map(({ agentId }) => agentId)).size).toBe(9);
    expect(wipOf(repo, run.sessionId)).toBeNull();

    const last = messagesText(server.of("main").at(-1)!);
    for (const id of ids) for (const role of ROLES) expect(count(last, summaryOf(id, role))).toBe(1);
    expect(last).not.toContain("DETAILS-OF");
    expectGrowing(server);
  });

  it("without a question: the permission that init wrote is enough", async () => {
    const { run, repo, ids } = await work(
      { details: "stored", batchSize: 3 },
      { skipPermissions: false, allow: ["Write"] },
    );
    expect(run.results).toEqual(["ALL-DONE"]);
    expect(ids.map((id) => show(repo, id).status)).toEqual(["done", "done", "done"]);
  });

  it("gives each sub-agent its own task with its prompt, and leaves the coordinator's call as it was", async () => {
    const { ids, server } = await work({ details: "stored", batchSize: 3 });
    for (const id of ids) {
      const requests = server.of("sub-agent").filter((request) => firstPrompt(request).includes(`Task ${id}\n`));
      expect(new Set(requests.map(({ agentId }) => agentId)).size).toBe(3);
      for (const request of requests) {
        const prompt = firstPrompt(request);
        expect(count(prompt, "DESCRIPTION-OF-")).toBe(1);
        expect(prompt).toContain(`DESCRIPTION-OF-${TITLES[ids.indexOf(id)]}`);
      }
      const titles = requests.map((request) => {
        const packet = firstPrompt(request).split(`Task ${id}\n\n---\n`)[1];
        return /^# (.+) Subagent\nFrom Haversack, for a sub-agent/.exec(packet ?? "")?.[1];
      });
      expect(new Set(titles)).toEqual(new Set(["Implementer", "Spec Reviewer", "Quality Reviewer"]));
      // The reviewers read what the implementer said.
      const reviews = requests.filter((request) => firstPrompt(request).includes("Handed off:"));
      for (const request of reviews) expect(firstPrompt(request)).toContain(summaryOf(id, "implementer"));
      expect(new Set(reviews.map(({ agentId }) => agentId)).size).toBe(2);
    }
    expect(messagesText(server.of("main").at(-1)!)).not.toContain("DESCRIPTION-OF-");
  });

  it("replaces what sub-agents say by what they stored, where that is switched on", async () => {
    const { ids, server } = await work({ details: "both", batchSize: 3 }, { replace: true });
    const last = messagesText(server.of("main").at(-1)!);
    for (const id of ids) {
      for (const role of ROLES) expect(last).toContain(`"summary":"${summaryOf(id, role)}"`);
      expect(last).toContain(`{"task_id":"${id}","status":"PASS"`);
    }
    expect(last).not.toContain("DETAILS-OF");
    expectGrowing(server);
  });

  it("replaces nothing where it is not, and nothing of a sub-agent that stored nothing", async () => {
    const off = await work({ details: "both", batchSize: 3 });
    const without = await work({ details: "told", batchSize: 3 }, { replace: true });
    for (const { server, ids } of [off, without]) {
      const last = messagesText(server.of("main").at(-1)!);
      for (const id of ids) for (const role of ROLES) expect(count(last, `DETAILS-OF-${role}-${id}`)).toBe(1);
    }
  });
});

describe("a sub-agent that claims nothing", () => {
  const write = (repo: ScratchRepo, name: string) =>
    toolCall("Write", { file_path: `${repo.root}/${name}`, content: name });
  const agent = (prompt: string, isBackground = false) =>
    toolCall("Agent", {
      description: "do it",
      prompt,
      subagent_type: "general-purpose",
      run_in_background: isBackground,
    });

  it.each([false, true])(
    "works on the task that its call names, three of one type at once (background: %s)",
    async (isBackground) => {
      const { repo, ids } = taskRepo();
      const inside = ids.map(
        (id): Rule => ({
          kind: "sub-agent",
          when: (request, n) => n === 1 && firstPrompt(request).includes(`for ${id}\n`),
          reply: { tools: [write(repo, `${id}.md`)] },
        }),
      );
      const other: Rule = { kind: "sub-agent", n: 1, says: "for nobody", reply: { tools: [write(repo, "nobody.md")] } };
      const calls = [
        ...ids.map((id) => agent(`Write it down for ${id}`, isBackground)),
        agent("Write it down for nobody"),
      ];
      const server = await testServer(steps([{ tools: calls }], ...inside, other));
      const { sessionId } = await runClaude({ repo, server, prompt: "Delegate." });
      for (const id of ids) expect(show(repo, id).wip?.files_modified).toEqual([`${id}.md`]);
      const nobody = server.of("sub-agent").find((request) => firstPrompt(request).includes("for nobody"));
      expect(wipOf(repo, sessionId, nobody?.agentId)).toMatchObject({ files_modified: ["nobody.md"] });
    },
  );

  it("gets its task back after its own compaction", async () => {
    const { repo, ids } = taskRepo();
    const [id = ""] = ids;
    const busy = (inputTokens: number) => ({ tools: [toolCall("Bash", { command: "true" })], usage: { inputTokens } });
    const inside = [{ tools: [write(repo, "a.md")] }, busy(20_000), busy(97_000)].map(
      (reply, at): Rule => ({ kind: "sub-agent", n: at + 1, reply }),
    );
    const server = await testServer(steps([{ tools: [agent(`Implement ${id}.`)] }, { text: "end" }], ...inside));
    await runClaude({ repo, server, prompt: "Delegate.", args: ["--autocompact", "100000"] });
    expect(server.of("compaction")).toHaveLength(1);
    const [back] = ours(server.of("sub-agent").at(-1));
    expect(back?.text).toContain("# Implementer Subagent");
    expect(back?.text).toContain(`**Current position:** ${id} "red" is pending`);
    expect(back?.text).toContain("DESCRIPTION-OF-red");
    expect(back?.text).toContain("Not committed: a.md");
    expect(ours(server.of("main").at(-1))).toEqual([]);
  });
});

it("the main agent that claims a task gets it back after a compaction, with the work on it", async () => {
  const { repo, ids } = taskRepo();
  const [id = "", other = ""] = ids;
  const start = toolCall(`${OURS}update_task_status`, { task_id: id, status: "in_progress" });
  const write = toolCall("Write", { file_path: `${repo.root}/a.md`, content: "a" });
  const server = await testServer(steps([{ tools: [start] }, { tools: [write] }, { text: "one" }]));
  const run = await runClaude({ repo, server, prompt: ["Begin.", "Go on.", "/compact", "Go on."] });
  expect(server.of("main")[1]?.toolResults).toMatchObject([{ isError: false }]);
  const [back] = ours(server.of("main").at(-1));
  expect(back?.text).toContain(`**Current position:** ${id} "red" is in progress`);
  expect(back?.text).toContain(`Go on with ${id} "red" from its work in progress.`);
  expect(back?.text).toContain("Not committed: a.md");
  expect(back?.text).not.toContain(other);
  expect(show(repo, id)).toMatchObject({ status: "in_progress", wip: { files_modified: ["a.md"] } });
  expect(wipOf(repo, run.sessionId)).toBeNull();
});

/** Three tasks in a repository that is wired. */
function taskRepo(): { repo: ScratchRepo; ids: string[] } {
  const repo = haversackRepo({});
  const ids = TITLES.map((title) => {
    const made = haversack(repo, "task", "create", title, "--description", `DESCRIPTION-OF-${title}`, "--json");
    return (JSON.parse(made) as { id: string }).id;
  });
  return { repo, ids };
}

async function work(
  scenario: Pick<WorkScenario, "details" | "batchSize">,
  { replace = false, skipPermissions = true, allow = [] as string[] } = {},
) {
  const { repo, ids } = taskRepo();
  if (replace) haversack(repo, "config", "set", "work.replace_results", "true");
  const detailsOf: WorkScenario["detailsOf"] = (id, role) => `DETAILS-OF-${role}-${id}`;
  const server = await testServer(workScript({ ...scenario, root: repo.root, detailsOf }));
  const args = allow.length > 0 ? ["--allowedTools", ...allow] : [];
  const run = await runClaude({ repo, server, prompt: "/work -n 3", skipPermissions, args, timeLimitMs: 100_000 });
  return { repo, ids, server, run };
}

function show(repo: ScratchRepo, id: string): TaskShown {
  const fields = JSON.parse(haversack(repo, "task", "show", id, "--json")) as TaskShown;
  const { wip } = JSON.parse(haversack(repo, "wip", id, "--json")) as { wip: NonNullable<TaskShown["wip"]> };
  return { ...fields, wip };
}

/** Each request of the coordinator continues the previous one: nothing that was sent before has changed. */
function expectGrowing(server: ScriptedServer): void {
  const requests = server.of("main");
  for (const [at, request] of requests.entries()) {
    if (at > 0) expect(firstChange(requests[at - 1]!, request)).toBeUndefined();
  }
}
