/** How sessions of the real clients end, as the runner judges it: from the stream, standard error and the exit code together. */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { codexFill } from "../../packages/haversack/src/clients/codex/rollout.ts";
import { geminiFill } from "../../packages/haversack/src/clients/gemini/transcript.ts";
import type { StreamEvent } from "../../packages/haversack/src/clients/stream-event.ts";
import { STREAMED } from "../../packages/haversack/src/clients/streamed.ts";
import type { WindowFill } from "../../packages/haversack/src/engine/wiring.ts";
import { type SessionEnd, startSession } from "../../packages/haversack/src/runs/client-session.ts";
import { testServer as claudeServer } from "./claude-code/claude-test.ts";
import { claudeProgram } from "./claude-code/install.ts";
import { environment as claudeEnvironment } from "./claude-code/run-claude.ts";
import { type ScratchRepo, scratchRepo } from "./claude-code/scratch-repo.ts";
import { type CodexRepo, codexRepo } from "./codex/codex-repo.ts";
import { testServer as codexServer } from "./codex/codex-test.ts";
import { codexProgram } from "./codex/install.ts";
import { environment as codexEnvironment, settingsFor } from "./codex/run-codex.ts";
import { testServer as geminiServer } from "./gemini/gemini-test.ts";
import { geminiProgram } from "./gemini/install.ts";
import { environment as geminiEnvironment } from "./gemini/run-gemini.ts";
import { type ScratchGemini, scratchGemini } from "./gemini/scratch-gemini.ts";
import { opencodeProgram } from "./opencode/install.ts";
import { testServer as opencodeServer } from "./opencode/opencode-test.ts";
import { environment as opencodeEnvironment, providerConfig } from "./opencode/run-opencode.ts";
import { type ScratchOpencode, scratchOpencode } from "./opencode/scratch-opencode.ts";
import { runClient } from "./run-client.ts";
import { type Reply, type Script, steps, toolCall } from "./script.ts";

interface Wish {
  /** Variables to add; an empty one is left out. */
  env?: Record<string, string>;
  args?: readonly string[];
  hasPermissions?: boolean;
}

interface Ended {
  end: SessionEnd;
  events: StreamEvent[];
  /** Texts of the requests that the model got. */
  heard: string[];
}

interface Wired {
  program: string;
  first: readonly string[];
  cwd: string;
  env: Record<string, string>;
  args: readonly string[];
  requests: readonly { body: unknown }[];
  readFill?(sessionId: string, startedAt: Date): WindowFill | undefined;
}

type Prepare<Repo> = (repo: Repo) => void;

const WIRE = {
  async "claude-code"(
    script: Script,
    { hasPermissions = true, env }: Wish,
    prepare?: Prepare<ScratchRepo>,
  ): Promise<Wired> {
    const [repo, server] = [scratchRepo(), await claudeServer(script)];
    prepare?.(repo);
    const retries = { CLAUDE_CODE_MAX_RETRIES: "0", ...env };
    return {
      ...{ program: claudeProgram(), first: [], cwd: repo.root, requests: server.requests },
      env: claudeEnvironment({ repo, server, env: retries }),
      args: hasPermissions ? ["--dangerously-skip-permissions"] : [],
    };
  },
  async codex(script: Script, { hasPermissions = true, env = {} }: Wish, prepare?: Prepare<CodexRepo>): Promise<Wired> {
    const [repo, server] = [codexRepo(), await codexServer(script)];
    prepare?.(repo);
    const free = hasPermissions ? ["--dangerously-bypass-approvals-and-sandbox"] : [];
    const all = codexEnvironment({ repo, server, env });
    return {
      ...{ program: codexProgram(), first: [], cwd: repo.root, requests: server.requests },
      env: all,
      args: [...free, ...settingsFor(server)],
      readFill: (sessionId, startedAt) => codexFill({ sessionId, agentId: "", startedAt }, all),
    };
  },
  async gemini(
    script: Script,
    { hasPermissions = true, env = {} }: Wish,
    prepare?: Prepare<ScratchGemini>,
  ): Promise<Wired> {
    const [repo, server] = [scratchGemini(), await geminiServer(script)];
    repo.write(".gemini/settings.json", JSON.stringify({ general: { maxAttempts: 1 } }));
    prepare?.(repo);
    const all = geminiEnvironment({ repo, server, env });
    return {
      ...{ program: process.execPath, first: [geminiProgram()], cwd: repo.root, requests: server.requests },
      env: all,
      args: hasPermissions ? ["--yolo"] : [],
      readFill: (sessionId, startedAt) => geminiFill({ sessionId, agentId: "", startedAt }, all),
    };
  },
  async opencode(
    script: Script,
    { hasPermissions = true, env = {} }: Wish,
    prepare?: Prepare<ScratchOpencode & { addConfig(more: object): void }>,
  ): Promise<Wired> {
    const [repo, server] = [scratchOpencode(), await opencodeServer(script)];
    const config = providerConfig(server, 100_000);
    repo.writeConfig(config);
    prepare?.({ ...repo, addConfig: (more) => repo.writeConfig({ ...config, ...more }) });
    return {
      ...{ program: opencodeProgram(), first: [], cwd: repo.root, requests: server.requests },
      env: opencodeEnvironment({ repo, server, env }),
      args: hasPermissions ? ["--auto"] : [],
    };
  },
};

