/** What the real client does with the answers of hooks, as far as Haversack relies on it. */
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  fitBytes,
  formatCodexAnswer,
  MAX_CONTEXT_BYTES,
} from "../../../packages/haversack/src/clients/codex/adapter.ts";
import { endedCommand } from "../../../packages/haversack/src/clients/codex/rollout.ts";
import { firstChange } from "../request-text.ts";
import { developerTexts } from "../responses-request.ts";
import type { HookAnswer } from "../scratch.ts";
import { steps, toolCall } from "../script.ts";
import { type CodexRepo, codexRepo } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { patch, shell, spawnAgent } from "./tour.ts";

function repoWith(answers: Record<string, HookAnswer>): CodexRepo {
  const repo = codexRepo();
  repo.recordHooks(answers);
  return repo;
}

const said = (event: string, answer: Parameters<typeof formatCodexAnswer>[1], more = {}) => ({
  stdout: formatCodexAnswer({ hook_event_name: event, ...more }, answer),
});

it("puts texts behind what is there: before the prompt, behind it, before a tool's result", async () => {
  const repo = repoWith({ SessionStart: "CTX-SESSION", UserPromptSubmit: "CTX-PROMPT", PostToolUse: "CTX-TOOL" });
  const { server } = await codexOnce("Go.", steps([shell("true"), { text: "end" }]), { repo });
  const [first, second] = server.requests;
  const roles = (at: number) => second!.input.slice(at).map(({ type, role }) => role ?? type);
  const start = second!.input.findIndex((item) => JSON.stringify(item).includes("CTX-SESSION"));
  expect(roles(start)).toEqual([
    "developer",
    "user",
    "developer",
    "function_call",
    "developer",
    "function_call_output",
  ]);
  expect(developerTexts(second!).slice(-3)).toEqual(["CTX-SESSION", "CTX-PROMPT", "CTX-TOOL"]);
  expect(firstChange(first!, second!)).toBeUndefined();
});

it("does not run hooks that nobody has reviewed, and says nothing", async () => {
  const repo = repoWith({ UserPromptSubmit: "CTX-PROMPT" });
  const { run, server } = await codexOnce("Go.", [], { repo, trustHooks: false });
  expect(run.exitCode).toBe(0);
  expect(repo.hooks()).toEqual([]);
  expect(JSON.stringify(run.events)).not.toMatch(/hook/);
  expect(developerTexts(server.requests[0]!)).not.toContain("CTX-PROMPT");
});

describe("a long text", () => {
  it.each([
    ["Latin letters", `${"w ".repeat(4_996)}THE-END`],
    ["other letters", `${"é✓ß ".repeat(1_240)}THE-END`],
  ])("of %s comes whole up to the limit in bytes, and is cut beyond", async (_, whole) => {
    expect(Buffer.byteLength(whole)).toBeGreaterThan(MAX_CONTEXT_BYTES - 100);
    expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(MAX_CONTEXT_BYTES);
    const fits = await codexOnce("Go.", [], { repo: repoWith({ UserPromptSubmit: whole }) });
    expect(developerTexts(fits.server.requests[0]!)).toContain(whole);

    const long = `${whole}${"x".repeat(120)}`;
    const cut = await codexOnce("Go.", [], { repo: repoWith({ UserPromptSubmit: long }) });
    expect(developerTexts(cut.server.requests[0]!)).not.toContain(long);

    const ours = await codexOnce("Go.", [], {
      repo: repoWith({ UserPromptSubmit: said("UserPromptSubmit", { context: long }) }),
    });
    expect(developerTexts(ours.server.requests[0]!)).toContain(fitBytes(long));
  });
});

