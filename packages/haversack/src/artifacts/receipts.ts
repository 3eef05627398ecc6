/**
 * Evidence that a sub-agent read its documents. Its tool calls show which share of each document it has seen. If tool calls are not
 * visible, its "Files read:" line counts, but only with a correct line count. This file only decides; a missing receipt blocks nothing
 * by itself.
 */
import { isAbsolute, joinPath } from "./feature-meta.ts";
import { type LineRange, printedLines, type SearchOutput, type ShellCommand, searchedLines } from "./printed-lines.ts";
import type { DocumentFacts } from "./reference-block.ts";

/** A successful tool call of the sub-agent, independent of the client. */
export type Observation =
  /** `offset` starts at 1. `shownLines`: how many lines were returned. `totalLines`: how many the file had then. */
  | { tool: "read"; path: string; offset?: number; limit?: number; shownLines?: number; totalLines?: number }
  /** `lines`: numbers of the shown lines, if the client reports them. */
  | { tool: "grep"; path: string; lines?: readonly number[] }
  /** A search whose output is compared with the documents. */
  | SearchOutput
  /** `outputLines`: how many lines the model saw; 0 if the output went into a file. */
  | { tool: "shell"; commands: readonly ShellCommand[]; cwd?: string; outputLines?: number };

export interface RequiredDocument {
  /** The file's name, such as `spec.md`. */
  file: string;
  /** The document's name, such as `Spec`. */
  name: string;
  /** The absolute path. */
  path: string;
  lineCount: number;
}

export interface DocumentReceipt {
  file: string;
  path: string;
  lineCount: number;
  /** read: at least MIN_SHARE. partial: something. unread: nothing, or a false claim. */
  status: "read" | "partial" | "unread";
  /** From tool calls. With only a claim: 1 or 0. */
  share: number;
  seenLines: number;
  /** Lines that it has not seen. */
  unseen: LineRange[];
  /** The count in its "Files read:" line, correct or not. null: named without a number. */
  claimedLines?: number | null;
}

export interface ReceiptJudgement {
  /** The source of the evidence. */
  source: "events" | "claim";
  documents: DocumentReceipt[];
  /** Documents that are not `read`. */
  missing: DocumentReceipt[];
  /** One line for the review history. Absent: all documents were read. */
  warning?: string;
}

export interface JudgeInput {
  /** The sub-agent's type or role, used in the warning. */
  role: string;
  required: readonly RequiredDocument[];
  /** Absent: tool calls are not visible in this client. Empty: they are visible, and there were none. */
  observations?: readonly Observation[] | undefined;
  answer?: string | undefined;
  /** Base of relative paths. */
  cwd?: string;
}

/** A reader who skips only the last section still counts as having read the document. */
const MIN_SHARE = 0.9;

export function judgeReceipts({ role, required, observations, answer = "", cwd = "/" }: JudgeInput): ReceiptJudgement {
  const claims = readFilesReadLine(answer)?.files ?? [];
  const documents = required.map((document): DocumentReceipt => {
    const claim = claims.find((candidate) => isClaimOf(candidate, document, required));
    const claimed = claim ? { claimedLines: claim.lines ?? null } : {};
    if (observations) return { ...judgeSeen(document, observations, { required, cwd }), ...claimed };
    return { ...judgeClaim(document, claim), ...claimed };
  });
  const missing = documents.filter(({ status }) => status !== "read");
  const judgement: ReceiptJudgement = { source: observations ? "events" : "claim", documents, missing };
  if (missing.length > 0) judgement.warning = formatWarning(role, judgement);
  return judgement;
}

/** The references for which a receipt can be required: missing files cannot be read. */
export function requiredDocuments(references: readonly DocumentFacts[]): RequiredDocument[] {
  return references.flatMap(({ file, name, path, state, lineCount }) =>
    state === "present" && lineCount !== undefined ? [{ file, name, path, lineCount }] : [],
  );
}

/** The words up to "reads" are fixed by the design, so a search over all histories finds them. */
export function formatWarning(role: string, { source, missing }: Pick<ReceiptJudgement, "source" | "missing">): string {
  const named = missing.map(({ file, seenLines, lineCount, claimedLines }) => {
    if (source === "events") return `${file} (${seenLines} of ${lineCount} lines seen)`;
    if (claimedLines === undefined) return `${file} (not named)`;
    return claimedLines === null
      ? `${file} (no line count)`
      : `${file} (claimed ${claimedLines} lines, has ${lineCount})`;
  });
  return `LAZY-LOAD-WARNING: ${role} did not confirm artifact reads: ${named.join(", ")}`;
}

