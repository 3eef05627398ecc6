/**
 * A repository that exists for one test, with a home and a Codex folder of its own, and the hook recorder. Nothing of the person
 * who runs the tests is read or written.
 */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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
  turn_id?: string;
  agent_id?: string;
  agent_type?: string;
  source?: string;
  trigger?: string;
  prompt?: string;
  tool_name?: string;
  tool_use_id?: string;
  tool_input?: Record<string, unknown>;
  tool_response?: unknown;
  [field: string]: unknown;
}

export interface McpRecord {
  pid: number;
  start?: { env: Record<string, string>; cwd: string; argv: string[] };
  message?: { method?: string; params?: Record<string, unknown> };
}

/** What the recorder prints for an event: a text becomes additionalContext, an object is printed as it is. */
export type HookAnswer = string | { stdout?: string; exitCode?: number };

export interface CodexRepo {
  /** The folder around everything; where the recorder writes. */
  base: string;
  root: string;
  home: string;
  codexHome: string;
  /** Variables that keep the client inside `base`. */
  env: Record<string, string>;
  write(path: string, text: string): string;
  /** In `.agents/skills`, which Codex lists, or another folder. */
  writeSkill(name: string, options?: { description?: string; body?: string; folder?: string }): void;
  /** Tables for the end of the user's config.toml. Without it the client would ask other hosts for plugins. */
  addConfig(toml: string): void;
  git(...args: string[]): string;
  /**
   * Registers the recorder in the user's hooks.json. Answers are looked up by `Event:detail` (detail is source, tool, trigger or
   * agent type), then by `Event`.
   */
  recordHooks(answers?: Record<string, HookAnswer>, events?: readonly string[]): void;
  hooks(event?: string): HookRecord[];
  mcp(): McpRecord[];
  /** The lines of the session's file, of all sessions in the order of their start. */
  rollouts(): Record<string, unknown>[][];
  remove(): void;
}

export const HOOK_EVENTS =
  "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SubagentStart SubagentStop Stop SessionEnd".split(
    " ",
  );

export const RECORDER = join(import.meta.dirname, "../claude-code/record-hook.cjs");
const ECHO_SERVER = join(import.meta.dirname, "../claude-code/echo-mcp.cjs");

/** A repository that is removed when the test is over. */
export function codexRepo(): CodexRepo {
  const repo = makeCodexRepo();
  onTestFinished(() => repo.remove());
  return repo;
}

export function makeCodexRepo(): CodexRepo {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-codex-")));
  const at = (name: string) => join(base, name);
  for (const name of ["repo", "home", "codex", "tmp"]) mkdirSync(at(name));
  const env = { HOME: at("home"), CODEX_HOME: at("codex"), TMPDIR: at("tmp") };
  const put = (file: string, text: string) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };

  const repo: CodexRepo = {
    base,
    root: at("repo"),
    home: at("home"),
    codexHome: at("codex"),
    env,
    write: (path, text) => put(join(at("repo"), path), text),
    writeSkill(
      name,
      { description = `Knows about ${name}.`, body = `BODY-OF-${name}`, folder = ".agents/skills" } = {},
    ) {
      const front = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`;
      repo.write(`${folder}/${name}/SKILL.md`, `${front}\n${body}\n`);
    },
    addConfig(toml) {
      const file = at("codex/config.toml");
      put(file, `${existsSync(file) ? readFileSync(file, "utf8") : ""}${toml}\n`);
    },
    git: (...args) =>
      execFileSync("git", args, { cwd: at("repo"), encoding: "utf8", env: { ...env, PATH: process.env["PATH"] } }),
    recordHooks(answers = {}, events = HOOK_EVENTS) {
      put(at("answers.json"), JSON.stringify(answers));
      put(at("codex/hooks.json"), JSON.stringify(recorderHooks(base, events)));
    },
    hooks(event) {
      const records = readLines<HookRecord>(at("records.jsonl"));
      return event ? records.filter(({ payload }) => payload.hook_event_name === event) : records;
    },
    mcp: () => readLines<McpRecord>(at("mcp.jsonl")),
    rollouts() {
      const folder = at("codex/sessions");
      if (!existsSync(folder)) return [];
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(".jsonl"),
      );
      return files.sort().map((name) => readLines(join(folder, name)));
    },
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
  repo.git("init", "--quiet", "--initial-branch=main");
  repo.git("config", "user.name", "Tester");
  repo.git("config", "user.email", "tester@example.invalid");
  return repo;
}

/** A hooks.json that has the recorder for these events. */
export function recorderHooks(base: string, events: readonly string[]): Record<string, unknown> {
  const command = [process.execPath, RECORDER, base].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  return { hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [{ type: "command", command }] }]])) };
}

/** The table of config.toml for the echo server. */
export function echoServer({ base }: CodexRepo, more = ""): string {
  const args = [ECHO_SERVER, base].map((word) => JSON.stringify(word)).join(", ");
  return `[mcp_servers.echo]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${args}]\n${more}\n`;
}

function readLines<Entry>(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Entry);
}
