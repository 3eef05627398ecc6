/**
 * How test runners end their output: the lines with the counts, and where the name of the first failing test stands. The
 * first format whose count lines are there is taken. Patterns see text whose lines are at most 400 characters long, and
 * none can match across many lines.
 */
export type TestFormat = readonly [
  /**
   * Lines that hold counts; all of them are added up. Named groups say which number is which (`fail`, `error`, `skip`,
   * `total`), and `passes` and `fails` count the line itself. Without named groups the words of the line say it.
   */
  counts: RegExp,
  /** Tried in order; the first group that matched is the name. */
  names: readonly RegExp[],
  /**
   * `word-first`: as in `Failures: 1`; otherwise `1 failed`. `last`: each suite prints its line, and the last is the sum.
   * A pattern: files that could not be loaded at all; their tests are in no other count.
   */
  special?: "word-first" | "last" | RegExp | undefined,
  /** Each count has a line of its own: one may be hidden, and the others are there. */
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
  // go test: a subtest says more than the test around it, whose line stands above
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
  // Maven; the lines of single classes end in a time
  [
    /^(?:\[\w+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$/gm,
    [/^\[ERROR\] (?!Tests run)(\S.*?) +(?:-- )?Time elapsed: .*<<< /m, /^\[ERROR\] {2,}([\w$.]+)(?:->\S+)?:\d+/m],
    "word-first",
  ],
  // Gradle, which counts only when something failed
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
  // Scripts of one's own: `FAILED 3 of 5`
  [
    /^ *FAIL(?:ED|URES?)?:? +(?<fail>\d+) *(?:of|out of|\/) *(?<total>\d+)(?: tests?)?\.?$/gm,
    [/^ *(?:FAIL(?:ED)?:?|not ok|[✖✗×]) +(\S.*?)(?: {2}|$)/m],
  ],
];
