/**
 * The agents that a text calls by name: `@june`. Not e-mail addresses, not `@scope/package`, not `example.com/@june`, and
 * nothing in code, where `@` is a decorator more often than a person.
 */

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
