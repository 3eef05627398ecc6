/** Who holds which task, and until when. */
import type { ClaimOutcome } from "../../store/work-store.ts";
import { checkChoice, cleanText } from "../../work/clean-input.ts";
import type { Claim, TaskBrief } from "../../work/task.ts";
import { FIELD_SETS, type View, viewTask } from "../../work/task-view.ts";
import { afterClaim } from "./after-claim.ts";
import { claimNote, openPartsWarning } from "./set-status.ts";
import { given, type Refused, refused, type WorkParts } from "./work-parts.ts";

export interface ClaimInput {
  /** Without it: the next ready one of the scope. */
  taskId?: string | undefined;
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Takes it from whoever holds it. */
  stealReason?: string | undefined;
  isForced?: boolean | undefined;
  /** Default: standard. */
  fields?: string | undefined;
}

export type Claimed = Extract<ClaimOutcome, { kind: "claimed" }> & {
  /** It has open sub-tasks. */
  warning?: string;
  view: View;
};

export async function claimTask(
  { stealReason, fields, ...input }: ClaimInput,
  parts: WorkParts,
): Promise<Claimed | { kind: "nothing-ready"; text: string } | Refused> {
  const { store, by, settings } = parts;
  const set = checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "standard";
  const request = {
    leaseMs: settings.leaseMs,
    ...given({
      ...input,
      maxClaims: settings.maxClaims,
      stealReason: cleanText(stealReason, { field: "steal_reason", maxChars: REASON_MAX_CHARS }),
    }),
  };
  const outcome = await store.claim(request, by);
  if (outcome.kind === "claimed") {
    await afterClaim(outcome.task.id, parts);
    const { parts: subTasks } = outcome.task;
    const note = claimNote(outcome.note, subTasks);
    const warning = openPartsWarning(subTasks);
    return { ...outcome, ...given({ note, warning }), view: { ...viewTask(outcome.task, set), ...given({ warning }) } };
  }
  if (outcome.kind === "nothing-ready") return { kind: "nothing-ready", text: nothingReady(input) };
  return refused(outcome, parts);
}

const REASON_MAX_CHARS = 2000;

function nothingReady({ epicId, storyId }: Pick<ClaimInput, "epicId" | "storyId">): string {
  const where = storyId ? ` in story ${storyId}` : epicId ? ` in epic ${epicId}` : "";
  return `No task is ready${where}.`;
}

export async function releaseTask(
  { taskId, reason }: { taskId: string; reason?: string | undefined },
  parts: WorkParts,
): Promise<{ kind: "released"; task: TaskBrief } | Refused> {
  const clean = cleanText(reason, { field: "reason", maxChars: REASON_MAX_CHARS });
  const outcome = await parts.store.release({ taskId, ...given({ reason: clean }) }, parts.by);
  if (outcome.kind === "released") return outcome;
  return refused(outcome.kind === "held" ? { ...outcome, wanted: "release" } : outcome, parts);
}

export interface ClaimView {
  id: string;
  agent: string;
  lease_until: Date;
}

export async function heartbeat(
  { taskId }: { taskId?: string | undefined },
  parts: WorkParts,
): Promise<{ kind: "prolonged"; claims: Claim[]; views: ClaimView[] } | { kind: "none"; text: string } | Refused> {
  const { store, by, settings } = parts;
  const outcome = await store.heartbeat({ ...given({ taskId }), leaseMs: settings.leaseMs }, by);
  if (outcome.kind === "prolonged") return { ...outcome, views: outcome.claims.map(viewHeld) };
  if (outcome.kind === "none") return { kind: "none", text: `${by.name} holds no task.` };
  return refused(outcome, parts);
}

export async function listClaims(
  { agent }: { agent?: string | undefined },
  { store, by }: WorkParts,
): Promise<{ claims: Claim[]; views: ClaimView[] }> {
  const claims = await store.listClaims({ ...given({ agent }), at: by.at });
  return { claims, views: claims.map(viewHeld) };
}

function viewHeld({ taskId, agent, leaseUntil }: Claim): ClaimView {
  return { id: taskId, agent, lease_until: leaseUntil };
}
