/**
 * Reads the counts and the first failing test from the output of a test run. Values that the output does not contain are `null`;
 * numbers are never guessed.
 */
import { MESSAGE_MAX_CHARS, type OutputText, safeLine } from "./output-text.ts";
import { programsIn } from "./shell-words.ts";

export interface TestReading {
  passed: number | null;
  failed: number | null;
  failingTest?: string;
  /** The line with the reason of the failure, if there is one near the test's name. */
  reason?: string;
}

/**
 * How much of the run's output is available. `end`: its last lines. `some`: filtered lines, so a missing line may still have been
 * printed. Default: all of it.
 */
export type Shown = "all" | "end" | "some";

/** Undefined: not the output of a test run, or no test ran. */
export function readTestOutput(output: OutputText, { shown = "all" }: { shown?: Shown } = {}): TestReading | undefined {
  for (const format of TEST_FORMATS) {
    const reading = readCounts(output, format, shown);
    if (reading) return reading.failed === 0 ? reading : withName(reading, output.text, firstName(output.text, format));
  }
  if (shown === "all") return undefined;
  // The counts come before the details and were cut off. The name of a failing test may still be there.
  const names = TEST_FORMATS.map((format) => firstName(output.text, format));
  const name = names.find((found) => found !== undefined);
  return name === undefined ? undefined : withName({ passed: null, failed: null }, output.text, name);
}

function withName(reading: TestReading, text: string, name: string | undefined): TestReading {
  if (name === undefined) return reading;
  const reason = findReason(text, name);
  return {
    ...reading,
    failingTest: safeLine(name.replace(/\n */g, " > "), MESSAGE_MAX_CHARS),
    ...(reason && { reason: safeLine(reason, MESSAGE_MAX_CHARS) }),
  };
}

interface Tally {
  pass?: number;
  fail?: number;
  skip?: number;
  total?: number;
}

const WORDS: readonly (readonly [keyof Tally, RegExp])[] = [
  ["pass", /^(?:pass(?:ed|ing)?|succeeded)$/i],
  ["fail", /^(?:fail(?:ed|ing|ures?)?|errors?|cancelled|interrupted)$/i],
  ["skip", /^(?:skip(?:s|ped)?|pendings?|ignored|todo|excluded|incomplete|risky|omissions)$/i],
  ["total", /^(?:total|tests?|examples?|runs?|specs?|doctests?|property|properties)$/i],
];
const GROUPS: readonly (readonly [group: string, keyof Tally, isLine?: true])[] = [
  ["fail", "fail"],
  ["error", "fail"],
  ["skip", "skip"],
  ["total", "total"],
  ["passes", "pass", true],
  ["fails", "fail", true],
];

function readCounts(
  { text, isCut }: OutputText,
  [counts, , special, isSpread]: TestFormat,
  shown: Shown,
): TestReading | undefined {
  const matches = [...text.matchAll(counts)];
  const tally: Tally = {};
  const add = (kind: keyof Tally | undefined, value: number): void => {
    if (kind) tally[kind] = (tally[kind] ?? 0) + value;
  };
  for (const { 0: line, groups } of special === "last" ? matches.slice(-1) : matches) {
    for (const [group, kind, isLine] of groups ? GROUPS : []) {
      if (groups![group]) add(kind, isLine ? 1 : Number(groups![group]));
    }
    if (groups) continue;
    const isWordFirst = special === "word-first";
    for (const { 1: left = "", 2: right = "" } of line.matchAll(isWordFirst ? WORD_FIRST : NUMBER_FIRST)) {
      const [word, number] = isWordFirst ? [left, right] : [right, left];
      add(WORDS.find(([, pattern]) => pattern.test(word))?.[0], Number(number));
    }
  }

  const broken = special instanceof RegExp ? [...text.matchAll(special)] : [];
  const failed = tally.fail || broken.reduce((sum, { 1: files }) => sum + Number(files), 0);
  const passed = tally.pass ?? Math.max(0, (tally.total ?? 0) - failed - (tally.skip ?? 0));
  if (matches[0]?.groups && "passes" in matches[0].groups) {
    // These counts come from counting lines. Some lines may be cut, and `go test` prints passing tests only on request.
    const isUnknown = isCut ? failed > 0 : failed === 0 && /^FAIL\b/m.test(text);
    return { passed: isCut || !tally.pass ? null : passed, failed: isUnknown ? null : failed };
  }
  if (passed + failed === 0) return undefined;
  if (!isSpread || shown === "all") return { passed, failed };
  // A count that is missing is not zero. With `end`, only earlier lines are missing, and failures come last.
  const isPassedKnown = tally.pass !== undefined || tally.total !== undefined;
  const isFailedKnown = tally.fail !== undefined || shown === "end";
  return { passed: isPassedKnown ? passed : null, failed: isFailedKnown ? failed : null };
}

