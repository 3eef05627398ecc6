/** A project with its own home, and with enough content for long answers to events. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const DIST = join(import.meta.dirname, "../../packages/haversack/dist");

export interface Project {
  base: string;
  root: string;
  home: string;
  store: string;
  env: Record<string, string>;
  words: string[];
  remove(): void;
}

export interface CommandRun {
  code: number | null;
  stdout: string;
  stderr: string;
  tookMs: number;
}

/** A process that takes longer is ended and counts as a failure. */
export const LIMIT_MS = 60_000;

/** `folder`: where the project is made. Default: the system's folder for temporary files. */
export function makeProject({ folder = tmpdir() }: { folder?: string } = {}): Project {
  const base = realpathSync(mkdtempSync(join(folder, "haversack-campaign-")));
  const root = join(base, "project");
  const home = join(base, "home");
  mkdirSync(join(root, ".git"), { recursive: true });
  mkdirSync(home);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_STATE_HOME: join(home, ".state"),
    XDG_CACHE_HOME: join(home, ".cache"),
  };
  const words: string[] = [];
  for (const [name, about] of SKILLS) {
    const file = join(root, `.claude/skills/${name}/SKILL.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `---\nname: ${name}\ndescription: ${about}\n---\n\n${`${about}\n`.repeat(60)}`);
    words.push(name, about, `use the ${name} skill`);
  }
  const project = { base, root, home, store: join(root, ".haversack/haversack.db"), env, words, remove };
  function remove(): void {
    rmSync(base, { recursive: true, force: true });
  }
  const must = (...args: string[]): string => {
    const { code, stdout, stderr } = haversack(project, args);
    if (code !== 0) throw new Error(`haversack ${args.join(" ")}: exit ${code}: ${stderr}`);
    return stdout;
  };
  must("skill", "index");
  must("agent", "add", "lead", "--role", "orchestrator");
  for (let number = 0; number < 6; number++) {
    const title = `Report errors of endpoint ${number} ${"with every status code ".repeat(8)}`;
    const { id } = JSON.parse(must("task", "create", title, "--json")) as { id: string };
    words.push(id, title);
  }
  for (let number = 0; number < 3; number++)
    must("agent", "message", "@lead", `${"Look at the changelog. ".repeat(60)}`);
  return project;
}

export function haversack(project: Project, args: readonly string[], prefix: readonly string[] = []): CommandRun {
  return run(project, [...prefix, process.execPath, join(DIST, "haversack.cjs"), ...args]);
}

export function hook(
  project: Project,
  client: string,
  input: Buffer | string,
  prefix: readonly string[] = [],
): CommandRun {
  return run(project, [...prefix, process.execPath, join(DIST, "hook.cjs"), client], input);
}

function run(
  { root, env }: Project,
  [program = "", ...args]: readonly string[],
  input: Buffer | string = "",
): CommandRun {
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    env,
    input,
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
    maxBuffer: 50_000_000,
  });
  const tookMs = performance.now() - startedAt;
  return { code: status, stdout: String(stdout), stderr: String(stderr), tookMs };
}

const SKILLS: readonly [name: string, about: string][] = [
  ["api-errors", "Use when an HTTP endpoint reports error status codes."],
  ["release-notes", "Writes release notes and changelog entries from merged pull requests."],
  ["form-filling", "Fills PDF forms and checks every field of them."],
  ["db-migrations", "Writes and reviews database migrations with a rollback."],
  ["flaky-tests", "Finds out why a test fails now and then, and makes it stable."],
];
