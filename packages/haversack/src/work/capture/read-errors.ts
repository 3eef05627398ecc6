/**
 * Reads errors of compilers, type checkers and linters, and uncaught exceptions, from a command's output: the first few, each with file
 * and line.
 */

import type { WipError } from "../wip/wip.ts";
import { MESSAGE_MAX_CHARS, PATH_MAX_CHARS, safeLine } from "./output-text.ts";
import { programsIn } from "./shell-words.ts";

const ERRORS_MAX = 5;
/** Stops after this many matches: more only repeat the same error. */
const MATCHES_MAX = 50;
/** How far above an error to look for its file: eslint names the file once, above its lines. */
const FILE_ABOVE_CHARS = 8000;

/** Groups: `f`ile, `l`ine, `m`essage, and `t`ool if the text contains it. */
type ErrorFormat = readonly [tool: string, type: WipError["type"], pattern: RegExp];

/** No pattern can match across more than a few lines; a line has at most 400 characters. */
const ERROR_FORMATS: readonly ErrorFormat[] = [
  // tsc and C#: `a.ts(1,7): error TS2322: …`; tsc --pretty and pyright: `a.ts:1:7 - error TS2322: …`
  ["dotnet", "type_error", /^(?<f>\S[^(\n]*)\((?<l>\d+),\d+\): error (?<m>(?<t>TS)?[A-Z]*\d+: .+)/gm],
  ["pyright", "type_error", /^ *(?<f>\S+?):(?<l>\d+):\d+ - error(?::)? (?<m>(?<t>TS)?.+)/gm],
  ["rustc", "compile_error", /^error(?:\[E\d+\])?: (?<m>.+)\n +--> (?<f>\S+?):(?<l>\d+):/gm],
  // gcc, clang, swift, javac, mypy: distinguished by the file extension.
  ["cc", "compile_error", /^(?<f>\S+?\.(?<t>\w+)):(?<l>\d+)(?::\d+)?: (?:fatal )?error: (?<m>.+)/gm],
  ["javac", "compile_error", /^\[ERROR\] (?<f>\S+):\[(?<l>\d+),\d+\] (?<m>.+)/gm],
  ["kotlin", "compile_error", /^e: (?:file:\/\/)?(?<f>\S+?\.kts?):(?<l>\d+):\d+:? (?<m>.+)/gm],
  ["go", "compile_error", /^(?<f>\S+\.go):(?<l>\d+):\d+: (?<m>.+)/gm],
  ["esbuild", "compile_error", /^✘ \[ERROR\] (?<m>.+)\n\n? +(?<f>\S+?):(?<l>\d+):/gm],
  ["ruff", "lint_error", /^(?<f>\S+\.pyi?):(?<l>\d+):\d+: (?<m>[A-Z]{1,4}\d+ .+)/gm],
  ["biome", "lint_error", /^(?<f>\S+?):(?<l>\d+):\d+ (?:lint|parse|assist)\S*.*\n\n? *× (?<m>.+)/gm],
  ["eslint", "lint_error", /^ +(?<l>\d+):\d+ +error +(?<m>\S.*)/gm],
  ["deno", "type_error", /^(?<m>TS\d+ \[ERROR\]: .+)(?:\n.*){0,2}\n +at (?:file:\/\/)?(?<f>\S+?):(?<l>\d+):/gm],
  // The innermost frame of a Python traceback comes last.
  [
    "python",
    "exception",
    /^ +File "(?<f>[^"\n]+)", line (?<l>\d+).*\n(?: {3,}.*\n){0,3}(?<m>[\w.]*(?:Error|Exception|Exit|Interrupt)\b.*)/gm,
  ],
  [
    "node",
    "exception",
    /^(?:Uncaught )?(?<m>\w*Error(?: \[\w+\])?: .+)\n +at (?:.* \()?(?:file:\/\/)?(?<f>[^\s():]+):(?<l>\d+):\d+/gm,
  ],
];
const TOOL_NAMES = new Map([
  ["TS", "tsc"],
  ["java", "javac"],
  ["py", "mypy"],
  ["swift", "swift"],
]);

/** Exceptions are left out for test runs: there they are the failing tests. */
export function readErrors(text: string, { exceptions }: { exceptions: boolean }): WipError[] {
  const errors: WipError[] = [];
  for (const [tool, type, pattern] of ERROR_FORMATS) {
    if (type === "exception" && (!exceptions || errors.length > 0)) continue;
    let matches = 0;
    for (const { groups: { f, l, m, t } = {}, index } of text.matchAll(pattern)) {
      if (errors.length === ERRORS_MAX) return errors;
      if (++matches > MATCHES_MAX) break;
      const above = f ? [] : text.slice(Math.max(0, index - FILE_ABOVE_CHARS), index).split("\n");
      const file = f ?? above.findLast((line) => /^\S+\.\w+$/.test(line));
      const error: WipError = {
        type,
        tool: TOOL_NAMES.get(t ?? "") ?? tool,
        ...(file && { file: `${safeLine(file.replace(/^\.\//, ""), PATH_MAX_CHARS)}:${l}` }),
        message: safeLine(m!, MESSAGE_MAX_CHARS),
      };
      if (!errors.some((known) => known.file === error.file && known.message === error.message)) errors.push(error);
    }
  }
  return errors;
}

const CHECKER =
  /^(?:(cargo|go|dotnet|swift|deno)(?: \+\S+)? (?:b|build|c|check|clippy|t|test|nextest|r|run|vet|publish)|(?:vue-)?(tsc)|(rustc|javac|mvnw?|gradlew?|eslint|biome|ruff|flake8|mypy|pyright|make|ninja|cmake|gcc|clang|esbuild)|(?:python[\d.]* -m )(mypy|ruff))(?= |$)/;
const CHECKER_NAMES: Readonly<Record<string, string>> = {
  cargo: "rustc",
  mvn: "javac",
  mvnw: "javac",
  gradle: "javac",
  gradlew: "javac",
  flake8: "ruff",
  make: "cc",
  ninja: "cc",
  cmake: "cc",
  gcc: "cc",
  clang: "cc",
};

/** The tool whose errors are settled when this command succeeds. */
export function checkerOf(words: readonly string[]): string | undefined {
  for (const program of programsIn(words)) {
    const [, ...groups] = CHECKER.exec(program.join(" ").slice(0, 300)) ?? [];
    const name = groups.find(Boolean);
    if (name) return CHECKER_NAMES[name] ?? name;
  }
  return undefined;
}

/** Commands that print what they find: "error:" in their output is not an error, and no match is not a failure. */
export function onlyShows(words: readonly string[]): boolean {
  return /^(?:cat|less|head|tail|e?grep|rg|find|fd|ls|tree|which|diff|cmp|test|\[\[?|wc|sort|uniq|cut|sed|awk|jq|stat|file|ps|pgrep|kill|env|date|man|tee|xargs|curl|echo|printf|cd|pwd|true|false|sleep|wait|exit|set|export|source|mkdir|for|done|fi)$/.test(
    programsIn(words)[0]?.[0] ?? "",
  );
}