const NUMBER_FIRST = /(\d+) +([a-z]+)/gi;
const WORD_FIRST = /([a-z]+)[:= ] *(\d+)/gi;

function firstName(text: string, [, names]: TestFormat): string | undefined {
  for (const pattern of names) {
    const name = pattern.exec(text)?.[1]?.trim();
    if (name && !isTally(name)) return name;
    if (!name) continue;
    // A sum such as `FAILED 3 of 5` looks like a failing test. The real name may follow.
    const all = text.matchAll(new RegExp(pattern, `${pattern.flags}g`));
    for (const [, other = ""] of all) if (other.trim() && !isTally(other)) return other.trim();
  }
  return undefined;
}

/** Whether the name consists only of numbers and counting words. */
function isTally(name: string): boolean {
  return /\d/.test(name) && !/[a-z]|[^\0-\x7f]/i.test(name.replace(COUNTING, ""));
}

const COUNTING =
  /\b(?:of|out|in|and|with|total|tests?|specs?|examples?|suites?|files?|cases?|assertions?|checks?|runs?|fail(?:ed|ing|ures?|s)?|pass(?:ed|ing|es)?|errors?|skip(?:ped|s)?)\b|\d+(?:m?s|%)?/gi;

const REASONS = [
  /^\W*(?:E +)?[\w.]*(?:Error|Exception|Failure)\b.*: /,
  /\b(?:assert\w*|expect(?:ed)?|panicked|got|Error)\b/i,
];

/** Searches after every occurrence of the name: lists name it first, details follow later. */
function findReason(text: string, name: string): string | undefined {
  for (let at = text.indexOf(name), tries = 0; at !== -1 && tries < 4; at = text.indexOf(name, at), tries++) {
    at += name.length;
    const lines = text.slice(at, at + 3000).split("\n", 15);
    for (const pattern of REASONS) {
      const line = lines.find((candidate) => pattern.test(candidate));
      if (line) return line.replace(/^[\s:-]+/, "");
    }
  }
  return undefined;
}

// Which commands run tests. The output itself is the best evidence, because a script hides its runner.

/** "maybe" (`npm run check`, `make`): counts only if its output looks like a test run. */
export type TestCommand = "sure" | "maybe" | undefined;

export function detectTests(words: readonly string[]): TestCommand {
  for (const program of programsIn(words)) {
    const found = detectProgram(program);
    if (found) return found;
  }
  return undefined;
}

const RUNNERS = [
  /^(?:vitest(?! (?:list|init))|jest|_?mocha|pest|paratest|phpunit|ctest|rspec|jasmine|pytest|py\.test|tox|nox|gotestsum)\b/,
  /^(?:react-scripts|craco|ng|playwright|artisan|go|dotnet|mix|rails|rake|deno|bun|swift) (?:test|spec|vstest)\b/,
  /^(?:node|tsx) .*--test\b|^xcodebuild .*\btest\b/,
  /^(?:python[\d.]*|php) (?:-\w+ )*(?:-m )?(?:\S*\/)?(?:unittest|pytest|tox|nox|manage\.py test|phpunit|pest|artisan test)\b/,
  /^cargo (?:\+\S+ )?(?:test|t|nextest r(?:un)?|llvm-cov)\b/,
  /^mvnw? .*\b(?:test|verify|integration-test|package|install)\b/,
  /^gradlew? .*(?:test|check)\b/i,
];
const RUNS_NOTHING =
  / (?:--help|-h|--version|--collect-only|--co|--list(?:Tests|-tests)?|--no-run|--dry-run|-DskipTests\S*|-Dmaven\.test\.skip\S*)(?: |$)/;
const TEST_NAME = /^(?:t|tst)$|(?:^|[:._/-])(?:tests?|e2e|unit|specs?|vitest|jest|pytest)(?:$|[:._/-])/;

function detectProgram([program = "", ...args]: readonly string[]): TestCommand {
  const text = [program, ...args].join(" ").slice(0, 300);
  if (RUNS_NOTHING.test(text)) return undefined;
  if (RUNNERS.some((pattern) => pattern.test(text))) return "sure";
  if (/^(?:npm|pnpm|yarn|bun)$/.test(program)) return detectScript(args);
  const plain = args.filter((arg) => !arg.startsWith("-"));
  if (/^(?:make|just|task|rake|nx|turbo|lerna|bazel|composer|invoke|gulp|grunt|mvnw?|gradlew?|deno)$/.test(program)) {
    return plain.some((arg) => TEST_NAME.test(arg)) ? "sure" : "maybe";
  }
  if (/^(?:ba|z)?sh$/.test(program)) return plain[0] ? detectProgram(plain) : undefined;
  if (/\.(?:ba)?sh$|^run[-_]?tests?$/.test(program)) return program.includes("test") ? "sure" : "maybe";
  return /^(?:node|tsx|python[\d.]*|ruby|php)$/.test(program) && plain.length > 0 ? "maybe" : undefined;
}

