import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { StreamEvent } from "../clients/stream-event.ts";
import { STREAMED } from "../clients/streamed.ts";
import { type SessionLimits, type SessionStart, startSession } from "./client-session.ts";
import { findProcesses } from "./process-tree.ts";

const folder = mkdtempSync(join(tmpdir(), "haversack-session-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMITS: SessionLimits = {
  windowShare: 0.7,
  windowTokens: 1000,
  graceMs: 30_000,
  killMs: 500,
  quietMs: 60_000,
  quietToolMs: 60_000,
};

let count = 0;

/** A client that runs these lines of JavaScript: `say(event)` prints one, `heard` are the messages on its standard input. */
function start(
  script: string,
  options: Partial<Omit<SessionStart, "limits">> & { limits?: Partial<SessionLimits> } = {},
  onEvent?: (event: StreamEvent) => void,
) {
  const mark = `HAVERSACK_RUN=test-${process.pid}-${count++}`;
  const program = `
    const say = (event) => process.stdout.write(JSON.stringify(event) + "\\n");
    const answer = (usage, id) => say({ type: "assistant", message: { id, usage: { input_tokens: usage }, content: [{ type: "text", text: "word" }] } });
    const result = (more) => say({ type: "result", subtype: "success", is_error: false, result: "end", ...more });
    let heard = "";
    process.stdin.setEncoding("utf8").on("data", (text) => { heard += text; onHeard(); });
    let onHeard = () => {};
    ${script}`;
  const limits = { ...LIMITS, ...options.limits };
  const session = startSession(
    {
      client: STREAMED["claude-code"]!,
      program: process.execPath,
      args: ["-e", program],
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HAVERSACK_RUN: mark.slice("HAVERSACK_RUN=".length) },
      mark,
      prompt: "Go.",
      endRequest: () => "SAVE-AND-END",
      ...options,
      limits,
    },
    onEvent,
  );
  return { session, mark, limits };
}

