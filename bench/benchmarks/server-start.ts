/** How long a client waits for `haversack mcp`: from its start to the answer to `initialize`, compared with a bare start of the same Node. */
import { spawn } from "node:child_process";
import { type Benchmark, quantile } from "../harness.ts";
import { BIN, makeScratch, type Scratch } from "../scratch.ts";

const INITIALIZE = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
})}\n`;
const LIST = `${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" })}\n`;
/** The smallest server: a process that reads a line and writes one. */
const ECHO = 'process.stdin.once("data",()=>process.stdout.write("{}\\n"))';

export const serverStart: Benchmark = {
  name: "server-start",
  summary: "the MCP server's first answers, as ratios to a bare start of the same Node",
  async run({ runs }) {
    const scratch = makeScratch();
    try {
      const bare: number[] = [];
      const echo: number[] = [];
      const opened: number[] = [];
      const listed: number[] = [];
      for (let round = -3; round < runs; round++) {
        const [end] = await timeAnswers(["-e", "0"], scratch, [], 0);
        const [reply] = await timeAnswers(["-e", ECHO], scratch, [INITIALIZE], 1);
        const [first, second] = await timeAnswers([BIN, "mcp"], scratch, [INITIALIZE, LIST], 2);
        if (round < 0) continue;
        bare.push(end!);
        echo.push(reply!);
        opened.push(first!);
        listed.push(second!);
      }
      const unit = quantile(bare, 0.5);
      const row = (name: string, times: readonly number[]) => [
        name,
        quantile(times, 0.5).toFixed(1),
        quantile(times, 0.9).toFixed(1),
        (quantile(times, 0.5) / unit).toFixed(2),
      ];
      return {
        table: {
          columns: ["from the start to", "median ms", "p90 ms", "ratio"],
          rows: [
            row("the end of node -e 0", bare),
            row("a line answered by a bare process", echo),
            row("the answer to initialize", opened),
            row("the answer to tools/list", listed),
          ],
        },
        goals: [{ name: "initialize, ratio", value: quantile(opened, 0.5) / unit, limit: 2.5, side: "at-most" }],
      };
    } finally {
      scratch.remove();
    }
  },
};

/** Milliseconds from the start to each answer; without messages, to the end of the process. */
function timeAnswers(args: string[], { root, env }: Scratch, messages: string[], answers: number): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const times: number[] = [];
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.write(messages.shift() ?? "");
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      for (const _ of text.match(/\n/g) ?? []) {
        times.push(performance.now() - startedAt);
        child.stdin.write(messages.shift() ?? "");
        if (times.length === answers) child.stdin.end();
      }
    });
    child.once("error", reject);
    child.once("close", () => resolve(answers === 0 ? [performance.now() - startedAt] : times));
    if (answers === 0) child.stdin.end();
  });
}
