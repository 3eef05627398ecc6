/**
 * The role that a prompt gives to a sub-agent: it names the role ("You are the spec reviewer"), or asks to implement, review or fix the
 * task. Undefined: the prompt asks for something else, and the sub-agent needs only the facts.
 */

/** A longer prompt contains a document; the request is at its beginning or end. */
const MOST_CHARS = 4_000;

export function roleInPrompt(prompt: string, taskId: string): string | undefined {
  const ends = prompt.length > MOST_CHARS * 2 ? `${prompt.slice(0, MOST_CHARS)}\n${prompt.slice(-MOST_CHARS)}` : prompt;
  // Collapse white space: the patterns below are slow on long gaps.
  const text = ends.replace(/[^\S\n]+/g, " ").replace(/(?: ?\n ?)+/g, "\n");
  const named = NAMED.exec(text);
  if (named) {
    const name = `${named[1]}`.toLowerCase();
    return !name.endsWith("reviewer") ? name : name.startsWith("spec") ? "spec-reviewer" : "quality-reviewer";
  }
  for (const clause of text.split(CLAUSES)) {
    const role = roleOfClause(clause.replace(POLITE, ""), taskId);
    if (!role) continue;
    // The spec reviewer if the text is about what the change should do; otherwise the quality reviewer.
    const isSpec = /\b(?:specs?|specification|requirements?|criteria|criterion|acceptance)\b/i.test(text);
    return role !== "reviewer" ? role : isSpec ? "spec-reviewer" : "quality-reviewer";
  }
  return undefined;
}

const NAMED =
  /\b(?:you are|act as|you work as)\s+(?:the|an?|this task's)?\s*((?:spec(?:ification)?|code|quality|code quality)[- ]reviewer|reviewer|implementer|fixer)\b/i;

const CLAUSES = /[.!?;:]\s+|[.!?;:]?\n+|,\s+(?:and\s+)?(?:then\s+)?|\s+(?:and|then)\s+/i;
const POLITE =
  /^[\s>*•\d.)#-]*(?:(?:please|now|then|first|next|and|kindly|go and|your (?:task|job) is to|you (?:should|must|are to|will|need to)|(?:can|could|would) you|i (?:want|need) you to)\s+)*/i;

const VERBS: readonly (readonly [role: string, verb: RegExp])[] = [
  ["reviewer", /^(?:re-?)?review\s+/i],
  ["reviewer", /^(?:do|perform|run|carry out)\s+(?:an?|the)\s+(?:\w+[ -]){0,2}review\s+(?:of|on|for)\s+/i],
  ["fixer", /^(?:fix|mend|repair|resolve)\s+/i],
  ["implementer", /^(?:implement|build|develop|complete|finish|execute|carry out|work on|take(?: on)?|do)\s+/i],
];

/** The verb must refer to the task. "Fix the typo in README" does not, even if the prompt also names a task. */
const ABOUT_IT =
  /^(?:it|this|that|what|its|them|(?:the|this|that)\s+(?:whole\s+)?(?:task|change|work|implementation|code|issues?|findings?))\b/i;

function roleOfClause(clause: string, taskId: string): string | undefined {
  if (/^(?:do not|don't|never)\b/i.test(clause)) return undefined;
  for (const [role, verb] of VERBS) {
    const found = verb.exec(clause);
    if (!found) continue;
    const object = clause.slice(found[0].length);
    const isDo = /^do\s+$/i.test(found[0]);
    // "do it" and "do this" can refer to anything.
    if (object.includes(taskId) || (!isDo && ABOUT_IT.test(object))) return role;
  }
  return undefined;
}
