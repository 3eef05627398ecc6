/** Sub-agents of the real Codex: the packet of one of which only the name is known, and what sub-agents have read of their documents. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sampleDocuments, sampleText } from "../../../packages/haversack/src/artifacts/sample-feature.suite.ts";
import { namespaceCall, textCall } from "../responses-api.ts";
import { type Reply, type Rule, steps } from "../script.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { DIST, haversack, haversackRepo, ours, wipOf } from "./haversack-repo.ts";
import { CODE_MODEL } from "./run-codex.ts";
import { shell, spawnAgent } from "./tour.ts";

/** With the tool of the newer models, whose message no hook can read. */
const start = (taskName: string): Reply[] => [
  {
    tools: [namespaceCall("collaboration", "spawn_agent", { task_name: taskName, message: "Go.", fork_turns: "none" })],
  },
  { tools: [namespaceCall("collaboration", "wait_agent", { timeout_ms: 10_000 })] },
];

describe("a sub-agent whose task is encrypted", () => {
  it("gets the packet of the task that it is named after, and its work is that task's", async () => {
    const repo = haversackRepo("user");
    const fields = ["--description", "DESCRIPTION-OF-THE-TASK", "--skill", "pdf-forms", "--json"];
    const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", ...fields)) as { id: string };
    const added = ["*** Begin Patch", "*** Add File: by-the-agent.txt", "+x", "*** End Patch"].join("\n");
    const inside = `text(await tools.apply_patch(${JSON.stringify(added)}));`;
    const script = steps(
      start(`implement_${id.toLowerCase()}`),
      { kind: "sub-agent", n: 1, reply: { tools: [textCall("exec", inside)] } },
      { kind: "sub-agent", reply: { text: "Done." } },
    );
    const { server } = await codexOnce("Go.", script, { repo, model: CODE_MODEL });
    const [packet, ...more] = ours(server.of("sub-agent")[0]);
    expect(more).toEqual([]);
    expect(packet).toContain(`You are the implementer for ${id}.`);
    expect(packet).toContain("DESCRIPTION-OF-THE-TASK");
    expect(packet).toContain("BODY-OF-pdf-forms");
    expect(server.of("main").flatMap((request) => ours(request))).toEqual([]);
    const { wip } = JSON.parse(haversack(repo, "wip", id, "--json")) as { wip: unknown };
    expect(wip).toMatchObject({ files_modified: ["by-the-agent.txt"] });
  });

  it("is named so because the batch says how, to the model that needs it and to no other", async () => {
    const repo = haversackRepo("user");
    const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--json")) as { id: string };
    const code = textCall("exec", "text(await tools.mcp__haversack__get_next_batch({}));");
    const newer = await codexOnce("Go.", steps([{ tools: [code] }]), { repo, model: CODE_MODEL });
    const hint = `agents: task_name implementer_${id.toLowerCase()} brings one its task`;
    expect(newer.server.requests[1]?.toolResults[0]?.text.replaceAll("\\", "")).toContain(hint);
    const direct = namespaceCall("mcp__haversack", "get_next_batch", {});
    const older = await codexOnce("Go.", steps([{ tools: [direct] }]), { repo });
    const text = older.server.requests[1]?.toolResults[0]?.text;
    expect(text).toContain(id);
    expect(text).not.toContain("task_name");
  });

  it("gets nothing when its name is no task's", async () => {
    const repo = haversackRepo("user");
    haversack(repo, "task", "create", "Limit logins");
    const { run, server } = await codexOnce("Go.", steps(start("look_around")), { repo, model: CODE_MODEL });
    expect(server.of("sub-agent")).not.toHaveLength(0);
    expect(server.requests.flatMap((request) => ours(request))).toEqual([]);
    expect(wipOf(repo, run)).toBeNull();
  });
});

