/**
 * WIP: the state of unfinished work, so another window or session can continue it. Field names are those of the stored JSON. Agents may
 * add their own fields; they are kept.
 */
export type Wip = WipFields & { [field: string]: unknown };

/**
 * The input of `mergeWip`: a part of a WIP. `null` removes a field, and arrays are added. `$settled` names what to remove; it is
 * applied first. `$place` says what the patch's paths are relative to. Neither is stored.
 */
export type WipPatch = { [Field in keyof WipFields]?: WipFields[Field] | null } & {
  $settled?: Settled;
  $place?: WipPlace;
  [field: string]: unknown;
};

export interface WipFields {
  phase?: string;
  /** The linked worktree of the work. Absent: the main one. */
  worktree?: string;
  /** Least recently changed first. Paths inside the worktree are relative to it. */
  files_modified?: string[];
  uncommitted_changes?: boolean;
  uncommitted_files?: string[];
  /** A short hash. */
  last_commit?: string;
  decisions?: { decision: string; reason?: string }[];
  test_results?: WipTestResults;
  /** The newest ten, oldest first. */
  errors?: WipError[];
  context?: string;
  next_step?: string;
  plan?: WipPlan;
  /** ISO time of the last change; set by the merge. */
  updated_at?: string;
}

/** One test run. `null`: the run did not say. */
export interface WipTestResults {
  ran: boolean;
  passed: number | null;
  failed: number | null;
  /** The first failing test. */
  failing_test?: string;
  command?: string;
  at?: string;
}

export interface WipError {
  type: "test" | "type_error" | "compile_error" | "lint_error" | "exception" | "command" | (string & {});
  message: string;
  /** `src/auth.ts:42` */
  file?: string;
  /** The tool that reported it, such as `tsc`. The tool's next green run settles it. */
  tool?: string;
  /** The command that showed it. The command's next success settles it. */
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
  /** Stored only for clients that report one task at a time. */
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
  /** Removes errors that match all values of one of these. */
  errors?: Partial<WipError>[];
  /** Uncommitted files, or folders with all their contents. */
  files?: "all" | string[];
}

// Formats WIP as a few lines for a model or a person; empty if there is nothing to continue. Loaded by the hook.

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

/** Agents omit `ran`; only an explicit false means that nothing ran. */
function formatTests({ ran, passed, failed, failing_test: failing, command }: Fields): string {
  const isSaid = [passed, failed].some((value) => typeof value === "number") || typeof failing === "string";
  if (ran === false || (!ran && !isSaid && typeof command !== "string")) return "";
  const count = (value: unknown, word: string) => (typeof value === "number" ? [`${value} ${word}`] : []);
  const counts = [...count(passed, "passed"), ...count(failed, "failed")];
  const name = typeof failing === "string" ? [`failing: ${failing}`] : [];
  return [...(counts.length > 0 ? counts : ["ran"]), ...name].join(", ");
}

/** Texts unchanged; for objects, the fields that a reader needs. */
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
  // The newest come last and matter most.
  const shown = texts.slice(-most);
  const more = texts.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function object(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