describe("how a session ended", () => {
  it("completed: it had its prompt, said its result and left", async () => {
    const { session } = start(`onHeard = () => { if (heard.includes("Go.")) { answer(100, "m1"); result(); } }`);
    expect(await session.ended).toMatchObject({ kind: "completed", exitCode: 0, usedTokens: 100, lastSaid: "word" });
  });

  it("failed: `success` with is_error, whatever the exit code is", async () => {
    const { session } = start(`result({ is_error: true, api_error_status: 529, result: "Overloaded" })`);
    expect(await session.ended).toMatchObject({ kind: "failed", reason: "overloaded", exitCode: 0 });
  });

  it("failed: a key that is refused twice is not tried for minutes, other errors are", async () => {
    const retry = (status: number) =>
      `for (const attempt of [1, 2, 3]) say({ type: "system", subtype: "api_retry", attempt, max_retries: 10, error_status: ${status}, error: "refused" });`;
    const { session } = start(`${retry(401)} setTimeout(() => {}, 60000)`);
    expect(await session.ended).toMatchObject({ kind: "failed", reason: "auth", text: "refused" });
    const other = start(`${retry(529)} setTimeout(() => { result(); process.exit(0); }, 300)`);
    expect(await other.session.ended).toMatchObject({ kind: "completed" });
  });

  it("crashed: it left with 0 and without a result", async () => {
    const { session } = start(`answer(100, "m1"); process.stderr.write("bad\\nlast words\\n"); process.exit(0)`);
    const end = await session.ended;
    expect(end.kind).toBe("crashed");
    expect(end.text).toContain("last words");
  });

  it("crashed: there is no such program", async () => {
    const { session } = start("", { program: join(folder, "none") });
    expect(await session.ended).toMatchObject({
      kind: "crashed",
      text: expect.stringContaining("could not be started"),
    });
  });

  it("crashed: the system refuses to start it", async () => {
    const { session } = start("", { args: ["x".repeat(300_000)] });
    expect(await session.ended).toMatchObject({
      kind: "crashed",
      text: expect.stringMatching(/could not be started: .*E2BIG/),
    });
  });

  it("window-full: it was asked, saved and left", async () => {
    const { session } = start(
      `answer(800, "m1"); onHeard = () => { if (heard.includes("SAVE-AND-END")) result(); }; setInterval(() => {}, 1000);
       process.stdin.on("end", () => process.exit(0));`,
    );
    expect(await session.ended).toMatchObject({ kind: "window-full", exitCode: 0, usedTokens: 800 });
  });

  it("window-full: it was asked, went on, and was ended", async () => {
    const { session } = start(
      `process.on("SIGTERM", () => {}); answer(800, "m1"); setInterval(() => answer(900), 50);`,
      {
        limits: { graceMs: 100 },
      },
    );
    expect(await session.ended).toMatchObject({ kind: "window-full", signal: "SIGKILL" });
  });

  it("window-full: always below the point where the client compacts its window by itself", async () => {
    const full = (used: number, compactsAt: number) =>
      start(
        `say({ type: "control_response", response: { response: { maxTokens: 1000, autoCompactThreshold: ${compactsAt} } } });
         answer(${used}, "m1"); onHeard = () => { if (heard.includes("SAVE-AND-END")) { result(); process.exit(0); } };
         setTimeout(() => { result(); process.exit(0); }, 700);`,
      ).session.ended;
    expect((await full(550, 600)).kind).toBe("window-full");
    expect((await full(530, 600)).kind).toBe("completed");
    expect((await full(690, 967)).kind).toBe("completed");
  });

  it("completed: a client that compacts its window by itself goes on", async () => {
    const { session } = start(
      `answer(600, "m1");
       say({ type: "system", subtype: "compact_boundary", compact_metadata: { trigger: "auto", pre_tokens: 600, post_tokens: 40 } });
       answer(90, "m2"); result(); process.exit(0);`,
    );
    expect(await session.ended).toMatchObject({ kind: "completed", compactions: 1, usedTokens: 90 });
  });

  it("completed: a client that compacts its window without saying so", async () => {
    const fills = [600, 100];
    const end = join(folder, "end");
    const { session } = start(
      `say({ type: "thread.started", thread_id: "t" });
       const tool = (type) => say({ type, item: { type: "command_execution", command: "x", status: "completed" } });
       setInterval(() => { tool("item.started"); tool("item.completed"); }, 200);
       const { existsSync } = require("node:fs");
       setInterval(() => { if (existsSync(${JSON.stringify(end)})) { say({ type: "turn.completed", usage: {} }); process.exit(0); } }, 50);`,
      {
        client: STREAMED["codex"]!,
        readFill() {
          if (fills.length === 0) writeFileSync(end, "");
          return { usedTokens: fills.shift() ?? 120, at: new Date() };
        },
      },
    );
    expect(await session.ended).toMatchObject({ kind: "completed", compactions: 1, usedTokens: 120 });
  }, 20_000);

  it("completed: a result is not the end; the last one counts, and its totals are not added up", async () => {
    const total = (tokens: number) => `modelUsage: { m: { inputTokens: ${tokens}, outputTokens: 1 } }`;
    const { session } = start(
      `result({ ${total(100)}, total_cost_usd: 0.1 });
       setTimeout(() => { answer(5, "m2"); result({ result: "after the background task", ${total(150)}, total_cost_usd: 0.2 }); process.exit(0); }, 200);`,
    );
    expect(await session.ended).toMatchObject({
      kind: "completed",
      text: "after the background task",
      usage: { inputTokens: 150, costUsd: 0.2 },
    });
  });

  it("stopped: what we did to it counts, not an exit code of 0 or a result of success", async () => {
    const { session } = start(
      `process.on("SIGTERM", () => { result(); process.exit(0); }); answer(1, "m1"); setInterval(() => {}, 1000);`,
      { limits: { graceMs: 100 } },
      ({ kind }) => kind === "said" && session.askToEnd("stopped"),
    );
    expect(await session.ended).toMatchObject({ kind: "stopped", exitCode: 0 });
  });

  it("as it ended by itself, when it was to be asked after its last turn: it hears nothing", async () => {
    const events: StreamEvent[] = [];
    const asked: string[] = [];
    const { session } = start(
      `result({ is_error: true, subtype: "error_max_budget_usd" });
       setTimeout(() => { say({ type: "tool_progress" }); process.exit(heard.includes("SAVE") ? 1 : 0); }, 500);`,
      { endRequest: (why) => `${asked.push(why)} SAVE-AND-END` },
      (event) => {
        events.push(event);
        if (event.kind === "result") session.askToEnd("limit");
      },
    );
    expect(await session.ended).toMatchObject({ kind: "failed", reason: "budget", exitCode: 0 });
    expect([asked, events.at(-1)?.kind]).toEqual([[], "busy"]);
  });

  it("stopped: it was to be asked after a turn, began another one, and was told then", async () => {
    const told: string[] = [];
    const { session } = start(
      `result(); setTimeout(() => { answer(5, "m2"); result(); process.exit(0); }, 300);`,
      { client: { ...STREAMED["claude-code"]!, input: "text" }, onEndRequest: (text) => told.push(text) },
      ({ kind }) => {
        if (kind !== "result") return;
        session.askToEnd("stopped");
        told.push("asked");
      },
    );
    expect(await session.ended).toMatchObject({ kind: "stopped", exitCode: 0 });
    expect(told).toEqual(["asked", "SAVE-AND-END", "asked"]);
  });

  it.each([
    [41, "Please set an Auth method in your settings", "failed", "auth"],
    [
      41,
      "you must specify the GEMINI_API_KEY environment variable.\nUpdate your environment and try again!",
      "failed",
      "auth",
    ],
    [55, "Gemini CLI is not running in a trusted directory", "failed", "untrusted"],
    [1, "Not inside a trusted directory and --skip-git-repo-check was not specified.", "failed", "untrusted"],
    [42, "Error resuming session: invalid session identifier", "crashed", undefined],
    [1, "Error: Session ID 1 is already in use.", "crashed", undefined],
  ])("exit %i, told on standard error alone: %s", async (code, text, kind, reason) => {
    const { session } = start(
      `process.stderr.write(${JSON.stringify(`${text}\n`)}); process.exitCode = ${code}; process.stdin.destroy();`,
    );
    const end = await session.ended;
    expect([end.kind, end.reason]).toEqual([kind, reason]);
    expect(end.text).toContain(text.split("\n")[0]);
  });

  it("gives clients that read a text the end of their input: Codex and opencode wait for it for ever", async () => {
    for (const client of [STREAMED["codex"]!, STREAMED["opencode"]!, STREAMED["gemini"]!]) {
      const { session } = start(
        `process.stdin.on("end", () => { say({ type: "turn.completed", usage: {} }); say({ type: "result", status: "success" });
         say({ type: "step_finish", sessionID: "s", part: { reason: "stop", tokens: {} } }); });`,
        { client },
      );
      expect((await session.ended).kind, client.title).toBe("completed");
    }
  });

  it("hung: nothing came any more", async () => {
    const { session } = start(`answer(1, "m1"); setInterval(() => {}, 1000);`, { limits: { quietMs: 300 } });
    expect(await session.ended).toMatchObject({ kind: "hung" });
  });

  it.each([
    ["leaves at SIGTERM", ""],
    ["is deaf to SIGTERM", `process.on("SIGTERM", () => {});`],
  ])("completed: its work was done, but a shell in the background held it open; it %s", async (_, deaf) => {
    const { session, mark } = start(
      `${deaf} require("node:child_process").spawn("sleep", ["600"], { detached: true, stdio: "inherit" });
       result({ result: "all done" });`,
      { limits: { quietMs: 300 } },
    );
    expect(await session.ended).toMatchObject({ kind: "completed", text: "all done" });
    expect(findProcesses({ roots: [session.pid], mark })).toEqual([]);
  });

  it("failed: the same after an error", async () => {
    const { session } = start(
      `result({ is_error: true, api_error_status: 500, result: "oh" }); setInterval(() => {}, 1000);`,
      { limits: { quietMs: 300 } },
    );
    expect(await session.ended).toMatchObject({ kind: "failed", reason: "server-error" });
  });

  it("is not hung while a tool may run, for a client that tells of a tool only when it has ended", async () => {
    const script = `say({ type: "step_start", sessionID: "s", part: {} });
       setTimeout(() => { say({ type: "step_finish", sessionID: "s", part: { reason: "stop", tokens: {} } }); process.exit(0); }, 2500);`;
    const { session, limits } = start(script, { client: STREAMED["opencode"]! }, () => {
      limits.quietMs = 300;
    });
    expect(await session.ended).toMatchObject({ kind: "completed" });
  });

  it("is not hung while a tool runs", async () => {
    const { session, limits } = start(
      `say({ type: "assistant", message: { id: "m", content: [{ type: "tool_use", name: "Bash", input: { command: "make" } }] } });
       setTimeout(() => { result(); process.exit(0); }, 2500);`,
      {},
      () => {
        limits.quietMs = 300;
      },
    );
    expect(await session.ended).toMatchObject({ kind: "completed", toolCalls: 1, lastCalls: [{ text: "Bash: make" }] });
  });
});

