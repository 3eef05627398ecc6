/** Stores, reads, compacts and restores handoffs. */
import { cutAt } from "../../base/clean-text.ts";
import { estimateTokens } from "../../tokens/estimate.ts";
import {
  checkChoice,
  checkWhole,
  cleanDetails,
  cleanFiles,
  cleanName,
  cleanSummary,
  invalid,
} from "../../work/clean-input.ts";
import type { Audience } from "../../work/explain-outcome.ts";
import { type Handoff, VERDICTS, type Verdict } from "../../work/handoff.ts";
import { present, type View, viewHandoff } from "../../work/task-view.ts";
import { tellMentioned } from "../wake/messages.ts";
import { given, type Listed, listed, type WorkParts } from "./work-parts.ts";

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

/** Agents named with an @ in the summary get it as a message. */
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

/** The whole reply has 60 tokens; `{"status":"BLOCKED","summary":""}` takes 12, and the estimate can be a fifth too low. */
const REPLY_SUMMARY_TOKENS = 36;

/** The estimate grows with the text, so a binary search finds the longest start that fits. */
function cutForReply(summary: string): string {
  // As JSON, because escaping makes quotes and line breaks longer.
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

// The result of a task: the summary, and the details in pages on request.

export interface GetHandoffInput {
  taskId: string;
  role?: string | undefined;
  attempt?: number | undefined;
  /** Only the latest with this verdict. */
  status?: string | undefined;
  includeDetails?: boolean | undefined;
  /** The character where the page of details starts. */
  from?: number | undefined;
  /** Default: 20,000. */
  maxChars?: number | undefined;
}

export interface FoundHandoff {
  kind: "handoff";
  handoff: Handoff;
  details?: string;
  /** Characters of all details. */
  total?: number;
  /** Where the next page begins. */
  nextFrom?: number;
  /** Why something that was requested is missing. */
  note?: string;
  view: Omit<View, "id">;
}

/** About 5,000 tokens. */
const PAGE_CHARS = 20_000;

export async function getHandoff(
  { taskId, role, attempt, status, includeDetails, from, maxChars }: GetHandoffInput,
  { store, for: audience = "agent" }: WorkParts,
): Promise<FoundHandoff | { kind: "none"; text: string }> {
  const start = checkWhole(from, { field: "from", minimum: 0, fallback: 0 });
  const most = checkWhole(maxChars, { field: "max_chars", fallback: PAGE_CHARS });
  const wanted = attempt === undefined ? undefined : checkWhole(attempt, { field: "attempt", fallback: 1 });
  const verdict = checkChoice(status?.toUpperCase(), { field: "status", choices: VERDICTS });
  const handoff = await store.getHandoff({ taskId, ...given({ role, attempt: wanted, status: verdict }) });
  if (!handoff)
    return { kind: "none", text: await whyNone({ taskId, role, attempt, status: verdict }, { store, audience }) };
  // The caller knows the task; the id is only for restoring.
  const { id: _, task_id: __, ...brief } = viewHandoff(handoff, "standard");
  const isWanted = includeDetails === true || from !== undefined;
  if (handoff.state === "archived") {
    const note = `in the archive; ${howToRestore(handoff, audience)}`;
    // Leave out what completing the epic has archived.
    const { summary: ___, files_changed: ____, details_chars: _____, ...left } = brief as Record<string, unknown>;
    return { kind: "handoff", handoff, note, view: { ...left, note } };
  }
  if (!isWanted || handoff.detailsChars === 0) return { kind: "handoff", handoff, view: brief };
  if (handoff.state === "compacted") {
    const note = `the details are in the archive; ${howToRestore(handoff, audience)}`;
    return { kind: "handoff", handoff, note, view: { ...brief, note } };
  }
  const page = await store.readHandoffDetails({ id: handoff.id, from: start, maxChars: Math.max(2, most) });
  const { total } = page;
  // Drop half a surrogate pair at the end: the next page has both halves.
  const text = start + page.text.length < total ? page.text.replace(/[\ud800-\udbff]$/, "") : page.text;
  const end = start + text.length;
  const nextFrom = end < total && text.length > 0 ? end : undefined;
  const note = start > 0 && start >= total ? `the details end at character ${total}` : undefined;
  const shown = { full_details: text, next_from: nextFrom, note };
  // The first page already had the other fields.
  const view = start > 0 ? present(shown) : present({ ...brief, ...shown });
  return { kind: "handoff", handoff, details: text, total, ...given({ nextFrom, note }), view };
}

function howToRestore({ id }: Handoff, audience: Audience): string {
  return audience === "agent"
    ? `restore_handoffs ${id} brings it back (a tool of \`haversack mcp --tools all\`, else \`haversack handoff restore ${id}\`)`
    : `\`haversack handoff restore ${id}\` brings it back`;
}

async function whyNone(
  { taskId, role, attempt, status }: Pick<GetHandoffInput, "taskId" | "role" | "attempt" | "status">,
  { store, audience }: Pick<WorkParts, "store"> & { audience: Audience },
): Promise<string> {
  const { items } = await store.listHandoffs({ scope: { taskId }, limit: 10, includeArchived: true });
  const { id } = await store.findId(taskId);
  const how = audience === "agent" ? "set_task_handoff stores one" : `\`haversack handoff set ${id}\` stores one`;
  if (items.length === 0) return `${id} has no handoff yet; ${how}.`;
  const asked = [role && `of role ${role}`, attempt && `with attempt ${attempt}`, status && `that says ${status}`]
    .filter(Boolean)
    .join(" ");
  const known = items.map((item) => `${item.role} ${item.attempt} (${item.status})`).join(", ");
  return `${id} has no handoff ${asked}; it has ${known}.`;
}

export async function listHandoffs(
  {
    limit,
    includeArchived,
    ...scope
  }: {
    taskId?: string | undefined;
    epicId?: string | undefined;
    storyId?: string | undefined;
    /** Default: 20. */
    limit?: number | undefined;
    includeArchived?: boolean | undefined;
  },
  { store }: WorkParts,
): Promise<Listed<Handoff>> {
  const page = await store.listHandoffs({
    scope: given(scope),
    limit: checkWhole(limit, { field: "limit", fallback: 20 }),
    ...given({ includeArchived }),
  });
  return listed(page, { view: viewHandoff, fields: "standard", offset: 0 });
}

// Handoffs are compacted automatically when a story or epic completes. These do it by hand, or undo it.

export interface DecayInput {
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Regardless of the scope's state. */
  isForced?: boolean | undefined;
  includeFailed?: boolean | undefined;
}

export function decayHandoffs(
  { epicId, storyId, isForced, includeFailed }: DecayInput,
  { store, by }: WorkParts,
): Promise<{ compacted: number; archived: number }> {
  return store.decay(given({ epicId, storyId, isForced, includeFailed }), by);
}

/** A handoff, or all of a task, story or epic. */
export function restoreHandoffs({ id }: { id: string }, { store, by }: WorkParts): Promise<{ restored: number }> {
  return store.restore(id, by);
}
