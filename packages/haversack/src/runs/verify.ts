/**
 * Runs the project's own tests, because a session's word about them is not trusted. The command is found in the project's files or named in
 * the settings. Time and output are bounded, and everything that the command starts ends with it.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { readProjectText } from "../base/clean-text.ts";
import { maskSecrets } from "../base/mask.ts";
import { AwakeClock } from "./awake-clock.ts";
import { findProcesses, signal } from "./process-tree.ts";

export interface TestRun {
  command: string;
  isGreen: boolean;
  exitCode: number | null;
  isTimedOut: boolean;
  tookMs: number;
  /** The end of what it printed, masked. */
  output: string;
  /** Bytes that it printed. */
  bytes: number;
  /** Equal for equal failures, even if times, addresses and counts differ. "" if the tests pass. `isUnnamed` tells whether it can be compared. */
  fingerprint: string;
}

export interface TestOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
  limitMs: number;
  /** Marks the environment of everything that the command starts. */
  mark: string;
  /** Ends it early. */
  signal?: AbortSignal;
}

const KEPT_BYTES = 64_000;
const KILL_MS = 2_000;
const LOOK_MS = 1_000;

export function runTests(command: string, { cwd, env, limitMs, mark, signal: abort }: TestOptions): Promise<TestRun> {
  const startedAt = performance.now();
  const child = spawn("sh", ["-c", command], {
    cwd,
    env: { ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pid = child.pid ?? -1;
  const tail = new Tail(KEPT_BYTES);
  child.stdout.on("data", (chunk: Buffer) => tail.add(chunk));
  child.stderr.on("data", (chunk: Buffer) => tail.add(chunk));
  let isTimedOut = false;
  let fault = "";
  const end = () => {
    const found = findProcesses({ roots: [pid], mark });
    signal(found, "SIGTERM");
    setTimeout(() => signal(found, "SIGKILL"), KILL_MS).unref();
  };
  // Sleep of the machine does not count, so it must be looked at often.
  const clock = new AwakeClock();
  const limit = setInterval(
    () => {
      if (isTimedOut || clock.now() < limitMs) return;
      isTimedOut = true;
      end();
    },
    Math.min(LOOK_MS, limitMs),
  );
  abort?.addEventListener("abort", end, { once: true });
  return new Promise((resolve) => {
    let isOver = false;
    const finish = (exitCode: number | null) => {
      if (isOver) return;
      isOver = true;
      clearInterval(limit);
      abort?.removeEventListener("abort", end);
      // End what the command left running, such as a server that a test forgot.
      signal(findProcesses({ roots: [pid], mark }), "SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
      const output = maskSecrets(`${tail.text()}${fault}`);
      const isGreen = exitCode === 0 && !isTimedOut;
      resolve({
        command,
        isGreen,
        exitCode,
        isTimedOut,
        tookMs: Math.round(performance.now() - startedAt),
        output,
        bytes: tail.bytes,
        fingerprint: isGreen ? "" : fingerprintOf(output, exitCode, isTimedOut),
      });
    };
    child.on("error", (error) => {
      fault = error.message;
      finish(null);
    });
    // Wait for the process, not for its output: a process that it left may hold the output open.
    child.on("exit", (code) => setTimeout(() => finish(code), 100));
    child.on("close", (code) => finish(code));
  });
}

/** The last bytes of a stream of any length. */
class Tail {
  readonly #most: number;
  #chunks: Buffer[] = [];
  #kept = 0;
  bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.#chunks.push(chunk);
    this.#kept += chunk.length;
    while (this.#chunks.length > 1 && this.#kept - (this.#chunks[0]?.length ?? 0) >= this.#most) {
      this.#kept -= this.#chunks.shift()?.length ?? 0;
    }
  }

  text(): string {
    return Buffer.concat(this.#chunks).subarray(-this.#most).toString("utf8");
  }
}

/** Lines that name a failure; all lines when none does. */
const FAILURE = /\b(fail(ed|ure|s)?|error|not ok|assert\w*|panic(ked)?|exception|expected|✗|×)\b|[✗×✖]/i;

function fingerprintOf(output: string, exitCode: number | null, isTimedOut: boolean): string {
  const lines = output.split("\n").map(withoutNumbers).filter(Boolean);
  const failing = lines.filter((line) => FAILURE.test(line));
  const text = [...new Set(failing.length > 0 ? failing : lines)].sort().join("\n");
  const hash = createHash("sha256").update(`${exitCode}\n${isTimedOut}\n${text}`).digest("hex").slice(0, 16);
  return namesFailingTest(output) ? hash : `${UNNAMED}${hash}`;
}

const UNNAMED = "?";

/**
 * Whether a failure names no test: the command is wrong, the code does not compile, or no test was found. Such a failure hides all
 * others, so "it fails as before" says nothing about the work.
 */
export function isUnnamed(fingerprint: string): boolean {
  return fingerprint.startsWith(UNNAMED);
}

/** How test runners write the name of a test that fails. Counts do not help: they differ from run to run. */
const NAMED_FAILURES: readonly RegExp[] = [
  // FAIL a.test.ts > adds · --- FAIL: TestAdds · FAILED tests/a.py::adds · AddTest > adds FAILED · test adds ... FAILED · [  FAILED  ] Add.adds
  /\bFAIL(?:ED|URE)?\b/,
  /^not ok \d+/,
  /^[✗✘×✖✕]\s*\S/,
  /^\(fail\) \S/,
  // Mocha, RSpec, PHPUnit, ExUnit
  /^\d+\) \S/,
  /^ERROR:? (?:\S+::|test\w* \()/,
  // Maven: [ERROR]   AddTest.adds:9 expected …
  /^\[ERROR\]\s+\w*Tests?\w*\.\w+/,
  // .NET: Failed Space.AddTests.Adds [2 ms]
  /^Failed [\w.]+\S* \[/,
  /\*\*\*(?:Failed|Exception|Timeout)/,
  // Dart: 00:01 +0 -1: adds [E]
  /-\d+: .+ \[E\]/,
  /^Test Case '.+' failed/,
];

/** Lines that look like one, but are about the build, the runner, or a sum. */
const NOT_NAMED =
  /^npm (?:ERR!|error)|^[✗✘×✖✕]\s*(?:\[ERROR\]|build\b|error\b|failed to\b|could not\b|no tests?\b)|\bBUILD FAIL|\[(?:build|setup) failed\]|\b_FailedTest\b|^\W*FAIL(?:ED|URE)?\W*$|^FAILED \([\w=, ]+\)$|^\S* ?(?:tests?|suites?|files?)? ?\d+ (?:tests? )?FAIL(?:ED|URES?)\b/i;

export function namesFailingTest(output: string): boolean {
  return output.split("\n").some((raw) => {
    const line = raw.replace(/\x1b\[[0-9;]*m/g, "").trim();
    return !NOT_NAMED.test(line) && NAMED_FAILURES.some((pattern) => pattern.test(line));
  });
}

function withoutNumbers(line: string): string {
  return line
    .replace(/\x1b\[[0-9;]*m/g, "")
    .replace(/0x[0-9a-f]+|\d+(\.\d+)?/gi, "0")
    .replace(/\s+/g, " ")
    .trim();
}

export interface FoundTests {
  command: string;
  /** The file that it was found in. */
  from: string;
}

/** Undefined: no command was found. Reads only names of files and scripts, and runs nothing. */
export function findTests(root: string): FoundTests | undefined {
  for (const find of FINDERS) {
    const found = find(root);
    if (found) return found;
  }
  return undefined;
}

const FINDERS: readonly ((root: string) => FoundTests | undefined)[] = [
  (root) => {
    const script = scriptsOf(root)["test"];
    if (script === undefined || /no test specified/.test(script)) return undefined;
    return { command: `${packageManager(root)} test`, from: "package.json" };
  },
  (root) => (/^test:/m.test(read(root, "Makefile")) ? { command: "make test", from: "Makefile" } : undefined),
  has("Cargo.toml", "cargo test"),
  has("go.mod", "go test ./..."),
  (root) =>
    /\[tool\.pytest|\[pytest\]/.test(read(root, "pyproject.toml") + read(root, "pytest.ini")) ||
    existsSync(join(root, "pytest.ini"))
      ? { command: "python -m pytest", from: existsSync(join(root, "pytest.ini")) ? "pytest.ini" : "pyproject.toml" }
      : undefined,
  has("mvnw", "./mvnw -q test"),
  has("pom.xml", "mvn -q test"),
  has("gradlew", "./gradlew test"),
  has("mix.exs", "mix test"),
  has("Gemfile", "bundle exec rake test"),
];

function has(file: string, command: string): (root: string) => FoundTests | undefined {
  return (root) => (existsSync(join(root, file)) ? { command, from: file } : undefined);
}

function scriptsOf(root: string): Record<string, string | undefined> {
  try {
    const { scripts } = JSON.parse(read(root, "package.json") || "{}") as { scripts?: Record<string, string> };
    return scripts ?? {};
  } catch {
    // Invalid right now: a session may be changing it.
    return {};
  }
}

function packageManager(root: string): string {
  if (existsSync(join(root, "pnpm-lock.yaml"))) return "pnpm";
  if (existsSync(join(root, "yarn.lock"))) return "yarn";
  if (existsSync(join(root, "bun.lock")) || existsSync(join(root, "bun.lockb"))) return "bun run";
  return "npm";
}

const MAX_FILE_BYTES = 1_000_000;

function read(root: string, file: string): string {
  const found = readProjectText(join(root, file), { root, maxBytes: MAX_FILE_BYTES });
  return found && "text" in found ? (found.text ?? "") : "";
}
