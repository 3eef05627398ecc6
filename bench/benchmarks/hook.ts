/** The hook process as a client starts it, with 300 skills indexed, against a bare start of the same runtime. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Benchmark, type Candidate, timedTable, timeProcesses } from "../harness.ts";
import { BIN, HOOK, makeScratch, type Scratch } from "../scratch.ts";
import { syntheticPrompts, syntheticSkills } from "../synthetic-skills.ts";

export const hook: Benchmark = {
  name: "hook",
  summary: "the hook process with 300 skills indexed: a prompt, a tool call, a sub-agent, a session's start",
  async run({ runs }) {
    const scratch = makeScratch();
    try {
      fillIndex(scratch);
      const candidates = [
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
      ];
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
            limit: 1.25,
            side: "at-most",
          },
          {
            name: "tool hook with a WIP write, ratio",
            value: ratio("after a tool, WIP written"),
            limit: 1.2,
            side: "at-most",
          },
          {
            name: "one row read and written, ratio",
            value: ratio("one row read and written"),
            limit: 1.15,
            side: "at-most",
          },
          {
            name: "codex hooks, ratio",
            value: Math.max(
              ...["prompt, nothing fits", "prompt, skills fit", "after a tool"].map((kind) => ratio(`codex ${kind}`)),
            ),
            limit: 1.25,
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

function fillIndex({ root, env }: Scratch): void {
  for (const { name, text } of syntheticSkills(300)) {
    const folder = join(root, ".claude/skills", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [BIN, "skills", "index"], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`skills index: ${stderr}`);
}

/** In the words of one skill, and each time in a session of its own: a window that has seen a skill is not shown it again. */
function fittingPrompt(scratch: Scratch, client = "claude-code"): Candidate {
  const words = syntheticSkills(42).at(-1)?.text.split("Use when ")[1]?.split(" ").slice(0, 12).join(" ");
  let session = 0;
  const one = () => {
    const session_id = `bench-${client}-${session++}`;
    const fields = { session_id, hook_event_name: "UserPromptSubmit", prompt: `please ${words}` };
    return event(scratch, "prompt, skills fit", fields, client);
  };
  const { args, stdin, cwd, env } = one();
  const { stdout } = spawnSync(process.execPath, args, {
    input: stdin,
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (!stdout.includes("Skill Recommendations")) throw new Error(`no skill fits "please ${words}": ${stdout}`);
  return Object.defineProperty(one(), "stdin", { get: () => one().stdin, enumerable: true });
}

/** The same through the reader of another client, a file more to load. */
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
    fittingPrompt(scratch, "codex"),
    event(scratch, "after a tool", tool, "codex"),
  ];
}

function event({ root, env }: Scratch, name: string, fields: object, client = "claude-code"): Candidate {
  return {
    name: client === "claude-code" ? name : `${client} ${name}`,
    args: [HOOK, client],
    stdin: JSON.stringify({ session_id: "bench", cwd: root, ...fields }),
    cwd: root,
    env,
  };
}