type Name = keyof typeof WIRE;

function isRunning(seconds: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(`sleep\0${seconds}`);
    } catch {
      // It has ended in this moment.
      return false;
    }
  });
}

/** One session, started as `haversack work` starts it. */
async function session<One extends Name>(
  name: One,
  script: Script,
  wish: Wish = {},
  prepare?: Parameters<(typeof WIRE)[One]>[2],
  windowShare = 0.7,
): Promise<Ended> {
  const { running, events, wired } = await begin(name, script, wish, prepare, windowShare);
  const end = await running.ended;
  if (process.env["SHOW_ENDS"]) console.log(name, end, JSON.stringify(events));
  return { end, events, heard: textsOf(wired) };
}

const textsOf = ({ requests }: Wired) => requests.map(({ body }) => JSON.stringify(body));

async function begin<One extends Name>(
  name: One,
  script: Script,
  wish: Wish = {},
  prepare?: Parameters<(typeof WIRE)[One]>[2],
  windowShare = 0.7,
) {
  const client = STREAMED[name]!;
  const wired = await (WIRE[name] as (script: Script, wish: Wish, prepare: unknown) => Promise<Wired>)(
    script,
    wish,
    prepare,
  );
  const mark = `HAVERSACK_RUN=${randomUUID()}`;
  const { [name === "claude-code" ? "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS" : ""]: _, ...env } = wired.env;
  const kept = Object.entries({ ...env, ...client.env, HAVERSACK_RUN: mark.slice("HAVERSACK_RUN=".length) });
  const events: StreamEvent[] = [];
  const startedAt = new Date();
  const { readFill } = wired;
  const running = startSession(
    {
      client,
      program: wired.program,
      args: [...wired.first, ...client.begin, ...wired.args, ...(wish.args ?? []), ...client.end],
      cwd: wired.cwd,
      env: Object.fromEntries(kept.filter(([, value]) => value !== "")),
      mark,
      prompt: "Go.",
      limits: {
        ...{ windowShare, windowTokens: 200_000, graceMs: 60_000, killMs: 10_000 },
        ...{ quietMs: 240_000, quietToolMs: 240_000 },
      },
      endRequest: (why) => `PLEASE-END: ${why}`,
      ...(readFill && { readFill: (id: string) => readFill(id, startedAt) }),
    },
    (event) => void events.push(event),
  );
  onTestFinished(() => running.kill());
  return { running, events, wired };
}

const SHELL: Record<Name, (command: string) => Reply> = {
  "claude-code": (command) => ({ tools: [toolCall("Bash", { command, description: "work" })] }),
  codex: (cmd) => ({ tools: [toolCall("exec_command", { cmd })] }),
  gemini: (command) => ({ tools: [toolCall("run_shell_command", { command })] }),
  opencode: (command) => ({ tools: [toolCall("bash", { command, description: "work" })] }),
};

const failing = (status: number, type: string, message: string): Script => [
  { reply: { error: { status, type, message } } },
];

