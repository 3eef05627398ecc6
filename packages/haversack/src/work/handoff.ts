/**
 * Handoffs: what came of a task, small for the coordinator, whole on request; and how they shrink as their story and epic
 * complete. One per task, role and attempt; "the" handoff of a task is its latest.
 */
export const VERDICTS = ["PASS", "FAIL", "BLOCKED"] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Handoff {
  /** `H` and digits. */
  id: string;
  taskId: string;
  /** Who did it: `implementer`, `spec-reviewer`. */
  role: string;
  /** From 1. */
  attempt: number;
  status: Verdict;
  summary: string;
  filesChanged: string[];
  /** 0: none were given. */
  detailsChars: number;
  actor: string;
  createdAt: Date;
  /**
   * What has completed decides how far a handoff shrinks by itself: the story, then the epic. A failed or blocked one never
   * does: it is the only evidence of why.
   * whole; compacted: the details are in the archive; archived: the summary is too.
   */
  state: "whole" | "compacted" | "archived";
}

/** The last line of an agent's answer. Undefined: it gave none. */
export function readVerdict(answer: string): Verdict | undefined {
  const found = [...answer.matchAll(/^[\s>*_`#-]*VERDICT[*_`]*\s*:\s*[*_`]*\s*(PASS|FAIL|BLOCKED)(?![\w|])/gim)].at(-1);
  return found?.[1]?.toUpperCase() as Verdict | undefined;
}
