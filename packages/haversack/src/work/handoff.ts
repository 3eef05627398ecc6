/**
 * Handoffs: the result of a task, as a summary for the coordinator and in full on request, and how they shrink when their story and
 * epic complete. One per task, role and attempt; "the" handoff of a task is its latest.
 */
export const VERDICTS = ["PASS", "FAIL", "BLOCKED"] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Handoff {
  /** `H` and digits. */
  id: string;
  taskId: string;
  /** Role of the author: `implementer`, `spec-reviewer`. */
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
   * whole: nothing is archived. compacted: the details are in the archive. archived: the summary is too. A handoff shrinks when its
   * story completes, and again when its epic does. Failed and blocked ones never shrink: they are the only evidence of the reason.
   */
  state: "whole" | "compacted" | "archived";
}

/** Reads the last VERDICT line of an agent's answer. Undefined: there is none. */
export function readVerdict(answer: string): Verdict | undefined {
  const found = [...answer.matchAll(/^[\s>*_`#-]*VERDICT[*_`]*\s*:\s*[*_`]*\s*(PASS|FAIL|BLOCKED)(?![\w|])/gim)].at(-1);
  return found?.[1]?.toUpperCase() as Verdict | undefined;
}
