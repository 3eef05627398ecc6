/**
 * A repository that exists for one test, with a home and XDG folders of its own for opencode, and the recording plugin. Nothing of the
 * person who runs the tests is read or written.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface PluginRecord {
  hook: string;
  input: Record<string, unknown>;
  output: Record<string, unknown>;
}

export interface OpencodeMcpRecord {
  pid: number;
  start?: { env: Record<string, string>; cwd: string };
  message?: { method?: string; params?: Record<string, unknown> };
}

export interface ScratchOpencode {
  base: string;
  root: string;
  home: string;
  /** Variables that keep the client inside `base`. */
  env: Record<string, string>;
  write(path: string, text: string): string;
  writeSkill(folder: string, name: string, options?: { description?: string; body?: string }): void;
  /** Merged into the repository's opencode.json, key by key of the top level. */
  writeConfig(config: Record<string, unknown>): void;
  config(): Record<string, unknown>;
  git(...args: string[]): string;
  /** Puts the recording plugin in place; see record-plugin.js for the keys of answers. */
  recordHooks(answers?: Record<string, unknown>): void;
  hooks(name?: string): PluginRecord[];
  mcp(): OpencodeMcpRecord[];
  remove(): void;
}

/** One that is removed when the test is over. */
export function scratchOpencode(): ScratchOpencode {
  const repo = makeScratchOpencode();
  onTestFinished(() => repo.remove());
  return repo;
}

export function makeScratchOpencode(): ScratchOpencode {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-opencode-")));
  const at = (name: string) => join(base, name);
  for (const name of ["repo", "home", "tmp", "config/opencode", "data", "cache", "state"])
    mkdirSync(at(name), { recursive: true });
  const env = {
    HOME: at("home"),
    TMPDIR: at("tmp"),
    XDG_CONFIG_HOME: at("config"),
    XDG_DATA_HOME: at("data"),
    XDG_CACHE_HOME: at("cache"),
    XDG_STATE_HOME: at("state"),
    OPENCODE_TEST_HOME: at("home"),
    HAVERSACK_TEST_FOLDER: base,
  };
  let config: Record<string, unknown> = {};

  const repo: ScratchOpencode = {
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
    writeConfig(more) {
      config = { ...config, ...more };
      repo.write("opencode.json", JSON.stringify(config, undefined, 2));
    },
    config: () => config,
    git: (...args) =>
      execFileSync("git", args, { cwd: at("repo"), encoding: "utf8", env: { ...env, PATH: process.env["PATH"] } }),
    recordHooks(answers = {}) {
      writeFileSync(at("answers.json"), JSON.stringify(answers));
      mkdirSync(at("repo/.opencode/plugin"), { recursive: true });
      copyFileSync(join(import.meta.dirname, "record-plugin.js"), at("repo/.opencode/plugin/recorder.js"));
    },
    hooks(name) {
      const records = readLines<PluginRecord>(at("records.jsonl"));
      return name ? records.filter(({ hook }) => hook === name) : records;
    },
    mcp: () => readLines<OpencodeMcpRecord>(at("mcp.jsonl")),
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
  repo.git("init", "--quiet", "--initial-branch=main");
  repo.git("config", "user.name", "Tester");
  repo.git("config", "user.email", "tester@example.invalid");
  return repo;
}

/** The entry of `mcp` for the echo server. */
export function echoServer(repo: ScratchOpencode): Record<string, unknown> {
  const file = join(import.meta.dirname, "../claude-code/echo-mcp.cjs");
  return { type: "local", command: [process.execPath, file, repo.base], enabled: true };
}

function readLines<Entry>(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Entry);
}
