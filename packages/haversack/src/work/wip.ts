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
