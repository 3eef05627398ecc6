/**
 * A session with every hook event of interest, for recorded payloads. Its parts are separate runs in separate repositories, because some of them (a
 * refused permission, a failing server) end a session.
 */
import { join } from "node:path";
import type { HookRecord, McpRecord } from "../scratch.ts";
import { type Reply, type Rule, type Script, steps, toolCall } from "../script.ts";
import { startScriptedServer } from "../scripted-server.ts";
import { type ClaudeOptions, runClaude } from "./run-claude.ts";
import { echoServer, makeScratchRepo, type ScratchRepo } from "./scratch-repo.ts";

export interface Tour {
  hooks: HookRecord[];
  mcp: McpRecord[];
  repo: ScratchRepo;
}

interface Part extends Partial<ClaudeOptions> {
  prompt: string | string[];
  script(repo: ScratchRepo): Script;
  /** Runs the prompt again in the same session, once per list of arguments. */
  again?: (sessionId: string) => string[][];
}

/** Runs the parts one after the other. The repositories stay until the caller removes them. */
export async function takeTour(): Promise<Tour[]> {
  const tours: Tour[] = [];
  for (const part of PARTS) tours.push(await takePart(part));
  return tours;
}

async function takePart({ script, prompt, again, ...options }: Part): Promise<Tour> {
  const repo = makeScratchRepo();
  repo.write("CLAUDE.md", "Notes of the project.\n");
  repo.write("a.txt", "alpha\nbeta\n");
  repo.write("check.sh", 'echo "FAIL src/add.test.ts > adds"; exit 1\n');
  repo.writeSkill("knots", { body: "Tie $ARGUMENTS." });
  repo.writeMcpServers({ echo: echoServer(repo) });
  repo.git("add", "a.txt");
  repo.git("commit", "--quiet", "-m", "Begin");
  repo.recordHooks();
  const server = await startScriptedServer(script(repo));
  try {
    const { sessionId } = await runClaude({ repo, server, prompt, ...options });
    for (const args of again?.(sessionId) ?? []) await runClaude({ repo, server, prompt, ...options, args });
  } finally {
    await server.close();
  }
  return { repo, hooks: repo.hooks(), mcp: repo.mcp() };
}

const bash = (command: string) => toolCall("Bash", { command, description: "Run it" });
const one = (name: string, input: Record<string, unknown>): Reply => ({ tools: [toolCall(name, input)] });

const subAgent: Rule[] = [
  { kind: "sub-agent", n: 1, reply: { tools: [bash("echo from the agent")] } },
  { kind: "sub-agent", reply: { text: "The agent's report." } },
];
const agent = (isBackground: boolean) =>
  one("Agent", {
    description: "look around",
    prompt: "Look around.",
    subagent_type: "general-purpose",
    run_in_background: isBackground,
  });

const PARTS: Part[] = [
  {
    prompt: "Use the tools.",
    // Without this variable the newer models have no task list.
    env: { CLAUDE_CODE_ENABLE_TODO_TOOLS: "1" },
    script: ({ root }) =>
      steps(
        [
          one("Write", { file_path: join(root, "new.txt"), content: "hello\n" }),
          one("Write", { file_path: join(root, "new.txt"), content: "hello again\n" }),
          one("Edit", { file_path: join(root, "new.txt"), old_string: "hello", new_string: "goodbye" }),
          one("Read", { file_path: join(root, "a.txt") }),
          one("Read", { file_path: join(root, "a.txt"), offset: 2, limit: 1 }),
          { tools: [bash("echo one; echo two >&2")] },
          { tools: [bash("sh check.sh")] },
          { tools: [bash("git add new.txt && git commit -m 'Add new'")] },
          one("Read", { file_path: join(root, "gone.txt") }),
          one("ToolSearch", { query: "select:mcp__echo__recall", max_results: 1 }),
          one("mcp__echo__recall", { handle: "h1" }),
          one("Skill", { skill: "knots", args: "a bowline" }),
          one("TaskCreate", { subject: "Write it", description: "All of it.", activeForm: "Writing it" }),
          one("TaskUpdate", { taskId: "1", status: "in_progress" }),
          one("TaskList", {}),
          one("TaskUpdate", { taskId: "1", status: "completed" }),
          agent(false),
          { text: "The end." },
        ],
        ...subAgent,
      ),
  },
  {
    prompt: ["First.", "/knots a bowline", "/compact keep the gist", "Fourth.", "/clear", "Fifth."],
    script: () => [],
  },
  {
    prompt: ["First.", "Second.", "Third."],
    args: ["--autocompact", "100000"],
    script: () => steps([{ text: "one" }, { text: "two", usage: { inputTokens: 97_000 } }, { text: "three" }]),
  },
  {
    prompt: "Let an agent work until its window is full.",
    args: ["--autocompact", "100000"],
    script: () =>
      steps(
        [agent(false), { text: "The end." }],
        ...[10_000, 20_000, 97_000].map(
          (inputTokens, place): Rule => ({
            kind: "sub-agent",
            n: place + 1,
            reply: { tools: [bash("true")], usage: { inputTokens } },
          }),
        ),
      ),
  },
  {
    prompt: "Keep the old todo list, and send an agent into the background.",
    env: { CLAUDE_CODE_ENABLE_TODO_TOOLS: "1", CLAUDE_CODE_ENABLE_TASKS: "0" },
    script: () =>
      steps(
        [
          one("TodoWrite", {
            todos: [
              { content: "Write it", status: "in_progress", activeForm: "Writing it" },
              { content: "Test it", status: "pending", activeForm: "Testing it" },
            ],
          }),
          agent(true),
          { text: "Waiting." },
        ],
        ...subAgent,
      ),
  },
  {
    prompt: "Write without leave.",
    skipPermissions: false,
    script: ({ root }) => steps([one("Write", { file_path: join(root, "new.txt"), content: "hello\n" })]),
  },
  {
    prompt: "Go on.",
    script: () => [],
    again: (sessionId) => [
      ["--resume", sessionId],
      ["--resume", sessionId, "--fork-session"],
    ],
  },
  {
    // A second prompt, because a client that ends at once does not wait for its StopFailure hook.
    prompt: ["Fail.", "Go on."],
    script: () => steps([{ error: { status: 400, type: "invalid_request_error", message: "prompt is too long" } }]),
  },
];
