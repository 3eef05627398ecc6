/** Runs what a client would run, in the same way and with a time limit. For `doctor`. Every process ends with the call. */
import { type ChildProcess, spawn } from "node:child_process";

export interface Tried {
  exitCode: number | null;
  stdout: string;
  stderr: string;
  tookMs: number;
  isTimedOut: boolean;
}

export interface TryOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  limitMs: number;
}

/** A hook command: through the shell, its payload on standard input. */
export function tryHook(command: string, payload: unknown, options: TryOptions): Promise<Tried> {
  const child = start("sh", ["-c", command], options);
  child.stdin?.end(JSON.stringify(payload));
  return ended(child, options.limitMs);
}

export interface McpAnswer {
  tools: string[];
  serverVersion: string | undefined;
  /** Until it has listed its tools. */
  tookMs: number;
  /** One for each call. */
  calls: { text: string; isError: boolean; tookMs: number }[];
}

export interface McpCall {
  name: string;
  arguments: Record<string, unknown>;
}

/** An MCP server over stdio: initialize, tools/list, then these calls one after another; then it is ended. */
export async function tryMcpServer(
  command: string,
  args: readonly string[],
  { calls = [], ...options }: TryOptions & { calls?: readonly McpCall[] },
): Promise<McpAnswer | { problem: string }> {
  const startedAt = Date.now();
  const child = start(command, args, options);
  const answers = new Map<number, Record<string, unknown>>();
  const send = (message: Record<string, unknown>) =>
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let [listedMs, sentAt] = [0, 0];
  const answered: McpAnswer["calls"] = [];
  let rest = "";
  const finished = new Promise<void>((resolve) => {
    child.stdout?.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = parseMessage(line);
        if (typeof message?.["id"] !== "number") continue;
        answers.set(message["id"], message);
        const id = message["id"];
        if (id === 1) {
          send({ method: "notifications/initialized" });
          send({ id: 2, method: "tools/list", params: {} });
        }
        if (id === 2) listedMs = Date.now() - startedAt;
        if (id > 2) {
          const { content, isError = false } = (message["result"] ?? {}) as ToolResult;
          answered.push({ text: content?.[0]?.text ?? "", isError, tookMs: performance.now() - sentAt });
        }
        const next = calls[id - 2];
        if (message["error"] || (id > 1 && !next)) resolve();
        else if (id > 1) {
          sentAt = performance.now();
          send({ id: id + 1, method: "tools/call", params: next });
        }
      }
    });
  });
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "haversack-doctor", version: "1" } },
  });
  const end = ended(child, options.limitMs);
  await Promise.race([finished, end]);
  child.kill("SIGKILL");
  const { stderr, isTimedOut, exitCode } = await end;

  const list = answers.get(2)?.["result"] as { tools?: { name: string }[] } | undefined;
  const lines = stderr.trim().split("\n");
  // Our own programs put a hint below the error.
  const said = lines.findLast((line) => line.includes("error:")) ?? lines.at(-1) ?? "";
  // A stand-in lists no tools and explains why on stderr. A switched-off server also lists none, but prints nothing.
  if (list?.tools && (list.tools.length > 0 || said === "")) {
    const first = answers.get(1)?.["result"] as { serverInfo?: { version?: string } } | undefined;
    const tools = list.tools.map(({ name }) => name);
    return { tools, serverVersion: first?.serverInfo?.version, tookMs: listedMs, calls: answered };
  }
  // We ended it, so its exit code means nothing.
  if (answers.has(2)) return { problem: said || "it has no list of tools" };
  return {
    problem: isTimedOut ? `no answer within ${options.limitMs} ms` : `ended with ${exitCode}${said ? `: ${said}` : ""}`,
  };
}

interface ToolResult {
  content?: { text?: string }[];
  isError?: boolean;
}

export async function tryProgram(program: string, args: readonly string[], options: TryOptions): Promise<Tried> {
  const child = start(program, args, options);
  child.stdin?.end();
  return ended(child, options.limitMs);
}

function start(program: string, args: readonly string[], { cwd, env }: TryOptions): ChildProcess {
  const child = spawn(program, [...args], { cwd, env: { ...env }, stdio: "pipe" });
  child.stdout?.setEncoding("utf8");
  child.stderr?.setEncoding("utf8");
  // The process may exit before it has read everything; its exit tells why.
  child.stdin?.on("error", () => undefined);
  return child;
}

const MAX_CHARS = 1_000_000;

function ended(child: ChildProcess, limitMs: number): Promise<Tried> {
  const startedAt = Date.now();
  let [stdout, stderr, isTimedOut] = ["", "", false];
  child.stdout?.on("data", (chunk: string) => (stdout = (stdout + chunk).slice(0, MAX_CHARS)));
  child.stderr?.on("data", (chunk: string) => (stderr = (stderr + chunk).slice(0, MAX_CHARS)));
  const limit = setTimeout(() => {
    isTimedOut = true;
    child.kill("SIGKILL");
  }, limitMs);
  return new Promise((resolve) => {
    const finish = (exitCode: number | null) => {
      clearTimeout(limit);
      resolve({ exitCode, stdout, stderr, tookMs: Date.now() - startedAt, isTimedOut });
    };
    child.on("error", (error) => {
      stderr += error.message;
      finish(null);
    });
    child.on("close", finish);
  });
}

function parseMessage(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    // Not a message: other output of a server is ignored.
    return undefined;
  }
}