const TAKES_VALUE = /^(?:-[wCF]|--(?:workspace|prefix|filter|dir|cwd))$/;
const NO_SCRIPT =
  /^(?:i|ci|install|add|remove|rm|un\w+|up\w*|link|pack|publish|view|info|ls|list|outdated|audit|init|create|config|cache|why|version)$/;

/** `npm --prefix web run test:unit`, `yarn workspace web jest`, `pnpm exec vitest run`. */
function detectScript(args: readonly string[]): TestCommand {
  let plain = args.filter((arg, at) => !arg.startsWith("-") && !TAKES_VALUE.test(args[at - 1] ?? ""));
  if (plain[0] === "workspace") plain = plain.slice(2);
  const isRun = /^(?:run|run-script|exec|dlx|x)$/.test(plain[0] ?? "");
  if (isRun) plain = plain.slice(1);
  const [name = ""] = plain;
  if (name === "" || (!isRun && NO_SCRIPT.test(name))) return undefined;
  return TEST_NAME.test(name) ? "sure" : (detectProgram(plain) ?? "maybe");
}

/**
 * How test runners end their output: the lines with the counts, and where to find the name of the first failing test. The first format
 * whose count lines match is used. Lines are at most 400 characters long, and no pattern can match across many lines.
 */
export type TestFormat = readonly [
  /**
   * Lines with counts; all of them are summed. Named groups identify the numbers (`fail`, `error`, `skip`, `total`); `passes` and
   * `fails` count the line itself. Without named groups, the words of the line identify them.
   */
  counts: RegExp,
  /** Tried in order; the first matching group is the name. */
  names: readonly RegExp[],
  /**
   * - `word-first`: the word comes before its number (`Failures: 1`). Default: after it (`1 failed`).
   * - `last`: every suite prints a line, and the last line has the sum.
   * - A pattern matches files that could not be loaded. No other count includes their tests.
   */
  special?: "word-first" | "last" | RegExp | undefined,
  /** Each count has its own line, so one may be hidden while the others are visible. */
  isSpread?: true,
];

