/** `haversack audit` of a transcript that the real client wrote, against what the model's server received. */
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
import { haversack } from "../run-haversack.ts";
import { type Reply, steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { runClaude } from "./run-claude.ts";
import { echoServer, type ScratchRepo, scratchRepo } from "./scratch-repo.ts";

const one = (name: string, input: Record<string, unknown>): Reply => ({ tools: [toolCall(name, input)] });
const agent = (prompt: string, isBackground: boolean) =>
  one("Agent", { description: "look", prompt, subagent_type: "general-purpose", run_in_background: isBackground });

function script({ root }: ScratchRepo) {
  const [big, fresh] = ["src/big.ts", "new.ts"].map((file) => join(root, file)) as [string, string];
  return steps(
    [
      one("Read", { file_path: big }),
      one("Read", { file_path: big }),
      one("Bash", { command: "seq 1 900", description: "Count" }),
      one("Bash", { command: "exit 3", description: "Fail" }),
      one("ToolSearch", { query: "select:mcp__echo__recall", max_results: 1 }),
      one("mcp__echo__recall", { handle: RECALLED }),
      one("Skill", { skill: "bridges" }),
      one("mcp__haversack__skill", { name: "gardens" }),
      agent(`Look around in the source. ${prose("task", 5)}`, false),
      { text: PLAN, ...one("Write", { file_path: fresh, content: source("fresh", 10) }) },
      one("Edit", { file_path: fresh, old_string: "freshStep0", new_string: "freshStart" }),
      { text: "Finished the first." },
      { text: "Noted." },
      one("Read", { file_path: big }),
      one("Bash", { command: "seq 1 300", description: "Count" }),
      { text: "The end." },
    ],
    { kind: "sub-agent", n: 1, reply: one("Read", { file_path: big }) },
    { kind: "sub-agent", reply: { text: REPORT } },
    { kind: "compaction", reply: { text: `<analysis>none</analysis><summary>${SUMMARY_TEXT}</summary>` } },
  );
}

const ATTRIBUTION: Attribution = {
  tools: {
    Read: "file_reads",
    Bash: "shell_output",
    mcp__echo__recall: "mcp_results",
    mcp__haversack__skill: "skill_bodies",
    Agent: "sub_agent_results",
  },
  edits: ["Write", "Edit"],
  spans: [
    [
      "skill_listing",
      /The following skills are available for use with the Skill tool:[\s\S]*?(?=\n\nWhile bypass permissions|\n\n\w+ hook additional context|\n\n# MCP Server|$)/,
    ],
    ["injections", /\w+ hook additional context: (?:From Haversack[\s\S]*|# Skill[\s\S]*?(?=\n\n[A-Z][a-z]+ |$))/],
    ["instructions", /<system-reminder>\nCodebase and user instructions[\s\S]*?<\/system-reminder>/],
    ["skill_bodies", /^Base directory for this skill[\s\S]*/],
    ["skill_bodies", /The following skills were invoked EARLIER[\s\S]*?(?=\n\nThe following deferred tools)/],
    [
      "file_reads",
      /<system-reminder>\n(?:Called the Read tool|Result of calling the Read tool)[\s\S]*?<\/system-reminder>/,
    ],
    ["summaries", /^This session is being continued from a previous conversation[\s\S]*/],
    ["pasted", /Handle the anchors work[\s\S]*/],
    ["system", /<system-reminder>[\s\S]*?<\/system-reminder>/],
    ["other_tools", /^<(?:local-command-caveat|command-name|local-command-stdout)>[\s\S]*/],
  ],
};

it("attributes each window as the server received it, with a sub-agent and a compaction", async () => {
  const repo = scratchRepo();
  repo.write("CLAUDE.md", prose("convention", 15));
  repo.write("src/big.ts", source("big", 40));
  for (const name of SKILLS) repo.writeSkill(name, skillOf(name));
  repo.writeMcpServers({ echo: echoServer(repo) });
  haversack(repo, "init", "--yes", "--project", "--client", "claude-code");
  const server = await testServer(honest(script(repo), ATTRIBUTION));
  const run = await runClaude({
    repo,
    server,
    prompt: [PASTED, "Short question?", "/compact", NEXT],
    timeLimitMs: 120_000,
  });
  expect(run.results.at(-1)).toBe("The end.");

  const audit = auditOf(repo);
  const [main] = audit.sessions.filter(({ agent_id }) => agent_id === "");
  const [sub] = audit.sessions.filter(({ agent_id }) => agent_id !== "");
  expect(main).toMatchObject({ client: "claude-code", session_id: run.sessionId, project: repo.root });
  const requests = server.of("main");
  const first = requests.filter(({ index }) => index < server.of("compaction")[0]!.index).at(-1)!;
  expectAttributed(main?.windows[0], received(first, ATTRIBUTION));
  expectAttributed(main?.windows[1], received(requests.at(-1)!, { ...ATTRIBUTION, hasEdit: true }));
  expectAttributed(sub?.windows[0], received(server.of("sub-agent").at(-1)!, { ...ATTRIBUTION, answer: REPORT }));
  expect(main?.windows[0]?.compaction).toMatchObject({ trigger: "manual", skills: ["bridges", "gardens"] });
  expect(audit.records).toMatchObject({ broken: 0, unknown: {} });
  expect(audit.wastes.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["skill-listing", "reread", "pasted", "planning", "shell-output", "sub-agent-result"]),
  );
});
