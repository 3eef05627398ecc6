/**
 * What a tool event says about the work: changed files, test results, commits, errors, the position in the plan. Pure; returns a patch
 * for `mergeWip`. The hook loads this file: it may only import our own code.
 *
 * Nothing is guessed (an unreadable count is `null`). Settled items are removed: a green run removes the failing test, a commit its
 * files, a success the errors of its tool. All text is masked and cut before it is stored.
 */
import { planPosition } from "../plan/plan-position.ts";
import { isOutside, joinPath, projectPath } from "../project-path.ts";
import type { WipError, WipPatch, WipTestResults } from "../wip/wip.ts";
import {
  COMMAND_MAX_CHARS,
  MESSAGE_MAX_CHARS,
  type OutputText,
  readableOutput,
  safeLine,
  safeStart,
} from "./output-text.ts";
import { readCommit } from "./read-commit.ts";
import { checkerOf, onlyShows, readErrors } from "./read-errors.ts";
import { detectTests, readTestOutput, type Shown, type TestReading } from "./read-test-output.ts";
import { commandsIn, LINE_MAX_CHARS, programsIn, type ShellPart } from "./shell-words.ts";

/** A finished tool call, independent of the client. */
export interface ToolEvent {
  tool: "edit" | "write" | "shell" | "read" | "todo" | "other";
  path?: string;
  /** If one call changed several files. */
  paths?: readonly string[];
  command?: string;
  /** The command's output, including standard error. */
  output?: string;
  isError?: boolean;
  exitCode?: number;
  /** The command still runs in the background: its output says nothing yet. */
  isBackground?: boolean;
  /** The commit's hash, if the client reports it. */
  commitSha?: string;
  /** The client's to-do list from the tool's input. With `isPartial`: single tasks of it, with their ids. */
  todos?: unknown;
  isPartial?: boolean;
  /** The project's root. Paths inside it are stored relative to it. */
  root?: string;
  /** Where the command ran. Absent: the root. */
  cwd?: string;
}

const FILES_MAX = 50;

/** Undefined: nothing worth storing. */
export function captureEvent(event: ToolEvent): WipPatch | undefined {
  if (event.tool === "todo") return event.isError ? undefined : planPosition(event.todos, event);
  if (event.tool === "shell") return captureShell(event);
  return event.tool === "edit" || event.tool === "write" ? captureEdit(event) : undefined;
}

function captureEdit({ path, paths = path ? [path] : [], isError, root, cwd }: ToolEvent): WipPatch | undefined {
  const files = paths.slice(0, FILES_MAX).map((file) => projectPath(file, { root, cwd }));
  if (isError || files.length === 0) return undefined;
  // Files outside the project are not changes to commit.
  const inside = root ? files.filter((file) => !isOutside(file)) : files;
  if (inside.length === 0) return { files_modified: files };
  return { files_modified: files, uncommitted_files: inside, uncommitted_changes: true };
}

// What a shell command says about the work: test results, errors, commits, and what its success settles.

interface Command {
  words: readonly string[];
  /** How much output later commands in the pipe let through. */
  shown: Shown;
  /** The command as it is stored. */
  text: string;
  outcome: Outcome;
}

interface Findings {
  tests?: WipTestResults;
  errors: WipError[];
  /** Errors that are fixed. */
  over: Partial<WipError>[];
}

