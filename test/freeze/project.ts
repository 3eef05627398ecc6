/** A project of its own, with a home and a clock of its own, seeded by Haversack's own commands. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, vi } from "vitest";
import { run } from "../skills-run.ts";
import { closeStores, countIdsAnew, noteStores } from "./as-built.ts";

export interface Project {
  base: string;
  root: string;
  /** Where a second worktree may be. */
  side: string;
  home: string;
  /** Of every process and every call. */
  env: Record<string, string>;
  /** What time it is, ISO 8601. */
  now(): string;
  pass(ms: number): void;
  write(path: string, text: string): void;
  git(...args: string[]): void;
  /** Haversack's CLI, in this process; it must succeed. */
  cli(words: readonly string[], env?: Record<string, string>, stdin?: string): Promise<string>;
  /** With the project's paths in place of those of the recorded payloads. */
  placed<Value>(value: Value): Value;
  /** With the recorded payloads' paths in place of the project's: what is kept. */
  normal(text: string): string;
  /** Called when the scenario is over. */
  onEnd(undo: () => unknown): void;
  end(): Promise<void>;
}

/** Long ago, so that no file is older than its project. */
const BEGIN = Date.parse("2026-01-05T10:00:00.000Z");

/** Texts are cut by their length: the paths in them must have the same one everywhere. */
const ROOT_CHARS = 100;

export function newProject(): Project {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-freeze-")));
  const root = join(base, "repo").padEnd(ROOT_CHARS, "-");
  const side = join(base, "side").padEnd(ROOT_CHARS, "-");
  const home = join(base, "home");
  const undo: (() => unknown)[] = [() => rmSync(base, { recursive: true, force: true })];
  mkdirSync(root, { recursive: true });
  mkdirSync(home);
  // With the variable of doctor no event starts a process that outlives it: one that rebuilds the index would also read in the spool.
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, HAVERSACK_DOCTOR: "1" };
  let at = BEGIN;
  const set = () => {
    // Once only, because classes of loaded files may extend the first `Date`; and timers stay real.
    if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(at);
  };
  set();
  countIdsAnew();
  const project: Project = {
    base,
    root,
    side,
    home,
    env,
    now: () => new Date(at).toISOString(),
    pass(ms) {
      at += ms;
      set();
    },
    write(path, text) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    },
    git(...args) {
      const who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"];
      const dates = { GIT_AUTHOR_DATE: project.now(), GIT_COMMITTER_DATE: project.now() };
      execFileSync("git", [...who, ...args], { cwd: root, env: { ...env, ...dates }, stdio: "pipe" });
    },
    async cli(words, more = {}, stdin = "") {
      noteStores();
      const { code, out, err } = await run({ root, home }, words.map(project.placed), {
        env: { ...env, ...more },
        stdin,
      });
      closeStores();
      expect({ words, code, err: code === 0 ? "" : err }).toEqual({ words, code: 0, err: "" });
      return out;
    },
    placed: (value) => placedIn(value, { "/repo": root, "/side": side, "/home/user": home }),
    normal: (text) =>
      text.replaceAll(root, "/repo").replaceAll(side, "/side").replaceAll(home, "/home/user").replaceAll(base, "/base"),
    onEnd: (one) => void undo.unshift(one),
    async end() {
      for (const one of undo) await one();
    },
  };
  return project;
}

function placedIn<Value>(value: Value, places: Readonly<Record<string, string>>): Value {
  const text = JSON.stringify(value);
  if (text === undefined) return value;
  const paths = /(?<!\w)(?:\/home\/user|\/repo|\/side)(?=[/"\\ ,.:])/g;
  return JSON.parse(text.replaceAll(paths, (path) => places[path]!));
}
