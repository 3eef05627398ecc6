/**
 * A repository that exists for one test, with a home, a client configuration and a temporary folder of its own, and the hook
 * recorder. Nothing of the person who runs the tests is read or written.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface HookRecord {
  payload: HookPayload;
  cwd: string;
  env: Record<string, string>;
}

export interface HookPayload {
  session_id: string;
  hook_event_name: string;
  prompt_id?: string;
  agent_id?: string;
  agent_type?: string;
  source?: string;
  trigger?: string;
  prompt?: string;
  tool_name?: string;
  tool_use_id?: string;
  tool_input?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface McpRecord {
  pid: number;
  start?: { env: Record<string, string>; cwd: string; argv: string[] };
  message?: { method?: string; params?: Record<string, unknown> };
}

/** What the recorder prints for an event: a text becomes additionalContext, an object is printed as it is. */
export type HookAnswer = string | { stdout?: string; exitCode?: number };

export interface ScratchRepo {
  /** The folder around everything; where the recorder writes. */
  base: string;
  root: string;
  home: string;
  configDir: string;
  /** Variables that keep the client inside `base`. */
  env: Record<string, string>;
  write(path: string, text: string): string;
  writeSkill(name: string, options?: { description?: string; body?: string }): void;
  /** Merged into .claude/settings.local.json, key by key of the top level. */
  writeSettings(settings: Record<string, unknown>): void;
  writeMcpServers(servers: Record<string, unknown>): void;
  git(...args: string[]): string;
  /**
   * Registers the recorder for events. Answers are looked up by `Event:detail` (detail is source, tool, trigger or agent type), then
   * by `Event`.
   */
  recordHooks(answers?: Record<string, HookAnswer>, events?: readonly string[]): void;
  hooks(event?: string): HookRecord[];
  mcp(): McpRecord[];
  remove(): void;
}

/** Every event of 2.1.325 but WorktreeCreate and WorktreeRemove: a hook on those takes over what the client does. */
export const HOOK_EVENTS = [
  ..."SessionStart SessionEnd Setup UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse PostToolUseFailure".split(
    " ",
  ),
  ..."PostToolBatch PermissionRequest PermissionDenied SubagentStart SubagentStop Stop StopFailure PreCompact".split(
    " ",
  ),
  ..."PostCompact PreModelSwitch PostModelSwitch Notification TaskCreated TaskCompleted TeammateIdle".split(" "),
  ..."InstructionsLoaded ConfigChange CwdChanged FileChanged DirectoryAdded MessageDisplay".split(" "),
];

/** A scratch repository that is removed when the test is over. */
export function scratchRepo(): ScratchRepo {
  const repo = makeScratchRepo();
  onTestFinished(() => repo.remove());
  return repo;
}

export function makeScratchRepo(): ScratchRepo {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-client-")));
  const at = (name: string) => join(base, name);
  for (const name of ["repo", "home", "config", "tmp"]) mkdirSync(at(name));
  const env = { HOME: at("home"), CLAUDE_CONFIG_DIR: at("config"), TMPDIR: at("tmp") };
  let settings: Record<string, unknown> = {};

  const repo: ScratchRepo = {
    base,
    root: at("repo"),
    home: at("home"),
    configDir: at("config"),
    env,
    write(path, text) {
      const file = join(at("repo"), path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    writeSkill(name, { description = `Knows about ${name}.`, body = `BODY-OF-${name}` } = {}) {
      const front = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`;
      repo.write(`.claude/skills/${name}/SKILL.md`, `${front}\n${body}\n`);
    },
    writeSettings(more) {
      settings = { ...settings, ...more };
      repo.write(".claude/settings.local.json", JSON.stringify(settings));
    },
    writeMcpServers(mcpServers) {
      repo.write(".mcp.json", JSON.stringify({ mcpServers }));
    },
    git: (...args) =>
      execFileSync("git", args, { cwd: at("repo"), encoding: "utf8", env: { ...env, PATH: process.env["PATH"] } }),
    recordHooks(answers = {}, events = HOOK_EVENTS) {
      writeFileSync(at("answers.json"), JSON.stringify(answers));
      const command = [process.execPath, join(import.meta.dirname, "record-hook.cjs"), base].map(quoted).join(" ");
      const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [{ type: "command", command }] }]]));
      repo.writeSettings({ hooks });
    },
    hooks(event) {
      const records = readLines<HookRecord>(at("records.jsonl"));
      return event ? records.filter(({ payload }) => payload.hook_event_name === event) : records;
    },
    mcp: () => readLines<McpRecord>(at("mcp.jsonl")),
    // A client's background process may still write while it ends.
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
  repo.git("init", "--quiet", "--initial-branch=main");
  repo.git("config", "user.name", "Tester");
  repo.git("config", "user.email", "tester@example.invalid");
  return repo;
}

/** The entry of .mcp.json for the echo server. */
export function echoServer(repo: ScratchRepo): Record<string, unknown> {
  return { command: process.execPath, args: [join(import.meta.dirname, "echo-mcp.cjs"), repo.base] };
}

function readLines<Entry>(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Entry);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
