/** `$work` in the real Codex, as `init` writes it: it costs nothing until it is called, and its sub-agents get their task and role. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textOf } from "../request-text.ts";
import { namespaceCall } from "../responses-api.ts";
import { developerTexts } from "../responses-request.ts";
import { type Reply, type Rule, steps } from "../script.ts";
import { codexOnce } from "./codex-test.ts";
import { haversack, haversackRepo, ours, trustFolder } from "./haversack-repo.ts";
import { CODE_MODEL } from "./run-codex.ts";
import { shell, spawnAgent } from "./tour.ts";

const COORDINATES = "You coordinate work on the task queue.";
const ROLES = ["implementer", "spec-reviewer", "quality-reviewer", "fixer"] as const;

const answer: Rule = { kind: "sub-agent", reply: { text: "VERDICT: PASS" } };

it.each(["project", "user"] as const)(
  "is no line of any session, and comes whole when it is called (%s)",
  async (scope) => {
    const repo = haversackRepo(scope);
    if (scope === "project") trustFolder(repo);
    const hello = await codexOnce("Hello.", [], { repo, skipApprovals: false });
    expect(textOf(hello.server.requests[0]!)).not.toMatch(/task queue|skills\/work|implementer/);
    const { server } = await codexOnce("$work -n 2", [], { repo, skipApprovals: false });
    const text = textOf(server.requests[0]!);
    expect(text).toContain(COORDINATES);
    // The coordinator must find the roles: the client says where the skill's file is.
    const folder = scope === "user" ? join(repo.codexHome, "skills/work") : join(repo.root, ".codex/skills/work");
    expect(text).toContain(join(folder, "SKILL.md"));
    for (const role of ROLES) expect(existsSync(join(folder, `roles/${role}.md`))).toBe(true);
  },
);

describe("a sub-agent of it", () => {
  it.each(["implementer", "spec-reviewer"])("that is told to be a %s gets its task with that role", async (role) => {
    const { repo, id } = taskRepo();
    const roles = join(repo.codexHome, "skills/work/roles");
    const message = `Task ${id}. First read ${roles}/${role}.md: it says what you do.`;
    const reads: Rule = { kind: "sub-agent", n: 1, reply: shell(`cat ${roles}/${role}.md`) };
    const { server } = await codexOnce("$work", steps([spawnAgent(message), shell("sleep 2")], reads, answer), {
      repo,
    });
    const [first, second] = server.of("sub-agent");
    expect(textOf(first!)).toContain(`You are the ${role} for ${id}.`);
    expect(textOf(first!)).toContain("DESCRIPTION-OF-THE-TASK");
    expect(second?.toolResults[0]?.text).toContain("set_task_handoff (role: ");
  });

  it("that is named after role and task gets both where its task is encrypted", async () => {
    const { repo, id } = taskRepo();
    const start = (name: string): Reply => ({
      tools: [namespaceCall("collaboration", "spawn_agent", { task_name: name, message: "Go.", fork_turns: "none" })],
    });
    const wait = { tools: [namespaceCall("collaboration", "wait_agent", { timeout_ms: 10_000 })] };
    const script = steps([start(`quality_reviewer_2_${id.toLowerCase()}`), wait], answer);
    const { server } = await codexOnce("$work", script, { repo, model: CODE_MODEL });
    expect(ours(server.of("sub-agent")[0]).join()).toContain(`You are the quality-reviewer for ${id}.`);
    expect(developerTexts(server.of("main")[0]!).join()).not.toContain("DESCRIPTION-OF-THE-TASK");
  });
});

function taskRepo() {
  const repo = haversackRepo("user");
  const fields = ["--description", "DESCRIPTION-OF-THE-TASK", "--json"];
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", ...fields)) as { id: string };
  return { repo, id };
}
