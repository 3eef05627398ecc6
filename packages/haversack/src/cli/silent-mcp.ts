/**
 * `haversack mcp` on a runtime that is too old: a server that has nothing. One that ends would be reported to the model in
 * every session (about 136 tokens). Parsed by whatever Node there is, like bin.ts. The same as the guard of a missing runtime.
 */
export function answerNothing(): void {
  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) answer(line);
  });
  // The client may be gone before it has read an answer.
  process.stdout.on("error", () => process.exit());
}

function answer(line: string): void {
  try {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || method === undefined) return;
    const { protocolVersion } = params ?? {};
    const serverInfo = { name: "haversack", version: __VERSION__ };
    const results: Readonly<Record<string, object>> = {
      initialize: { protocolVersion, capabilities: {}, serverInfo },
      // Codex asks for it all the same.
      "tools/list": { tools: [] },
      // A hook's call; `{}` is silence.
      "tools/call": { content: [{ type: "text", text: "{}" }] },
    };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} })}\n`);
  } catch {
    // No message, so nobody waits for an answer to it.
  }
}
