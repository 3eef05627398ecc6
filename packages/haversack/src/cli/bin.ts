/**
 * The program's first file. It must parse on any Node that a machine may have, so that one too old is told in
 * one line, and it answers `--version` itself: that is asked by scripts and must cost no more than a bare start.
 */
import { compiledFolder, isPrivate } from "./compiled-folder.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [first, ...others] = process.argv.slice(2);

if (major < 22 || (major === 22 && minor < 16)) {
  process.stderr.write(`haversack: needs Node 22.16 or newer; this is ${process.version} (${process.execPath})\n`);
  if (first === "mcp") answerNothing();
  else process.exitCode = 3;
} else if ((first === "--version" || first === "-V") && others.length === 0) {
  process.stdout.write(`${__VERSION__}\n`);
} else {
  const compiled = compiledFolder(process.env);
  // One call: Node keeps what it compiled there, checks it against the source and its own checksum, and passes over what does not fit.
  if (compiled && isPrivate(compiled)) require("node:module").enableCompileCache(`${compiled}/node`);
  (require("./cli.cjs") as { main(): Promise<void> }).main();
}

/**
 * `haversack mcp` on a runtime that is too old: a server that has nothing. One that ends would be reported to the model in
 * every session (about 136 tokens). Parsed by whatever Node there is, like bin.ts. The same as the guard of a missing runtime.
 */
function answerNothing(): void {
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
