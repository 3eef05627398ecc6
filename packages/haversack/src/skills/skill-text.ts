/**
 * Reads a skill's text for its meaning: which sentences say when to use it and when not to; and the body's prose, without code and without
 * sections on what is out of scope.
 */

/**
 * The description without the parts on what the skill is not for. We tried to count those words against the skill and gained nothing: they
 * are its neighbours' words, and half of them are its own.
 */
export function wantedText(description: string): string {
  return sentences(description.slice(0, LONGEST_DESCRIPTION))
    .map((sentence) => {
      const at = sentence.search(AVOID_SENTENCE);
      return at < 0 ? sentence : sentence.slice(0, at);
    })
    .join("\n");
}

/** Removes code blocks: they repeat words of their examples (order, customer), which are not the skill's subject. */
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

/** Splits a description into the parts on when to use the skill ("Use when …", "Triggers: …") and the rest. */
export function whenText(wanted: string): { what: string; when: string } {
  const what: string[] = [];
  const when: string[] = [];
  for (const sentence of sentences(wanted)) {
    const at = sentence.search(USE_SENTENCE);
    what.push(at < 0 ? sentence : sentence.slice(0, at));
    if (at >= 0) when.push(sentence.slice(at));
  }
  return { what: what.join("\n"), when: when.join("\n") };
}

/** The first level-1 heading. */
export function titleOf(body: string): string {
  const text = body.slice(0, SEARCHED_BODY_CHARS).replace(/^[ \t]*(```+|~~~+)[\s\S]*?(?:^[ \t]*\1|$(?![\s\S]))/gm, "");
  return /^#[ \t]+(.*)$/m.exec(text)?.[1] ?? "";
}

const LONGEST_DESCRIPTION = 8000;

/** 5 of 933 public skills are longer. The rest mostly repeats, and costs 0.35 ms per 1,000 characters. */
export const SEARCHED_BODY_CHARS = 40_000;

const AVOID_HEADING = /\b(?:out[- ]of[- ]scope|(?:when|do) not|don'?t use|not (?:to use|for|in scope)|non-goals?)\b/i;

const AVOID_SENTENCE =
  /\b(?:(?:do|does|should|must) not|don'?t|doesn'?t|never)\s+(?:\w+\s+)?(?:use|used|trigger|invoke|handle|apply|activate|cover|fire|load|call|analyze)\b|(?:^|[\s,;(—–-])(?:not (?:for|intended|meant|suitable)|skip (?:if|when|for|only)|out of scope|use \S+ instead|instead use|avoid (?:for|when))\b/i;

const USE_SENTENCE =
  /\b(?:use (?:this|it|when|for|if|to|whenever|after|before|on|as)|when (?:the )?(?:user|you|asked|someone)|triggers?\b|invoke|activate|should be used|applies (?:when|to)|for (?:requests|tasks|prompts|questions) )/i;

function sentences(text: string): string[] {
  return text.split(/(?<=[.!?])\s+(?=[\p{Lu}"'`(])|\n\s*\n|;\s+/u);
}
