/**
 * A repository that exists for one test, with a home of its own for Gemini CLI, and the hook recorder. Nothing of the person
 * who runs the tests is read or written.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface GeminiHookRecord {
  payload: Record<string, unknown> & { session_id: string; hook_event_name: string };
  cwd: string;
  env: Record<string, string>;
}

export interface GeminiMcpRecord {
  pid: number;
  start?: { env: Record<string, string>; cwd: string };
  message?: { method?: string; params?: Record<string, unknown> };
}

export interface ScratchGemini {
  base: string;
  root: string;
  home: string;
  /** Variables that keep the client inside `base`. */
  env: Record<string, string>;
  write(path: string, text: string): string;
  writeSkill(folder: string, name: string, options?: { description?: string; body?: string }): void;
  /** Merged into the user's settings, key by key of the top level. */
  writeUserSettings(settings: Record<string, unknown>): void;
  /** The same for .gemini/settings.json of the repository. */
  writeSettings(settings: Record<string, unknown>): void;
  git(...args: string[]): string;
  /** Registers the recorder. A text answers an event as additionalContext, an object is printed as it is. */
  recordHooks(answers?: Record<string, unknown>, events?: readonly string[]): void;
  hooks(event?: string): GeminiHookRecord[];
  mcp(): GeminiMcpRecord[];
  remove(): void;
}

export const GEMINI_EVENTS = [
  ..."SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection".split(" "),
  ..."BeforeTool AfterTool PreCompress Notification".split(" "),
];

/** One that is removed when the test is over. */
export function scratchGemini(): ScratchGemini {
  const repo = makeScratchGemini();
  onTestFinished(() => repo.remove());
  return repo;
}

export function makeScratchGemini(): ScratchGemini {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-gemini-")));
  const at = (name: string) => join(base, name);
  for (const name of ["repo", "home/.gemini", "tmp"]) mkdirSync(at(name), { recursive: true });
  const env = { HOME: at("home"), TMPDIR: at("tmp"), XDG_CONFIG_HOME: at("home/.config") };
  let settings: Record<string, unknown> = {};
  let userSettings: Record<string, unknown> = {
    security: { auth: { selectedType: "gemini-api-key" } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  };

  const repo: ScratchGemini = {
    base,
    root: at("repo"),
    home: at("home"),
    env,
    write(path, text) {
      const file = join(at("repo"), path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    writeSkill(folder, name, { description = `Knows about ${name}.`, body = `BODY-OF-${name}` } = {}) {
      const front = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`;
      repo.write(`${folder}/${name}/SKILL.md`, `${front}\n${body}\n`);
    },
    writeUserSettings(more) {
      userSettings = { ...userSettings, ...more };
      writeFileSync(at("home/.gemini/settings.json"), JSON.stringify(userSettings));
    },
    writeSettings(more) {
      settings = { ...settings, ...more };
      repo.write(".gemini/settings.json", JSON.stringify(settings));
    },
    git: (...args) =>
      execFileSync("git", args, { cwd: at("repo"), encoding: "utf8", env: { ...env, PATH: process.env["PATH"] } }),
    recordHooks(answers = {}, events = GEMINI_EVENTS) {
      writeFileSync(at("answers.json"), JSON.stringify(answers));
      const command = [process.execPath, join(import.meta.dirname, "record-hook.cjs"), base].map(quoted).join(" ");
      const hooks = Object.fromEntries(
        events.map((event) => [event, [{ hooks: [{ type: "command", command, timeout: 10_000 }] }]]),
      );
      repo.writeSettings({ hooks });
    },
    hooks(event) {
      const records = readLines<GeminiHookRecord>(at("records.jsonl"));
      return event ? records.filter(({ payload }) => payload.hook_event_name === event) : records;
    },
    mcp: () => readLines<GeminiMcpRecord>(at("mcp.jsonl")),
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
  repo.writeUserSettings({});
  repo.git("init", "--quiet", "--initial-branch=main");
  repo.git("config", "user.name", "Tester");
  repo.git("config", "user.email", "tester@example.invalid");
  return repo;
}

/** The entry of mcpServers for the echo server. */
export function echoServer(repo: ScratchGemini): Record<string, unknown> {
  return { command: process.execPath, args: [join(import.meta.dirname, "../claude-code/echo-mcp.cjs"), repo.base] };
}

function readLines<Entry>(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Entry);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
