/** Agents by name, and what they say to one another. */

export interface Agent {
  /** Without the @. */
  name: string;
  /** Absent: on every branch. */
  branch?: string;
  /** Absent: nobody gave it one, and it holds no task. */
  role?: string;
  client?: string;
  /** The session that it was seen in last. */
  sessionId?: string;
  worktree?: string;
  createdAt: Date;
  lastSeenAt?: Date;
}

export interface Message {
  id: string;
  from: string;
  /** Sent by the person at the terminal; else by an agent. */
  isPerson?: boolean;
  text: string;
  /** The id of the task, handoff or message it came with. */
  subject?: string;
  at: Date;
  /** Sent to the agent by name, or naming it with an @. */
  isMention: boolean;
  readAt?: Date;
}

/** Who sent a message. Agents always have the @: no name of an agent can look like the person. */
export function speakerOf({ from, isPerson }: Pick<Message, "from" | "isPerson">): string {
  return isPerson ? `the user (${from})` : `@${from}`;
}

/** Names that mean the person, in whatever spelling. No agent may have one. */
export function isPersonName(name: string): boolean {
  let plain = "";
  for (const letter of name.normalize("NFKC").toLowerCase()) if (!"@._- ".includes(letter)) plain += letter;
  return PERSON_NAMES.includes(plain.startsWith("the") ? plain.slice(3) : plain);
}

const PERSON_NAMES = ["person", "user", "human", "me"];

/** What a name may be: a letter or digit, then those, `.`, `_` and `-`; 64 at most. By hand: a hook compiles patterns anew. */
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

// The agents that a text calls by name: `@june`. Not e-mail addresses, not `@scope/package`, not `example.com/@june`, and
// nothing in code, where `@` is a decorator more often than a person.

/** A longer text is a document, not a call. */
const MOST_CHARS = 100_000;

/** Without the @, in the order of the text, each once. Whether such an agent exists is the caller's question. */
export function mentionsIn(text: string): string[] {
  const names = new Map<string, string>();
  let fence = "";
  for (const line of text.slice(0, MOST_CHARS).split("\n")) {
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

/** A run of backticks ends at the next run of the same length; one without an end is just text. */
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