it("ends what the client left running in a process session of its own", async () => {
  const { session, mark } = start(
    `const { spawn } = require("node:child_process");
     const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
     say({ type: "result", subtype: "success", is_error: false, result: String(child.pid) });
     child.unref(); setTimeout(() => process.exit(0), 200);`,
  );
  const end = await session.ended;
  expect(end).toMatchObject({ kind: "completed", leftovers: 1 });
  // Check the process list, not the process: an ended process may stay a zombie that nobody collects.
  expect(findProcesses({ roots: [session.pid], mark })).toEqual([]);
});

describe("a client that starts the program that does the work", () => {
  const NATIVE = `
    process.on("SIGTERM", () => {});
    require("node:child_process").spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    console.log(JSON.stringify({ type: "turn.started" }));
    setInterval(() => {}, 1000);`;
  const wrapper = (more: string) => `
    require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(NATIVE)}], { stdio: "inherit" }); ${more}`;

  it("crashed: the first process was killed alone, as Codex's wrapper may be; the others are ended", async () => {
    const { session, mark } = start(wrapper(""), { client: STREAMED["codex"]! }, ({ kind }) => {
      if (kind === "busy") process.kill(session.pid, "SIGKILL");
    });
    expect(await session.ended).toMatchObject({ kind: "crashed", signal: "SIGKILL", leftovers: 2 });
    expect(findProcesses({ roots: [session.pid], mark })).toEqual([]);
  }, 20_000);

  it("stopped: no process listens to SIGTERM, as when Gemini CLI has started itself again", async () => {
    const { session, mark } = start(
      wrapper(`process.on("SIGTERM", () => {});`),
      { client: STREAMED["gemini"]!, limits: { graceMs: 100 } },
      ({ kind }) => kind === "unknown" && session.askToEnd("stopped"),
    );
    expect(await session.ended).toMatchObject({ kind: "stopped", signal: "SIGKILL" });
    expect(findProcesses({ roots: [session.pid], mark })).toEqual([]);
  }, 20_000);
});

it("goes on after lines that are no JSON, cut, binary, or longer than anything it needs", async () => {
  const { session } = start(
    `process.stdout.write("garbage\\n{\\"type\\":\\n" + String.fromCharCode(0, 255, 65533) + "\\n");
     process.stdout.write("[" + "x".repeat(9e6) + "]\\n");
     answer(5, "m1"); result();`,
  );
  expect(await session.ended).toMatchObject({ kind: "completed", unknownLines: 3, usedTokens: 5 });
});
