/** Which commands run tests. Whose output it is, the output itself tells best: a script hides its runner. */
import { programsIn } from "./shell-words.ts";

/** "maybe" (`npm run check`, `make`): it counts only when its output is that of a test run. */
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