describe("a sub-agent without a task", () => {
  it("gets the skill that fits its prompt, in its own window; a packet's sub-agent gets no second text", async () => {
    const repo = haversackRepo("user");
    const { id } = JSON.parse(haversack(repo, "task", "create", "Merge the PDF forms", "--json")) as { id: string };
    const inside: Rule = { kind: "sub-agent", reply: { text: "Done." } };
    const script = steps(
      [
        spawnAgent("Fill in the PDF forms."),
        shell("sleep 1"),
        spawnAgent(`Fill in the PDF forms of ${id}.`),
        shell("sleep 1"),
      ],
      inside,
    );
    const { server, run } = await codexOnce("Go.", script, { repo });
    const [first, second] = server.of("sub-agent");
    expect(ours(first)).toEqual([expect.stringContaining(`Read ${repo.root}/.claude/skills/pdf-forms/SKILL.md`)]);
    expect(JSON.stringify(second?.input)).toContain("From Haversack, ");
    expect(ours(second)).toEqual([]);
    expect(server.of("main").flatMap((request) => ours(request))).toEqual([]);
    const { prompts } = JSON.parse(haversack(repo, "why", "--session", run.threadId, "--limit", "9", "--json"));
    expect(prompts).toMatchObject([
      { agent_id: expect.stringMatching(/./), prompt: "Fill in the PDF forms." },
      { agent_id: "", prompt: "Go." },
    ]);
  });
});

const FOLDER = "docs/features/031-uploads";
const ROLE = "plan-reviewer";
const CLAIM = `Files read: prd.md (7 lines), spec.md (7 lines), design.md (16 lines)

{"approved": true, "issues": [], "summary": "Fine."}`;

describe("a sub-agent that must read three documents", () => {
  it("and shows itself two in the shell leaves one warning that names the third, although it claims all", async () => {
    const repo = featureRepo();
    await review(repo, [shell(`cat ${FOLDER}/prd.md`), shell(`cd ${FOLDER} && sed -n 1,20p spec.md`), { text: CLAIM }]);
    const history = readFileSync(join(repo.root, FOLDER, ".review-history.md"), "utf8");
    expect(history.split("LAZY-LOAD-WARNING")).toHaveLength(2);
    expect(history).toContain("did not confirm artifact reads: design.md (0 of 16 lines seen)");
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 1 });
  });

  it("and reads all of them leaves none", async () => {
    const repo = featureRepo();
    await review(repo, [shell(`cat ${FOLDER}/prd.md ${FOLDER}/spec.md ${FOLDER}/design.md`), { text: "Done." }]);
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 0 });
    expect(existsSync(join(repo.root, FOLDER, ".review-history.md"))).toBe(false);
  });

  it("and reads what fails, or nothing, has read nothing", async () => {
    const repo = featureRepo();
    await review(repo, [shell(`cat ${FOLDER}/prd.md; false`), { text: CLAIM }]);
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 3 });
  });

  it("is sent back once where the user wants that", async () => {
    const repo = featureRepo({ sendBack: true });
    const { server } = await review(repo, [
      shell(`cat ${FOLDER}/prd.md ${FOLDER}/spec.md`),
      { text: CLAIM },
      shell(`cat ${FOLDER}/design.md`),
      { text: "Now I have." },
    ]);
    const requests = server.of("sub-agent");
    expect(requests).toHaveLength(4);
    expect(JSON.stringify(requests[2]?.input)).toContain("design.md");
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 0 });
  });
});

function featureRepo({ sendBack = false } = {}): CodexRepo {
  const repo = haversackRepo("user");
  for (const { file } of sampleDocuments()) repo.write(`${FOLDER}/${file}`, sampleText(file));
  if (sendBack) haversack(repo, "config", "set", "artifacts.send_back", "true");
  return repo;
}

/** The prompt comes from `haversack review dispatch`; the sub-agent answers with these, in order. */
async function review(repo: CodexRepo, replies: Reply[]) {
  // The event of the call says which agent it has started. A model is never faster than that event, but a script may be, so the session waits for it.
  const [started, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answers = replies.map((reply, at): Rule => {
    const answer = () => {
      if (at === replies.length - 1) answered.resolve();
      return { ...reply, after: started.promise };
    };
    return { kind: "sub-agent", n: at + 1, reply: answer };
  });
  const prompt = haversack(repo, "dispatch", ROLE, "--feature", FOLDER);
  const goOn = () => {
    started.resolve();
    // Until the agent has ended, with what its end starts.
    return { ...shell("sleep 3"), after: answered.promise };
  };
  const main: Rule = { kind: "main", n: 2, reply: goOn };
  return codexOnce("Have it reviewed.", steps([spawnAgent(prompt)], main, ...answers), { repo });
}

/** Exits with 1 when too much is missing. */
function receipts(repo: CodexRepo): { total: number; missing: number } {
  const { stdout } = spawnSync(process.execPath, [join(DIST, "haversack.cjs"), "receipts", "--json"], {
    cwd: repo.root,
    env: { ...repo.env, PATH: process.env["PATH"] },
    encoding: "utf8",
  });
  return JSON.parse(stdout) as { total: number; missing: number };
}
