/** Sessions that meet every hook event and tool of interest once, for recorded payloads. */
import { existsSync, readFileSync } from "node:fs";
import { GEMINI_API } from "../gemini-api.ts";
import { startModelServer } from "../model-server.ts";
import type { HookRecord, McpRecord } from "../scratch.ts";
import { type Reply, type Rule, type Script, steps, toolCall } from "../script.ts";
import { runGemini } from "./run-gemini.ts";
import { echoServer, makeScratchGemini, type ScratchGemini } from "./scratch-gemini.ts";

export interface GeminiTour {
  hooks: HookRecord[];
  mcp: McpRecord[];
  /** The client's own, with a compaction in it. */
  transcript: string;
  repo: ScratchGemini;
}

const one = (name: string, input: Record<string, unknown>, usage?: Reply["usage"]): Reply => ({
  tools: [toolCall(name, input)],
  ...(usage && { usage }),
});

const inside: Rule[] = [
  { kind: "sub-agent", n: 1, reply: one("run_shell_command", { command: "echo from the agent" }) },
  { kind: "sub-agent", reply: one("complete_task", { result: { response: "The agent's report." } }) },
];

const FIRST: Script = steps(
  [
    one("write_file", { file_path: "new.txt", content: "hello\n" }),
    one("replace", { file_path: "new.txt", instruction: "greet", old_string: "hello", new_string: "goodbye" }),
    one("replace", { file_path: "new.txt", instruction: "greet", old_string: "nowhere", new_string: "goodbye" }),
    one("read_file", { file_path: "a.txt" }),
    one("read_file", { file_path: "a.txt", start_line: 2, end_line: 2 }),
    one("read_file", { file_path: "gone.txt" }),
    one("run_shell_command", { command: "echo one; echo two >&2" }),
    one("run_shell_command", { command: "sh check.sh", description: "test" }),
    one("run_shell_command", { command: "git add new.txt && git commit -m Second" }),
    one("run_shell_command", { command: "sleep 1", is_background: true }),
    one("write_todos", {
      todos: [
        { description: "Write it", status: "in_progress" },
        { description: "Test it", status: "pending" },
      ],
    }),
    one("mcp_echo_recall", { handle: "h1" }),
    one("activate_skill", { name: "knots" }),
    one("invoke_agent", { agent_name: "generalist", prompt: "Look around." }),
    { text: "The end." },
  ],
  ...inside,
);

const SECOND: Script = steps([
  one("read_file", { file_path: "a.txt" }, { inputTokens: 900_000 }),
  one("read_file", { file_path: "a.txt" }, { inputTokens: 2_000 }),
  { text: "The end.", usage: { inputTokens: 3_000, outputTokens: 40 } },
]);

/** The repository stays until the caller removes it. */
export async function takeGeminiTour(): Promise<GeminiTour> {
  const repo = makeScratchGemini();
  repo.write("a.txt", "alpha\nbeta\n");
  repo.write("check.sh", 'echo "FAIL src/add.test.ts > adds"; exit 1\n');
  repo.write(".gemini/commands/tie.toml", "description = \"Ties.\"\nprompt = '''\nTie {{args}}.\n'''\n");
  repo.writeSkill(".agents/skills", "knots");
  repo.writeSettings({ mcpServers: { echo: echoServer(repo) } });
  repo.git("add", "a.txt");
  repo.git("commit", "--quiet", "-m", "Begin");
  repo.recordHooks({ "SessionStart:resume": "TEXT-OF-SESSION-START" });
  // A model of the second generation: later ones have no list of todos.
  const args = ["-m", "gemini-2.5-pro"];
  const server = await startModelServer(GEMINI_API, FIRST);
  let transcript: string;
  try {
    await runGemini({ repo, server, prompt: "Use the tools.", args });
    server.setScript(SECOND);
    await runGemini({ repo, server, prompt: "Go on.", args: [...args, "--resume", "latest"] });
    // Now: when a minute has ended since the session began, the client's next start removes the file.
    transcript = readFileSync(resumedTranscript(repo.hooks()), "utf8");
    server.setScript([]);
    await runGemini({ repo, server, prompt: "/tie a bowline", args });
  } finally {
    await server.close();
  }
  return { repo, hooks: repo.hooks(), mcp: repo.mcp(), transcript };
}

/** The file of the session that was resumed. Payloads after a resume may name it with the present minute in place of the one that it was made in. */
function resumedTranscript(hooks: GeminiTour["hooks"]): string {
  const id = hooks.find(({ payload }) => payload["source"] === "resume")?.payload["session_id"];
  const paths = hooks.flatMap(({ payload }) =>
    payload["session_id"] === id ? String(payload["transcript_path"]) : [],
  );
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`no transcript of ${id}: ${[...new Set(paths)].join(", ")}`);
  return found;
}
