/**
 * Outputs of test runners and their meaning. `recorded` ones come from the real program, run on small tests; the others follow the
 * program's format. Folders are neutral, and the runner's own stack frames are removed.
 */
export interface TestSample {
  runner: string;
  isRecorded: boolean;
  passed: number | null;
  failed: number | null;
  failingTest?: string;
  output: string;
}

export const TEST_SAMPLES: readonly TestSample[] = [
  {
    runner: "vitest 5.1, with colours",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "a.test.ts > order > keeps it",
    output: `\x1b[1m\x1b[30m\x1b[46m RUN \x1b[49m\x1b[39m\x1b[22m \x1b[36mv5.1.0 \x1b[39m\x1b[90m/repo\x1b[39m

 \x1b[31m❯\x1b[39m a.test.ts \x1b[2m(\x1b[22m\x1b[2m3 tests\x1b[22m\x1b[2m | \x1b[22m\x1b[31m1 failed\x1b[39m\x1b[2m | \x1b[22m\x1b[33m1 skipped\x1b[39m\x1b[2m)\x1b[22m\x1b[32m 10\x1b[2mms\x1b[22m\x1b[39m
   \x1b[32m✓\x1b[39m adds a line\x1b[32m 2\x1b[2mms\x1b[22m\x1b[39m
   \x1b[31m❯\x1b[39m order \x1b[2m(1)\x1b[22m
\x1b[31m     \x1b[31m×\x1b[31m keeps it\x1b[39m\x1b[32m 6\x1b[2mms\x1b[22m\x1b[39m
   \x1b[2m\x1b[90m↓\x1b[39m\x1b[22m later

\x1b[31m⎯⎯⎯⎯⎯⎯⎯\x1b[39m\x1b[1m\x1b[41m Failed Tests 1 \x1b[49m\x1b[22m\x1b[31m⎯⎯⎯⎯⎯⎯⎯\x1b[39m

\x1b[41m\x1b[1m FAIL \x1b[22m\x1b[49m a.test.ts\x1b[2m > \x1b[22morder\x1b[2m > \x1b[22mkeeps it
\x1b[31m\x1b[1mAssertionError\x1b[22m: expected 1 to be 2 // Object.is equality\x1b[39m

\x1b[32m- Expected\x1b[39m
\x1b[31m+ Received\x1b[39m

\x1b[32m- 2\x1b[39m
\x1b[31m+ 1\x1b[39m

\x1b[36m \x1b[2m❯\x1b[22m a.test.ts:\x1b[2m2:93\x1b[22m\x1b[39m
    \x1b[90m  1|\x1b[39m \x1b[35mimport\x1b[39m {test\x1b[33m,\x1b[39mexpect\x1b[33m,\x1b[39mdescribe} \x1b[35mfrom\x1b[39m \x1b[32m"vitest"\x1b[39m\x1b[33m;\x1b[39m
    \x1b[90m  2|\x1b[39m test("adds a line", () => {}); describe("order", () => { test("keeps i…
    \x1b[90m   |\x1b[39m                                                                                             \x1b[31m^\x1b[39m
    \x1b[90m  3|\x1b[39m

\x1b[31m\x1b[2m⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯\x1b[22m\x1b[39m


\x1b[2m Test Files \x1b[22m \x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m
\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m\x1b[2m | \x1b[22m\x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[2m | \x1b[22m\x1b[33m1 skipped\x1b[39m\x1b[90m (3)\x1b[39m
\x1b[2m   Start at \x1b[22m 21:27:08
\x1b[2m   Duration \x1b[22m 193ms\x1b[2m (import 37%, tests 31%, transform 16%, worker 15%, environment 1%)\x1b[22m
`,
  },
  {
    runner: "vitest 5.1",
    isRecorded: true,
    passed: 2,
    failed: 0,
    output: ` RUN  v5.1.0 /repo

 ✓ ok.test.ts (3 tests | 1 skipped) 4ms

 Test Files  1 passed (1)
      Tests  2 passed | 1 skipped (3)
   Start at  21:27:08
   Duration  176ms (transform 55%, import 25%, worker 11%, tests 8%)
`,
  },
  {
    runner: "vitest 5.1, a file that throws",
    isRecorded: true,
    passed: 0,
    failed: 1,
    failingTest: "e.test.ts",
    output: ` RUN  v5.1.0 /repo

 ❯ e.test.ts (0 test)

⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  e.test.ts [ e.test.ts ]
Error: x
 ❯ e.test.ts:1:7
      1| throw new Error("x")
       |       ^
      2|

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯


 Test Files  1 failed (1)
      Tests  no tests
   Start at  21:27:09
   Duration  167ms (worker 97%, environment 3%)
`,
  },
  {
    runner: "jest 30",
    isRecorded: true,
    passed: 2,
    failed: 1,
    failingTest: "cart › keeps the order",
    output: `FAIL ./sum.test.js
  ● cart › keeps the order

    expect(received).toEqual(expected) // deep equality

    - Expected  - 1
    + Received  + 1

    -   2,
        1,
    +   2,
      ]

    > 1 | describe("cart", () => { test("adds a line", () => { expect(1).toBe(1); }); test("keeps the order", () => { expect([1,2]).toEqual([2,1]); }); test.skip("later", () => {}); });
        |                                                                                                                           ^
      2 |

      at Object.toEqual (sum.test.js:1:123)

PASS ./ok.test.js

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 1 skipped, 2 passed, 4 total
Snapshots:   0 total
Time:        0.325 s, estimated 1 s
Ran all test suites.
`,
  },
  {
    runner: "jest 30",
    isRecorded: true,
    passed: 1,
    failed: 0,
    output: `PASS ./ok.test.js
  ✓ fine (2 ms)

Test Suites: 1 passed, 1 total
Tests:       1 passed, 1 total
Snapshots:   0 total
Time:        0.248 s, estimated 1 s
Ran all test suites matching ok.
`,
  },
  {
    runner: "mocha 11",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "cart > order > keeps it",
    output: `  cart
    ✔ adds a line
    - later
    order
      1) keeps it


  1 passing (5ms)
  1 pending
  1 failing

  1) cart
       order
         keeps it:

      AssertionError [ERR_ASSERTION]: 1 == 2
      + expected - actual

      -1
      +2

      at Context.<anonymous> (a.js:1:122)
`,
  },
  {
    runner: "node 24 --test",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "keeps it",
    output: `✔ adds a line (0.918575ms)
▶ order
  ✖ keeps it (0.934946ms)
✖ order (1.354319ms)
ℹ tests 2
ℹ suites 1
ℹ pass 1
ℹ fail 1
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 84.05263

✖ failing tests:

test at a.test.mjs:2:58
✖ keeps it (0.934946ms)
  AssertionError [ERR_ASSERTION]: 1 == 2
      at TestContext.<anonymous> (file:///repo/a.test.mjs:2:88)
    generatedMessage: true,
    code: 'ERR_ASSERTION',
    actual: 1,
    expected: 2,
    operator: '==',
    diff: 'simple'
  }
`,
  },
  {
    runner: "node 24 --test --test-reporter=tap",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "keeps it",
    output: `TAP version 13
# Subtest: adds a line
ok 1 - adds a line
  ---
  duration_ms: 0.820943
  type: 'test'
  ...
# Subtest: order
    # Subtest: keeps it
    not ok 1 - keeps it
      ---
      duration_ms: 0.909518
      type: 'test'
      location: '/repo/a.test.mjs:2:58'
      failureType: 'testCodeFailure'
      error: '1 == 2'
      code: 'ERR_ASSERTION'
      name: 'AssertionError'
      expected: 2
      actual: 1
      operator: '=='
      stack: |-
        TestContext.<anonymous> (file:///repo/a.test.mjs:2:88)
      ...
    1..1
not ok 2 - order
  ---
  duration_ms: 1.325475
  type: 'suite'
  location: '/repo/a.test.mjs:2:32'
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  code: 'ERR_TEST_FAILURE'
  ...
1..2
# tests 2
# suites 1
# pass 1
# fail 1
# cancelled 0
# skipped 0
# todo 0
# duration_ms 87.090487
`,
  },
  {
    runner: "npm test → node --test",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "keeps it",
    output: `> test
> node --test

✔ adds a line (0.844988ms)
▶ order
  ✖ keeps it (0.911261ms)
✖ order (1.331997ms)
ℹ tests 2
ℹ suites 1
ℹ pass 1
ℹ fail 1
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 84.909705

✖ failing tests:

test at a.test.mjs:2:58
✖ keeps it (0.911261ms)
  AssertionError [ERR_ASSERTION]: 1 == 2
      at TestContext.<anonymous> (file:///repo/a.test.mjs:2:88)
    generatedMessage: true,
    code: 'ERR_ASSERTION',
    actual: 1,
    expected: 2,
    operator: '==',
    diff: 'simple'
  }
`,
  },
  {
    runner: "bun 1.4",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "order > keeps it",
    output: `bun test v1.4.4 (38afee6c8)

a.test.js:
(pass) adds a line [0.01ms]
1 | import {test,expect,describe} from "bun:test";
2 | test("adds a line", () => {}); describe("order", () => { test("keeps it", () => { expect(1).toBe(2) }) });
                                                                                                ^
error: expect(received).toBe(expected)

Expected: 2
Received: 1

      at <anonymous> (/repo/a.test.js:2:93)
(fail) order > keeps it [1.09ms]

 1 pass
 1 fail
 1 expect() calls
Ran 2 tests across 1 file. [6.00ms]
`,
  },
  {
    runner: "deno 2.9",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "keeps order",
    output: `Check a_test.ts
running 2 tests from ./a_test.ts
adds a line ... ok (17ms)
keeps order ... FAILED (1ms)

 ERRORS

keeps order => ./a_test.ts:1:42
error: Error: boom
Deno.test("adds a line", () => {}); Deno.test("keeps order", () => { throw new Error("boom") });
                                                                           ^
    at file:///repo/a_test.ts:1:76

 FAILURES

keeps order => ./a_test.ts:1:42

FAILED | 1 passed | 1 failed (28ms)

error: Test failed
`,
  },
  {
    runner: "playwright",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "a.spec.js:2:63 › order › keeps it",
    output: `Running 3 tests using 1 worker

(node:3692) Warning: The 'NO_COLOR' env is ignored due to the 'FORCE_COLOR' env being set.
(Use \`node --trace-warnings ...\` to show where the warning was created)
  ✓  1 a.spec.js:2:1 › adds a line (4ms)
  ✘  2 a.spec.js:2:63 › order › keeps it (9ms)
  -  3 a.spec.js:2:118 › later


  1) a.spec.js:2:63 › order › keeps it ─────────────────────────────────────────────────────────────

    Error: expect(received).toBe(expected) // Object.is equality

    Expected: 2
    Received: 1

      1 | const {test,expect}=require("@playwright/test");
    > 2 | test("adds a line", () => {}); test.describe("order", () => { test("keeps it", () => { expect(1).toBe(2) }) }); test.skip("later",()=>{});
        |                                                                                                  ^
      3 |
        at /repo/a.spec.js:2:98

    Error Context: ../test-results/a-order-keeps-it/error-context.md

  1 failed
    a.spec.js:2:63 › order › keeps it ──────────────────────────────────────────────────────────────
  1 skipped
  1 passed (630ms)
`,
  },
  {
    runner: "pytest 9",
    isRecorded: true,
    passed: 2,
    failed: 3,
    failingTest: "test_cart.py::Cart::test_order",
    output: `============================= test session starts ==============================
platform linux -- Python 3.11.7, pytest-9.0.3, pluggy-1.6.0
collected 6 items

test_cart.py .sFE.F                                                      [100%]

==================================== ERRORS ====================================
__________________________ ERROR at setup of test_err __________________________
file /repo/test_cart.py, line 7
  def test_err(x): pass
E       fixture 'x' not found
>       use 'pytest --fixtures [testpath]' for help on them.

/repo/test_cart.py:7
=================================== FAILURES ===================================
_______________________________ Cart.test_order ________________________________

self = <test_cart.Cart testMethod=test_order>

>   def test_order(self): self.assertEqual([1,2],[2,1])
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
E   AssertionError: Lists differ: [1, 2] != [2, 1]
E
E   First differing element 0:
E   1
E   2
E
E   - [1, 2]
E   + [2, 1]

test_cart.py:4: AssertionError
__________________________________ test_n[2] ___________________________________

n = 2

    @pytest.mark.parametrize("n",[1,2])
>   def test_n(n): assert n == 1
                   ^^^^^^^^^^^^^
E   assert 2 == 1

test_cart.py:9: AssertionError
=========================== short test summary info ============================
FAILED test_cart.py::Cart::test_order - AssertionError: Lists differ: [1, 2] ...
FAILED test_cart.py::test_n[2] - assert 2 == 1
ERROR test_cart.py::test_err
=============== 2 failed, 2 passed, 1 skipped, 1 error in 0.03s ================
`,
  },
  {
    runner: "pytest 9 -q --tb=no",
    isRecorded: true,
    passed: 2,
    failed: 3,
    failingTest: "test_cart.py::Cart::test_order",
    output: `.sFE.F                                                                   [100%]
=========================== short test summary info ============================
FAILED test_cart.py::Cart::test_order - AssertionError: Lists differ: [1, 2] ...
FAILED test_cart.py::test_n[2] - assert 2 == 1
ERROR test_cart.py::test_err
2 failed, 2 passed, 1 skipped, 1 error in 0.82s
`,
  },
  {
    runner: "unittest, Python 3.11",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "test_order (test_cart.Cart.test_order)",
    output: `.sF
======================================================================
FAIL: test_order (test_cart.Cart.test_order)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/repo/test_cart.py", line 4, in test_order
    def test_order(self): self.assertEqual([1,2],[2,1])
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
AssertionError: Lists differ: [1, 2] != [2, 1]

First differing element 0:
1
2

- [1, 2]
+ [2, 1]

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
`,
  },
  {
    runner: "cargo 1.95",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "tests::order",
    output: `   Compiling cart v0.1.0 (/repo)
    Finished \`test\` profile [unoptimized + debuginfo] target(s) in 0.37s
     Running unittests src/lib.rs (target/debug/deps/cart-cc34d4ae7363b857)

running 3 tests
test tests::later ... ignored
test tests::order ... FAILED
test tests::adds ... ok

failures:

---- tests::order stdout ----

thread 'tests::order' (3829) panicked at src/lib.rs:5:68:
assertion \`left == right\` failed
  left: 1
 right: 2
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace


failures:
    tests::order

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass \`--lib\`
`,
  },
  {
    runner: "ctest 3.25",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "order",
    output: `Internal ctest changing into directory: /repo/build
Test project /repo/build
    Start 1: adds
1/2 Test #1: adds .............................   Passed    0.01 sec
    Start 2: order
2/2 Test #2: order ............................***Failed    0.00 sec

50% tests passed, 1 tests failed out of 2

Total Test time (real) =   0.01 sec

The following tests FAILED:
	  2 - order (Failed)
Errors while running CTest
Output from these tests are in: /repo/build/Testing/Temporary/LastTest.log
Use "--rerun-failed --output-on-failure" to re-run the failed cases verbosely.
`,
  },
  {
    runner: "maven 3.8, surefire 3.2.5",
    isRecorded: true,
    passed: 1,
    failed: 1,
    failingTest: "CartTest.order",
    output: `\x1b[0m\x1b[0m[INFO]  T E S T S
[INFO] -------------------------------------------------------
[INFO] Running CartTest
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 0.223 s <<< FAILURE! -- in CartTest
[ERROR] CartTest.order -- Time elapsed: 0.017 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <1> but was: <2>
	at CartTest.order(CartTest.java:2)

[INFO]
[INFO] Results:
[INFO]
[ERROR] Failures:
[ERROR]   CartTest.order:2 expected: <1> but was: <2>
[INFO]
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1
[INFO]
[INFO] ------------------------------------------------------------------------
[INFO] BUILD FAILURE
[INFO] ------------------------------------------------------------------------
[INFO] Total time:  5.070 s
[INFO] Finished at: 2026-11-15T21:27:23Z
[INFO] ------------------------------------------------------------------------
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project cart: There are test failures.
[ERROR] -> [Help 1]
\x1b[0m
`,
  },
  {
    runner: "go test",
    isRecorded: false,
    passed: null,
    failed: 2,
    failingTest: "TestOrder/keeps",
    output: `--- FAIL: TestOrder (0.00s)
    --- FAIL: TestOrder/keeps (0.00s)
        cart_test.go:14: got [1 2], want [2 1]
--- FAIL: TestTotal (0.00s)
    cart_test.go:22: got 3, want 4
FAIL
FAIL	example.com/shop/cart	0.004s
ok  	example.com/shop/price	0.003s
FAIL
`,
  },
  {
    runner: "go test -v",
    isRecorded: false,
    passed: 1,
    failed: 1,
    failingTest: "TestOrder",
    output: `=== RUN   TestAdds
--- PASS: TestAdds (0.00s)
=== RUN   TestOrder
    cart_test.go:14: got [1 2], want [2 1]
--- FAIL: TestOrder (0.00s)
=== RUN   TestLater
    cart_test.go:20: later
--- SKIP: TestLater (0.00s)
FAIL
exit status 1
FAIL	example.com/shop/cart	0.004s
FAIL
`,
  },
  {
    runner: "go test, all well",
    isRecorded: false,
    passed: null,
    failed: 0,
    output: `ok  	example.com/shop/cart	0.004s
ok  	example.com/shop/price	(cached)
?   	example.com/shop	[no test files]
`,
  },
  {
    runner: "go test, does not build",
    isRecorded: false,
    passed: null,
    failed: null,
    output: `# example.com/shop/cart [example.com/shop/cart.test]
./cart_test.go:9:7: undefined: total
FAIL	example.com/shop/cart [build failed]
FAIL
`,
  },
  {
    runner: "gotestsum",
    isRecorded: false,
    passed: 2,
    failed: 1,
    failingTest: "TestOrder",
    output: `✖  cart (4ms)

=== Failed
=== FAIL: cart TestOrder (0.00s)
    cart_test.go:14: got [1 2], want [2 1]

DONE 3 tests, 1 failure in 0.512s
`,
  },
  {
    runner: "cargo nextest",
    isRecorded: false,
    passed: 2,
    failed: 1,
    failingTest: "cart tests::order",
    output: `    Finished \`test\` profile [unoptimized + debuginfo] target(s) in 0.05s
────────────
 Nextest run ID 1b2c with nextest profile: default
    Starting 3 tests across 1 binary (1 test skipped)
        PASS [   0.003s] (1/3) cart tests::adds
        FAIL [   0.004s] (2/3) cart tests::order
  stderr ───
    thread 'tests::order' panicked at src/lib.rs:5:68:
    assertion \`left == right\` failed
        PASS [   0.003s] (3/3) cart tests::total
────────────
     Summary [   0.011s] 3 tests run: 2 passed, 1 failed, 1 skipped
        FAIL [   0.004s] (2/3) cart tests::order
error: test run failed
`,
  },
  {
    runner: "dotnet test, VSTest",
    isRecorded: false,
    passed: 2,
    failed: 1,
    failingTest: "Shop.Tests.CartTests.KeepsOrder",
    output: `  Determining projects to restore...
Starting test execution, please wait...
A total of 1 test files matched the specified pattern.
[xUnit.net 00:00:00.33]     Shop.Tests.CartTests.KeepsOrder [FAIL]
  Failed Shop.Tests.CartTests.KeepsOrder [3 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 2
Actual:   1

Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 9 ms - Shop.Tests.dll (net8.0)
`,
  },
  {
    runner: "dotnet test, terminal logger",
    isRecorded: false,
    passed: 3,
    failed: 0,
    output: `Restore complete (0.4s)
  Shop.Tests net9.0 succeeded (0.2s) → bin/Debug/net9.0/Shop.Tests.dll
  Shop.Tests test net9.0 succeeded (1.0s)

Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 1.0s
Build succeeded in 2.1s
`,
  },
  {
    runner: "dotnet test --logger console",
    isRecorded: false,
    passed: 2,
    failed: 1,
    failingTest: "Shop.Tests.CartTests.KeepsOrder",
    output: `  Passed Shop.Tests.CartTests.Adds [1 ms]
  Failed Shop.Tests.CartTests.KeepsOrder [3 ms]
Test Run Failed.
Total tests: 3
     Passed: 2
     Failed: 1
 Total time: 0.9 Seconds
`,
  },
  {
    runner: "gradle test",
    isRecorded: false,
    passed: 1,
    failed: 1,
    failingTest: "CartTest > order()",
    output: `> Task :test FAILED

CartTest > order() FAILED
    org.opentest4j.AssertionFailedError at CartTest.java:9

3 tests completed, 1 failed, 1 skipped

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':test'.

BUILD FAILED in 2s
`,
  },
  {
    runner: "rspec",
    isRecorded: false,
    passed: 1,
    failed: 1,
    failingTest: "Cart keeps the order",
    output: `..F*

Failures:

  1) Cart keeps the order
     Failure/Error: expect([1, 2]).to eq([2, 1])

       expected: [2, 1]
            got: [1, 2]
     # ./spec/cart_spec.rs:7:in \`block (2 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.08 seconds to load)
3 examples, 1 failure, 1 pending

Failed examples:

rspec ./spec/cart_spec.rb:6 # Cart keeps the order
`,
  },
  {
    runner: "minitest",
    isRecorded: false,
    passed: 1,
    failed: 1,
    failingTest: "CartTest#test_order",
    output: `Run options: --seed 1234

# Running:

.FS

Finished in 0.001s, 3000.0 runs/s, 2000.0 assertions/s.

  1) Failure:
CartTest#test_order [test/cart_test.rb:9]:
Expected: [2, 1]
  Actual: [1, 2]

3 runs, 2 assertions, 1 failures, 0 errors, 1 skips
`,
  },
  {
    runner: "rails test",
    isRecorded: false,
    passed: 2,
    failed: 1,
    failingTest: "CartTest#test_keeps_the_order",
    output: `Running 3 tests in a single process (parallelization threshold is 50)
..F

Failure:
CartTest#test_keeps_the_order [test/models/cart_test.rb:9]:
Expected: 2
  Actual: 1

bin/rails test test/models/cart_test.rb:8

Finished in 0.2s, 15.0 runs/s, 15.0 assertions/s.
3 runs, 3 assertions, 1 failures, 0 errors, 0 skips
`,
  },
  {
    runner: "phpunit",
    isRecorded: false,
    passed: 1,
    failed: 2,
    failingTest: "CartTest::testOrder",
    output: `PHPUnit 11.5.2 by Sebastian Bergmann and contributors.

Runtime:       PHP 8.3.6

.FES                                                                4 / 4 (100%)

Time: 00:00.004, Memory: 8.00 MB

There was 1 error:

1) CartTest::testOrder
RuntimeException: boom

--

There was 1 failure:

1) CartTest::testTotal
Failed asserting that two arrays are equal.

ERRORS!
Tests: 4, Assertions: 2, Errors: 1, Failures: 1, Skipped: 1.
`,
  },
  {
    runner: "phpunit, all well",
    isRecorded: false,
    passed: 3,
    failed: 0,
    output: `PHPUnit 11.5.2 by Sebastian Bergmann and contributors.

...                                                                 3 / 3 (100%)

Time: 00:00.004, Memory: 8.00 MB

OK (3 tests, 5 assertions)
`,
  },
  {
    runner: "pest",
    isRecorded: false,
    passed: 2,
    failed: 1,
    failingTest: "Tests\\Unit\\CartTest > it keeps the order",
    output: `   FAIL  Tests\\Unit\\CartTest
  ✓ it adds a line                                                       0.01s
  ⨯ it keeps the order
  ────────────────────────────────────────────────────────────────────────────
   FAILED  Tests\\Unit\\CartTest > it keeps the order
  Failed asserting that two arrays are equal.

  Tests:    1 failed, 2 passed (3 assertions)
  Duration: 0.04s
`,
  },
  {
    runner: "mix test",
    isRecorded: false,
    passed: 3,
    failed: 1,
    failingTest: "test keeps the order (CartTest)",
    output: `Running ExUnit with seed: 1234, max_cases: 4

..

  1) test keeps the order (CartTest)
     test/cart_test.exs:9
     Assertion with == failed
     code:  assert [1, 2] == [2, 1]

.
Finished in 0.03 seconds (0.00s async, 0.03s sync)
1 doctest, 3 tests, 1 failure
`,
  },
  {
    runner: "swift test, XCTest",
    isRecorded: false,
    passed: 2,
    failed: 1,
    failingTest: "ShopTests.CartTests testOrder",
    output: `Test Suite 'All tests' started at 2026-01-02 10:00:00.000
Test Suite 'CartTests' started at 2026-01-02 10:00:00.001
Test Case '-[ShopTests.CartTests testAdds]' passed (0.001 seconds).
/repo/Tests/ShopTests/CartTests.swift:9: error: -[ShopTests.CartTests testOrder] : XCTAssertEqual failed: ("1") is not equal to ("2")
Test Case '-[ShopTests.CartTests testOrder]' failed (0.002 seconds).
Test Case '-[ShopTests.CartTests testTotal]' passed (0.001 seconds).
Test Suite 'CartTests' failed at 2026-01-02 10:00:00.010.
	 Executed 3 tests, with 1 failure (0 unexpected) in 0.004 (0.005) seconds
Test Suite 'All tests' failed at 2026-01-02 10:00:00.011.
	 Executed 3 tests, with 1 failure (0 unexpected) in 0.004 (0.006) seconds
`,
  },
  {
    runner: "swift test, Swift Testing",
    isRecorded: false,
    passed: 1,
    failed: 1,
    failingTest: "order()",
    output: `◇ Test run started.
◇ Test adds() started.
◇ Test order() started.
✔ Test adds() passed after 0.001 seconds.
✘ Test order() recorded an issue at CartTests.swift:9:5: Expectation failed: 1 == 2
✘ Test order() failed after 0.001 seconds with 1 issue.
✘ Test run with 2 tests failed after 0.001 seconds with 1 issue.
`,
  },
  {
    runner: "tox",
    isRecorded: false,
    passed: 4,
    failed: 0,
    output: `py311: commands[0]> pytest -q
....                                                                     [100%]
4 passed in 0.02s
  py311: OK (1.20=setup[1.02]+cmd[0.18] seconds)
  congratulations :) (1.25 seconds)
`,
  },
  {
    runner: "jasmine",
    isRecorded: false,
    passed: 2,
    failed: 1,
    failingTest: "Cart keeps the order",
    output: `Started
.F.

Failures:
  1) Cart keeps the order
  Message:
    Expected 1 to be 2.

3 specs, 1 failure
Finished in 0.01 seconds
`,
  },
];