/** For the gate that sends a sub-agent back once. */
export function formatSendBack(missing: readonly DocumentReceipt[]): string {
  const lines = missing.map(({ path, lineCount, seenLines, unseen }) => {
    const ranges = unseen.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
    return seenLines === 0 ? `- ${path} (all ${lineCount} lines)` : `- ${path} (lines ${ranges} of ${lineCount})`;
  });
  return ["You have not read all that you must. Read this now, then give your whole answer again:", ...lines].join(
    "\n",
  );
}

/** The lines of the documents that one tool call showed. */
export function seenIn(
  observation: Observation,
  required: readonly RequiredDocument[],
  { cwd = "/", textOf = () => undefined }: { cwd?: string; textOf?: (path: string) => string | undefined } = {},
): { file: string; from: number; to: number }[] {
  if (observation.tool === "shell" || observation.tool === "search") {
    const shown =
      observation.tool === "shell"
        ? printedLines(observation.commands, { cwd, files: required, ...observation })
        : searchedLines(observation, { cwd, files: required, textOf });
    return shown.flatMap(({ path, from, to }) =>
      required.filter((document) => document.path === path).map(({ file }) => ({ file, from, to })),
    );
  }
  const path = isAbsolute(observation.path) ? joinPath(observation.path, "") : joinPath(cwd, observation.path);
  return required.flatMap((document) => {
    if (document.path !== path) return [];
    const { file, lineCount } = document;
    if (observation.tool === "grep") return (observation.lines ?? []).map((line) => ({ file, from: line, to: line }));
    return [{ file, ...readRange(observation, lineCount) }];
  });
}

/** Clients limit a read without a limit to this many lines. */
const PAGE_LINES = 2_000;

function readRange(
  { offset = 1, limit = PAGE_LINES, shownLines, totalLines }: Extract<Observation, { tool: "read" }>,
  lineCount: number,
): LineRange {
  const from = Math.max(1, offset);
  const to = from + (shownLines ?? limit) - 1;
  // It was read to its end at that time: the file may have changed since we counted, or its last empty line was counted.
  return { from, to: totalLines !== undefined && to >= totalLines ? Math.max(to, lineCount) : to };
}

function judgeSeen(
  { file, path, lineCount }: RequiredDocument,
  observations: readonly Observation[],
  { required, cwd }: { required: readonly RequiredDocument[]; cwd: string },
): DocumentReceipt {
  const ranges = observations.flatMap((observation) =>
    seenIn(observation, required, { cwd }).filter((seen) => seen.file === file),
  );
  const unseen = gapsIn(ranges, lineCount);
  const seenLines = lineCount - unseen.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const share = lineCount === 0 ? 1 : seenLines / lineCount;
  const status = share >= MIN_SHARE ? "read" : seenLines > 0 ? "partial" : "unread";
  return { file, path, lineCount, status, share, seenLines, unseen };
}

function judgeClaim({ file, path, lineCount }: RequiredDocument, claim: FileClaim | undefined): DocumentReceipt {
  // Tools differ by one on whether a final empty line counts.
  const isTrue = lineCount === 0 || (claim?.lines !== undefined && Math.abs(claim.lines - lineCount) <= 1);
  return isTrue
    ? { file, path, lineCount, status: "read", share: 1, seenLines: lineCount, unseen: [] }
    : { file, path, lineCount, status: "unread", share: 0, seenLines: 0, unseen: [{ from: 1, to: lineCount }] };
}

/** Matches by path, file name, or the document's name in the prompt. */
function isClaimOf(
  { name }: FileClaim,
  { file, name: title, path }: RequiredDocument,
  required: readonly RequiredDocument[],
): boolean {
  const claimed = name.toLowerCase();
  if ([path, file, title].some((known) => known.toLowerCase() === claimed)) return true;
  const base = (text: string): string => text.slice(text.lastIndexOf("/") + 1).toLowerCase();
  const sameName = required.filter(
    (document) => base(document.path) === base(claimed) || base(document.file) === base(claimed),
  );
  if (sameName.length !== 1 || sameName[0]!.path !== path) return false;
  // A file of the same name in another folder is not a receipt.
  return !claimed.includes("/") || path.toLowerCase().endsWith(`/${claimed.replace(/^(?:\.?\/)+/, "")}`);
}

