/** Stores what came of a task, whole, and answers with little: the coordinator's window is what a handoff is there to spare. */
import { cutAt } from "../../base/clean-text.ts";
import { estimateTokens } from "../../tokens/estimate.ts";
import { checkChoice, checkWhole, invalid } from "../../work/check-value.ts";
import { cleanDetails, cleanFiles, cleanName, cleanSummary } from "../../work/clean-input.ts";
import { type Handoff, VERDICTS, type Verdict } from "../../work/handoff.ts";
import { tellMentioned } from "../wake/messages.ts";
import { given, type WorkParts } from "./work-parts.ts";

export interface SetHandoffInput {
  taskId: string;
  status: string;
  summary: string;
  filesChanged?: readonly string[] | undefined;
  /** Of any size. */
  details?: string | undefined;
  /** Default: implementer. */
  role?: string | undefined;
  /** From 1. Default: the next one. */
  attempt?: number | undefined;
}

export const DEFAULT_ROLE = "implementer";

/** Agents that the summary names with an @ get it as a message. */
export async function setHandoff(
  { taskId, status, summary, filesChanged, details, role, attempt }: SetHandoffInput,
  parts: WorkParts,
): Promise<{ handoff: Handoff; view: { status: Verdict; summary: string } }> {
  const { store, by } = parts;
  const verdict = checkChoice(typeof status === "string" ? status.toUpperCase() : status, {
    field: "status",
    choices: VERDICTS,
  });
  if (verdict === undefined) throw invalid(`status is missing: one of ${VERDICTS.join(", ")}`);
  const handoff = await store.setHandoff(
    {
      taskId,
      role: cleanName(role, { field: "role" }) ?? DEFAULT_ROLE,
      status: verdict,
      summary: cleanSummary(summary),
      ...given({
        attempt: attempt === undefined ? undefined : checkWhole(attempt, { field: "attempt", fallback: 1 }),
        filesChanged: cleanFiles(filesChanged, { field: "files_changed" }),
        details: cleanDetails(details),
      }),
    },
    by,
  );
  await tellMentioned(handoff, parts);
  return { handoff, view: { status: handoff.status, summary: cutForReply(handoff.summary) } };
}

/** 60 for the whole reply, of which `{"status":"BLOCKED","summary":""}` takes 12; the estimate can be a fifth too low. */
const REPLY_SUMMARY_TOKENS = 36;

/** The estimate grows with the text, so the longest beginning that fits is found by halving. */
function cutForReply(summary: string): string {
  // As it is sent: quotes and line breaks count twice.
  const tokens = (text: string) => estimateTokens(JSON.stringify(text));
  if (tokens(summary) <= REPLY_SUMMARY_TOKENS) return summary;
  let fits = 0;
  let tooLong = summary.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (tokens(`${cutAt(summary, middle)}…`) <= REPLY_SUMMARY_TOKENS) fits = middle;
    else tooLong = middle;
  }
  return `${cutAt(summary, fits).trimEnd()}…`;
}
