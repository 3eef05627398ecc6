/** The streams of the real clients, headless, as the runner's readers understand them. */
import { describe, expect, it } from "vitest";
import { claudeStream } from "../../packages/haversack/src/clients/claude-code/stream.ts";
import { codexStream } from "../../packages/haversack/src/clients/codex/stream.ts";
import { geminiStream } from "../../packages/haversack/src/clients/gemini/stream.ts";
import { opencodeStream } from "../../packages/haversack/src/clients/opencode/stream.ts";
import type { StreamEvent, StreamReader } from "../../packages/haversack/src/clients/stream-event.ts";
import { testServer as claudeServer } from "./claude-code/claude-test.ts";
import { runClaude } from "./claude-code/run-claude.ts";
import { scratchRepo } from "./claude-code/scratch-repo.ts";
import { codexRepo } from "./codex/codex-repo.ts";
import { codexOnce } from "./codex/codex-test.ts";
import { testServer as geminiServer } from "./gemini/gemini-test.ts";
import { runGemini } from "./gemini/run-gemini.ts";
import { scratchGemini } from "./gemini/scratch-gemini.ts";
import { opencodeProgram } from "./opencode/install.ts";
import { testServer as opencodeServer } from "./opencode/opencode-test.ts";
import { environment, providerConfig, runOpencode } from "./opencode/run-opencode.ts";
import { scratchOpencode } from "./opencode/scratch-opencode.ts";
import { runClient } from "./run-client.ts";
import { type Reply, type Script, steps, toolCall } from "./script.ts";

interface Run {
  events: StreamEvent[];
  exitCode: number | null;
  stdout: string;
}

type Start = (script: Script) => Promise<Run>;

/** As the scripted model asks for a failing command in each client. */
const CLIENTS: Record<string, { start: Start; shell: Reply }> = {
  "claude-code": {
    shell: { tools: [toolCall("Bash", { command: "exit 3", description: "fail" })] },
    async start(script) {
      const server = await claudeServer(script);
      const env = { CLAUDE_CODE_MAX_RETRIES: "0" };
      return readAll(await runClaude({ repo: scratchRepo(), server, prompt: "Go.", env }), claudeStream());
    },
  },
  codex: {
    shell: { tools: [toolCall("exec_command", { cmd: "exit 3" })] },
    async start(script) {
      const { run } = await codexOnce("Go.", script, { repo: codexRepo() });
      return readAll(run, codexStream());
    },
  },
  gemini: {
    shell: { tools: [toolCall("run_shell_command", { command: "exit 3" })] },
    async start(script) {
      const server = await geminiServer(script);
      return readAll(await runGemini({ repo: scratchGemini(), server, prompt: "Go." }), geminiStream());
    },
  },
  opencode: {
    shell: { tools: [toolCall("bash", { command: "exit 3", description: "fail" })] },
    async start(script) {
      const server = await opencodeServer(script);
      return readAll(await runOpencode({ repo: scratchOpencode(), server, prompt: "Go." }), opencodeStream());
    },
  },
};

function readAll({ stdout, exitCode }: { stdout: string; exitCode: number | null }, reader: StreamReader): Run {
  return { events: stdout.split("\n").flatMap((line) => reader.read(line)), exitCode, stdout };
}

function of<Kind extends StreamEvent["kind"]>(events: readonly StreamEvent[], kind: Kind) {
  return events.filter((event): event is Extract<StreamEvent, { kind: Kind }> => event.kind === kind);
}

it("opencode: ends with 0 after a tool that was not allowed, and we know why", async () => {
  const server = await opencodeServer(steps([CLIENTS["opencode"]!.shell, { text: "never said" }]));
  const repo = scratchOpencode();
  repo.writeConfig({ ...providerConfig(server, 200_000), permission: { bash: "ask" } });
  const place = { cwd: repo.root, env: environment({ repo, server }) };
  const run = await runClient(opencodeProgram(), ["run", "--format", "json", "Go."], place);
  const { events, exitCode } = readAll(run, opencodeStream());
  expect(exitCode).toBe(0);
  expect(of(events, "denied")).toMatchObject([{ tool: "bash" }]);
  expect(of(events, "result").at(-1)).toMatchObject({ isError: true, reason: "denied" });
});

it("gemini: a limit of turns is one, exit 53", async () => {
  const { shell } = CLIENTS["gemini"]!;
  const server = await geminiServer(steps([shell, shell, { text: "never said" }]));
  const repo = scratchGemini();
  repo.write(".gemini/settings.json", JSON.stringify({ model: { maxSessionTurns: 1 } }));
  const { events, exitCode } = readAll(await runGemini({ repo, server, prompt: "Go." }), geminiStream());
  expect(exitCode).toBe(53);
  expect(of(events, "result").at(-1)).toMatchObject({ isError: true, reason: "max-turns" });
});

describe.each(Object.keys(CLIENTS))("%s", (client) => {
  const { start, shell } = CLIENTS[client]!;

  it("a session with a tool call: its id, the call, what was said, the result and what it used", async () => {
    const { events, exitCode, stdout } = await start(steps([shell, { text: "All is done." }]));
    if (process.env["SHOW_STREAMS"]) console.log(stdout.slice(0, 6000), JSON.stringify(events, null, 1));
    expect(exitCode).toBe(0);
    expect(of(events, "unknown")).toEqual([]);
    expect(of(events, "session")[0]?.id).toMatch(/^[\w-]{8,}$/);
    expect(of(events, "tool")).toEqual([expect.objectContaining({ text: expect.stringContaining("exit 3") })]);
    expect(of(events, "tool-end")).toHaveLength(1);
    expect(of(events, "said").at(-1)?.text).toBe("All is done.");
    expect(of(events, "result").at(-1)).toMatchObject({ isError: false });
    const used = of(events, "usage").reduce((sum, one) => (one.isTotal ? one.inputTokens : sum + one.inputTokens), 0);
    expect(used).toBeGreaterThan(0);
  });

  it("an error of the model's server: the reason, and that it failed", async () => {
    const { events, exitCode } = await start([
      { reply: { error: { status: 401, type: "authentication_error", message: "no such key" } } },
    ]);
    expect(of(events, "result").at(-1)).toMatchObject({ isError: true, reason: "auth" });
    expect(exitCode).not.toBe(0);
  });
});
