/** `claudeAgentOptions` in the real Claude Agent SDK, which runs the pinned Claude Code. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { type ClaudeAgentOptions, claudeAgentOptions } from "../../../packages/haversack/src/agents/claude-agent.ts";
import type { AgentEventDetails } from "../../../packages/haversack/src/agents/events.ts";
import { SkillRegistry } from "../../../packages/haversack/src/agents/skill-registry.ts";
import { installClient } from "../install-client.ts";
import { messagesText } from "../request-text.ts";
import { type Rule, type Script, steps, toolCall } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";
import { testServer } from "./claude-test.ts";
import { claudeProgram } from "./install.ts";
import { environment } from "./run-claude.ts";
import { type ScratchRepo, scratchRepo } from "./scratch-repo.ts";

const FOLDER = join(import.meta.dirname, "agent-sdk");
const PACKAGE = "@anthropic-ai/claude-agent-sdk";
const SKILLS = join(import.meta.dirname, "../../../examples/tender/skills");
const TENDER = "danish-tender-guidelines";
const TASK = "Analyze Danish tender document";
const MARK = `AUTO-LOADED SKILL: ${TENDER}`;
const TOOL = "mcp__haversack__skill";

/** The part of the package that the tests use; its own types are checked by a compiler below. */
interface Sdk {
  query(call: { prompt: string | AsyncIterable<unknown>; options: Record<string, unknown> }): AsyncIterable<Message>;
}
interface Message {
  type: string;
  subtype?: string;
  result?: string;
  mcp_servers?: { name: string; status: string }[];
  tools?: string[];
}
let sdk: Sdk;

beforeAll(async () => {
  installClient({ folder: FOLDER, packageName: PACKAGE, title: "The Claude Agent SDK" });
  sdk = (await import(join(FOLDER, "node_modules", PACKAGE, "sdk.mjs"))) as Sdk;
}, 300_000);

interface Session {
  script?: Script;
  skills?: SkillRegistry;
  options?: ClaudeAgentOptions;
  more?: Record<string, unknown>;
}

/** One session. Each prompt is sent after the result of the previous one. */
async function session(prompts: string[], { script, skills = new SkillRegistry(SKILLS), options, more }: Session = {}) {
  const repo = scratchRepo();
  const server = await testServer(script);
  const events: AgentEventDetails[] = [];
  const setup = claudeAgentOptions(skills, { onEvent: (event) => void events.push(event), ...options });
  const messages: Message[] = [];
  let next = Promise.withResolvers<void>();
  async function* input() {
    for (const content of prompts) {
      yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
      await next.promise;
      next = Promise.withResolvers();
    }
  }
  const errors: string[] = [];
  try {
    for await (const message of sdk.query({
      prompt: input(),
      options: { ...setup, ...base({ repo, server }), stderr: (text: string) => void errors.push(text), ...more },
    })) {
      messages.push(message);
      if (message.type === "result") next.resolve();
    }
  } finally {
    next.resolve();
  }
  const results = messages.filter(({ type }) => type === "result").map(({ result }) => result);
  return { repo, server, events, messages, results, errors, main: server.of("main") };
}

function base({ repo, server }: { repo: ScratchRepo; server: ScriptedServer }): Record<string, unknown> {
  return {
    cwd: repo.root,
    env: environment({ repo, server }),
    pathToClaudeCodeExecutable: claudeProgram(),
    settingSources: [],
  };
}

it("loads the skill that a prompt needs, once, and serves the skill tool without a question", async () => {
  const calls = ["complexity-calculator", TENDER, "nothing-of-that-name"].map((name) => toolCall(TOOL, { name }));
  const { results, messages, events, main, server } = await session([TASK, `Again: ${TASK}`], {
    script: steps([{ tools: calls }, { text: "first" }, { text: "second" }]),
  });
  expect(results).toEqual(["first", "second"]);
  const start = messages.find(({ subtype }) => subtype === "init");
  expect(start?.mcp_servers).toMatchObject([{ name: "haversack", status: "connected" }]);
  expect(start?.tools).toContain(TOOL);

  expect(messagesText(main[0]!)).toContain(MARK);
  const tool = main[0]?.tools.find(({ name }) => name === TOOL);
  expect(tool?.description).toContain("complexity-calculator");
  expect(tool?.defer_loading).toBeUndefined();
  // In the order of the calls; the client sends them as they end.
  const answers = main[1]?.toolResults.toSorted((a, b) => (a.toolUseId < b.toolUseId ? -1 : 1));
  expect(answers).toMatchObject([
    { text: expect.stringContaining("# complexity-calculator"), isError: false },
    { text: expect.stringContaining("already in this conversation"), isError: false },
    { text: expect.stringContaining("not found"), isError: true },
  ]);
  // The second prompt fits the skill as well, but the text is there only once.
  expect(messagesText(main[2]!).split(MARK)).toHaveLength(2);
  expect(events).toMatchObject([
    { type: "skill-loaded", skill: TENDER, by: "auto" },
    { type: "skill-loaded", skill: "complexity-calculator", by: "tool" },
    { type: "skill-cached", skill: TENDER, by: "tool" },
  ]);
  expect(server.strayHosts).toEqual([]);
});

it("sends a text again after a compaction", async () => {
  const { main, server } = await session([TASK, "Go on", "/compact", TASK], {
    script: steps([{ text: "one" }, { text: "two" }, { text: "three" }]),
  });
  expect(server.of("compaction")).toHaveLength(1);
  const last = messagesText(main.at(-1)!);
  expect(last).toContain("SUMMARY-OF-THE-SCRIPTED-MODEL");
  expect(last.split(MARK)).toHaveLength(2);
});