const of = (events: readonly StreamEvent[], kind: StreamEvent["kind"]) => events.filter((event) => event.kind === kind);

const MISSING = { command: "/no/such/program", args: [] };
/** Reads what it is told, and says nothing. */
const MUTE = { command: "/bin/sh", args: ["-c", "cat > /dev/null"] };

describe("the model's server", () => {
  // Gemini CLI and opencode try for more than a minute.
  it.each<[Name, number, string, string, string]>([
    ["claude-code", 404, "not_found_error", "model not found", "not-found"],
    ["claude-code", 429, "rate_limit_error", "slow down", "rate-limited"],
    ["claude-code", 500, "api_error", "internal server error", "server-error"],
    ["claude-code", 529, "overloaded_error", "Overloaded", "overloaded"],
    ["codex", 404, "not_found_error", "model not found", "not-found"],
    ["codex", 429, "rate_limit_error", "slow down", "rate-limited"],
    // It says only that demand is high.
    ["codex", 500, "api_error", "internal server error", "overloaded"],
    ["codex", 529, "overloaded_error", "Overloaded", "overloaded"],
    ["gemini", 404, "not_found_error", "model not found", "not-found"],
    ["gemini", 429, "rate_limit_error", "slow down", "rate-limited"],
    ["opencode", 404, "not_found_error", "model not found", "not-found"],
    ["opencode", 500, "api_error", "internal server error", "server-error"],
  ])("%s: %i", async (name, status, type, message, reason) => {
    const { end } = await session(name, failing(status, type, message));
    expect(end).toMatchObject({ kind: "failed", reason });
  });

  it.each<[Name, string]>([
    ["claude-code", "ANTHROPIC_API_KEY"],
    ["codex", "SCRIPTED_KEY"],
    ["gemini", "GEMINI_API_KEY"],
  ])("%s: has no key", async (name, key) => {
    const { end } = await session(name, [], { env: { [key]: "" } });
    expect(end).toMatchObject({ kind: "failed", reason: "auth" });
    expect(end.exitCode).not.toBe(0);
  });
});

describe("permissions", () => {
  it.each<[Name, string[]]>([
    ["claude-code", ["Bash"]],
    // A blocked command is one that failed.
    ["codex", []],
    // The tool is not offered.
    ["gemini", []],
  ])("%s: without them a session ends well all the same, and nothing is written", async (name, denied) => {
    const script = steps([SHELL[name]("touch made && echo WRI''TTEN"), { text: "end" }]);
    const { end, events, heard } = await session(name, script, { hasPermissions: false });
    expect(end).toMatchObject({ kind: "completed", exitCode: 0, lastSaid: "end" });
    expect(of(events, "denied").map((event) => "tool" in event && event.tool)).toEqual(denied);
    expect(heard.join()).not.toContain("WRITTEN");
  });

  it("claude-code: a limit of turns ends the session, and is told as that", async () => {
    const script = steps([SHELL["claude-code"]("echo one"), SHELL["claude-code"]("echo two"), { text: "never" }]);
    const { end } = await session("claude-code", script, { args: ["--max-turns", "1"] });
    expect(end).toMatchObject({ kind: "failed", reason: "max-turns", exitCode: 1 });
  });

  it("gemini: a folder that is not trusted", async () => {
    const { end } = await session("gemini", [], { env: { GEMINI_CLI_TRUST_WORKSPACE: "" } });
    expect(end).toMatchObject({ kind: "failed", reason: "untrusted", exitCode: 55 });
  });
});

