/** Long outputs in the real client: the model's request has the preview, and `recall` brings back the bytes. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { haversack, haversackRepo, NODE_ON_PATH } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";

const PRINT = `node -e 'for (let n = 1; n <= 900; n++) console.log(n === 481 ? "FAIL cart.test.js > adds up" : "ok " + n + " item")'`;
const RECALL = "mcp__haversack__recall";

function repoWithPreviews() {
  const repo = haversackRepo();
  haversack(repo, "config", "set", "outputs.replace_over", "4000");
  haversack(repo, "init", "--yes", "--project", "--client", "claude-code");
  return repo;
}

it("a command's output and an MCP result come as a preview, and their parts on request", async () => {
  const repo = repoWithPreviews();
  const echo = { command: process.execPath, args: [join(import.meta.dirname, "echo-mcp.cjs"), repo.base] };
  repo.write(".mcp.json", JSON.stringify({ mcpServers: { echo } }));
  let handle = "";
  const server = await testServer((request, n) => {
    if (request.kind !== "main") return undefined;
    const [result] = request.toolResults;
    if (n === 1) return { tools: [toolCall("Bash", { command: PRINT })] };
    if (n === 2) handle = /kept this output as (K\d+)/.exec(result?.text ?? "")?.[1] ?? "";
    if (n === 2) return { tools: [toolCall(RECALL, { handle, lines: "480-482" })] };
    if (n === 3) return { tools: [toolCall("mcp__echo__recall", { handle: "x".repeat(9_000) })] };
    return { text: "done" };
  });
  const run = await runClaude({ repo, server, prompt: "Test it.", env: NODE_ON_PATH });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  const [shell, recalled, mcp] = server
    .of("main")
    .slice(1)
    .map(({ toolResults }) => toolResults[0]);
  expect(shell).toMatchObject({ isError: false, text: expect.stringContaining("FAIL cart.test.js > adds up") });
  expect(shell?.text.length).toBeLessThan(2_500);
  expect(recalled?.text).toContain("\nok 480 item\nFAIL cart.test.js > adds up\nok 482 item");
  expect(mcp?.text).toMatch(/\[characters \d+-\d+ left out\]/);
  expect(mcp?.text.length).toBeLessThan(2_500);
});

it("a file is whole when it is read first, and what a failing command printed stays as it is", async () => {
  const repo = repoWithPreviews();
  const text = Array.from({ length: 400 }, (_, n) => `export const value${n} = ${n};`).join("\n");
  const file_path = repo.write("values.ts", text);
  const read = { tools: [toolCall("Read", { file_path })] };
  const fail = { tools: [toolCall("Bash", { command: `${PRINT}; exit 3` })] };
  const server = await testServer(steps([read, fail, { text: "done" }]));
  await runClaude({ repo, server, prompt: "Read it.", env: NODE_ON_PATH });
  const [first, failed] = server
    .of("main")
    .slice(1)
    .map(({ toolResults }) => toolResults[0]?.text ?? "");
  expect(first).toContain("value399 = 399");
  expect(first).not.toContain("Haversack");
  expect(failed).toContain("ok 700 item");
});
