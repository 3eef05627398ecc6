/** The errors of `haversack/agents`: a `code` to test, a `hint` that says what to do, and where the fault is. */
import { stripControl } from "../base/clean-text.ts";
import { type AgentFaultCode, errorText, HaversackError } from "../base/errors.ts";

export type { AgentFaultCode };

/** One thing that is wrong with an agent's file. */
export interface AgentProblem {
  code: AgentFaultCode;
  /** The agent's file, or `code` for an agent that was defined in code. */
  file: string;
  /** The frontmatter key, such as `tools`. */
  field?: string;
  text: string;
  /** What to do about it. */
  hint: string;
}

export interface AgentErrorDetails {
  hint: string;
  cause?: unknown;
  file?: string;
  field?: string;
  agent?: string;
  conversationId?: string;
  problems?: readonly AgentProblem[];
}

/** Thrown by the builder and the executor. A failed turn leaves its conversation as it was, so you can try again. */
export class AgentError extends HaversackError {
  declare readonly code: AgentFaultCode;
  declare readonly hint: string;
  // Only set if they are known: Node prints every field of an error that nobody catches.
  declare readonly file?: string;
  declare readonly field?: string;
  declare readonly agent?: string;
  declare readonly conversationId?: string;
  /** All problems, if there are several. */
  readonly problems: readonly AgentProblem[];

  constructor(code: AgentFaultCode, message: string, details: AgentErrorDetails) {
    super(code, message, { hint: details.hint, ...("cause" in details && { cause: details.cause }) });
    this.name = "AgentError";
    for (const key of ["file", "field", "agent", "conversationId"] as const)
      if (details[key] !== undefined) Object.assign(this, { [key]: details[key] });
    this.problems = details.problems ?? [];
  }
}
Object.defineProperty(AgentError, "name", { value: "AgentError" });

/** One error for all problems that were found, worded after the first. */
export function problemsError(problems: readonly AgentProblem[]): AgentError {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more: see \`problems\`)` : "";
  const where = [first?.file === "code" ? "withAgent" : first?.file, first?.field].filter(Boolean).join(": ");
  return new AgentError(first?.code ?? "agent-invalid", `${where}: ${first?.text}${more}`, {
    hint: first?.hint ?? "",
    ...(first?.file && { file: first.file }),
    ...(first?.field && { field: first.field }),
    problems,
  });
}

/** What the model's call threw, to tell it from what a middleware threw. */
const MODEL_ERRORS = new WeakSet<object>();

/** The error to throw for a failed call of the model. Middlewares get the provider's own error. */
export function modelError(error: unknown): object {
  const thrown = typeof error === "object" && error !== null ? error : new Error(String(error));
  MODEL_ERRORS.add(thrown);
  return thrown;
}

/** The message with those of its causes, because providers wrap what happened: "Failed to process successful response (terminated: other side closed)". */
function wholeText(error: unknown): string {
  const texts: string[] = [];
  for (let one = error, depth = 0; one !== undefined && one !== null && depth < 4; depth++) {
    const text = stripControl(errorText(one)).trim();
    if (text !== "" && !texts.some((known) => known.includes(text))) texts.push(text);
    one = one instanceof Error ? one.cause : undefined;
  }
  const [first = "", ...causes] = texts;
  return causes.length > 0 ? `${first} (${causes.join(": ")})` : first;
}

const INJECT_HINT =
  ' If the model takes system messages only at the start, set skills.autoTrigger.injectAs to "user": this turn added one for a skill.';

/** What a provider or a middleware threw, or an abort, as one of ours. */
export function turnError(
  error: unknown,
  {
    agent,
    conversationId,
    signal,
    hasLaterSystem = false,
  }: { agent: string; conversationId: string; signal?: AbortSignal | undefined; hasLaterSystem?: boolean },
): AgentError {
  if (error instanceof AgentError) return error;
  const details = { cause: error, agent, conversationId };
  const same = "The conversation is as it was before this turn";
  if (signal?.aborted)
    return new AgentError("aborted", `${agent} was aborted.`, {
      hint: `${same}: call execute again to repeat it.`,
      ...details,
    });
  if (!MODEL_ERRORS.has(error as object))
    return new AgentError("middleware-failed", `A middleware of ${agent} failed: ${wholeText(error)}`, {
      hint: `Fix the middleware that you gave to use(); \`cause\` is its error. ${same}.`,
      ...details,
    });
  return new AgentError("model-failed", `The model of ${agent} failed: ${wholeText(error)}`, {
    hint: `${same}: call execute again to repeat it. \`cause\` is the provider's own error.${hasLaterSystem ? INJECT_HINT : ""}`,
    ...details,
  });
}
