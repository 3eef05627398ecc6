/** `haversack audit` of the files that the real client wrote, against what the model's server received. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { codex } from "../../../packages/haversack/src/clients/codex/wiring.ts";
import { applyInit, planInit } from "../../../packages/haversack/src/engine/init.ts";
import {
  type Attribution,
  auditOf,
  expectAttributed,
  honest,
  NEXT,
  PASTED,
  PLAN,
  prose,
  RECALLED,
  REPORT,
  received,
  SKILLS,
  SUMMARY_TEXT,
  skillOf,
  source,
} from "../audit-scenario.ts";
import { namespaceCall } from "../responses-api.ts";
import { haversack } from "../run-haversack.ts";
import { steps } from "../script.ts";
import { codexRepo, echoServer } from "./codex-repo.ts";
import { testServer } from "./codex-test.ts";
import { DIST, trustFolder } from "./haversack-repo.ts";
import { runCodex } from "./run-codex.ts";
import { patch, shell, spawnAgent } from "./tour.ts";

const SCRIPT = steps(
  [
    shell("cat src/big.ts"),
    shell("cat src/big.ts"),
    shell("seq 1 900"),
    shell("exit 3"),
    { tools: [namespaceCall("mcp__echo", "recall", { handle: RECALLED })] },
    shell("cat .agents/skills/bridges/SKILL.md"),
    { tools: [namespaceCall("mcp__haversack", "skill", { name: "gardens" })] },
    spawnAgent(`Look around. ${prose("task", 5)}`),
    shell("sleep 3"),
    {
      text: PLAN,
      ...patch(
        "*** Add File: new.ts",
        ...source("fresh", 10)
          .split("\n")
          .map((line) => `+${line}`),
      ),
    },
    // Large enough for the client's limit.
    shell("seq 1 2000"),
    { text: "Finished the first." },
    shell("cat src/big.ts"),
    shell("seq 1 300"),
    { text: "The end." },
  ],
  { kind: "sub-agent", n: 1, reply: shell("cat src/big.ts") },
  { kind: "sub-agent", reply: { text: REPORT } },
  { kind: "compaction", reply: { text: SUMMARY_TEXT } },
);

const ATTRIBUTION: Attribution = {
  tools: {
    "exec_command file": "file_reads",
    "exec_command skill": "skill_bodies",
    exec_command: "shell_output",
    mcp__echo__recall: "mcp_results",
    mcp__haversack__skill: "skill_bodies",
    multi_agent_v1__spawn_agent: "sub_agent_results",
  },
  edits: ["apply_patch"],
  spans: [
    ["skill_listing", /^<skills_instructions>[\s\S]*/],
    ["injections", /^(?:From Haversack|# Skill)[\s\S]*/],
    ["instructions", /^# AGENTS\.md instructions[\s\S]*/],
    ["sub_agent_results", /^<subagent_notification>[\s\S]*/],
    ["summaries", /^Another language model started[\s\S]*/],
    ["pasted", /^Handle the anchors work[\s\S]*/],
    ["system", /^<\w+[\s\S]*/],
  ],
};

it("attributes each window as the server received it, with a sub-agent and a compaction", async () => {
  const repo = codexRepo();
  repo.write("AGENTS.md", prose("convention", 15));
  repo.write("src/big.ts", source("big", 40));
  for (const name of SKILLS) repo.writeSkill(name, skillOf(name));
  repo.addConfig(echoServer(repo, 'default_tools_approval_mode = "approve"'));
  trustFolder(repo);
  haversack(repo, "skill", "index");
  const installed = { node: process.execPath, hook: join(DIST, "hook.cjs"), bin: join(DIST, "haversack.cjs") };
  applyInit(
    planInit([codex], {
      scope: "project",
      cwd: repo.root,
      env: repo.env,
      installed,
      hasGuards: false,
      hooks: "command",
    }),
    repo.base,
  );
  const server = await testServer(honest(SCRIPT, ATTRIBUTION));
  const config = { model_auto_compact_token_limit: 24_000 };
  const { threadId } = await runCodex({ repo, server, prompt: PASTED, config, timeLimitMs: 120_000 });
  const run = await runCodex({ repo, server, prompt: NEXT, resume: threadId, config });
  expect(run.lastMessage).toBe("The end.");

  const audit = auditOf(repo);
  const main = audit.sessions.find(({ agent_id }) => agent_id === "");
  const sub = audit.sessions.find(({ agent_id }) => agent_id !== "");
  expect(main).toMatchObject({ client: "codex", session_id: threadId, project: repo.root });
  expect(main?.windows).toHaveLength(2);
  // The request for the summary has the whole window, the client's own words at its end, and no tools.
  const [summarized] = server.of("compaction");
  const { tools } = server.of("main")[0]!;
  expectAttributed(
    main?.windows[0],
    received({ ...summarized!, tools, kind: "main" }, { ...ATTRIBUTION, answer: SUMMARY_TEXT }),
  );
  expectAttributed(main?.windows[1], received(server.of("main").at(-1)!, { ...ATTRIBUTION, hasEdit: true }));
  expectAttributed(sub?.windows[0], received(server.of("sub-agent").at(-1)!, { ...ATTRIBUTION, answer: REPORT }));
  expect(main?.windows[0]?.compaction).toMatchObject({ skills: ["bridges", "gardens"] });
  expect(audit.records).toMatchObject({ broken: 0, unknown: {} });
});