describe("a server of tools", () => {
  it("claude-code: one that cannot be started is named; one that never answers only delays the start", async () => {
    const env = { MCP_TIMEOUT: "3000" };
    const { end, events } = await session("claude-code", steps([{ text: "end" }]), { env }, (repo) =>
      repo.writeMcpServers({ missing: MISSING, mute: MUTE }),
    );
    expect(end).toMatchObject({ kind: "completed", lastSaid: "end" });
    const problems = of(events, "session").flatMap((event) => ("problems" in event ? (event.problems ?? []) : []));
    expect(problems).toContain("MCP server missing did not start");
  });

  it("codex: one that cannot be started is not told of, unless it is required", async () => {
    const settings = (more: string[]) => ["-c", 'mcp_servers.missing.command="/no/such/program"', ...more];
    const { end } = await session("codex", steps([{ text: "end" }]), { args: settings([]) });
    expect(end).toMatchObject({ kind: "completed", lastSaid: "end" });
    const required = await session("codex", [], { args: settings(["-c", "mcp_servers.missing.required=true"]) });
    expect(required.end.kind).not.toBe("completed");
    expect(required.end.text).toContain("missing");
  });

  it("codex, gemini and opencode: one that never answers only delays the start", async () => {
    const codex = await session("codex", steps([{ text: "end" }]), {
      args: ["-c", 'mcp_servers.mute.command="/bin/sh"', "-c", 'mcp_servers.mute.args=["-c", "cat > /dev/null"]'],
    });
    expect(codex.end).toMatchObject({ kind: "completed", lastSaid: "end" });
    const gemini = await session("gemini", steps([{ text: "end" }]), {}, (repo) =>
      repo.write(".gemini/settings.json", JSON.stringify({ mcpServers: { mute: { ...MUTE, timeout: 3000 } } })),
    );
    expect(gemini.end).toMatchObject({ kind: "completed", lastSaid: "end" });
    const mcp = { mute: { type: "local", command: [MUTE.command, ...MUTE.args], enabled: true, timeout: 3000 } };
    const opencode = await session("opencode", steps([{ text: "end" }]), {}, (repo) => repo.addConfig({ mcp }));
    expect(opencode.end).toMatchObject({ kind: "completed", lastSaid: "end" });
  });

  it("gemini and opencode go on without one that cannot be started", async () => {
    const gemini = await session("gemini", steps([{ text: "end" }]), {}, (repo) =>
      repo.write(".gemini/settings.json", JSON.stringify({ mcpServers: { missing: MISSING } })),
    );
    expect(gemini.end).toMatchObject({ kind: "completed", lastSaid: "end" });
    const mcp = { missing: { type: "local", command: [MISSING.command], enabled: true } };
    const opencode = await session("opencode", steps([{ text: "end" }]), {}, (repo) => repo.addConfig({ mcp }));
    expect(opencode.end).toMatchObject({ kind: "completed", lastSaid: "end" });
  });
});

it.each<[Name, (id: string) => string[], ((id: string) => string[]) | undefined]>([
  [
    "claude-code",
    (id) => ["-p", "Again.", "--resume", id, "--output-format", "stream-json", "--verbose"],
    (id) => ["-p", "Again.", "--resume", id, "--fork-session", "--output-format", "stream-json", "--verbose"],
  ],
  ["codex", (id) => ["exec", "resume", id, "--json", "Again."], (id) => ["exec", "fork", id, "--json", "Again."]],
  ["gemini", (id) => ["-p", "Again.", "--resume", id, "-o", "stream-json"], undefined],
  [
    "opencode",
    (id) => ["run", "--format", "json", "-s", id, "Again."],
    (id) => ["run", "--format", "json", "-s", id, "--fork", "Again."],
  ],
])(
  "%s: a session that was killed in the middle of a tool can be resumed by the ID that its stream told, and forked; nothing is replayed",
  async (name, resume, fork) => {
    const seconds = `300.${process.pid}${Date.now() % 100_000}`;
    const said = "Before the tool.";
    const isAgain = ({ body }: { body: unknown }) => JSON.stringify(body).includes("Again.");
    const answer: Script = (request) => {
      if (request.kind === "side") return undefined;
      if (isAgain(request)) return { text: "Gone on." };
      return { ...SHELL[name](`sleep ${seconds}`), text: said };
    };
    const { running, events, wired } = await begin(name, answer);
    for (let waited = 0; !isRunning(seconds) && waited < 60_000; waited += 100) await sleep(100);
    expect(isRunning(seconds)).toBe(true);
    running.kill();
    const end = await running.ended;
    expect(end).toMatchObject({ kind: "stopped", sessionId: expect.stringMatching(/^[\w-]{8,}$/) });
    expect(isRunning(seconds)).toBe(false);
    const saidIn = (list: readonly StreamEvent[]) => list.flatMap((event) => (event.kind === "said" ? event.text : []));
    expect(saidIn(events)).toContain(said);
    const place = { cwd: wired.cwd, env: wired.env };
    for (const [words, isSame] of [
      [resume, true],
      [fork, false],
    ] as const) {
      if (!words) continue;
      const run = await runClient(wired.program, [...wired.first, ...words(end.sessionId ?? ""), ...wired.args], place);
      const reader = STREAMED[name]!.makeReader();
      const again = run.stdout.split("\n").flatMap((line) => reader.read(line));
      expect(run.exitCode, run.stderr).toBe(0);
      expect(run.stdout).toContain("Gone on.");
      expect(run.stdout).not.toContain(said);
      const [session] = of(again, "session");
      expect(session && "id" in session && session.id === end.sessionId).toBe(isSame);
      expect(textsOf(wired).findLast((text) => text.includes("Again."))).toContain("Go.");
    }
  },
);