export function captureShell(event: ToolEvent): WipPatch | undefined {
  if (!event.command || event.isBackground) return undefined;
  const output = readableOutput(event.output ?? "");
  const end = { exitCode: event.exitCode, isError: event.isError, text: output.text };
  // Mask before splitting: without its quotes and escapes, the body of a private key is just letters.
  const parts = commandsIn(safeStart(event.command, LINE_MAX_CHARS));
  const outcomes = commandOutcomes(parts, end);
  const commands = parts.map(({ words }, index): Command => {
    const text = safeLine(words.join(" "), COMMAND_MAX_CHARS);
    return { words, shown: shownOf(parts, index), text, outcome: outcomes[index]! };
  });

  const findings: Findings = { errors: [], over: [] };
  findTests(commands, output, findings);
  findErrors(commands, { text: output.text, exitCode: lineExitCode(end) ?? 0 }, findings);
  const { tests, errors, over } = findings;
  const patch: WipPatch = tests ? { test_results: tests } : {};
  if (errors.length > 0) patch.errors = errors;
  if (over.length > 0) patch.$settled = { errors: over };

  const commit = readCommit(parts, { text: output.text, isOk: (index) => outcomes[index] === "ok" });
  if (commit) {
    const { root } = event;
    const cwd = commit.folders.reduce(joinPath, event.cwd ?? root ?? "");
    const files = commit.files === "all" ? [""] : commit.files.map((file) => projectPath(file, { root, cwd }));
    const isAll = files.includes("");
    // No hash is better than an old, wrong one.
    patch.last_commit = (event.commitSha && safeLine(event.commitSha, 64)) ?? commit.sha ?? null;
    if (isAll) patch.uncommitted_changes = false;
    if (files.length > 0) patch.$settled = { ...patch.$settled, files: isAll ? "all" : files };
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** If a line has several test runs: the first that failed, else the last. */
function findTests(commands: readonly Command[], output: OutputText, findings: Findings): void {
  for (const { words, shown, text: command, outcome } of commands) {
    const kind = detectTests(words);
    if (!kind || (findings.tests && findings.tests.failed !== 0)) continue;
    const reading =
      readTestOutput(output, kind === "sure" ? { shown } : {}) ??
      (kind === "sure" ? fromOutcome(outcome, output.text) : undefined);
    if (!reading) continue;
    const { passed, failed, failingTest, reason } = reading;
    findings.tests = { ran: true, passed, failed, ...(failingTest && { failing_test: failingTest }), command };
    // All tests passed but the command failed (coverage, an error outside the tests): not green.
    if (failed !== 0 || outcome !== "failed") findings.over.push({ type: "test" });
    if (!failingTest) continue;
    const message = safeLine(reason ? `${failingTest}: ${reason}` : failingTest, MESSAGE_MAX_CHARS);
    findings.errors.push({ type: "test", message, command });
  }
}

/** `npm test 2>&1 | tee log | tail -20`: some commands in the pipe hide lines. */
function shownOf(parts: readonly ShellPart[], index: number): Shown {
  let shown: Shown = "all";
  for (let at = index + 1; parts[at]?.joint === "|"; at++) {
    const program = programsIn(parts[at]!.words)[0]?.[0] ?? "";
    if (PICKS.test(program)) shown = "some";
    else if (program === "tail" && shown === "all") shown = "end";
  }
  return shown;
}

const PICKS = /^(?:[ef]?grep|rg|ag|ack|head|sed|awk|gawk|cut|uniq|sort|perl)$/;

const NO_TESTS =
  /no tests? (?:files? |suites? )?(?:were )?(?:found|ran|to run)|^\s*no tests\s*$|did not match any test/im;

/** Uses only the exit code. Without one, there is no result. */
function fromOutcome(outcome: Outcome, text: string): TestReading | undefined {
  if (outcome === "unknown" || NO_TESTS.test(text)) return undefined;
  // A script may succeed although tests failed. If unreadable output mentions failures, there is no count.
  return { passed: null, failed: outcome === "failed" || SPEAKS_OF_FAILURES.test(text) ? null : 0 };
}

const SPEAKS_OF_FAILURES = /\b(?:FAIL(?:ED|URES?)?|[1-9]\d* (?:failed|failing|failures?|errors?)|not ok)\b/;

const LOOKS_BAD = /error|fail|fatal|✖|×|✗|not found|denied/i;

function findErrors(
  commands: readonly Command[],
  { text, exitCode }: { text: string; exitCode: number },
  { tests, errors, over }: Findings,
): void {
  const working = commands.filter(({ words }) => !onlyShows(words));
  const isFailed = exitCode !== 0;
  // If the command did not fail, only messages of compilers and test runners count as errors.
  const source =
    working.find(({ words }) => checkerOf(words)) ??
    working.find(({ words }) => detectTests(words)) ??
    (isFailed ? working.at(-1) : undefined);
  if (source) {
    for (const error of readErrors(text, { exceptions: isFailed && !tests })) {
      errors.push({ ...error, command: source.text });
      over.push({ tool: error.tool! });
    }
    if (isFailed && errors.length === 0 && (!tests || tests.failed === 0)) {
      const failing = working.find(({ outcome }) => outcome === "failed") ?? working.at(-1)!;
      errors.push({ type: "command", message: failureText(text, exitCode), command: failing.text });
    }
  }
  for (const { words, text: command, outcome } of working) {
    // A pipe hides the exit code. Then output without errors counts as success.
    const isOk = outcome === "ok" || (outcome === "unknown" && !isFailed && !LOOKS_BAD.test(text));
    const tool = isOk && checkerOf(words);
    if (isOk) over.push({ command });
    if (tool) over.push({ tool });
  }
}

/** The line near the end that names the problem, else the last line. */
function failureText(text: string, exitCode: number): string {
  const lines = text.split("\n").slice(-20);
  const said = lines.filter((line) => line.trim() !== "" && !/^exit code/i.test(line));
  const line = said.find((candidate) => LOOKS_BAD.test(candidate)) ?? said.at(-1) ?? "no output";
  return safeLine(`exit ${exitCode}: ${line}`, MESSAGE_MAX_CHARS);
}

// Which commands of a line succeeded or failed, as far as the exit code of the whole line tells. A pipe hides the code of the commands
// before it, `;` hides that of the previous command, and a failed `a && b` may have failed at either.

export type Outcome = "ok" | "failed" | "unknown";

export interface LineEnd {
  exitCode?: number | undefined;
  isError?: boolean | undefined;
  /** The readable output. */
  text: string;
}

export function commandOutcomes(parts: readonly ShellPart[], end: LineEnd): Outcome[] {
  const outcomes = parts.map((): Outcome => "unknown");
  let exitCode = lineExitCode(end);
  let last = parts.length - 1;

  // `npm test; echo "exit: $?"`: the code is in the output.
  const echo = parts[last]?.words.join(" ") ?? "";
  if (last > 0 && /^(?:echo|printf)\b.*(?:\$\?|PIPESTATUS)/.test(echo)) {
    const isPiped = parts[last - 1]!.joint === "|";
    const code = isPiped && echo.includes("$?") ? undefined : /(\d+)\D*$/.exec(end.text.slice(-80).trimEnd())?.[1];
    exitCode = code === undefined ? undefined : Number(code);
    last--;
    if (isPiped && exitCode !== undefined) {
      while (last > 0 && parts[last]!.joint === "|") last--;
      outcomes[last] = exitCode === 0 ? "ok" : "failed";
      return outcomes;
    }
  }
  if (exitCode === undefined) return outcomes;

  const hasPipefail = parts.some(({ words }) => words[0] === "set" && words.includes("pipefail"));
  /** Commands that the exit code applies to, last first. */
  const chain: number[] = [];
  let hasAlternative = false;
  for (let at = last; at >= 0; at--) {
    const { joint } = parts[at]!;
    const feedsPipe = at < last && parts[at + 1]!.joint === "|";
    if ((!feedsPipe || hasPipefail) && !isTrivial(parts[at]!)) chain.push(at);
    if (joint === ";" || joint === "") break;
    if (joint === "||") hasAlternative = true;
  }
  if (exitCode === 0 && !hasAlternative) for (const at of chain) outcomes[at] = "ok";
  if (exitCode !== 0 && chain.length === 1) outcomes[chain[0]!] = "failed";
  return outcomes;
}

/** Clients that pass only text put the exit code at its start. */
export function lineExitCode({ exitCode, isError, text }: LineEnd): number | undefined {
  const stated = /^exit code:? (\d+)/i.exec(text)?.[1];
  return exitCode ?? (stated ? Number(stated) : isError === undefined ? undefined : Number(isError));
}

/** Steps whose failure does not matter. */
function isTrivial({ words }: ShellPart): boolean {
  return /^(?:cd|pushd|popd|echo|printf|export|source|\.|set|unset|pwd|true|:|exit|sleep|mkdir)$/.test(
    programsIn(words)[0]?.[0] ?? "",
  );
}
