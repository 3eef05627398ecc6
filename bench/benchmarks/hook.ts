/** The hook process as a client starts it, with 300 skills indexed, compared with a bare start of the same runtime. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Benchmark, type Candidate, timedTable, timeProcesses } from "../harness.ts";
import { indexSyntheticSkills, makeScratch, type Scratch } from "../scratch.ts";
import { syntheticPrompts, syntheticSkills } from "../synthetic-skills.ts";

export const hook: Benchmark = {
  name: "hook",
  summary: "the hook process with 300 skills indexed: a prompt, a tool call, a sub-agent, a session's start",
  async run({ runs }) {
    const scratch = makeScratch();
    try {
      indexSyntheticSkills(scratch, 300);
      const candidates = hookEvents(scratch);
      const bun = process.env["HAVERSACK_BUN"];
      const underBun = bun
        ? candidates.slice(0, 4).map((one) => ({ ...one, name: `${one.name} (bun)`, runtime: bun }))
        : [];
      const timed = timeProcesses([...candidates, ...underBun], { runs });
      const ratio = (name: string) => timed.find((row) => row.name === name)?.ratio ?? Number.NaN;
      return {
        table: timedTable(timed),
        goals: [
          {
            name: "prompt hook, ratio",
            value: Math.max(
              ...["nothing fits", "words in common", "skills fit"].map((kind) => ratio(`prompt, ${kind}`)),
            ),
            limit: 1.5,
            side: "at-most",
          },
          {
            name: "tool hook with a WIP write, ratio",
            value: ratio("after a tool, WIP written"),
            limit: 1.35,
            side: "at-most",
          },
          {
            name: "one row read and written, ratio",
            value: ratio("one row read and written"),
            limit: 1.35,
            side: "at-most",
          },
          {
            name: "codex hooks, ratio",
            value: Math.max(
              ...["prompt, nothing fits", "prompt, skills fit", "after a tool"].map((kind) => ratio(`codex ${kind}`)),
            ),
            limit: 1.5,
            side: "at-most",
          },
          {
            name: "gemini hooks, ratio",
            value: Math.max(
              ...["prompt, nothing fits", "prompt, skills fit", "after a tool"].map((kind) => ratio(`gemini ${kind}`)),
            ),
            limit: 1.5,
            side: "at-most",
          },
        ],
        notes: bun ? [] : ["HAVERSACK_BUN names no Bun to measure beside it."],
        data: timed,
      };
    } finally {
      scratch.remove();
    }
  },
};

/** One event of each kind that clients send often. */
export function hookEvents(scratch: Scratch): Candidate[] {
  return [
    event(scratch, "prompt, nothing fits", { hook_event_name: "UserPromptSubmit", prompt: "continue" }),
    event(scratch, "prompt, words in common", {
      hook_event_name: "UserPromptSubmit",
      prompt: syntheticPrompts(1)[0]?.split(" ").slice(0, 13).join(" "),
    }),
    fittingPrompt(scratch),
    event(scratch, "after a tool, WIP written", {
      hook_event_name: "PostToolUse",
      tool_name: "Write",
      tool_use_id: "t",
      tool_input: { file_path: join(scratch.root, "src/a.ts"), content: "x" },
      tool_response: { type: "create" },
    }),
    event(scratch, "one row read and written", {
      hook_event_name: "SubagentStart",
      agent_id: "a",
      agent_type: "x",
    }),
    event(scratch, "session start", { hook_event_name: "SessionStart", source: "startup" }),
    ...codexEvents(scratch),
    ...geminiEvents(scratch),
  ];
}

interface FittingOptions {
  client?: string;
  /** Default: the fields of Claude Code and Codex. */
  fields?: object;
  name?: string;
  /** Called with the session's id, untimed. */
  before?(sessionId: string): void;
}

/** A prompt in the words of one skill, in a new session each time: a window that has seen a skill does not get it again. */
function fittingPrompt(scratch: Scratch, options: FittingOptions = {}): Candidate {
  const { client = "claude-code", name = "prompt, skills fit", before } = options;
  const { fields = { hook_event_name: "UserPromptSubmit" } } = options;
  const words = syntheticSkills(42).at(-1)?.text.split("Use when ")[1]?.split(" ").slice(0, 12).join(" ");
  let session = 0;
  const one = () => {
    const session_id = `bench-${client}-${name}-${session++}`;
    before?.(session_id);
    return event(scratch, name, { ...fields, session_id, prompt: `please ${words}` }, client);
  };
  const stdout = runOnce(one());
  if (!stdout.includes("Skill Recommendations")) throw new Error(`no skill fits "please ${words}": ${stdout}`);
  return Object.defineProperty(one(), "stdin", { get: () => one().stdin, enumerable: true });
}

function runOnce({ args, stdin, cwd, env }: Candidate): string {
  const all = { input: stdin, cwd, env: { ...process.env, ...env }, encoding: "utf8" as const };
  return spawnSync(process.execPath, args, all).stdout;
}

/** The same events through another client's adapter, which is one more file to load. */
function codexEvents(scratch: Scratch): Candidate[] {
  const prompt = { hook_event_name: "UserPromptSubmit", turn_id: "t", prompt: "continue" };
  const command = "*** Begin Patch\n*** Add File: src/a.ts\n+x\n*** End Patch";
  const tool = {
    hook_event_name: "PostToolUse",
    tool_name: "apply_patch",
    tool_use_id: "t",
    tool_input: { command },
    tool_response: "Exit code: 0",
  };
  return [
    event(scratch, "prompt, nothing fits", prompt, "codex"),
    fittingPrompt(scratch, { client: "codex" }),
    event(scratch, "after a tool", tool, "codex"),
  ];
}

/**
 * Gemini CLI's events. Its session starts with the first prompt, which has a separate row; the other events belong to a session that has
 * already begun. Each event checks a transcript for a sign of a compaction.
 */
function geminiEvents(scratch: Scratch): Candidate[] {
  const transcript_path = join(scratch.root, "../session.jsonl");
  const line = {
    id: "x",
    timestamp: "2026-01-01T00:00:00.000Z",
    type: "user",
    content: [{ text: "word ".repeat(100) }],
  };
  writeFileSync(transcript_path, `${JSON.stringify(line)}\n`.repeat(500));
  const common = { transcript_path, timestamp: "2026-01-01T00:00:00.000Z" };
  const prompt = { ...common, hook_event_name: "BeforeAgent", prompt: "continue" };
  const tool = {
    ...common,
    hook_event_name: "AfterTool",
    tool_name: "write_file",
    tool_input: { file_path: "src/a.ts", content: "x" },
    tool_response: { llmContent: "Successfully created", returnDisplay: "" },
  };
  const begin = (session_id: string) => runOnce(event(scratch, "begin", { ...prompt, session_id }, "gemini"));
  begin("bench");
  const fitting = { ...common, hook_event_name: "BeforeAgent" };
  return [
    event(scratch, "prompt, nothing fits", prompt, "gemini"),
    fittingPrompt(scratch, { client: "gemini", fields: fitting, before: begin }),
    event(scratch, "after a tool", tool, "gemini"),
    fittingPrompt(scratch, { client: "gemini", fields: fitting, name: "first prompt, skills fit" }),
  ];
}

function event({ root, env, hook }: Scratch, name: string, fields: object, client = "claude-code"): Candidate {
  return {
    name: client === "claude-code" ? name : `${client} ${name}`,
    args: [hook, client],
    stdin: JSON.stringify({ session_id: "bench", cwd: root, ...fields }),
    cwd: root,
    env,
  };
}
