/**
 * The program's first file. It must parse on any Node version, so an old one gets a one-line error. It answers `--version` itself,
 * because scripts ask for it and it must not cost more than a bare start.
 */
import { compiledFiles } from "../base/compiled-code.ts";
import { compiledFolder, isPrivate } from "../base/compiled-folder.ts";

/** A hash of the CLI's files, written by the build. */
declare const __CLI_BUILD__: string;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [first, ...others] = process.argv.slice(2);
const DAILY = [
  ...["next", "claim", "done", "status", "wip", "session list", "handoff set", "handoff show"],
  ...["task next", "task claim", "task done", "task create", "task list", "task show", "task update"],
];

if (major < 22 || (major === 22 && minor < 16)) {
  process.stderr.write(
    `haversack: error: needs Node 22.16 or newer; this is ${process.version} (${process.execPath})\nhaversack: hint: install a newer Node, and make sure that it comes first on your PATH\n`,
  );
  if (first === "mcp") answerNothing();
  else process.exitCode = 3;
} else if (process.platform === "win32") {
  // Hooks need a POSIX shell, and trust in a store needs file owners and modes.
  process.stderr.write("haversack: error: Windows is not supported\nhaversack: hint: run it inside WSL\n");
  process.exitCode = 3;
} else if (first !== undefined && ["--version", "-V", "-v"].includes(first) && others.length === 0) {
  process.stdout.write(`${__VERSION__}\n`);
} else {
  const daily = DAILY.find((name) => name === first || name === `${first} ${others[0]}`);
  if (daily) runDaily(daily.replace(" ", "-"));
  else {
    const compiled = compiledFolder(process.env);
    // Node keeps compiled code there, checks it against the source and a checksum, and ignores entries that do not match.
    if (compiled && isPrivate(compiled)) require("node:module").enableCompileCache(`${compiled}/node`);
    (require("./cli.cjs") as Cli).main();
  }
}

type Cli = typeof import("./main.ts");

/** Commands that people and agents run all day. Their compiled code is kept as the hook's is: it starts faster than Node's own cache. */
function runDaily(name: string): void {
  const files = compiledFiles(`cli-${name}`, __CLI_BUILD__, process.env);
  const cli = files.load("./cli.cjs") as Cli;
  cli.main().then(() => {
    const outcome = `${process.exitCode}${others.includes("--json") ? "-json" : ""}`;
    if (files.loaded.some(({ outcomes }) => !outcomes.includes(outcome))) return cli.keep([...files.loaded], outcome);
    return undefined;
  });
}

/**
 * `haversack mcp` on a runtime that is too old: an empty server. A server that exits would be reported to the model in every session
 * (about 136 tokens). Must parse on any Node, like the rest of bin.ts. Same behavior as the guard for a missing runtime.
 */
function answerNothing(): void {
  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) answer(line);
  });
  // The client may exit before it has read an answer.
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
      // Codex asks for it anyway.
      "tools/list": { tools: [] },
      // A hook's call; `{}` means no answer.
      "tools/call": { content: [{ type: "text", text: "{}" }] },
    };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} })}\n`);
  } catch {
    // Not a message, so nobody waits for an answer.
  }
}
