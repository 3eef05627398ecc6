/** The built MCP server, asked through its tool `hook` as `init` wires the client: one server for each project, as long as the scenario runs. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CLAUDE_HOOKS } from "../../../packages/haversack/src/clients/claude-code/settings.ts";
import { hookGroups } from "../../../packages/haversack/src/clients/hook-settings.ts";
import { DIST } from "../../bins.ts";
import type { Answered, Driver, SentEvent } from "../driver.ts";
import type { Project } from "../project.ts";
import type { Fields } from "../recorded.ts";

const CLOCK = join(import.meta.dirname, "../fixed-clock.cjs");

type ServerHook = { type: string; input?: Record<string, string> };
const HOOKS = hookGroups(CLAUDE_HOOKS, "", { hasGuards: false, asksServer: true }) as Record<
  string,
  { hooks: ServerHook[] }
>;

export class McpDriver implements Driver {
  readonly #servers = new Map<string, Server>();

  /** As `init` wires it: a process handles the start and the end of a session. Another user needs another process. */
  takes({ client, event, payload, isReader }: SentEvent): boolean {
    return client === "claude-code" && !isReader && isObject(payload) && inputFor(event) !== undefined;
  }

  async answer({ event, payload, env }: SentEvent, project: Project): Promise<Answered> {
    const all = { ...project.env, ...env };
    const key = JSON.stringify([project.root, all]);
    const server = this.#servers.get(key) ?? (await Server.start(project.root, all));
    this.#servers.set(key, server);
    const text = await server.call(filled(inputFor(event) ?? {}, payload as Fields), project.now());
    return { stdout: text === "{}" ? "" : text, exit: 0 };
  }

  async end(): Promise<void> {
    for (const server of this.#servers.values()) await server.end();
    this.#servers.clear();
  }
}

function inputFor(event: string): Record<string, string> | undefined {
  return HOOKS[event]?.hooks.find(({ type }) => type === "mcp_tool")?.input;
}

/** Fills in fields by name as Claude Code does: objects and booleans as texts, missing ones as "". Fields that it never sends stay as they are. */
function filled(input: Record<string, string>, payload: Fields): Fields {
  const fill = (text: string) => {
    const name = /^\$\{(\w+)\}$/.exec(text)?.[1];
    const value = name === undefined ? text : (payload[name] ?? (name in payload ? null : ""));
    return isObject(value) || typeof value === "boolean" ? JSON.stringify(value) : value;
  };
  return Object.fromEntries(Object.entries(input).map(([field, text]) => [field, fill(text)]));
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

class Server {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #waiting = new Map<number, (result: { content: { text: string }[] }) => void>();
  #last = 0;

  private constructor(root: string, env: Record<string, string>) {
    this.#folder = mkdtempSync(join(tmpdir(), "haversack-freeze-clock-"));
    const clock = { NODE_OPTIONS: `--require=${CLOCK}`, FREEZE_NOW_FILE: join(this.#folder, "now") };
    this.#setClock(new Date(0).toISOString());
    this.#child = spawn(process.execPath, [join(DIST, "haversack.cjs"), "mcp"], {
      cwd: root,
      env: { ...env, ...clock },
    });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      const { id, result } = JSON.parse(line);
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  static async start(root: string, env: Record<string, string>): Promise<Server> {
    const server = new Server(root, env);
    const clientInfo = { name: "claude-code", version: "2.1.325" };
    await server.#request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    // The `initialized` notice is not sent, because the work that it starts would run at an unpredictable time.
    return server;
  }

  async call(input: Fields, now: string): Promise<string> {
    this.#setClock(now);
    const { content } = await this.#request("tools/call", { name: "hook", arguments: input });
    return content[0]?.text ?? "";
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #setClock(now: string): void {
    writeFileSync(join(this.#folder, "now"), now);
  }

  #request(method: string, params: unknown): Promise<{ content: { text: string }[] }> {
    const id = ++this.#last;
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}
