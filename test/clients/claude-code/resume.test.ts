/**
 * Resume in the real client: a reviewer that has read its documents is resumed for the second iteration and gets only what has changed. If that
 * fails, the next prompt is complete again and says so.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { sampleDocuments, sampleText } from "../../../packages/haversack/src/artifacts/sample-feature.suite.ts";
import type { ModelRequest } from "../model-request.ts";
import { messagesText } from "../request-text.ts";
import { type Answer, type Reply, toolCall } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";
import { testServer } from "./claude-test.ts";
import { BIN, haversack, haversackRepo } from "./haversack-repo.ts";
import { claudeProgram } from "./install.ts";
import { environment, runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";

const FOLDER = "docs/features/031-uploads";
const ROLE = "plan-reviewer";
/** It has no type of its own; the prompt names the role. */
const TYPE = "general-purpose";
const FILES = ["prd.md", "spec.md", "design.md"];
const REJECTS = '{"approved": false, "issues": [{"severity": "blocker", "description": "No limit"}], "summary": "No."}';
const APPROVES = '{"approved": true, "issues": [], "summary": "Yes."}';

describe("doctor --try-resume claude-code", () => {
  it("tries a sub-agent and a session, says before that it calls a model, and keeps what came of it", async () => {
    const repo = featureRepo();
    const server = await testServer(trialModel());
    const tried = await tryResume(repo, server);
    expect(tried.stderr).toMatch(/^haversack: note: this starts Claude Code headless.* requests to your model\n$/);
    expect(tried.findings).toMatchObject([
      { part: "claude-code resume", level: "ok" },
      { part: "claude-code sessions resume", level: "ok" },
    ]);
    // The file had been deleted by then: only a resumed agent can know it.
    expect(server.of("sub-agent").at(-1)?.tools.length).toBeGreaterThan(0);
    expect(haversack(repo, "doctor").match(/^ok {4}claude-code (?:sessions )?resume: .*$/gm)).toHaveLength(2);
  });

  it("a client whose model API refuses a woken agent fails, and dispatches stay fresh", async () => {
    const repo = featureRepo();
    const answer = trialModel();
    let woken = 0;
    const server = await testServer((request, n) => {
      const isWoken = /which word stood/.test(request.lastUserText) && request.lastUserText.length < 200;
      if (isWoken && request.kind !== "side") {
        woken++;
        return { error: { status: 400, type: "invalid_request_error", message: "tool_use ids were found without" } };
      }
      return answer(request, n);
    });
    const { findings } = await tryResume(repo, server);
    expect(woken).toBeGreaterThan(0);
    for (const { level, text } of findings) expect([level, text]).toEqual(["fail", expect.stringMatching(/^failed: /)]);
    expect(haversack(repo, "doctor").match(/^warn {2}claude-code (?:sessions )?resume: failed: .*$/gm)).toHaveLength(2);
    expect(haversack(repo, "dispatch", ROLE, "--feature", FOLDER, "--iteration", "2", "--json")).toContain(
      '"how":"fresh"',
    );
  });
});

