/**
 * Sessions that meet every hook event of interest once, for recorded payloads. Each part is a run in a repository of its own, some
 * with the model that calls tools directly and one with a model that calls them from JavaScript.
 */
import { namespaceCall, textCall } from "../responses-api.ts";
import { startResponsesServer } from "../responses-server.ts";
import type { HookRecord, McpRecord } from "../scratch.ts";
import { type Reply, type Rule, type Script, steps, toolCall } from "../script.ts";
import { type CodexRepo, echoServer, makeCodexRepo } from "./codex-repo.ts";
import { CODE_MODEL, type CodexOptions, runCodex } from "./run-codex.ts";

export interface Tour {
  hooks: HookRecord[];
  mcp: McpRecord[];
  rollouts: Record<string, unknown>[][];
  repo: CodexRepo;
}

interface Part extends Partial<CodexOptions> {
  prompt: string;
  script: Script;
  /** Goes on in the same session with these prompts. */
  more?: string[];
}

/** Runs the parts one after the other. The repositories stay until the caller removes them. */
export async function takeTour(): Promise<Tour[]> {
  const tours: Tour[] = [];
  for (const part of PARTS) tours.push(await takePart(part));
  return tours;
}

async function takePart({ script, prompt, more = [], ...options }: Part): Promise<Tour> {
  const repo = makeCodexRepo();
  repo.write("a.txt", "alpha\nbeta\n");
  repo.write("check.sh", 'echo "FAIL src/add.test.ts > adds"; exit 1\n');
  repo.writeSkill("knots");
  repo.addConfig(echoServer(repo, options.skipApprovals === false ? "" : 'default_tools_approval_mode = "approve"'));
  repo.git("add", "a.txt");
  repo.git("commit", "--quiet", "-m", "Begin");
  repo.recordHooks();
  const server = await startResponsesServer(script);
  try {
    const { threadId } = await runCodex({ repo, server, prompt, ...options });
    for (const next of more) await runCodex({ repo, server, prompt: next, resume: threadId, ...options });
  } finally {
    await server.close();
  }
  return { repo, hooks: repo.hooks(), mcp: repo.mcp(), rollouts: repo.rollouts() };
}

export const shell = (cmd: string): Reply => ({ tools: [toolCall("exec_command", { cmd })] });
export const patch = (...lines: string[]): Reply => ({
  tools: [textCall("apply_patch", ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"))],
});
/** With the older tool; the answer comes by itself. */
export const spawnAgent = (message: string): Reply => ({
  tools: [namespaceCall("multi_agent_v1", "spawn_agent", { agent_type: "default", message })],
});
/** Two steps of the newer tool. */
export const collaborate = (message: string): Reply[] => [
  { tools: [namespaceCall("collaboration", "spawn_agent", { task_name: "look", message, fork_turns: "none" })] },
  { tools: [namespaceCall("collaboration", "wait_agent", { timeout_ms: 10_000 })] },
];

const report: Rule = { kind: "sub-agent", reply: { text: "The agent's report." } };

const PARTS: Part[] = [
  {
    prompt: "Use all tools, and $knots.",
    config: { "tools.update_plan.enabled": true },
    script: steps([
      shell("cat a.txt"),
      shell("sh check.sh"),
      patch("*** Add File: new.txt", "+hello", "*** Update File: a.txt", "@@", "-alpha", "+ALPHA"),
      patch("*** Delete File: new.txt", "*** Update File: a.txt", "*** Move to: b.txt", "@@", "-ALPHA", "+A"),
      patch("*** Update File: gone.txt", "@@", "-x", "+y"),
      {
        tools: [
          toolCall("update_plan", {
            plan: [
              { step: "Write it", status: "in_progress" },
              { step: "Test it", status: "pending" },
            ],
          }),
        ],
      },
      { tools: [namespaceCall("mcp__echo", "recall", { handle: "h1" })] },
      shell("git add -A && git commit -m 'Add new'"),
      { text: "The end." },
    ]),
  },
  {
    prompt: "Fill the window.",
    config: { model_auto_compact_token_limit: 100_000 },
    script: steps([{ ...shell("true"), usage: { inputTokens: 120_000 } }, { text: "one" }, { text: "two" }]),
    more: ["Go on."],
  },
  {
    prompt: "Let an agent work until its window is full.",
    config: { model_auto_compact_token_limit: 100_000 },
    script: steps(
      [spawnAgent("Look around."), shell("sleep 2"), { text: "The end." }],
      { kind: "sub-agent", n: 1, reply: { ...shell("echo from the agent"), usage: { inputTokens: 120_000 } } },
      report,
    ),
  },
  {
    prompt: "Do it in JavaScript.",
    model: CODE_MODEL,
    script: steps(
      [
        {
          tools: [
            textCall(
              "exec",
              'text(await tools.exec_command({ cmd: "exit 2" })); await tools.mcp__echo__recall({ handle: "h2" });',
            ),
          ],
        },
        ...collaborate("Look around."),
        { text: "The end." },
      ],
      report,
    ),
  },
  {
    prompt: "Call without leave.",
    skipApprovals: false,
    script: steps([{ tools: [namespaceCall("mcp__echo", "recall", { handle: "h3" })] }, { text: "The end." }]),
  },
];
