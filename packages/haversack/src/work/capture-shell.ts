/** What a shell command says about the work: test results, errors, commits, and what its success settles. */
import type { ToolEvent } from "./capture.ts";
import { commandOutcomes, lineExitCode, type Outcome } from "./command-outcome.ts";
import { detectTests } from "./detect-tests.ts";
import {
  COMMAND_MAX_CHARS,
  MESSAGE_MAX_CHARS,
  type OutputText,
  readableOutput,
  safeLine,
  safeStart,
} from "./output-text.ts";
import { joinPath, projectPath } from "./project-path.ts";
import { readCommit } from "./read-commit.ts";
import { checkerOf, onlyShows, readErrors } from "./read-errors.ts";
import { readTestOutput, type Shown, type TestReading } from "./read-test-output.ts";
import { commandsIn, LINE_MAX_CHARS, programsIn, type ShellPart } from "./shell-words.ts";
import type { WipError, WipPatch, WipTestResults } from "./wip.ts";

interface Command {
  words: readonly string[];
  /** What the commands behind it in the pipe let through. */
  shown: Shown;
  /** As it is stored. */
  text: string;
  outcome: Outcome;
}

interface Findings {
  tests?: WipTestResults;
  errors: WipError[];
  /** Errors that are over. */
  over: Partial<WipError>[];
}

export function captureShell(event: ToolEvent): WipPatch | undefined {
  if (!event.command || event.isBackground) return undefined;
  const output = readableOutput(event.output ?? "");
  const end = { exitCode: event.exitCode, isError: event.isError, text: output.text };
  // Masked before it is split: without its quotes and escapes, a private key's body is only letters.
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
    // An old hash would be wrong; none is only less.
    patch.last_commit = (event.commitSha && safeLine(event.commitSha, 64)) ?? commit.sha ?? null;
    if (isAll) patch.uncommitted_changes = false;
    if (files.length > 0) patch.$settled = { ...patch.$settled, files: isAll ? "all" : files };
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Of several runs in one line the first that failed, else the last. */
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
    // All passed and yet it failed (coverage, an error outside of the tests): not green.
    if (failed !== 0 || outcome !== "failed") findings.over.push({ type: "test" });
    if (!failingTest) continue;
    const message = safeLine(reason ? `${failingTest}: ${reason}` : failingTest, MESSAGE_MAX_CHARS);
    findings.errors.push({ type: "test", message, command });
  }
}

/** `npm test 2>&1 | tee log | tail -20`: some of them hide lines. */
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

/** The exit code alone. Without one nothing is known, and nothing is said. */
function fromOutcome(outcome: Outcome, text: string): TestReading | undefined {
  if (outcome === "unknown" || NO_TESTS.test(text)) return undefined;
  // A script may end well although tests failed: an output that speaks of failures and cannot be read gives no count.
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
  // Without a failure only the words of compilers and test runners are taken for errors.
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
    // A pipe hides the exit code; then silence about errors is taken for success.
    const isOk = outcome === "ok" || (outcome === "unknown" && !isFailed && !LOOKS_BAD.test(text));
    const tool = isOk && checkerOf(words);
    if (isOk) over.push({ command });
    if (tool) over.push({ tool });
  }
}

/** The line that names the trouble, near the end; else the last line. */
function failureText(text: string, exitCode: number): string {
  const lines = text.split("\n").slice(-20);
  const said = lines.filter((line) => line.trim() !== "" && !/^exit code/i.test(line));
  const line = said.find((candidate) => LOOKS_BAD.test(candidate)) ?? said.at(-1) ?? "no output";
  return safeLine(`exit ${exitCode}: ${line}`, MESSAGE_MAX_CHARS);
}
