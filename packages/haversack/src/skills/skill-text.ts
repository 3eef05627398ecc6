/**
 * Reads a skill's text for its meaning: which sentences say when to use it and which say when not to; of the body, its
 * prose without code and without the sections that list what is out of scope.
 */

/**
 * A description without what it says the skill is not for. Counting those words against the skill was tried and gained
 * nothing: they are the words of its neighbours, and half of them are its own.
 */
export function wantedText(description: string): string {
  return sentences(description.slice(0, LONGEST_DESCRIPTION))
    .map((sentence) => {
      const at = sentence.search(AVOID_SENTENCE);
      return at < 0 ? sentence : sentence.slice(0, at);
    })
    .join("\n");
}

/** Without code blocks: they repeat the words of their examples (order, customer), which are not its subject. */
export function proseOf(body: string): string {
  const prose: string[] = [];
  let fence = "";
  let avoidDepth = 0;
  for (const line of body.slice(0, SEARCHED_BODY_CHARS).split(/\r?\n/)) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark && (fence === "" || mark.startsWith(fence))) {
      fence = fence === "" ? mark : "";
      continue;
    }
    if (fence !== "") continue;
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading) {
      const depth = heading[1]!.length;
      if (avoidDepth > 0 && depth <= avoidDepth) avoidDepth = 0;
      if (avoidDepth === 0 && AVOID_HEADING.test(heading[2]!)) avoidDepth = depth;
    }
    if (avoidDepth === 0) prose.push(heading ? heading[2]! : line);
  }
  return prose.join("\n");
}

const LONGEST_DESCRIPTION = 8000;

/** 5 of 933 public skills are longer. What follows mostly repeats itself, and takes 0.35 ms per 1,000 characters. */
export const SEARCHED_BODY_CHARS = 40_000;

const AVOID_HEADING = /\b(?:out[- ]of[- ]scope|(?:when|do) not|don'?t use|not (?:to use|for|in scope)|non-goals?)\b/i;

const AVOID_SENTENCE =
  /\b(?:(?:do|does|should|must) not|don'?t|doesn'?t|never)\s+(?:\w+\s+)?(?:use|used|trigger|invoke|handle|apply|activate|cover|fire|load|call|analyze)\b|(?:^|[\s,;(—–-])(?:not (?:for|intended|meant|suitable)|skip (?:if|when|for|only)|out of scope|use \S+ instead|instead use|avoid (?:for|when))\b/i;

function sentences(text: string): string[] {
  return text.split(/(?<=[.!?])\s+(?=[\p{Lu}"'`(])|\n\s*\n|;\s+/u);
}
