import { describe, expect, it } from "vitest";
import { checkerOf, onlyShows, readErrors } from "./read-errors.ts";

/** Recorded, except Go, Kotlin, C#, Swift, pyright, mypy, ruff and esbuild, which are written after their formats. */
const SAMPLES: [string, string, unknown][] = [
  [
    "tsc",
    "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/a.ts(1,24): error TS2304: Cannot find name 'foo'.\n",
    {
      type: "type_error",
      tool: "tsc",
      file: "src/a.ts:1",
      message: "TS2322: Type 'string' is not assignable to type 'number'.",
    },
  ],
  [
    "tsc --pretty",
    "src/a.ts:1:7 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n1 const x: number = \"a\";\n        ~\n\nFound 1 error in src/a.ts:1\n",
    {
      type: "type_error",
      tool: "tsc",
      file: "src/a.ts:1",
      message: "TS2322: Type 'string' is not assignable to type 'number'.",
    },
  ],
  [
    "rustc",
    '   Compiling cart v0.1.0 (/repo)\nerror[E0308]: mismatched types\n --> src/lib.rs:6:21\n  |\n6 | pub fn f() -> i32 { "x" }\n  |\n\nerror: could not compile `cart` (lib) due to 1 previous error\n',
    { type: "compile_error", tool: "rustc", file: "src/lib.rs:6", message: "mismatched types" },
  ],
  [
    "go",
    "# example.com/shop/cart\n./cart.go:9:7: undefined: total\n",
    { type: "compile_error", tool: "go", file: "cart.go:9", message: "undefined: total" },
  ],
  [
    "javac",
    'src/main/java/A.java:1: error: incompatible types: String cannot be converted to int\nclass A { int f() { return "x"; } }\n                           ^\n1 error\n',
    {
      type: "compile_error",
      tool: "javac",
      file: "src/main/java/A.java:1",
      message: "incompatible types: String cannot be converted to int",
    },
  ],
  [
    "maven",
    "[INFO] 1 error\n[ERROR] COMPILATION ERROR : \n[ERROR] /repo/src/main/java/A.java:[1,28] incompatible types: java.lang.String cannot be converted to int\n[INFO] BUILD FAILURE\n",
    {
      type: "compile_error",
      tool: "javac",
      file: "/repo/src/main/java/A.java:1",
      message: "incompatible types: java.lang.String cannot be converted to int",
    },
  ],
  [
    "kotlin",
    "> Task :compileKotlin FAILED\ne: file:///repo/src/A.kt:3:5 Unresolved reference 'total'.\n",
    { type: "compile_error", tool: "kotlin", file: "/repo/src/A.kt:3", message: "Unresolved reference 'total'." },
  ],
  [
    "gcc",
    "a.c: In function ‘f’:\na.c:1:16: error: ‘x’ undeclared (first use in this function)\n    1 | int f(){return x;}\n",
    { type: "compile_error", tool: "cc", file: "a.c:1", message: "‘x’ undeclared (first use in this function)" },
  ],
  [
    "swift",
    "/repo/Sources/A.swift:3:9: error: cannot find 'total' in scope\n",
    { type: "compile_error", tool: "swift", file: "/repo/Sources/A.swift:3", message: "cannot find 'total' in scope" },
  ],
  [
    "C#",
    "Program.cs(3,5): error CS0103: The name 'total' does not exist in the current context [/repo/a.csproj]\n",
    { tool: "dotnet", file: "Program.cs:3" },
  ],
  [
    "mypy",
    'shop/cart.py:9: error: Incompatible return value type (got "str", expected "int")  [return-value]\n',
    { tool: "mypy", file: "shop/cart.py:9" },
  ],
  [
    "pyright",
    '/repo/shop/cart.py\n  /repo/shop/cart.py:9:12 - error: "total" is not defined (reportUndefinedVariable)\n',
    {
      tool: "pyright",
      type: "type_error",
      file: "/repo/shop/cart.py:9",
      message: '"total" is not defined (reportUndefinedVariable)',
    },
  ],
  [
    "ruff",
    "shop/cart.py:1:8: F401 [*] `os` imported but unused\n",
    { tool: "ruff", type: "lint_error", file: "shop/cart.py:1" },
  ],
  [
    "eslint",
    "\n/repo/src/b.js\n  1:7   warning  'x' is assigned a value but never used  no-unused-vars\n  1:14  error    'foo' is not defined                    no-undef\n\n✖ 2 problems (1 error, 1 warning)\n",
    { type: "lint_error", tool: "eslint", file: "/repo/src/b.js:1", message: "'foo' is not defined no-undef" },
  ],
  [
    "biome",
    "src/b.js:1:7 lint/suspicious/noDebugger  FIXABLE  ━━━━━━━━━━\n\n  × This is an unexpected use of the debugger statement.\n\n  > 1 │ debugger\n",
    { tool: "biome", file: "src/b.js:1", message: "This is an unexpected use of the debugger statement." },
  ],
  [
    "esbuild",
    '✘ [ERROR] Could not resolve "./gone"\n\n    src/a.ts:1:14:\n      1 │ import x from "../gone"\n',
    { tool: "esbuild", file: "src/a.ts:1", message: 'Could not resolve "./gone"' },
  ],
  [
    "deno",
    "Check src/a.ts\nTS2322 [ERROR]: Type 'string' is not assignable to type 'number'.\nconst x: number = \"a\";\n      ^\n    at file:///repo/src/a.ts:1:7\n",
    { tool: "deno", file: "/repo/src/a.ts:1" },
  ],
  [
    "a Python traceback",
    'Traceback (most recent call last):\n  File "/repo/main.py", line 1, in <module>\n    run()\n  File "/repo/json/decoder.py", line 355, in raw_decode\n    raise JSONDecodeError("Expecting value", s, err.value) from None\njson.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n',
    {
      type: "exception",
      tool: "python",
      file: "/repo/json/decoder.py:355",
      message: "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    },
  ],
  [
    "a Python syntax error",
    '  File "/repo/x.py", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n',
    { type: "exception", file: "/repo/x.py:1", message: "SyntaxError: invalid syntax" },
  ],
  [
    "an uncaught error of Node",
    "/repo/a.js:1\nnull.x\n     ^\n\nTypeError: Cannot read properties of null (reading 'x')\n    at Object.<anonymous> (/repo/a.js:1:6)\n    at Module._compile (node:internal/modules/cjs/loader:1554:14)\n\nNode.js v22.14.0\n",
    {
      type: "exception",
      tool: "node",
      file: "/repo/a.js:1",
      message: "TypeError: Cannot read properties of null (reading 'x')",
    },
  ],
];

describe("readErrors", () => {
  it.each(SAMPLES)("reads %s", (_, text, error) => {
    expect(readErrors(text, { exceptions: true })[0]).toMatchObject(error as object);
  });

  it("keeps the first five, each once", () => {
    const text = Array.from({ length: 20 }, (_, line) => `a.ts(${line >> 1},1): error TS1: no\n`).join("");
    expect(readErrors(text, { exceptions: true }).map(({ file }) => file)).toEqual([
      "a.ts:0",
      "a.ts:1",
      "a.ts:2",
      "a.ts:3",
      "a.ts:4",
    ]);
  });

  it("leaves exceptions to the reader of test runs", () => {
    expect(readErrors(SAMPLES.at(-1)![1], { exceptions: false })).toEqual([]);
  });

  it.each(["Compiled with 0 errors\n", "  0:00 errors\n", "warning: unused variable\n --> src/lib.rs:6:21\n"])(
    "finds none in %j",
    (text) => {
      expect(readErrors(text, { exceptions: true })).toEqual([]);
    },
  );
});

describe("checkerOf", () => {
  it.each([
    ["npx tsc --noEmit", "tsc"],
    ["vue-tsc", "tsc"],
    ["cargo check", "rustc"],
    ["cargo clippy -- -D warnings", "rustc"],
    ["go vet ./...", "go"],
    ["mvn compile", "javac"],
    ["npx eslint .", "eslint"],
    ["make -j4", "cc"],
    ["python3 -m mypy .", "mypy"],
    ["cargo fmt", undefined],
    ["go env", undefined],
    ["npm run build", undefined],
    ["cat tsc", undefined],
  ])("%s", (line, tool) => expect(checkerOf(line.split(" "))).toBe(tool));
});

it("knows commands that only show", () => {
  expect(onlyShows(["grep", "error:", "log"])).toBe(true);
  expect(onlyShows(["npm", "run", "x"])).toBe(false);
});
