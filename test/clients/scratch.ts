/**
 * The common part of all clients' scratch repositories: a repository for one test, with its own home and temporary folder, and what the recorders
 * wrote. No file of the user who runs the tests is read or written.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Scratch<Hook = HookRecord> {
  /** The folder around everything; where the recorders write. */
  base: string;
  root: string;
  home: string;
  /** Variables that keep the client inside `base`. */
  env: Record<string, string>;
  write(path: string, text: string): string;
  writeSkill(folder: string, name: string, options?: SkillOptions): void;
  git(...args: string[]): string;
  hooks(event?: string): Hook[];
  mcp(): McpRecord[];
  remove(): void;
}

export interface SkillOptions {
  description?: string;
  body?: string;
}

/** What record-hook.cjs noted of one call. */
export interface HookRecord {
  payload: HookPayload;
  cwd: string;
  env: Record<string, string>;
}

/** No client sends all of the optional ones. */
export interface HookPayload {
  session_id: string;
  hook_event_name: string;
  prompt_id?: string;
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

/** What the recorder prints for an event: a text becomes additionalContext, an object is printed as it is. */
export type HookAnswer = string | { stdout?: string; exitCode?: number };

/** What echo-mcp.cjs noted of its start or of a message. */
export interface McpRecord {
  pid: number;
  start?: { env: Record<string, string>; cwd: string; argv: string[] };
  message?: { method?: string; params?: Record<string, unknown> };
}

export interface ScratchOptions<Hook> {
  /** Begins the name of `base`. */
  prefix: string;
  /** In `base`, besides `repo`, `home` and `tmp`. */
  folders?: readonly string[];
  /** The client's own variables: names and folders in `base`. */
  variables?: Record<string, string>;
  eventOf: (record: Hook) => string;
}

export function makeScratch<Hook>({ prefix, folders = [], variables = {}, eventOf }: ScratchOptions<Hook>) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  const at = (name: string) => join(base, name);
  for (const name of ["repo", "home", "tmp", ...folders]) mkdirSync(at(name), { recursive: true });
  const env: Record<string, string> = { HOME: at("home"), TMPDIR: at("tmp") };
  for (const [name, folder] of Object.entries(variables)) env[name] = at(folder);

  const scratch: Scratch<Hook> = {
    base,
    root: at("repo"),
    home: at("home"),
    env,
    write: (path, text) => put(join(at("repo"), path), text),
    writeSkill(folder, name, { description = `Knows about ${name}.`, body = `BODY-OF-${name}` } = {}) {
      const front = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`;
      scratch.write(`${folder}/${name}/SKILL.md`, `${front}\n${body}\n`);
    },
    git: (...args) =>
      execFileSync("git", args, { cwd: at("repo"), encoding: "utf8", env: { ...env, PATH: process.env["PATH"] } }),
    hooks(event) {
      const records = readLines<Hook>(at("records.jsonl"));
      return event ? records.filter((record) => eventOf(record) === event) : records;
    },
    mcp: () => readLines<McpRecord>(at("mcp.jsonl")),
    // A client's background process may still write while it ends.
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
  scratch.git("init", "--quiet", "--initial-branch=main");
  scratch.git("config", "user.name", "Tester");
  scratch.git("config", "user.email", "tester@example.invalid");
  return scratch;
}

export function hookEvent({ payload }: HookRecord): string {
  return payload.hook_event_name;
}

/** Puts the answers where the recorders of `base` look for them. */
export function writeAnswers(base: string, answers: Record<string, unknown>): void {
  put(join(base, "answers.json"), JSON.stringify(answers));
}

/** `hooks` of a client's settings, with the recorder for these events; `more` goes into each entry. */
export function recorderHooks(command: readonly string[], events: readonly string[], more: object = {}) {
  const hook = { type: "command", command: command.map(quoted).join(" "), ...more };
  return Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]]));
}

/** Starts the echo server, which writes to mcp.jsonl. */
export function echoCommand({ base }: Pick<Scratch, "base">): [string, ...string[]] {
  return [process.execPath, join(import.meta.dirname, "claude-code/echo-mcp.cjs"), base];
}

/** Makes the folders that are missing. */
export function put(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** The entries of a file with one JSON value in each line; none when there is no file. */
export function readLines<Entry>(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Entry);
}

/** A word for the shell. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
