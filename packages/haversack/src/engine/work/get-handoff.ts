/** What came of a task: the summary, and the details in pages for those who ask for them. */
import { checkWhole } from "../../work/check-value.ts";
import type { Handoff } from "../../work/handoff.ts";
import { present, type View, viewHandoff } from "../../work/task-view.ts";
import { given, type Listed, listed, type WorkParts } from "./work-parts.ts";

export interface GetHandoffInput {
  taskId: string;
  role?: string | undefined;
  attempt?: number | undefined;
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
  view: Omit<View, "id">;
}

/** About 5,000 tokens. */
const PAGE_CHARS = 20_000;

export async function getHandoff(
  { taskId, role, attempt, includeDetails, from, maxChars }: GetHandoffInput,
  { store, for: audience = "agent" }: WorkParts,
): Promise<FoundHandoff | { kind: "none"; text: string }> {
  const start = checkWhole(from, { field: "from", minimum: 0, fallback: 0 });
  const most = checkWhole(maxChars, { field: "max_chars", fallback: PAGE_CHARS });
  const wanted = attempt === undefined ? undefined : checkWhole(attempt, { field: "attempt", fallback: 1 });
  const handoff = await store.getHandoff({ taskId, ...given({ role, attempt: wanted }) });
  if (!handoff) return { kind: "none", text: await whyNone({ taskId, role, attempt }, { store, audience }) };
  // The task is known from the question; the id is only for restoring.
  const { id: _, task_id: __, ...brief } = viewHandoff(handoff, "standard");
  const isWanted = includeDetails === true || from !== undefined;
  if (!isWanted || handoff.detailsChars === 0) return { kind: "handoff", handoff, view: brief };
  const page = await store.readHandoffDetails({ id: handoff.id, from: start, maxChars: Math.max(2, most) });
  const { total } = page;
  const text = start + page.text.length < total ? wholeCharacters(page.text) : page.text;
  const end = start + text.length;
  const nextFrom = end < total && text.length > 0 ? end : undefined;
  const shown = { full_details: text, next_from: nextFrom };
  // What stands before the first page was read with it.
  const view = start > 0 ? present(shown) : present({ ...brief, ...shown });
  return { kind: "handoff", handoff, details: text, total, ...given({ nextFrom }), view };
}

/** Without the first half of a pair at the end: the next page has both. */
function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

async function whyNone(
  { taskId, role, attempt }: Pick<GetHandoffInput, "taskId" | "role" | "attempt">,
  { store, audience }: Pick<WorkParts, "store"> & { audience: "agent" | "person" },
): Promise<string> {
  const { items } = await store.listHandoffs({ scope: { taskId }, limit: 10, includeArchived: true });
  const { id } = await store.findId(taskId);
  const how = audience === "agent" ? "set_task_handoff stores one" : `\`haversack handoff set ${id}\` stores one`;
  if (items.length === 0) return `${id} has no handoff yet; ${how}.`;
  const asked = [role && `of role ${role}`, attempt && `with attempt ${attempt}`].filter(Boolean).join(" ");
  return `${id} has no handoff ${asked}; it has ${items.map((item) => `${item.role} ${item.attempt}`).join(", ")}.`;
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
