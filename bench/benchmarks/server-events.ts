/** Events that the running MCP server answers through its tool `hook`, with 300 skills and 10,000 tasks: times of whole calls. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Benchmark, type Goal, quantile } from "../harness.ts";
import type { Scratch } from "../scratch.ts";
import { makeScratch } from "../scratch.ts";
import { syntheticPrompts, syntheticSkills } from "../synthetic-skills.ts";
import { fill } from "./wake.ts";

/** Timed events of each kind. */
const EVENTS = 400;

export const serverEvents: Benchmark = {
  name: "server-events",
  summary:
    "events that the running MCP server answers: a prompt, a tool call, a session's start with a packet; its memory",
  async run({ events = 0 }) {
    const scratch = makeScratch();
    const server = await startServer(scratch);
    try {
      const { taskId } = await fill(scratch, { name: "june" });
      const words = syntheticSkills(42).at(-1)?.text.split("Use when ")[1]?.split(" ").slice(0, 12).join(" ");
      const ordinary = syntheticPrompts(EVENTS);
      const base = { client: "claude-code", cwd: scratch.root };
      const memoryAtStart = server.memoryMb();
      const kinds: [name: string, limitMs: number, event: (at: number) => object][] = [
        ["prompt, nothing fits", 5, (at) => prompt("s1", ordinary[at] ?? "continue")],
        ["prompt, skills fit", 5, (at) => prompt(`fit-${at}`, `please ${words}`)],
        ["after a tool, WIP written", 3, (at) => tool(scratch, at)],
        ["session start with a packet", 8, (at) => start(`start-${at}`)],
      ];
      // The first calls open the store and compile code for the later ones.
      for (const [, , event] of kinds) for (let at = 0; at < 20; at++) await server.hook({ ...base, ...event(at) });
      const rows: (string | number)[][] = [];
      const goals: Goal[] = [];
      for (const [name, limit, event] of kinds) {
        const times: number[] = [];
        for (let at = 20; at < EVENTS; at++) {
          const told = event(at);
          times.push(await server.hook({ ...base, ...told }));
          // A name can have only one session at a time.
          if (name.startsWith("session")) await server.hook({ ...base, ...told, hook_event_name: "SessionEnd" });
        }
        rows.push([name, ...[0.5, 0.95, 0.99].map((part) => quantile(times, part).toFixed(2))]);
        goals.push({ name: `${name}, p95`, value: quantile(times, 0.95), limit, side: "at-most", unit: " ms" });
      }
      let told = EVENTS * (kinds.length + 1);
      for (let at = EVENTS; told < events; at++) {
        for (const [name, , event] of kinds) {
          await server.hook({ ...base, ...event(at) });
          if (name.startsWith("session")) await server.hook({ ...base, ...event(at), hook_event_name: "SessionEnd" });
          told += name.startsWith("session") ? 2 : 1;
        }
        if (at % 2500 === 0)
          console.error(
            `${told} events: ${server.memoryMb().toFixed(1)} MB now, ${server.peakMb().toFixed(1)} MB at most`,
          );
      }
      goals.push({
        name: `highest memory over ${told} events`,
        value: server.peakMb(),
        limit: 100,
        side: "at-most",
        unit: " MB",
      });
      return {
        table: { columns: ["event over MCP", "p50 ms", "p95 ms", "p99 ms"], rows },
        goals,
        notes: [`The packet is of task ${taskId} among 10,000. The server began with ${memoryAtStart.toFixed(0)} MB.`],
      };
    } finally {
      server.end();
      scratch.remove();
    }
  },
};

const prompt = (session_id: string, text: string) => ({
  hook_event_name: "UserPromptSubmit",
  session_id,
  prompt: text,
});
const start = (session_id: string) => ({ hook_event_name: "SessionStart", session_id, source: "startup" });
const tool = ({ root }: Scratch, at: number) => ({
  ...{ hook_event_name: "PostToolUse", session_id: "s1", tool_name: "Write", tool_use_id: `t${at}` },
  tool_input: { file_path: join(root, `src/${at % 50}.ts`), content: "x" },
  tool_response: { type: "create" },
});

interface Server {
  /** Milliseconds from the call to its answer. */
  hook(input: object): Promise<number>;
  memoryMb(): number;
  /** Its peak memory. */
  peakMb(): number;
  end(): void;
}

async function startServer({ root, env, bin }: Scratch): Promise<Server> {
  const child: ChildProcess = spawn(process.execPath, [bin, "mcp"], {
    cwd: root,
    env: { ...process.env, ...env, HAVERSACK_AGENT: "june" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map<number, (message: { result?: unknown }) => void>();
  createInterface({ input: child.stdout! }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let last = 0;
  const ask = (method: string, params: object) =>
    new Promise<{ result?: unknown }>((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  const clientInfo = { name: "bench", version: "1" };
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return {
    async hook(input) {
      const startedAt = performance.now();
      await ask("tools/call", { name: "hook", arguments: input });
      return performance.now() - startedAt;
    },
    memoryMb: () => memoryOf(child.pid!, "VmRSS"),
    peakMb: () => memoryOf(child.pid!, "VmHWM"),
    end: () => void child.kill(),
  };
}

function memoryOf(pid: number, field: string): number {
  const status = process.getBuiltinModule("node:fs").readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
}
