/** `haversack audit` of the transcript that the real client wrote, against what the model's server received. */
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
import { haversack } from "../run-haversack.ts";
import { type Reply, steps, toolCall } from "../script.ts";
import { testServer } from "./gemini-test.ts";
import { wire } from "./haversack-repo.ts";
import { runGemini } from "./run-gemini.ts";
import { echoServer, scratchGemini } from "./scratch-gemini.ts";

const one = (name: string, input: Record<string, unknown>): Reply => ({ tools: [toolCall(name, input)] });
const big = "src/big.ts";

const SCRIPT = steps(
  [
    one("read_file", { file_path: big }),
    one("read_file", { file_path: big }),
    one("run_shell_command", { command: "seq 1 900" }),
    one("run_shell_command", { command: "exit 3" }),
    one("mcp_echo_recall", { handle: RECALLED }),
    one("activate_skill", { name: "bridges" }),
    one("mcp_haversack_skill", { name: "gardens" }),
    one("invoke_agent", { agent_name: "generalist", prompt: `Look around. ${prose("task", 5)}` }),
    { text: PLAN, ...one("write_file", { file_path: "new.ts", content: source("fresh", 10) }) },
    one("replace", { file_path: "new.ts", instruction: "rename", old_string: "freshStep0", new_string: "freshStart" }),
    { text: "Finished the first." },
    // Resumed, the client sends each result twice, and its window is full.
    one("read_file", { file_path: big }),
    one("run_shell_command", { command: "seq 1 300" }),
    { text: "The end." },
  ],
  { kind: "sub-agent", n: 1, reply: one("read_file", { file_path: big }) },
  { kind: "sub-agent", reply: one("complete_task", { result: { response: REPORT } }) },
  { kind: "compaction", reply: { text: `<state_snapshot>${SUMMARY_TEXT}</state_snapshot>` } },
);

const ATTRIBUTION: Attribution = {
  tools: {
    read_file: "file_reads",
    run_shell_command: "shell_output",
    mcp_echo_recall: "mcp_results",
    mcp_haversack_skill: "skill_bodies",
    activate_skill: "skill_bodies",
    invoke_agent: "sub_agent_results",
  },
  edits: ["write_file", "replace"],
  spans: [
    ["skill_listing", /<available_skills>[\s\S]*?<\/available_skills>/],
    ["injections", /<hook_context>[\s\S]*?<\/hook_context>/],
    ["instructions", /^<session_context>[\s\S]*/],
    ["instructions", /^\s*<loaded_context>[\s\S]*/],
    ["summaries", /^<state_snapshot>[\s\S]*/],
    ["pasted", /^Handle the anchors work[\s\S]*/],
  ],
};

it("attributes each window as the server received it, with a sub-agent and a compaction", async () => {
  const repo = scratchGemini();
  repo.write("GEMINI.md", prose("convention", 15));
  repo.write(big, source("big", 40));
  for (const name of SKILLS) repo.writeSkill(".agents/skills", name, skillOf(name));
  haversack(repo, "skill", "index");
  // A share of a window of 1,048,576 tokens.
  repo.writeSettings({ mcpServers: { echo: echoServer(repo) }, model: { compressionThreshold: 0.033 } });
  wire(repo, "project");
  const server = await testServer(honest(SCRIPT, ATTRIBUTION));
  const options = { repo, server, timeLimitMs: 180_000 };
  const args = ["-m", "gemini-2.5-pro"];
  const { sessionId } = await runGemini({ ...options, prompt: PASTED, args });
  await runGemini({ ...options, prompt: NEXT, args: [...args, "--resume", "latest"] });
  expect(server.of("compaction").length).toBeGreaterThan(0);

  const before = server.of("main").filter(({ index }) => index < server.of("compaction")[0]!.index);
  const audit = auditOf(repo);
  const main = audit.sessions.find(({ agent_id }) => agent_id === "");
  const sub = audit.sessions.find(({ agent_id }) => agent_id !== "");
  expect(main).toMatchObject({ client: "gemini", session_id: sessionId, project: repo.root, windows: [{}, {}] });
  expectAttributed(main?.windows[0], received(before.at(-1)!, ATTRIBUTION));
  expectAttributed(main?.windows[1], received(server.of("main").at(-1)!, { ...ATTRIBUTION, hasEdit: true }));
  expectAttributed(sub?.windows[0], received(server.of("sub-agent").at(-1)!, { ...ATTRIBUTION, answer: REPORT }));
  expect(main?.windows[0]?.compaction).toMatchObject({ skills: ["bridges", "gardens"] });
  expect(audit.records).toMatchObject({ broken: 0, unknown: {} });
});