describe("the second iteration", () => {
  it("goes to the same sub-agent with only what has changed, though the session itself was resumed in between", async () => {
    const repo = await triedRepo();
    const server = await testServer(coordinator(repo, { wakes: ({ to }) => to }));
    const first = await runClaude({ repo, server, prompt: "Review the plan." });
    expect(first.results.at(-1)).toBe("ALL-DONE");
    const [agentId] = server.of("sub-agent").map((request) => request.agentId);
    record(repo, 1, REJECTS);

    repo.write(`${FOLDER}/plan.md`, `${sampleText("plan.md")}\nLIMIT-ADDED\n`);
    const before = server.of("sub-agent").length;
    const args = ["--resume", first.sessionId];
    const second = await runClaude({ repo, server, prompt: "Review it again.", args });
    expect(second.exitCode).toBe(0);

    const woken = server.of("sub-agent").slice(before);
    expect(woken.map((request) => request.agentId)).toEqual([agentId]);
    expect(woken[0]?.lastUserText).toContain("+LIMIT-ADDED\n");
    expect(woken[0]?.lastUserText).toContain("### Fix Summary\nThe limit is there.");
    expect(woken[0]?.lastUserText).not.toContain("Required Artifacts");
    // What it read in the first iteration is still in its window.
    expect(messagesText(woken[0]!)).toContain(sampleText("design.md").split("\n")[0]);

    record(repo, 2, APPROVES);
    const [loop] = JSON.parse(haversack(repo, "review", "show", "--feature", FOLDER, "--json"));
    expect(loop).toMatchObject({
      iterations: [
        { verdict: "rejected", agent_id: agentId },
        { verdict: "approved", agent_id: agentId },
      ],
      resume: { agent_id: agentId, session_id: first.sessionId, last_iteration: 2 },
    });
    const { rates, dispatches } = JSON.parse(receipts(repo));
    expect(rates.map(({ role, missing }: { role: string; missing: number }) => [role, missing])).toEqual(
      FILES.map(() => [ROLE, 0]),
    );
    const [cost] = dispatches;
    expect(cost).toMatchObject({ role: ROLE, dispatches: 2, resumes: 1, fallbacks: 0 });
    expect(cost.saved).toBeGreaterThan(0);
    expect(receipts(repo, { isText: true })).toMatch(/1 resumed: [\d,]+ saved/);
  });

  it("falls back to a whole prompt with the note where the agent cannot be woken", async () => {
    const repo = await triedRepo();
    const server = await testServer(coordinator(repo, { wakes: () => "a0000000000000000" }));
    const first = await runClaude({ repo, server, prompt: "Review the plan." });
    record(repo, 1, REJECTS);
    repo.write(`${FOLDER}/plan.md`, `${sampleText("plan.md")}\nLIMIT-ADDED\n`);
    const before = server.of("sub-agent").length;
    await runClaude({ repo, server, prompt: "Review it again.", args: ["--resume", first.sessionId] });

    const again = server.of("sub-agent").slice(before);
    expect(new Set(again.map((request) => request.agentId)).size).toBe(1);
    expect(again[0]?.agentId).not.toBe(server.of("sub-agent")[0]?.agentId);
    expect(messagesText(again[0]!)).toContain("(Fresh dispatch — prior session unavailable.)");
    expect(messagesText(again[0]!)).toContain("[blocker] No limit");
    record(repo, 2, APPROVES);
    const history = readFileSync(join(repo.root, FOLDER, ".review-history.md"), "utf8");
    expect(history).toMatch(/^RESUME-FALLBACK: plan-reviewer iteration 2 — .*No transcript found/m);
    expect(JSON.parse(receipts(repo)).dispatches[0]).toMatchObject({ resumes: 0, fallbacks: 1, saved: 0 });
  });

  it("from another session it is fresh: the sub-agent is not there", async () => {
    const repo = await triedRepo();
    const server = await testServer(coordinator(repo, { wakes: ({ to }) => to }));
    await runClaude({ repo, server, prompt: "Review the plan." });
    record(repo, 1, REJECTS);
    const before = server.of("sub-agent").length;
    await runClaude({ repo, server, prompt: "Review it again." });
    expect(messagesText(server.of("sub-agent")[before]!)).toContain("(Fresh dispatch — prior session unavailable.)");
  });
});

function featureRepo(): ScratchRepo {
  const repo = haversackRepo({});
  for (const { file } of sampleDocuments()) repo.write(`${FOLDER}/${file}`, sampleText(file));
  // Long enough that the difference is shorter.
  repo.write(`${FOLDER}/spec.md`, `${sampleText("spec.md").trimEnd()}${" and so on".repeat(600)}\n`);
  repo.write(".haversack/config.json", JSON.stringify({ "artifacts.resume": true }));
  return repo;
}

async function triedRepo(): Promise<ScratchRepo> {
  const repo = featureRepo();
  const { findings } = await tryResume(repo, await testServer(trialModel()));
  expect(findings.map(({ level }) => level)).toEqual(["ok", "ok"]);
  return repo;
}

interface Finding {
  part: string;
  level: string;
  text: string;
}