export const TEST_FORMATS: readonly TestFormat[] = [
  // vitest, jest, Pest
  [
    /^ *Tests:? +(?:\d+ [a-z]+.*(?:\(\d+(?: assertions)?\)|total)|no tests)$/gm,
    [
      /^ *FAIL +(?:\|[^|\n]+\| +)?(\S.* > .*)/m,
      /^ *● (?!Console|Test suite)(\S.*)/m,
      /^ *FAILED +(\S.*?)(?: {2}|$)/m,
      /^ *FAIL +(?:\|[^|\n]+\| +)?(\S+)/m,
      /^ *[×✕⨯] (\S.*?)(?: \d+ms)?$/m,
    ],
    /^ *Test (?:Files|Suites:) +(\d+) failed/gm,
  ],
  // node --test, TAP
  [
    /^[ℹ#] (?:pass|fail|cancelled) \d+$/gm,
    [/^ *✖ (?!failing tests)(\S.*?)(?: \([\d.]+m?s\))?$/m, /^ *not ok \d+ - (.*)/m],
    "word-first",
    true,
  ],
  // mocha
  [/^ {2}\d+ (?:passing|failing|pending)\b/gm, [/^ {2}1\) (.+(?:\n {5,}\S.*){0,6}?):$/m], undefined, true],
  // Playwright
  [/^ {2}\d+ (?:passed|failed|interrupted|skipped|flaky)(?: \(|$)/gm, [/^ {2}1\) (.*?)[ ─]*$/m], undefined, true],
  // Bun
  [/^ *\d+ (?:pass|fail|errors?|skip|todo)$/gm, [/^(?:\(fail\)|✗) (.*?)(?: \[[\d.]+m?s\])?$/m], undefined, true],
  // Deno
  [/^(?:ok|FAILED) \| \d+ passed.*/gm, [/^(\S.*?) \.\.\. .*FAILED/m, /^(\S.*) => \S+:\d+:\d+$/m]],
  // pytest, also inside tox and nox
  [
    /^=* ?\d+ (?:failed|passed|skipped|errors?|deselected|x\w+|warnings?)\b.* in [\d.]+s\b/gm,
    [
      /^(?:FAILED|ERROR) (\S+\.py\S*.*?)(?: - .*)?$/m,
      /^(\S+::.*?) (?:FAILED|ERROR)\b/m,
      /^_{3,} (?:ERROR \w+(?: \w+)? )?(\S.*?) _{3,}$/m,
    ],
  ],
  // unittest, Django
  [
    /^Ran (?<total>\d+) tests? in .*\n\n?(?:OK|FAILED)(?: \((?:failures=(?<fail>\d+))?(?:, )?(?:errors=(?<error>\d+))?(?:, )?(?:skipped=(?<skip>\d+))?.*)?/gm,
    [/^(?:FAIL|ERROR): (\S.*)/m],
  ],
  // cargo test, cargo nextest
  [
    /^(?:test result: \w+\. | *Summary \[.*?\] )\d+ .*/gm,
    [
      /^test (.+?) \.\.\. FAILED/m,
      /^---- (.+?) stdout ----/m,
      /^ *(?:FAIL|TIMEOUT|SIG\w+) \[.*?\] +(?:\(.*?\) +)?(\S.*)/m,
    ],
  ],
  // gotestsum
  [/^DONE (?<total>\d+) tests?(?:, (?<skip>\d+) skipped)?(?:, (?<fail>\d+) failures?)?/gm, [/^=== FAIL: \S+ (\S+)/m]],
  // go test: a subtest says more than its parent test, whose line comes first
  [
    /^(?:--- (?:(?<passes>PASS)|(?<fails>FAIL)|SKIP): .*|ok +\t.*|FAIL\t.*)/gm,
    [/^--- FAIL: .*\n +--- FAIL: (\S+)/m, /^--- FAIL: (\S+)/m],
  ],
  // dotnet test: the old line, the new one, and `--logger console`
  [
    /^(?:.*(?:Passed|Failed)! +- +Failed: .*?, Duration|.*Test summary: total: .*|Total tests: \d+| +(?:Passed|Failed|Skipped): +\d+$)/gm,
    [/^ *(?:Failed|failed) (\S.*?)(?: \[[^\]]*\]| \([\d.]+m?s\))$/m],
    "word-first",
  ],
  // Maven; lines of single classes end with a time
  [
    /^(?:\[\w+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$/gm,
    [/^\[ERROR\] (?!Tests run)(\S.*?) +(?:-- )?Time elapsed: .*<<< /m, /^\[ERROR\] {2,}([\w$.]+)(?:->\S+)?:\d+/m],
    "word-first",
  ],
  // Gradle, which prints counts only after failures
  [
    /^(?<total>\d+) tests? completed(?:, (?<fail>\d+) failed)?(?:, (?<skip>\d+) skipped)?/gm,
    [/^(\S.* > .*?) FAILED$/m],
  ],
  // RSpec, minitest, test-unit, ExUnit, Jasmine
  [
    /^\d+ (?:runs|tests?|examples?|specs?|doctests?|propert(?:y|ies)), \d.*\bfailures?\b.*/gm,
    [
      /^rspec \S+ # (.*)/m,
      /^(?: +1\) )?(?:Failure|Error):\n(\S.*?)(?: \[.*)?:?$/m,
      /^(?:Failure|Error): (\S.*)/m,
      /^ {2}1\) (.*)/m,
    ],
  ],
  // PHPUnit
  [/^OK \((?<total>\d+) tests?, /gm, []],
  [/^Tests: \d+, Assertions: \d+.*/gm, [/^1\) (\S+::.*)/m], "word-first"],
  // CTest
  [/tests passed, (?<fail>\d+) tests? failed out of (?<total>\d+)/g, [/^[\t ]+\d+ - (\S.*?) \(/m]],
  // Swift Testing, XCTest
  [
    /^\W{1,4}Test (?!run |Suite |Case )\S.*? (?:(?<passes>passed)|(?<fails>failed)) after /gm,
    [/^\W{1,4}Test (?!run |Suite )"?(.*?)"? (?:failed|recorded) /m],
  ],
  [
    /^[\t ]*Executed (?<total>\d+) tests?, with (?:(?<skip>\d+) tests? skipped and )?(?<fail>\d+) failures?/gm,
    [/^Test Case '(?:-\[)?(.*?)\]?' failed/m],
    "last",
  ],
  // Custom scripts: `FAILED 3 of 5`
  [
    /^ *FAIL(?:ED|URES?)?:? +(?<fail>\d+) *(?:of|out of|\/) *(?<total>\d+)(?: tests?)?\.?$/gm,
    [/^ *(?:FAIL(?:ED)?:?|not ok|[✖✗×]) +(\S.*?)(?: {2}|$)/m],
  ],
];
