/** What came of a task: the summary, and the details in pages for those who ask for them. */
import { checkChoice, checkWhole } from "../../work/check-value.ts";
import type { Audience } from "../../work/explain-outcome.ts";
import { type Handoff, VERDICTS } from "../../work/handoff.ts";
import { present, type View, viewHandoff } from "../../work/task-view.ts";
import { given, type Listed, listed, type WorkParts } from "./work-parts.ts";

export interface GetHandoffInput {
  taskId: string;
  role?: string | undefined;
  attempt?: number | undefined;
  /** The latest of this verdict. */
  status?: string | undefined;
  includeDetails?: boolean | undefined;
  /** The character at which the page of details begins. */
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
  /** Why something is missing that was asked for. */
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
  // The task is known from the question; the id is only for restoring.
  const { id: _, task_id: __, ...brief } = viewHandoff(handoff, "standard");
  const isWanted = includeDetails === true || from !== undefined;
  if (handoff.state === "archived") {
    const note = `in the archive; ${howToRestore(handoff, audience)}`;
    // What the epic's completion has put away costs no reader anything.
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
  const text = start + page.text.length < total ? wholeCharacters(page.text) : page.text;
  const end = start + text.length;
  const nextFrom = end < total && text.length > 0 ? end : undefined;
  const note = start > 0 && start >= total ? `the details end at character ${total}` : undefined;
  const shown = { full_details: text, next_from: nextFrom, note };
  // What stands before the first page was read with it.
  const view = start > 0 ? present(shown) : present({ ...brief, ...shown });
  return { kind: "handoff", handoff, details: text, total, ...given({ nextFrom, note }), view };
}

function howToRestore({ id }: Handoff, audience: Audience): string {
  return audience === "agent"
    ? `restore_handoffs ${id} brings it back (a tool of \`haversack mcp --tools all\`, else \`haversack restore ${id}\`)`
    : `\`haversack restore ${id}\` brings it back`;
}

/** Without the first half of a pair at the end: the next page has both. */
function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
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
