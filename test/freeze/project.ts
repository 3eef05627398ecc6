/** A project with its own home and clock, seeded by Haversack's own commands. */
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
  /** Path for a second worktree. */
  side: string;
  home: string;
  /** Environment of every process and call. */
  env: Record<string, string>;
  /** The current time, ISO 8601. */
  now(): string;
  pass(ms: number): void;
  write(path: string, text: string): void;
  git(...args: string[]): void;
  /** Runs Haversack's CLI in this process; it must succeed. */
  cli(words: readonly string[], env?: Record<string, string>, stdin?: string): Promise<string>;
  /** Replaces paths of the recorded payloads with the project's. */
  placed<Value>(value: Value): Value;
  /** Replaces the project's paths with those of the recorded payloads, for golden files. */
  normal(text: string): string;
  /** Called when the scenario is over. */
  onEnd(undo: () => unknown): void;
  end(): Promise<void>;
}

/** In the past, so no file is older than its project. */
const BEGIN = Date.parse("2026-01-05T10:00:00.000Z");

/** Texts are cut by length, so paths in them must have the same length everywhere. */
const ROOT_CHARS = 100;

export function newProject(): Project {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-freeze-")));
  const root = join(base, "repo").padEnd(ROOT_CHARS, "-");
  const side = join(base, "side").padEnd(ROOT_CHARS, "-");
  const home = join(base, "home");
  const undo: (() => unknown)[] = [() => rmSync(base, { recursive: true, force: true })];
  mkdirSync(root, { recursive: true });
  mkdirSync(home);
  // With doctor's variable, no event starts a background process. One that rebuilds the index would also read the spool in.
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, HAVERSACK_DOCTOR: "1" };
  let at = BEGIN;
  const set = () => {
    // Only once, because loaded classes may extend the first `Date`. Timers stay real.
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
