/** `haversack audit` of the database that the real client wrote, against what the model's server received. */
import { join } from "node:path";
import { expect, it } from "vitest";
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
import { type Reply, type Script, steps, toolCall } from "../script.ts";
import { haversackRepo } from "./haversack-repo.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";
import { echoServer, type ScratchOpencode } from "./scratch-opencode.ts";

const one = (name: string, input: Record<string, unknown>): Reply => ({ tools: [toolCall(name, input)] });

function script({ root }: ScratchOpencode): Script {
  const [big, fresh] = ["src/big.ts", "new.ts"].map((file) => join(root, file)) as [string, string];
  const bash = (command: string) => one("bash", { command, description: "Run it" });
  return steps(
    [
      one("read", { filePath: big }),
      one("read", { filePath: big }),
      bash("seq 1 900"),
      bash("exit 3"),
      one("echo_recall", { handle: RECALLED }),
      one("skill", { name: "bridges" }),
      one("haversack_skill", { name: "gardens" }),
      one("task", { description: "look", prompt: `Look around. ${prose("task", 5)}`, subagent_type: "general" }),
      { text: PLAN, ...one("write", { filePath: fresh, content: source("fresh", 10) }) },
      one("edit", { filePath: fresh, oldString: "freshStep0", newString: "freshStart" }),
      { text: "Finished the first." },
      // Large enough for the client's limit.
      bash("seq 1 3000"),
      bash("seq 1 300"),
      { text: "The end." },
    ],
    { kind: "sub-agent", n: 1, reply: one("read", { filePath: big }) },
    { kind: "sub-agent", reply: { text: REPORT } },
    { kind: "compaction", reply: { text: SUMMARY_TEXT } },
  );
}

const ATTRIBUTION: Attribution = {
  tools: {
    read: "file_reads",
    bash: "shell_output",
    echo_recall: "mcp_results",
    skill: "skill_bodies",
    haversack_skill: "skill_bodies",
    task: "sub_agent_results",
  },
  edits: ["write", "edit"],
  spans: [
    ["skill_listing", /<available_skills>[\s\S]*?<\/available_skills>/],
    ["instructions", /Instructions from: [\s\S]*?(?=\n<mcp_instructions>|\nSkills provide|$)/],
    ["injections", /^(?:From Haversack|# Skill)[\s\S]*/],
    ["summaries", /^1\. The summary of[\s\S]*/],
    ["pasted", /^"Handle the anchors work[\s\S]*/],
  ],
};

it("attributes each window as the server received it, with a sub-agent and a compaction", async () => {
  const repo = haversackRepo();
  repo.write("AGENTS.md", prose("convention", 15));
  repo.write("src/big.ts", source("big", 40));
  for (const name of SKILLS) repo.writeSkill(".agents/skills", name, skillOf(name));
  repo.writeConfig({ ...repo.config(), mcp: { ...(repo.config()["mcp"] as object), echo: echoServer(repo) } });
  const server = await testServer(honest(script(repo), ATTRIBUTION));
  const options = { repo, server, windowTokens: 31_000, timeLimitMs: 180_000 };
  const { sessionId } = await runOpencode({ ...options, prompt: PASTED });
  await runOpencode({ ...options, prompt: NEXT, args: ["--session", sessionId] });
  expect(server.of("compaction")).toHaveLength(1);

  const audit = auditOf(repo);
  const main = audit.sessions.find(({ agent_id }) => agent_id === "");
  const sub = audit.sessions.find(({ agent_id }) => agent_id !== "");
  expect(main).toMatchObject({ client: "opencode", session_id: sessionId, project: repo.root, windows: [{}, {}] });
  const before = server.of("main").filter(({ index }) => index < server.of("compaction")[0]!.index);
  const whole = received(before.at(-1)!, ATTRIBUTION);
  // The result after the last request is only in the window.
  expectAttributed(main?.windows[0], { ...whole, shell_output: main?.windows[0]?.categories.shell_output ?? 0 });
  // The client keeps the last messages, from before the first edit on.
  expectAttributed(main?.windows[1], received(server.of("main").at(-1)!, ATTRIBUTION));
  expectAttributed(sub?.windows[0], received(server.of("sub-agent").at(-1)!, { ...ATTRIBUTION, answer: REPORT }));
  expect(main?.windows[0]?.compaction).toMatchObject({ trigger: "auto", skills: ["bridges", "gardens"] });
  expect(audit.records).toMatchObject({ broken: 0, unknown: {} });
});
