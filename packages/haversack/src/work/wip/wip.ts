/**
 * WIP: the state of unfinished work, so that another window or session can go on with it. Field names are those of the
 * stored JSON. Agents may add fields of their own; they are kept.
 */
export type Wip = WipFields & { [field: string]: unknown };

/**
 * What `mergeWip` takes: a part of a WIP. `null` removes a field, arrays add to what is there, and `$settled` names what
 * is over: it acts before the rest and is never stored. Nor is `$place`, which says what the patch's paths are relative to.
 */
export type WipPatch = { [Field in keyof WipFields]?: WipFields[Field] | null } & {
  $settled?: Settled;
  $place?: WipPlace;
  [field: string]: unknown;
};

export interface WipFields {
  phase?: string;
  /** The linked worktree that the work is in; absent for the main one. */
  worktree?: string;
  /** Least recently changed first; relative to the worktree where they are inside it. */
  files_modified?: string[];
  uncommitted_changes?: boolean;
  uncommitted_files?: string[];
  /** A short hash. */
  last_commit?: string;
  decisions?: WipDecision[];
  test_results?: WipTestResults;
  /** Oldest first, the newest ten. */
  errors?: WipError[];
  context?: string;
  next_step?: string;
  plan?: WipPlan;
  /** ISO time of the last change; set by the merge. */
  updated_at?: string;
}

export interface WipDecision {
  decision: string;
  reason?: string;
}

/** One run. `null` means that the run did not say. */
export interface WipTestResults {
  ran: boolean;
  passed: number | null;
  failed: number | null;
  /** The first that failed. */
  failing_test?: string;
  command?: string;
  at?: string;
}

export interface WipError {
  type: "test" | "type_error" | "compile_error" | "lint_error" | "exception" | "command" | (string & {});
  message: string;
  /** `src/auth.ts:42` */
  file?: string;
  /** Whose words these are, such as `tsc`: its next green run settles them. */
  tool?: string;
  /** The command that showed it: its next success settles it. */
  command?: string;
  at?: string;
}

export interface WipPlan {
  /** The number of the current item, from 1. */
  position?: number;
  done?: number;
  total?: number;
  current?: string;
  next?: string;
  /** Kept only for clients that report one task at a time. */
  tasks?: PlanTask[];
}

export interface PlanTask {
  id: string;
  text?: string;
  status?: string;
}

export interface WipPlace {
  /** The project's root: the main worktree. */
  root: string;
  /** Absent: the main one. */
  worktree?: string;
}

export interface Settled {
  /** An error goes when it has all the values of one of these. */
  errors?: Partial<WipError>[];
  /** Uncommitted files, or folders with all that is in them. */
  files?: "all" | string[];
}

// WIP as a few lines for a model or a person; empty when there is nothing to go on from. Loaded by the hook.

type Fields = Record<string, unknown>;

export function formatWip(wip: Fields): string {
  const tests = object(wip["test_results"]);
  const plan = object(wip["plan"]);
  const lines = [
    line("Doing", wip["context"]),
    line("Phase", wip["phase"]),
    line("Plan", formatPlan(plan)),
    line("Worktree", wip["worktree"]),
    line("Files changed", list(wip["files_modified"], 15)),
    line("Not committed", list(wip["uncommitted_files"], 15)),
    line("Last commit", wip["last_commit"]),
    line("Tests", formatTests(tests)),
    line("Errors", list(wip["errors"], 3)),
    line("Decided", list(wip["decisions"], 8)),
    line("Next", wip["next_step"]),
  ].filter(Boolean);
  return lines.length === 0 ? "" : ["## Work in progress", ...lines].join("\n");
}

function line(label: string, value: unknown): string {
  const shown = typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "";
  return shown ? `- ${label}: ${shown.slice(0, 600)}` : "";
}

function formatPlan({ done, total, current }: Fields): string {
  if (typeof total !== "number") return "";
  return `${done ?? 0} of ${total} steps done${typeof current === "string" ? `; now: ${current}` : ""}`;
}

/** Agents leave `ran` out; only a plain no says that nothing ran. */
function formatTests({ ran, passed, failed, failing_test: failing, command }: Fields): string {
  const isSaid = [passed, failed].some((value) => typeof value === "number") || typeof failing === "string";
  if (ran === false || (!ran && !isSaid && typeof command !== "string")) return "";
  const count = (value: unknown, word: string) => (typeof value === "number" ? [`${value} ${word}`] : []);
  const counts = [...count(passed, "passed"), ...count(failed, "failed")];
  const name = typeof failing === "string" ? [`failing: ${failing}`] : [];
  return [...(counts.length > 0 ? counts : ["ran"]), ...name].join(", ");
}

/** Texts as they are; of objects, what a reader needs. */
function list(value: unknown, most: number): string {
  if (!Array.isArray(value)) return "";
  const texts = value.flatMap((entry) => {
    if (typeof entry === "string") return [entry];
    const { decision, reason, type, file, message } = object(entry);
    if (typeof decision === "string") return [typeof reason === "string" ? `${decision} (${reason})` : decision];
    return typeof message === "string"
      ? [[type, file, message].filter((part) => typeof part === "string").join(": ")]
      : [];
  });
  // The newest stand last, and they matter most.
  const shown = texts.slice(-most);
  const more = texts.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function object(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
