/** Separate repositories, each with its own home, for tests that wire clients. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { DIST, type Ran } from "./bins.ts";
import { run as runHere } from "./skills-run.ts";

export interface Repo {
  base: string;
  root: string;
  home: string;
  /** Environment of its processes. */
  env: Record<string, string>;
  read(path: string): string;
  write(path: string, text: string): string;
  skill(name: string, description?: string): void;
  git(...args: string[]): string;
  run(...words: string[]): { code: number | null; out: string; err: string };
  /** With additional environment variables. */
  runWith(more: Record<string, string>, ...words: string[]): { code: number | null; out: string; err: string };
  runIn(cwd: string, ...words: string[]): { code: number | null; out: string; err: string };
  /** Like `run`, but in this process, for tests that call it often. */
  cli(...words: string[]): Promise<Ran>;
  cliIn(cwd: string, ...words: string[]): Promise<Ran>;
}

/** A path with a space, a quote and a dollar sign, which break careless shell code. */
export function repository(folder = "it's a $project"): Repo {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-test-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [root, home] = [join(base, folder), join(base, "home")];
  mkdirSync(join(root, ".claude"), { recursive: true });
  mkdirSync(home);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    TMPDIR: join(base, "tmp"),
  };
  mkdirSync(env.TMPDIR);
  const at = (path: string) => (path.startsWith("/") ? path : join(root, path));
  const repo: Repo = {
    base,
    root,
    home,
    env,
    read: (path) => readFileSync(at(path), "utf8"),
    write(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
      return at(path);
    },
    skill(name, description = `Knows about ${name}.`) {
      repo.write(
        `.claude/skills/${name}/SKILL.md`,
        `---\nname: ${name}\ndescription: ${description}\n---\n\nBody of ${name}.\n`,
      );
    },
    git: (...args) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.invalid", ...args], {
        cwd: root,
        env,
        encoding: "utf8",
        stdio: "pipe",
      }),
    run: (...words) => start(root, env, words),
    runWith: (more, ...words) => start(root, { ...env, ...more }, words),
    runIn: (cwd, ...words) => start(cwd, env, words),
    cli: (...words) => repo.cliIn(root, ...words),
    cliIn: (cwd, ...words) => runHere({ root, home }, words, { cwd, env }),
  };
  repo.git("init", "--quiet", "--initial-branch=main");
  return repo;
}

function start(cwd: string, env: Record<string, string>, words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(DIST, "haversack.cjs"), ...words], {
    cwd,
    env,
    encoding: "utf8",
  });
  return { code: status, out: stdout, err: stderr };
}

/** Every file in the folders with its bytes and mode, without git's objects. */
export function snapshot(...folders: string[]): Record<string, string> {
  const files: Record<string, string> = {};
  for (const folder of folders) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      // State stays: the store, the record that it belongs to this user, and compiled code.
      if (/\/\.haversack|\/home\/\.(?:local|cache)/.test(path)) continue;
      files[path] = entry.isFile() ? `${statSync(path).mode.toString(8)} ${readFileSync(path, "utf8")}` : "folder";
    }
  }
  return files;
}
