/** An MCP client for tests: starts the built server and speaks newline-delimited JSON-RPC to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { DIST, type Scratch } from "./bins.ts";

interface CallMeta {
  toolUseId?: string;
  more?: object;
}

export interface ServerOptions {
  args?: string[];
  cwd?: string;
  env?: Record<string, string>;
  /** CLAUDE_CODE_SESSION_ID. */
  session?: string;
  /** The client's name. Default: test. */
  client?: string;
}

export async function startServer(project: Scratch, options: ServerOptions = {}) {
  const server = spawnServer(project, options);
  const opening = await server.request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: options.client ?? "test", version: "1" },
  });
  server.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return { ...server, opening };
}

export function spawnServer(
  project: Scratch,
  { args = [], cwd = project.root, env = {}, session }: ServerOptions = {},
) {
  const { home } = project;
  const child: ChildProcess = spawn(process.execPath, [join(DIST, "haversack.cjs"), "mcp", ...args], {
    cwd,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      XDG_CONFIG_HOME: join(home, ".config"),
      ...(session && { CLAUDE_CODE_SESSION_ID: session }),
      ...env,
    },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const errorsWithoutId: number[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  const waiting = new Map<number, { resolve(result: any): void; reject(error: Error): void }>();
  createInterface({ input: child.stdout! }).on("line", (line) => {
    // Throws, and so fails the test, on anything that is not valid JSON-RPC.
    const { jsonrpc, id, result, error } = JSON.parse(line);
    if (id === null) errorsWithoutId.push(error.code);
    if (jsonrpc !== "2.0") throw new Error(`not JSON-RPC: ${line}`);
    if (error) waiting.get(id)?.reject(new Error(`${error.code}: ${error.message}`));
    else waiting.get(id)?.resolve(result);
  });
  void exited.then((code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the server has ended with ${code}: ${errors}`));
  });
  let last = 0;
  const write = (text: string) => void child.stdin?.write(text);
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  const request = (method: string, params: unknown = {}): Promise<any> => {
    const id = ++last;
    write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  };
  const call = async (name: string, input: unknown, { toolUseId, more = {} }: CallMeta = {}) => {
    const _meta = { ...(toolUseId && { "claudecode/toolUseId": toolUseId }), ...more };
    const { content, isError = false } = await request("tools/call", { name, arguments: input, _meta });
    return { text: content[0].text as string, isError: isError as boolean };
  };
  const skill = (input: unknown, meta?: CallMeta) => call("skill", input, meta);
  const end = () => {
    child.stdin?.end();
    return exited;
  };
  /** Stops reading the server's answers; its input stays open. */
  const closeOutput = () => void child.stdout?.destroy();
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  return {
    pid: child.pid,
    kill,
    write,
    request,
    call,
    skill,
    end,
    closeOutput,
    exited,
    errorsWithoutId,
    errors: () => errors,
  };
}
