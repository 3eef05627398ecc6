/** A repository with tasks, and a client that does what a script says: for tests of `haversack work`. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
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
import { join } from "node:path";

const BIN = join(import.meta.dirname, "../../packages/haversack/dist/haversack.cjs");
const CLIENT = join(import.meta.dirname, "scripted-client.mjs");
const MOVED_CLOCK = join(import.meta.dirname, "moved-clock.mjs");

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ran>;
  /** Resolves when the output has this text. */
  says(text: string): Promise<void>;
}

export interface SessionNote {
  at: number;
  pid: number;
  purpose: "batch" | "fix" | "review";
  tasks: string[];
  prompt: string;
  args: string[];
}

export interface RunProject {
  base: string;
  root: string;
  env: Record<string, string>;
  tasks: string[];
  haversack(...words: string[]): Promise<Ran>;
  /** `haversack work` to its end. */
  work(words: string[], env?: Record<string, string>): Promise<Ran>;
  start(words: string[], env?: Record<string, string>, cwd?: string): Running;
  git(...words: string[]): string;
  write(path: string, text: string): void;
  read(path: string): string;
  script(body: string): void;
  config(settings: object): void;
  sessions(): SessionNote[];
  status(): Promise<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  report(): any;
  /** Moves the wall clock of every program that the project starts or has started. */
  moveClock(hours: number): void;
  /** Processes of this project that still run: its clients, and what they started. */
  leftovers(): number[];
  remove(): void;
}

export interface ProjectOptions {
  tasks?: number;
  /** Type of each task. */
  types?: string[];
  /** What the client does; see scripted-client.mjs. */
  script?: string;
  settings?: { work?: object; headless?: object };
  /** For `moveClock`. */
  hasMovingClock?: boolean;
  /** A program that starts Haversack, such as `unshare`, with its arguments. */
  through?: readonly string[];
}

/** The tests are red while a file holds the word BROKEN. */
export const CHECK = `if grep -l BROKEN *.txt 2>/dev/null; then echo "FAIL: a file is BROKEN"; exit 1; fi\necho all fine\n`;

export async function runProject(options: ProjectOptions = {}): Promise<RunProject> {
  const { tasks: count = 3, types = [], script = FINISH_ALL, settings = {} } = options;
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-run-")));
  const [root, home, bin] = [join(base, "project"), join(base, "home"), join(base, "bin")];
  for (const folder of [root, join(home, ".config/haversack"), bin]) mkdirSync(folder, { recursive: true });
  const env = {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_STATE_HOME: join(home, ".local/state"),
    TMPDIR: tmpdir(),
    HAVERSACK_BIN: BIN,
    SCRIPT: join(base, "script.mjs"),
    SESSIONS_FILE: join(base, "sessions.jsonl"),
    HAVERSACK_TEST_SPEED: "60",
    ...(options.hasMovingClock && { NODE_OPTIONS: `--import=${MOVED_CLOCK}`, CLOCK_FILE: join(base, "clock") }),
    GIT_CONFIG_GLOBAL: join(home, ".gitconfig"),
  };
  writeFileSync(
    env.GIT_CONFIG_GLOBAL,
    "[user]\n\tname = T\n\temail = t@example.invalid\n[init]\n\tdefaultBranch = main\n",
  );
  const version = `if [ "$1" = --version ]; then echo "\${CLAUDE_VERSION:-2.1.325} (Claude Code)"; exit; fi`;
  writeFileSync(join(bin, "claude"), `#!/bin/sh\n${version}\nexec "${process.execPath}" "${CLIENT}" "$@"\n`);
  chmodSync(join(bin, "claude"), 0o755);
  const start = (words: string[], more: Record<string, string> = {}, cwd = root): Running => {
    const [program = "", ...rest] = [...(options.through ?? []), process.execPath, BIN, ...words];
    const child = spawn(program, rest, {
      cwd,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    const waiting: { text: string; resolve(): void; reject(error: Error): void }[] = [];
    child.stdout.setEncoding("utf8").on("data", (text) => {
      out += text;
      for (const one of waiting) if (out.includes(one.text)) one.resolve();
    });
    child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
    const ended = new Promise<Ran>((resolve) => {
      child.on("close", (code) => {
        for (const one of waiting) one.reject(new Error(`it ended without saying "${one.text}":\n${out}\n${err}`));
        resolve({ code, out, err });
      });
    });
    const says = (text: string) =>
      out.includes(text)
        ? Promise.resolve()
        : new Promise<void>((resolve, reject) => waiting.push({ text, resolve, reject }));
    return { child, ended, says };
  };
  const haversack = (...words: string[]) => start(words).ended;
  const project: RunProject = {
    ...{ base, root, env, tasks: [], haversack, start },
    work: (words, more) => start(["work", ...words], more).ended,
    git: (...words) => execFileSync("git", words, { cwd: root, env, encoding: "utf8", stdio: "pipe" }),
    write: (path, text) => writeFileSync(join(root, path), text),
    read: (path) => readFileSync(join(root, path), "utf8"),
    script: (body) => writeFileSync(env.SCRIPT, `export default async (agent) => {\n${body}\n};\n`),
    config: (value) => writeFileSync(join(home, ".config/haversack/config.json"), JSON.stringify(value)),
    sessions: () =>
      existsSync(env.SESSIONS_FILE)
        ? readFileSync(env.SESSIONS_FILE, "utf8")
            .split("\n")
            // The last one may be half written.
            .slice(0, -1)
            .map((line) => JSON.parse(line) as SessionNote)
        : [],
    async status() {
      const listed = await haversack("task", "list", "--json");
      const tasks = JSON.parse(listed.out) as { id: string; status: string }[];
      return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
    },
    report() {
      const folder = join(root, ".haversack/reports");
      const name = readdirSync(folder).find((file) => file.endsWith(".json"));
      return JSON.parse(readFileSync(join(folder, name ?? ""), "utf8"));
    },
    moveClock: (hours) => writeFileSync(join(base, "clock"), String(hours * 3_600_000)),
    leftovers: () => processesOf(env.SESSIONS_FILE),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
  project.script(script);
  project.config({
    ...settings,
    work: { test_command: "sh check.sh", ...settings.work },
    // Divided by HAVERSACK_TEST_SPEED: on a busy machine a session is slow, but not hung.
    headless: { reviewers: [], fill_sessions: false, quiet_minutes: 60, grace_seconds: 3600, ...settings.headless },
  });
  project.write("check.sh", CHECK);
  project.git("init", "--quiet");
  project.write(".gitignore", ".haversack/\n");
  project.git("add", "--all");
  project.git("commit", "--quiet", "-m", "first");
  for (let number = 1; number <= count; number++) {
    const type = types[number - 1];
    const made = await haversack("task", "create", `Task ${number}`, ...(type ? ["--type", type] : []), "--json");
    if (made.code !== 0) throw new Error(made.err);
    project.tasks.push((JSON.parse(made.out) as { id: string }).id);
  }
  return project;
}

/** Every process whose environment names this project's file of sessions. */
function processesOf(file: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const isOurs = readFileSync(`/proc/${name}/environ`, "latin1").includes(`SESSIONS_FILE=${file}`);
      return isOurs && !/\) Z /.test(readFileSync(`/proc/${name}/stat`, "latin1")) ? [Number(name)] : [];
    } catch {
      // It has just ended.
      return [];
    }
  });
}

export const FINISH_ALL = `
  for (const task of agent.tasks) agent.finish(task);
  agent.answer("done");
  agent.result();
`;
