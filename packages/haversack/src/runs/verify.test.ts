import { describe, expect, it } from "vitest";
import { namesFailingTest } from "./verify.ts";

describe("a failure that names a test", () => {
  it.each([
    " FAIL  src/add.test.ts > adds",
    "--- FAIL: TestAdds (0.00s)",
    "FAILED tests/test_add.py::test_adds - assert 1 == 2",
    "ERROR tests/test_add.py::test_adds - fixture",
    "FAIL: test_adds (tests.AddTest)",
    "ERROR: test_adds (tests.AddTest)",
    "test add::adds ... FAILED",
    "AddTest > adds FAILED",
    "[  FAILED  ] Add.adds",
    "not ok 3 - adds",
    "\u001b[31m  ✖ adds (1.2ms)\u001b[0m",
    "  1) adds two numbers:",
    "(fail) adds [0.1ms]",
    "[ERROR]   AddTest.adds:9 expected: <3> but was: <4>",
    "  Failed Space.AddTests.Adds [2 ms]",
    "3/5 Test #3: add ......***Failed    0.01 sec",
    "00:01 +0 -1: adds [E]",
  ])("%s", (line) => {
    expect(namesFailingTest(`some text\n${line}\nmore\n`)).toBe(true);
  });
});

describe("a failure that names none", () => {
  it.each([
    "",
    'npm error Missing script: "tests"',
    'Unknown command: "tset"\n\nDid you mean this?\n  npm test # Run the script',
    "No test files found, exiting with code 1",
    "No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0",
    "collected 0 items\n\n=== no tests ran in 0.01s ===",
    "ERROR: file or directory not found: tset",
    "make: *** No rule to make target 'tset'.  Stop.",
    "make: *** [Makefile:2: test] Error 1",
    "sh: 1: tset: not found",
    "src/add.ts(3,1): error TS2304: Cannot find name 'x'.",
    "FAIL\texample.com/add [build failed]",
    "FAIL",
    "BUILD FAILED in 2s",
    "FAILURE: Build failed with an exception.",
    '✘ [ERROR] Could not resolve "./add"',
    "✗ Build failed in 12ms",
    "FAILED (errors=1)",
    "ERROR: tset (unittest.loader._FailedTest.tset)",
    "Tests: 3 failed, 5 passed",
    "Could not find 'tset.test.js'",
  ])("%s", (output) => {
    expect(namesFailingTest(output)).toBe(false);
  });
});