describe("answers of ours", () => {
  it("refuse an edit", async () => {
    const repo = repoWith({ "PreToolUse:apply_patch": said("PreToolUse", { deny: "NO-WAY" }) });
    const { server } = await codexOnce("Go.", steps([patch("*** Add File: new.txt", "+x")]), { repo });
    expect(server.requests[1]?.toolResults[0]?.text).toContain("NO-WAY");
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("change what a sub-agent is told", async () => {
    const input = { tool_input: { agent_type: "default", message: "Look." } };
    const repo = repoWith({ "PreToolUse:spawn_agent": said("PreToolUse", { prompt: "LOOK-CLOSER" }, input) });
    const { server } = await codexOnce("Go.", steps([spawnAgent("Look."), shell("sleep 1")]), { repo });
    expect(server.of("sub-agent")[0]?.lastUserText).toBe("LOOK-CLOSER");
  });

  it("replace a result", async () => {
    const repo = repoWith({ PostToolUse: said("PostToolUse", { result: "IN-SHORT" }) });
    const { server } = await codexOnce("Go.", steps([shell("echo long")]), { repo });
    expect(server.requests[1]?.toolResults[0]?.text).toBe("IN-SHORT");
  });
});

it.each([
  ["fails", { exitCode: 1, stdout: "FROM-THE-HOOK" }],
  ["answers for no event", { stdout: formatCodexAnswer({ hook_event_name: "None" }, { context: "FROM-THE-HOOK" }) }],
])("goes on without a word when a hook %s", async (_, answer) => {
  const { run, server } = await codexOnce("Go.", [], { repo: repoWith({ UserPromptSubmit: answer }) });
  expect(run).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
  expect(developerTexts(server.requests[0]!).filter((text) => text.includes("FROM-THE-HOOK"))).toEqual([]);
});

it("has written how a command ended when its hook asks", async () => {
  const repo = codexRepo();
  // The recorder, with a copy of the session's file as it is at that moment.
  repo.recordHooks({}, ["SessionStart"]);
  const copy = `sed -n 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/p' | xargs -I{} cp {} '${repo.base}/seen.jsonl'`;
  const hooks = { PostToolUse: [{ hooks: [{ type: "command", command: copy }] }] };
  writeFileSync(`${repo.codexHome}/hooks.json`, JSON.stringify({ hooks }));
  await codexOnce("Go.", steps([{ tools: [{ ...toolCall("exec_command", { cmd: "exit 7" }), id: "call_seven" }] }]), {
    repo,
  });
  expect(endedCommand(`${repo.base}/seen.jsonl`, "call_seven")).toEqual({ exitCode: 7 });
});

it("reports a command in the background once, when it has ended", async () => {
  const { repo } = await codexOnce("Go.", (request, n) => {
    if (n === 1) return { tools: [toolCall("exec_command", { cmd: "sleep 0.6; echo later", yield_time_ms: 250 })] };
    const session = /session ID (\d+)/.exec(request.toolResults[0]?.text ?? "")?.[1];
    if (n > 2 || !session) return undefined;
    return { tools: [toolCall("write_stdin", { session_id: Number(session), chars: "", yield_time_ms: 5_000 })] };
  });
  expect(repo.hooks("PostToolUse").map(({ payload }) => payload)).toMatchObject([
    { tool_name: "Bash", tool_input: { command: "sleep 0.6; echo later" }, tool_response: "later\n" },
  ]);
});

it("has no event after an edit that failed", async () => {
  const { repo } = await codexOnce("Go.", steps([patch("*** Update File: gone.txt", "@@", "-x", "+y")]));
  expect(repo.hooks("PreToolUse")).toHaveLength(1);
  expect(repo.hooks("PostToolUse")).toEqual([]);
});

it("runs the program of notify at the end of a turn, without a review, and tells it the thread", async () => {
  const repo = codexRepo();
  const program = repo.write("note.sh", `printf '%s\\n' "$1" >> '${repo.base}/notes.jsonl'\n`);
  const { run } = await codexOnce("Go.", [], {
    repo,
    trustHooks: false,
    args: ["-c", `notify=["sh", ${JSON.stringify(program)}]`],
  });
  const note = JSON.parse(readFileSync(`${repo.base}/notes.jsonl`, "utf8"));
  expect(note).toMatchObject({
    type: "agent-turn-complete",
    "thread-id": run.threadId,
    cwd: repo.root,
    "input-messages": ["Go."],
    "last-assistant-message": "DONE",
  });
});