it("claude-code: an ID that is taken, and one that is not known, end the session before it begins", async () => {
  const id = randomUUID();
  const { running, wired } = await begin("claude-code", steps([{ text: "end" }]), { args: ["--session-id", id] });
  expect(await running.ended).toMatchObject({ kind: "completed", sessionId: id });
  const again = await runClient(wired.program, ["-p", "Again.", "--session-id", id], {
    cwd: wired.cwd,
    env: wired.env,
  });
  expect([again.exitCode, again.stdout]).toEqual([1, ""]);
  expect(again.stderr).toContain("already in use");
  const unknown = await session("claude-code", [], { args: ["--resume", randomUUID()] });
  expect(unknown.end).toMatchObject({ exitCode: 1, usage: { inputTokens: 0 } });
  expect(unknown.end.kind).not.toBe("completed");
});

it("claude-code: a shell in the background is refused, so it cannot hold the session open", async () => {
  const call = toolCall("Bash", { command: "sleep 300", description: "wait", run_in_background: true });
  const { end, heard } = await session("claude-code", steps([{ tools: [call] }, { text: "end" }]));
  expect(end).toMatchObject({ kind: "completed", lastSaid: "end", leftovers: 0 });
  expect(heard.at(-1)).toMatch(/"is_error":true/);
});

describe("the window", () => {
  it("claude-code: is asked to end before the client would compact it, wherever the user has set that", async () => {
    // It compacts at 67,000.
    const script: Script = ({ kind, body }, n) => {
      if (kind !== "main") return undefined;
      if (JSON.stringify(body).includes("PLEASE-END: window-full")) return { text: "saved" };
      return { ...SHELL["claude-code"]("sleep 1"), usage: { inputTokens: n === 1 ? 10_000 : 62_000 } };
    };
    const { end } = await session("claude-code", script, { args: ["--autocompact", "100000"] });
    expect(end).toMatchObject({ kind: "window-full", compactions: 0, windowTokens: 100_000, lastSaid: "saved" });
  });

  it("codex: one that the client compacts goes on; that is seen in its session file", async () => {
    const shell = (inputTokens: number) => ({ ...SHELL["codex"]("sleep 3"), usage: { inputTokens } });
    // The fill is looked at when a tool ends, so the window is filled slowly enough to be seen.
    const script = steps([shell(44_000), shell(45_000), shell(60_000), shell(20_000), shell(21_000), { text: "end" }]);
    const { end } = await session("codex", script, { args: ["-c", "model_auto_compact_token_limit=50000"] });
    expect(end).toMatchObject({ kind: "completed", lastSaid: "end", compactions: 1, windowTokens: 258_400 });
  });

  it("gemini: its fill is in its chat file", async () => {
    const shell = { ...SHELL["gemini"]("sleep 3"), usage: { inputTokens: 60_000 } };
    const { end } = await session("gemini", steps([shell, shell, { text: "end" }]));
    expect(end).toMatchObject({ kind: "completed", usedTokens: 60_010 });
  });

  it("opencode: one that the client compacts goes on", async () => {
    const shell = { ...SHELL["opencode"]("echo on"), usage: { inputTokens: 120_000 } };
    // No end request: it would come first.
    const { end } = await session("opencode", steps([shell, { text: "end" }]), {}, undefined, 2);
    expect(end).toMatchObject({ kind: "completed", compactions: 1 });
  });
});
