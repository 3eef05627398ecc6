/**
 * One precise sentence for every refusal: the reason, and what to do. Agents get the names of tools that every session has; people get
 * commands. No agent is told how to take work from another.
 */
import type { Claim, TaskBrief, TaskStatus } from "./task.ts";

/** Every outcome of the store that is not a success. */
export type Refusal =
  | {
      kind: "held";
      task: TaskBrief;
      by: Claim;
      /** What the caller asked for. Default: a claim. */
      wanted?: "release" | "change";
    }
  | { kind: "waits"; task: TaskBrief; for: readonly TaskBrief[] }
  | { kind: "blocked"; task: TaskBrief; reasons: readonly string[] }
  | { kind: "too-many"; limit: number; holding: readonly string[] }
  | { kind: "cannot-follow"; task: TaskBrief; allowed: readonly TaskStatus[]; wanted?: TaskStatus }
  | { kind: "cycle"; path: readonly TaskBrief[] }
  | { kind: "lost"; task: TaskBrief; by?: Claim }
  | { kind: "not-held"; task: TaskBrief };

/** agent: uses tools; shell: an agent that runs commands; person: at a terminal. */
export type Audience = "agent" | "shell" | "person";

export function explain(refusal: Refusal, { for: audience }: { for: Audience }): string {
  const isAgent = audience === "agent";
  switch (refusal.kind) {
    case "held": {
      const { task, by, wanted } = refusal;
      const until = by.leaseUntil.toISOString();
      if (wanted)
        return `${task.id} is held by ${by.agent} until ${until}; only ${by.agent} or a person can ${wanted} it.`;
      const how = isAgent
        ? `take another (get_next_batch); ${COMES_BACK}`
        : audience === "shell"
          ? `take another (\`haversack next\`); ${COMES_BACK}`
          : `\`haversack claim ${task.id} --steal REASON\` takes it over`;
      return `${task.id} is held by ${by.agent} until ${until}; ${how}.`;
    }
    case "waits": {
      const { task, for: others } = refusal;
      const how = isAgent
        ? "finish those first, or take what get_next_batch gives"
        : audience === "shell"
          ? "finish those first; `haversack next` shows what is ready"
          : `\`haversack next\` shows what is ready, \`haversack task claim ${task.id} --force\` starts it anyway`;
      return `${task.id} waits for ${list(others.map(named))}; ${how}.`;
    }
    case "blocked": {
      const { task, reasons } = refusal;
      const why = reasons.length > 0 ? `: ${reasons.map((reason) => shorten(reason)).join("; ")}` : "";
      const how = isAgent
        ? 'once that is settled, update_task_status with status "todo"'
        : `once that is settled, \`haversack task unblock ${task.id}\``;
      return `${task.id} is blocked${why}; ${how}.`;
    }
    case "too-many": {
      const { limit, holding } = refusal;
      const how = isAgent
        ? 'finish one, or give one back (update_task_status "todo")'
        : "finish one, or `haversack task release ID`";
      return `No more than ${limit} ${limit === 1 ? "task" : "tasks"} at once (work.max_claims), and you hold ${list(holding)}; ${how}.`;
    }
    case "cannot-follow": {
      const { task, allowed, wanted } = refusal;
      const what = wanted ? `cannot become ${wanted}` : "cannot be taken";
      return `${task.id} is ${task.status} and ${what}; from ${task.status} it can go to ${list(allowed, "or")}.`;
    }
    case "cycle": {
      const ids = refusal.path.map(({ id }) => id);
      const closed = ids.length > 1 && ids[0] === ids.at(-1) ? ids : [...ids, ...ids.slice(0, 1)];
      const how = isAgent ? "one of these must go first" : "`haversack task dep --rm` removes one of these";
      const shown = closed.slice(0, MOST_OF_CYCLE);
      const left = closed.length - shown.length;
      const path = left > 0 ? `${shown.join(" -> ")} and ${left} more` : closed.join(" -> ");
      return `That would be a cycle: ${path}. Nothing was changed; ${how}.`;
    }
    case "lost": {
      const { task, by } = refusal;
      const who = by ? `${by.agent} has it until ${by.leaseUntil.toISOString()}` : `it is ${task.status} again`;
      const how = isAgent
        ? `stop working on it${by ? "" : "; update_task_status in_progress takes it again"}`
        : by && audience === "shell"
          ? "stop working on it"
          : `\`haversack claim ${task.id}\` takes it again`;
      return `Your claim on ${task.id} is over and ${who}; ${how}.`;
    }
    case "not-held":
      return `${refusal.task.id} is held by nobody, so there is nothing to release.`;
  }
}

const MOST_OF_CYCLE = 10;

/** Why an operation changed nothing, without advice: for somebody who reads it later. Undefined: it was not refused. */
export function shortRefusal(outcome: unknown): string | undefined {
  const refusal = (outcome ?? {}) as Refusal | { kind: "holds-tasks"; tasks: readonly string[] };
  switch (refusal.kind) {
    case "held":
      return `${refusal.task.id} is held by ${refusal.by.agent}`;
    case "lost":
      return `${refusal.task.id} is no longer held${refusal.by ? `: ${refusal.by.agent} has it` : ""}`;
    case "waits":
      return `${refusal.task.id} waits for ${list(refusal.for.map(({ id }) => id))}`;
    case "blocked":
      return `${refusal.task.id} is blocked: ${refusal.reasons.map((reason) => shorten(reason)).join("; ")}`;
    case "cannot-follow":
      return `${refusal.task.id} is ${refusal.task.status}`;
    case "too-many":
      return `no more than ${refusal.limit} tasks at once: ${list(refusal.holding)} are held`;
    case "cycle":
      return `that would be a cycle: ${refusal.path.map(({ id }) => id).join(" -> ")}`;
    case "not-held":
      return `${refusal.task.id} is held by nobody`;
    case "holds-tasks":
      return `the agent holds ${list(refusal.tasks)}`;
    default:
      return undefined;
  }
}

const COMES_BACK = "it comes back by itself when its holder gives it up or the time is over";
const MOST_NAMED = 5;
const REASON_CHARS = 300;
const TITLE_CHARS = 80;

function named({ id, title, status }: TaskBrief): string {
  return `${id} (${status}: ${shorten(title, TITLE_CHARS)})`;
}

function list(parts: readonly string[], word = "and"): string {
  if (parts.length > MOST_NAMED)
    return `${parts.slice(0, MOST_NAMED).join(", ")} and ${parts.length - MOST_NAMED} more`;
  return parts.length < 2 ? (parts[0] ?? "nothing") : `${parts.slice(0, -1).join(", ")} ${word} ${parts.at(-1)}`;
}

function shorten(text: string, maxChars = REASON_CHARS): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxChars ? `${line.slice(0, maxChars - 1)}…` : line;
}
