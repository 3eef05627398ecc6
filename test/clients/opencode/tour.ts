/** Sessions that meet every hook and tool of interest once, for recorded payloads. */
import { join } from "node:path";
import { startModelServer } from "../model-server.ts";
import { OPENCODE_API } from "../opencode-api.ts";
import type { McpRecord } from "../scratch.ts";
import { type Reply, type Rule, type Script, steps, toolCall } from "../script.ts";
import { runOpencode } from "./run-opencode.ts";
import { echoServer, makeScratchOpencode, type PluginRecord, type ScratchOpencode } from "./scratch-opencode.ts";

export interface OpencodeTour {
  hooks: PluginRecord[];
  mcp: McpRecord[];
  repo: ScratchOpencode;
}

const one = (name: string, input: Record<string, unknown>, usage?: Reply["usage"]): Reply => ({
  tools: [toolCall(name, input)],
  ...(usage && { usage }),
});

const inside: Rule[] = [
  { kind: "sub-agent", n: 1, reply: one("bash", { command: "echo from the agent", description: "Say it" }) },
  { kind: "sub-agent", reply: { text: "The agent's report." } },
];

function first({ root }: ScratchOpencode): Script {
  const at = (name: string) => join(root, name);
  const bash = (command: string) => one("bash", { command, description: "Run it" });
  return steps(
    [
      one("write", { filePath: at("new.txt"), content: "hello\n" }),
      one("edit", { filePath: at("new.txt"), oldString: "hello", newString: "goodbye" }),
      one("edit", { filePath: at("new.txt"), oldString: "nowhere", newString: "goodbye" }),
      one("read", { filePath: at("a.txt") }),
      bash("echo one; echo two >&2"),
      bash("sh check.sh"),
      bash("git add new.txt && git commit -m Second"),
      one("todowrite", {
        todos: [
          { content: "Write it", status: "in_progress", priority: "high" },
          { content: "Test it", status: "pending", priority: "low" },
        ],
      }),
      one("echo_recall", { handle: "h1" }),
      one("skill", { name: "knots" }),
      one("task", { description: "look around", prompt: "Look around.", subagent_type: "general" }),
      { text: "The end." },
    ],
    ...inside,
  );
}

/** The repository stays until the caller removes it. */
export async function takeOpencodeTour(): Promise<OpencodeTour> {
  const repo = makeScratchOpencode();
  repo.write("a.txt", "alpha\nbeta\n");
  repo.write("check.sh", 'echo "FAIL src/add.test.ts > adds"; exit 1\n');
  repo.write(".opencode/command/tie.md", "---\ndescription: Ties.\n---\n\nTie $ARGUMENTS.\n");
  repo.writeSkill(".agents/skills", "knots");
  repo.writeConfig({ mcp: { echo: echoServer(repo) } });
  repo.git("add", "a.txt");
  repo.git("commit", "--quiet", "-m", "Begin");
  repo.recordHooks();
  const server = await startModelServer(OPENCODE_API, first(repo));
  try {
    const { sessionId } = await runOpencode({ repo, server, prompt: "Use the tools." });
    server.setScript(
      steps([one("read", { filePath: join(repo.root, "a.txt") }, { inputTokens: 195_000 }), { text: "The end." }]),
    );
    await runOpencode({ repo, server, prompt: "bowlines", args: ["--session", sessionId, "--command", "tie"] });
  } finally {
    await server.close();
  }
  return { repo, hooks: repo.hooks(), mcp: repo.mcp() };
}
