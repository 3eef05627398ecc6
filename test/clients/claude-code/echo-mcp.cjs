// A minimal MCP server over stdio: `node echo-mcp.cjs FOLDER`. One tool, `recall`, which answers with its arguments. Appends
// its environment and every message it gets to FOLDER/mcp.jsonl. Written for tests only.
const { appendFileSync } = require("node:fs");
const { join } = require("node:path");
const { createInterface } = require("node:readline");

const log = join(process.argv[2], "mcp.jsonl");
const record = (entry) => appendFileSync(log, `${JSON.stringify({ pid: process.pid, ...entry })}\n`);
record({ start: { env: process.env, cwd: process.cwd(), argv: process.argv.slice(2) } });

const recall = {
  name: "recall",
  description: "Recalls the thing with this handle.",
  inputSchema: { type: "object", properties: { handle: { type: "string" } }, required: ["handle"] },
};

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "echo", version: "1.0.0" },
    instructions: "ECHO-INSTRUCTIONS",
  }),
  "tools/list": () => ({ tools: [recall] }),
  "tools/call": ({ arguments: given }) => ({ content: [{ type: "text", text: `RECALLED ${given.handle}` }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  record({ message });
  if (message.id === undefined) return;
  const result = answers[message.method]?.(message.params ?? {});
  const error = { code: -32601, message: `no method ${message.method}` };
  console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(result ? { result } : { error }) }));
});
