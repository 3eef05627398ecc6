/**
 * Counts and the first failing test from the output of a test run. What the output does not say is `null`; numbers are
 * never made up.
 */
import { MESSAGE_MAX_CHARS, type OutputText, safeLine } from "./output-text.ts";
import { TEST_FORMATS, type TestFormat } from "./test-formats.ts";

export interface TestReading {
  passed: number | null;
  failed: number | null;
  failingTest?: string;
  /** The line that says why it failed, where there is one near its name. */
  reason?: string;
}

/**
 * How much of what the run printed is in the output. `end`: its last lines. `some`: lines that were picked, so that what is not
 * there may have been printed all the same. Default: all of it.
 */
export type Shown = "all" | "end" | "some";

/** Undefined: this is no output of a test run, or no test ran. */
export function readTestOutput(output: OutputText, { shown = "all" }: { shown?: Shown } = {}): TestReading | undefined {
  for (const format of TEST_FORMATS) {
    const reading = readCounts(output, format, shown);
    if (reading) return reading.failed === 0 ? reading : withName(reading, output.text, firstName(output.text, format));
  }
  if (shown === "all") return undefined;
  // The counts stand before the details and are cut off. A failing test is there all the same.
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
    // Counted lines: some may be cut out, and `go test` prints passing tests only when told to.
    const isUnknown = isCut ? failed > 0 : failed === 0 && /^FAIL\b/m.test(text);
    return { passed: isCut || !tally.pass ? null : passed, failed: isUnknown ? null : failed };
  }
  if (passed + failed === 0) return undefined;
  if (!isSpread || shown === "all") return { passed, failed };
  // A count that nobody sees is not zero. At the end of the output only earlier lines are missing, and failures come last.
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
    // A sum such as `FAILED 3 of 5` looks like a failing test; a name may stand behind it.
    const all = text.matchAll(new RegExp(pattern, `${pattern.flags}g`));
    for (const [, other = ""] of all) if (other.trim() && !isTally(other)) return other.trim();
  }
  return undefined;
}

/** Numbers, and words that count, alone. */
function isTally(name: string): boolean {
  return /\d/.test(name) && !/[a-z]|[^\0-\x7f]/i.test(name.replace(COUNTING, ""));
}

const COUNTING =
  /\b(?:of|out|in|and|with|total|tests?|specs?|examples?|suites?|files?|cases?|assertions?|checks?|runs?|fail(?:ed|ing|ures?|s)?|pass(?:ed|ing|es)?|errors?|skip(?:ped|s)?)\b|\d+(?:m?s|%)?/gi;

const REASONS = [
  /^\W*(?:E +)?[\w.]*(?:Error|Exception|Failure)\b.*: /,
  /\b(?:assert\w*|expect(?:ed)?|panicked|got|Error)\b/i,
];

/** Looks behind each place that has the name: lists name it first, details follow later. */
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
