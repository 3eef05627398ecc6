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

/** Undefined: this is no output of a test run, or no test ran. */
export function readTestOutput(output: OutputText): TestReading | undefined {
  for (const format of TEST_FORMATS) {
    const reading = readCounts(output, format);
    const name = reading && reading.failed !== 0 && firstName(output.text, format);
    if (name) {
      const reason = findReason(output.text, name);
      reading.failingTest = safeLine(name.replace(/\n */g, " > "), MESSAGE_MAX_CHARS);
      if (reason) reading.reason = safeLine(reason, MESSAGE_MAX_CHARS);
    }
    if (reading) return reading;
  }
  return undefined;
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

function readCounts({ text, isCut }: OutputText, [counts, , special]: TestFormat): TestReading | undefined {
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
  return passed + failed > 0 ? { passed, failed } : undefined;
}

const NUMBER_FIRST = /(\d+) +([a-z]+)/gi;
const WORD_FIRST = /([a-z]+)[:= ] *(\d+)/gi;

function firstName(text: string, [, names]: TestFormat): string | undefined {
  for (const pattern of names) {
    const name = pattern.exec(text)?.[1]?.trim();
    if (name) return name;
  }
  return undefined;
}

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
