/** Cleans and cuts text from outside for a packet, and reads fields of an untrusted WIP. */
import { cleanLine, cutAt, headingLevel, isAscii, isFence, stripControl } from "../base/clean-text.ts";

/** One clean line; an ellipsis marks a cut. Cleans no more of a text than could be shown. */
export function cutLine(text: string, maxChars: number): string {
  const line = cleanLine(text.slice(0, maxChars * 4));
  const isCut = line.length > maxChars || text.length > maxChars * 4;
  return isCut ? `${cutAt(line, maxChars - 1).trimEnd()}…` : line;
}

/** A longer line is data, not prose. */
const MOST_LINE_CHARS = 1_000;

/** Several lines, cut at a line end or space if that loses little. Closes a code fence that was cut open. */
export function cutText(text: string, maxChars: number): string {
  const clean = stripControl(text.slice(0, maxChars * 2 + 1_000))
    .split("\n")
    .map((line) => (line.length > MOST_LINE_CHARS ? `${cutAt(line, MOST_LINE_CHARS)}…` : line.trimEnd()))
    .join("\n")
    .trim();
  if (clean.length <= maxChars && text.length <= maxChars * 2 + 1_000) return clean;
  // Leave room for the ellipsis and the closing fence.
  const head = cutAt(clean, Math.max(0, maxChars - 6));
  const end = Math.max(head.lastIndexOf("\n"), head.lastIndexOf(" "));
  const kept = `${end > maxChars / 2 ? head.slice(0, end).trimEnd() : head} …`;
  const isOpen = kept.includes("```") && (kept.match(/^\s*```/gm)?.length ?? 0) % 2 === 1;
  return isOpen ? `${kept}\n\`\`\`` : kept;
}

/** Makes headings two levels deeper, so they are below the packet's own. */
export function deepen(text: string): string {
  if (!text.includes("# ")) return text;
  let isFenced = false;
  return text
    .split("\n")
    .map((line) => {
      if (isFence(line)) isFenced = !isFenced;
      const level = isFenced ? 0 : headingLevel(line);
      return level > 0 && level <= 4 ? `##${line}` : line;
    })
    .join("\n");
}

/** At most one empty line between two others. */
export function withoutGaps(text: string): string {
  return text.includes("\n\n\n") ? text.replace(/\n{3,}/g, "\n\n") : text;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** What a packet already says, to avoid repetition. Compares words and their order, ignoring case and punctuation. */
export class Said {
  #text = "";

  add(...texts: (string | undefined)[]): void {
    for (const text of texts) if (text) this.#text += `${plain(text)}\n`;
  }

  has(text: string): boolean {
    const wanted = plain(text);
    return wanted.length > 2 && this.#text.includes(wanted);
  }
}

/** Only the beginning of a longer text is compared. */
const MOST_CHARS = 4_000;

/**
 * Words separated by single spaces, so only whole words match. Removes checkboxes of steps. Treats only ASCII signs as punctuation: a
 * pattern for all letters would be compiled in every hook, which costs more than everything else here.
 */
function plain(text: string): string {
  const start = text.slice(0, MOST_CHARS);
  const words = start.includes("] ") ? start.replace(/^\s*[-*] \[[ xX]\] /gm, "") : start;
  return ` ${words
    .toLowerCase()
    .replace(/[\s!-/:-@[-^`{-~]+/g, " ")
    .trim()} `;
}

// Compares texts by words: whether one contains a phrase ("pr" is in "open a PR", not in "process"), and what it is about.

/** Ignores endings ("merging" is "merge") and articles ("write the plan" is "write plan"). */
export function hasPhrase(text: string, phrase: string): boolean {
  const wanted = wordsOf(phrase);
  const [first] = wanted;
  const lower = text.slice(0, MOST_CHARS).toLowerCase();
  // This check rejects most texts at a tenth of the cost of splitting them into words.
  if (first === undefined || !lower.includes(first.length > 3 ? stem(first) : first)) return false;
  const words = wordsOf(lower);
  return words.some((_, start) => isAt(words, start, wanted));
}

const ARTICLES = new Set(["a", "an", "the", "this", "our"]);

function isAt(words: readonly string[], start: number, wanted: readonly string[]): boolean {
  let at = start;
  for (const word of wanted) {
    while (at > start && ARTICLES.has(words[at] ?? "") && words[at] !== word) at++;
    if (!isSame(words[at++] ?? "", word)) return false;
  }
  return true;
}

/** Scripts without spaces: a run of letters is a whole sentence, so a part of it is enough for a match. */
const UNSPACED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

function isSame(word: string, wanted: string): boolean {
  if (!isAscii(wanted) && UNSPACED.test(wanted)) return word.includes(wanted);
  return word === wanted || word === `${wanted}s` || (wanted.length > 3 && stem(word) === stem(wanted));
}

/** Rough stems of a text's longer words, to measure how similar two texts are. */
export function stemsOf(text: string): Set<string> {
  const stems = new Set<string>();
  wordsOf(text).forEach((word) => {
    if (word.length > 3) stems.add(stem(word));
  });
  return stems;
}

function stem(word: string): string {
  if (word.endsWith("ing")) return word.slice(0, -3);
  if (word.endsWith("ed") || word.endsWith("es")) return word.slice(0, -2);
  return word.endsWith("s") || word.endsWith("e") ? word.slice(0, -1) : word;
}

function wordsOf(text: string): string[] {
  const lower = text.slice(0, MOST_CHARS).toLowerCase();
  // The second pattern is slow to compile, and a hook compiles it at each start.
  return lower.match(isAscii(lower) ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? [];
}

/** Named agents and their messages. */

export interface Agent {
  /** Without the @. */
  name: string;
  /** Absent: on every branch. */
  branch?: string;
  /** Absent: it was given none and holds no task. */
  role?: string;
  client?: string;
  /** The session it was last seen in. */
  sessionId?: string;
  worktree?: string;
  createdAt: Date;
  lastSeenAt?: Date;
}

export interface Message {
  id: string;
  from: string;
  /** Sent by the person at the terminal; otherwise by an agent. */
  isPerson?: boolean;
  text: string;
  /** ID of the task, handoff or message that it came with. */
  subject?: string;
  at: Date;
  /** Sent to the agent by name, or names it with an @. */
  isMention: boolean;
  readAt?: Date;
}

/** The sender of a message. Agents always get an @, so no agent's name can imitate the person. */
export function speakerOf({ from, isPerson }: Pick<Message, "from" | "isPerson">): string {
  return isPerson ? `the user (${from})` : `@${from}`;
}

/** Whether a name means the person, in any spelling. No agent may use one. */
export function isPersonName(name: string): boolean {
  let plain = "";
  for (const letter of name.normalize("NFKC").toLowerCase()) if (!"@._- ".includes(letter)) plain += letter;
  return PERSON_NAMES.includes(plain.startsWith("the") ? plain.slice(3) : plain);
}

const PERSON_NAMES = ["person", "user", "human", "me"];

/** A letter or digit, then letters, digits, `.`, `_` and `-`; at most 64. No pattern, because a hook would compile it at each start. */
export function isAgentName(name: string): boolean {
  if (name === "" || name.length > 64) return false;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
    const isWord = isLetter || (code >= 48 && code <= 57);
    if (!isWord && (at === 0 || !"._-".includes(name.charAt(at)))) return false;
  }
  return true;
}

// Finds the agents that a text mentions: `@june`. Ignores e-mail addresses, `@scope/package`, `example.com/@june` and all code, where `@` is
// more often a decorator than a name.

/** A longer text is a document, not a message. */
const MOST_CALL_CHARS = 100_000;

/** Without the @, in text order, each once. Does not check whether such an agent exists. */
export function mentionsIn(text: string): string[] {
  const names = new Map<string, string>();
  let fence = "";
  for (const line of text.slice(0, MOST_CALL_CHARS).split("\n")) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence) {
      if (mark.startsWith(fence)) fence = "";
      continue;
    }
    if (mark) {
      fence = mark;
      continue;
    }
    for (const [, name = ""] of withoutCode(line).matchAll(MENTION)) {
      if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
    }
  }
  return [...names.values()];
}

const MENTION = /(?<![\p{L}\p{N}_@/.\\+-])@([\p{L}\p{N}](?:[\p{L}\p{N}._-]{0,62}[\p{L}\p{N}_])?)(?![\p{L}\p{N}_/@])/gu;

/** A run of backticks ends at the next run of the same length; a run without an end is plain text. */
function withoutCode(line: string): string {
  const runs = [...line.matchAll(/`+/g)];
  let kept = "";
  let from = 0;
  for (let at = 0; at < runs.length; at++) {
    const run = runs[at]!;
    let end = at + 1;
    while (end < runs.length && runs[end]![0].length !== run[0].length) end++;
    if (end === runs.length) continue;
    kept += `${line.slice(from, run.index)} `;
    from = runs[end]!.index + run[0].length;
    at = end;
  }
  return kept + line.slice(from);
}