/** The command as a person runs it, with the client on the PATH. */
async function tryResume(repo: ScratchRepo, server: ScriptedServer): Promise<{ findings: Finding[]; stderr: string }> {
  const bin = join(repo.base, "bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(claudeProgram(), join(bin, "claude"));
  const env = environment({ repo, server });
  // Asynchronous, because the scripted server answers from this process's only thread.
  const child = spawn(process.execPath, [BIN, "doctor", "--try-resume", "claude-code", "--json"], {
    cwd: repo.root,
    env: { ...env, PATH: `${bin}:${env["PATH"]}` },
  });
  const [stdout, stderr] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
  return { findings: JSON.parse(stdout).findings as Finding[], stderr };
}

/** A model that follows the trial's instructions and remembers what it has seen. */
function trialModel(): Answer {
  return (request) => {
    const text = messagesText(request);
    const [, file] = /Read the file (\S+)\. Then/.exec(text) ?? [];
    const isAsked = request.lastUserText.includes("which word stood");
    if (request.kind === "main" && request.lastUserText.includes("Call the Agent tool once")) {
      const prompt = `Read the file ${file}. Then answer only: done`;
      const call = { description: "read one file", subagent_type: "general-purpose", run_in_background: false, prompt };
      return { tools: [toolCall("Agent", call)] };
    }
    if (request.kind === "main" && request.lastUserText.includes("Call the SendMessage tool once") && isAsked) {
      const to = /with to "(\w+)"/.exec(request.lastUserText)?.[1] ?? "";
      return { tools: [toolCall("SendMessage", { to, summary: "a question", message: QUESTION })] };
    }
    if (isAsked) return { text: `It was ${/kestrel-\w+/.exec(text)?.[0] ?? "something"}.` };
    const isReader = request.kind === "sub-agent" || !text.includes("Call the");
    if (isReader && request.toolResults.length === 0 && file) return { tools: [toolCall("Read", { file_path: file })] };
    return { text: "done" };
  };
}

const QUESTION = "Without a tool: which word stood in the file you have read?";

/**
 * A coordinator that dispatches by the command and follows what it prints; `wakes` is whom it sends the message to. Its reviewer
 * reads what the prompt names and gives a verdict.
 */
function coordinator(repo: ScratchRepo, { wakes }: { wakes(tool: { to: string }): string }): Answer {
  const folder = join(repo.root, FOLDER);
  const ask = (...more: string[]): Reply => {
    const words = [process.execPath, BIN, "dispatch", ROLE, "--feature", FOLDER, "--json", ...more];
    return { tools: [toolCall("Bash", { command: words.map(quoted).join(" ") })] };
  };
  const main = (request: ModelRequest): Reply => {
    const [result] = request.toolResults;
    if (!result)
      return /^Review (?:the plan|it again)/m.test(request.lastUserText)
        ? ask("--fix-summary", "The limit is there.")
        : DONE;
    if (result.text.includes('"success":false')) return ask("--resume-failed", JSON.parse(result.text).message);
    if (!result.text.startsWith('{"feature"')) return DONE;
    const { call, resume } = JSON.parse(result.text);
    if (!resume) {
      return { tools: [toolCall("Agent", { ...call, subagent_type: TYPE, run_in_background: false })] };
    }
    const { name, summary } = resume.tool;
    return { tools: [toolCall(name, { to: wakes(resume.tool), summary, message: call.prompt })] };
  };
  return (request) => {
    if (request.kind === "main") return main(request);
    if (request.kind !== "sub-agent") return undefined;
    const isFirst = request.toolResults.length === 0 && request.lastUserText.includes("Required Artifacts");
    if (!isFirst) return { text: request.lastUserText.includes("Diff") ? APPROVES : REJECTS };
    return { tools: FILES.map((file) => toolCall("Read", { file_path: join(folder, file) })) };
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

const DONE: Reply = { text: "ALL-DONE" };

function record(repo: ScratchRepo, iteration: number, input: string): void {
  const words = ["review", "record", ROLE, "--feature", FOLDER, "--iteration", String(iteration)];
  const { status, stderr } = run(repo, words, input);
  expect({ status, stderr }).toMatchObject({ status: 0 });
}

function receipts(repo: ScratchRepo, { isText = false } = {}): string {
  return run(repo, ["review", "receipts", ...(isText ? [] : ["--json"])]).stdout;
}

function run(repo: ScratchRepo, words: string[], input = "") {
  return spawnSync(process.execPath, [BIN, ...words], {
    cwd: repo.root,
    env: { ...repo.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` },
    input,
    encoding: "utf8",
  });
}