it("gives a sub-agent the text itself, although the main conversation has it", async () => {
  const delegate = toolCall("Agent", {
    description: "look",
    prompt: "TASK-RED",
    subagent_type: "general-purpose",
    run_in_background: false,
  });
  const load = { tools: [toolCall(TOOL, { name: TENDER })] };
  const red: Rule[] = [
    { kind: "sub-agent", n: 1, reply: load },
    { kind: "sub-agent", n: 2, reply: { text: "REPORT-RED" } },
  ];
  const { results, main, server } = await session([TASK], {
    script: steps([{ tools: [delegate] }, load, { text: "done" }], ...red),
  });
  expect(results).toEqual(["done"]);
  expect(server.of("sub-agent")[1]?.toolResults[0]?.text).toContain(`# ${TENDER}`);
  expect(main[2]?.toolResults[0]?.text).toContain("already in this conversation");
});

it("gives a sub-agent the skill that its task needs, with the task", async () => {
  const prompt = `TASK-RED. ${TASK}`;
  const delegate = toolCall("Agent", { description: "look", prompt, subagent_type: "general-purpose" });
  const red: Rule = { kind: "sub-agent", reply: { text: "REPORT-RED" } };
  const { main, server } = await session(["Delegate."], {
    script: steps([{ tools: [delegate] }, { text: "ok" }], red),
  });
  expect(messagesText(server.of("sub-agent")[0]!)).toContain(MARK);
  for (const request of main) expect(messagesText(request)).not.toContain(MARK);
});

it("adds nothing for a prompt that needs no skill, and runs without any", async () => {
  const other = await session(["What is the capital of Portugal?"], { script: steps([{ text: "Lisbon" }]) });
  expect([other.results, other.events]).toEqual([["Lisbon"], []]);
  expect(messagesText(other.main[0]!)).not.toContain("AUTO-LOADED");
  const bare = await session([TASK], { script: steps([{ text: "ok" }]), skills: new SkillRegistry() });
  expect([bare.results, bare.events]).toEqual([["ok"], []]);
});

it("runs beside hooks and servers of the caller, in two sessions at once, each with its model", async () => {
  const seen: string[] = [];
  const setup = claudeAgentOptions(new SkillRegistry(SKILLS));
  const run = (model: string) => {
    const own = async () => {
      seen.push(model);
      return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: `OWN-${model}` } };
    };
    const hooks = { ...setup.hooks, UserPromptSubmit: [...setup.hooks.UserPromptSubmit, { hooks: [own] }] };
    // Calls of two conversations never have one ID; those of two scripted servers would.
    const call = (name: string) => ({ ...toolCall(TOOL, { name }), id: `toolu_${model}_${name}` });
    const load = { tools: [call(TENDER), call("complexity-calculator")] };
    return session([TASK], { script: steps([load, { text: `by ${model}` }]), more: { ...setup, hooks, model } });
  };
  const models = ["claude-sonnet-4-5", "claude-opus-4-5"];
  const sessions = await Promise.all(models.map(run));
  expect(seen.sort()).toEqual([...models].sort());
  for (const [at, { results, main }] of sessions.entries()) {
    expect(results).toEqual([`by ${models[at]}`]);
    expect(main[0]?.model).toContain(models[at]);
    expect(messagesText(main[0]!)).toContain(MARK);
    expect(messagesText(main[0]!)).toContain(`OWN-${models[at]}`);
    const texts = main[1]?.toolResults.map(({ text }) => text.split("\n")[0]) ?? [];
    expect(texts.sort()).toEqual(["# complexity-calculator", expect.stringContaining("already in this conversation")]);
  }
});

it("ends when it is aborted, and the skills serve the next session", async () => {
  const skills = new SkillRegistry(SKILLS);
  const abortController = new AbortController();
  const over = Promise.withResolvers<void>();
  const hung = session([TASK], {
    skills,
    script: () => {
      abortController.abort();
      return { text: "too late", after: over.promise };
    },
    more: { abortController },
  });
  await expect(hung).rejects.toThrow(/abort/i);
  over.resolve();
  const { results, main } = await session([TASK], { skills, script: steps([{ text: "here" }]) });
  expect(results).toEqual(["here"]);
  expect(messagesText(main[0]!)).toContain(MARK);
});

it("fits the types of the SDK", () => {
  const repo = scratchRepo();
  const place = (name: string, at: string) => {
    mkdirSync(join(repo.root, "node_modules", name, ".."), { recursive: true });
    symlinkSync(at, join(repo.root, "node_modules", name));
  };
  place(PACKAGE, join(FOLDER, "node_modules", PACKAGE));
  const root = join(import.meta.dirname, "../../..");
  for (const name of ["haversack", "ai", "@types/node"]) place(name, join(root, "node_modules", name));
  writeFileSync(
    join(repo.root, "claude.ts"),
    `import { query } from "${PACKAGE}";
import { claudeAgentOptions, SkillRegistry } from "haversack/agents";

const options = claudeAgentOptions(new SkillRegistry("skills"));
export const session = query({ prompt: "Analyze", options: { ...options, model: "sonnet" } });
export const withHooks = query({ prompt: "Analyze", options: {
  ...options,
  hooks: { ...options.hooks, UserPromptSubmit: [...options.hooks.UserPromptSubmit, { hooks: [async () => ({})] }] },
} });
// @ts-expect-error: the types of the SDK are read, so a wrong option is an error.
export const wrong = query({ prompt: "Analyze", options: { ...options, model: 1 } });
`,
  );
  const settings = {
    module: "nodenext",
    target: "es2024",
    strict: true,
    noEmit: true,
    types: ["node"],
    skipLibCheck: true,
  };
  repo.write("tsconfig.json", JSON.stringify({ compilerOptions: settings, include: ["*.ts"] }));
  const { stdout, status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", repo.root], { encoding: "utf8" });
  expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
});
