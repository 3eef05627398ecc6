/**
 * Which role an agent has. A session coordinates when somebody added it as an orchestrator or when it gave tasks to
 * sub-agents; a session that works alone on a task is its implementer; one without a task has no role. Loaded by the hook.
 */
import type { WakeAgent } from "./state.ts";

export interface RoleSigns {
  /** The role that it was started or added with. */
  given?: string | undefined;
  isSubAgent: boolean;
  isCoordinating: boolean;
  hasTask: boolean;
}

export function roleOf({
  given,
  isSubAgent,
  isCoordinating,
  hasTask,
}: RoleSigns): Required<Pick<WakeAgent, "role" | "isSolo">> {
  if (given !== undefined) return { role: given, isSolo: false };
  if (isSubAgent) return { role: "", isSolo: false };
  if (isCoordinating) return { role: "orchestrator", isSolo: false };
  return hasTask ? { role: "implementer", isSolo: true } : { role: "", isSolo: false };
}

// The role that a prompt gives to a sub-agent: it says who it is ("You are the spec reviewer"), or asks for the task
// to be implemented, reviewed or fixed. Undefined: it asks for something else, and whoever reads it needs no more
// than the facts. Loaded by the hook.

/** More is a document; what is asked for stands at its beginning or its end. */
const MOST_CHARS = 4_000;

export function roleInPrompt(prompt: string, taskId: string): string | undefined {
  const ends = prompt.length > MOST_CHARS * 2 ? `${prompt.slice(0, MOST_CHARS)}\n${prompt.slice(-MOST_CHARS)}` : prompt;
  // Single gaps: the patterns below would take long over long ones.
  const text = ends.replace(/[^\S\n]+/g, " ").replace(/(?: ?\n ?)+/g, "\n");
  const named = NAMED.exec(text);
  if (named) return roleOfName(`${named[1]}`.toLowerCase());
  for (const clause of text.split(CLAUSES)) {
    const role = roleOfClause(clause.replace(POLITE, ""), taskId);
    if (role) return role === "reviewer" ? reviewerOf(text) : role;
  }
  return undefined;
}

const NAMED =
  /\b(?:you are|act as|you work as)\s+(?:the|an?|this task's)?\s*((?:spec(?:ification)?|code|quality|code quality)[- ]reviewer|reviewer|implementer|fixer)\b/i;

function roleOfName(name: string): string {
  if (!name.endsWith("reviewer")) return name;
  return name.startsWith("spec") ? "spec-reviewer" : "quality-reviewer";
}

const CLAUSES = /[.!?;:]\s+|[.!?;:]?\n+|,\s+(?:and\s+)?(?:then\s+)?|\s+(?:and|then)\s+/i;
const POLITE =
  /^[\s>*•\d.)#-]*(?:(?:please|now|then|first|next|and|kindly|go and|your (?:task|job) is to|you (?:should|must|are to|will|need to)|(?:can|could|would) you|i (?:want|need) you to)\s+)*/i;

const VERBS: readonly (readonly [role: string, verb: RegExp])[] = [
  ["reviewer", /^(?:re-?)?review\s+/i],
  ["reviewer", /^(?:do|perform|run|carry out)\s+(?:an?|the)\s+(?:\w+[ -]){0,2}review\s+(?:of|on|for)\s+/i],
  ["fixer", /^(?:fix|mend|repair|resolve)\s+/i],
  ["implementer", /^(?:implement|build|develop|complete|finish|execute|carry out|work on|take(?: on)?|do)\s+/i],
];

/** The verb must be about the task: "Fix the typo in README" is not, whatever task the prompt names beside it. */
const ABOUT_IT =
  /^(?:it|this|that|what|its|them|(?:the|this|that)\s+(?:whole\s+)?(?:task|change|work|implementation|code|issues?|findings?))\b/i;

function roleOfClause(clause: string, taskId: string): string | undefined {
  if (/^(?:do not|don't|never)\b/i.test(clause)) return undefined;
  for (const [role, verb] of VERBS) {
    const found = verb.exec(clause);
    if (!found) continue;
    const object = clause.slice(found[0].length);
    const isDo = /^do\s+$/i.test(found[0]);
    // "do it" and "do this" begin sentences about anything.
    if (object.includes(taskId) || (!isDo && ABOUT_IT.test(object))) return role;
  }
  return undefined;
}

/** What the change should do, or how it is built. */
function reviewerOf(text: string): string {
  return /\b(?:specs?|specification|requirements?|criteria|criterion|acceptance)\b/i.test(text)
    ? "spec-reviewer"
    : "quality-reviewer";
}