/** The lines from 1 to `lineCount` that the ranges do not cover. */
export function gapsIn(ranges: readonly LineRange[], lineCount: number): LineRange[] {
  const gaps: LineRange[] = [];
  let next = 1;
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    if (from > lineCount) break;
    if (from > next) gaps.push({ from: next, to: from - 1 });
    next = Math.max(next, to + 1);
  }
  if (next <= lineCount) gaps.push({ from: next, to: lineCount });
  return gaps;
}

/** How often receipts are missing, by role and document. Shows whether references work. */
export interface ReceiptTally {
  role: string;
  file: string;
  total: number;
  missing: number;
}

export interface ReceiptRate extends ReceiptTally {
  /** 0 to 1. */
  rate: number;
  /** More than a fifth are missing: references themselves are then in question. */
  isAboveGate: boolean;
}

export const FALLBACK_GATE = 0.2;

/** The worst first. */
export function receiptRates<Tally extends ReceiptTally>(tallies: readonly Tally[]): (Tally & ReceiptRate)[] {
  return tallies
    .map((tally) => {
      const rate = tally.total === 0 ? 0 : tally.missing / tally.total;
      return { ...tally, rate, isAboveGate: rate > FALLBACK_GATE };
    })
    .sort((a, b) => b.rate - a.rate || b.total - a.total || (a.role < b.role ? -1 : 1));
}

/**
 * The confirmation that references ask for: "Files read: spec.md (210 lines), design.md (1,204 lines)". Accepts the forms that agents
 * really write: bold, in backticks, as a list below, with paths, with "and" before the last.
 */
export interface FileClaim {
  name: string;
  /** Absent: named without a number. */
  lines?: number;
}

const START = /Files read[*_`]*\s*:[*_`]*(.*)$/i;
const LINE_MAX_CHARS = 10_000;
const LIST_MAX_LINES = 50;

/** Undefined: there is no such line. All such lines count; for each file, the last number wins. */
export function readFilesReadLine(answer: string): { files: FileClaim[] } | undefined {
  const lines = answer.split(/\r\n|\n|\r/);
  const claims = new Map<string, FileClaim>();
  let isFound = false;
  for (const [index, line] of lines.entries()) {
    if (line.length > LINE_MAX_CHARS) continue;
    const start = START.exec(line);
    if (!start) continue;
    const rest = start[1]!.trim();
    const entries = rest === "" ? listBelow(lines, index) : [rest];
    const files = entries.flatMap(readClaims);
    // Repeats the prompt's own words: not a claim.
    if (files.length === 0 && /\{name\}/.test(rest)) continue;
    isFound = true;
    for (const claim of files) claims.set(claim.name, claim);
  }
  return isFound ? { files: [...claims.values()] } : undefined;
}

function listBelow(lines: readonly string[], index: number): string[] {
  const entries: string[] = [];
  for (const line of lines.slice(index + 1, index + 1 + LIST_MAX_LINES)) {
    if (line.trim() === "" && entries.length === 0) continue;
    if (!/^\s*(?:[-*+•]|\d{1,3}[.)])\s/.test(line) || line.length > LINE_MAX_CHARS) break;
    entries.push(line.replace(/^\s*(?:[-*+•]|\d{1,3}[.)])\s+/, ""));
  }
  return entries;
}

/** Each claim ends at a count in brackets or after a dash or colon. Without a count, it ends at the comma. */
function readClaims(text: string): FileClaim[] {
  // A comma between digits belongs to the number.
  const pieces = text.split(/(?<!\d),|,(?!\d{3}(?!\d))|;|\s+and\s+/);
  return pieces.flatMap((piece) => {
    const count = /[\s(—–:-]~?(\d[\d,._]{0,15})(?:\s{0,3}lines?\b|\))/i.exec(piece);
    const name = (count ? piece.slice(0, count.index) : piece)
      .replace(/[*`"'()[\]]/g, "")
      .replace(/[\s—–:.-]+$/, "")
      .trim();
    if (name === "" || /[{}]/.test(name) || !/[\p{L}\p{N}]/u.test(name)) return [];
    return [count ? { name, lines: Number(count[1]!.replace(/\D/g, "")) } : { name }];
  });
}
