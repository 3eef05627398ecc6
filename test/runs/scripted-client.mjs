#!/usr/bin/env node
// Stands in for Claude Code in tests of the runner: speaks its stream, and does what SCRIPT (a module) says. The module's default export is
// called with the tools below; `number` counts the sessions, from 1.
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const args = process.argv.slice(2);
const sessionId = args[args.indexOf("--session-id") + 1];
const say = (event) => process.stdout.write(`${JSON.stringify({ session_id: sessionId, ...event })}\n`);
const window = Number(process.env.WINDOW ?? 200000);
const heard = [];
let wake = () => undefined;
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { type, message } = JSON.parse(line);
  if (type === "control_request")
    return say({ type: "control_response", response: { response: { maxTokens: window } } });
  heard.push(message.content);
  wake();
});
let isClosed = false;
lines.on("close", () => {
  isClosed = true;
  wake();
});
/** Undefined: the end of the input. */
const hears = async (count) => {
  while (heard.length < count && !isClosed) await new Promise((resolve) => (wake = resolve));
  return heard[count - 1];
};

function haversack(...words) {
  const run = spawnSync(process.execPath, [process.env.HAVERSACK_BIN, ...words], { encoding: "utf8" });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

say({ type: "system", subtype: "init", model: "scripted", mcp_servers: [] });
const prompt = await hears(1);
const purpose = /^The tests fail after/.test(prompt) ? "fix" : /^You are the /.test(prompt) ? "review" : "batch";
const tasksIn = (text) => [
  ...new Set([...(text.split("\n", 1)[0] ?? "").matchAll(/\b(T\d{2,12}) "/g)].map(([, id]) => id)),
];
const tasks = tasksIn(prompt);
appendFileSync(
  process.env.SESSIONS_FILE,
  `${JSON.stringify({ at: Date.now() - process.uptime() * 1000, pid: process.pid, purpose, tasks, prompt, args })}\n`,
);
const number = readFileSync(process.env.SESSIONS_FILE, "utf8").trim().split("\n").length;
let message = 0;
const tools = {
  prompt,
  purpose,
  tasks,
  heard,
  hears,
  number,
  haversack,
  spawn,
  cwd: process.cwd(),
  event: say,
  write: (file, text) => writeFileSync(file, text),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  answer: (text, usedTokens = 1000) =>
    say({
      type: "assistant",
      message: {
        id: `m${process.pid}-${message++}`,
        usage: { input_tokens: usedTokens },
        content: [{ type: "text", text }],
      },
    }),
  tool: (name, input) =>
    say({
      type: "assistant",
      message: {
        id: `m${process.pid}-${message++}`,
        usage: { input_tokens: 1000 },
        content: [{ type: "tool_use", name, input }],
      },
    }),
  /** Does this for every batch that the session is given. */
  async turns(play) {
    for (let turn = 1, text = prompt; text !== undefined; text = await hears(++turn)) await play(tasksIn(text), turn);
  },
  /** What an agent does with a task: a file of its name, and the status. */
  finish(task, text = "sound") {
    writeFileSync(`${task}.txt`, `${text}\n`);
    return haversack("task", "done", task);
  },
  result: (more = {}) =>
    say({
      type: "result",
      subtype: "success",
      is_error: false,
      result: "end",
      total_cost_usd: 0.01,
      modelUsage: { scripted: { inputTokens: 1000, outputTokens: 10, contextWindow: window } },
      ...more,
    }),
  error: (status, text) => tools.result({ is_error: true, api_error_status: status, result: text }),
};
const { default: script } = await import(pathToFileURL(process.env.SCRIPT).href);
await script(tools);
lines.close();
process.stdin.destroy();
