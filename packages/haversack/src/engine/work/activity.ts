/** The append-only history, with who did what. */
import type { Activity, ActivityPage } from "../../store/work-store.ts";
import { checkWhole, cleanName, cleanText, invalid } from "../../work/clean-input.ts";
import { fitList, type TokenCut } from "../../work/fit-list.ts";
import { present } from "../../work/task-view.ts";
import { given, type WorkParts } from "./work-parts.ts";

const TEXT_MAX_CHARS = 10_000;

/** `kind`: a short word, such as note or decision. */
export async function addActivity(
  { taskId, kind, text }: { taskId: string; kind: string; text: string },
  { store, by }: WorkParts,
): Promise<{ id: number }> {
  const word =
    cleanName(kind, { field: "activity_type" })
      ?.toLowerCase()
      .replace(/[\s_]+/g, "-") ?? "note";
  const clean = cleanText(text, { field: "description", maxChars: TEXT_MAX_CHARS });
  if (clean === undefined) throw invalid("description must not be empty");
  const { id } = await store.getTask(taskId, by.at);
  return store.recordActivity({ at: by.at, actor: by.name, kind: word, subject: id, text: clean });
}

export interface ActivityInput {
  /** The id of its subject, or a prefix. */
  subject?: string | undefined;
  kind?: string | undefined;
  /** Default: 20. */
  limit?: number | undefined;
  beforeId?: number | undefined;
  /** A limit for the whole answer. Default: none. */
  maxTokens?: number | undefined;
}

export async function listActivity(
  { subject, kind, limit, beforeId, maxTokens }: ActivityInput,
  { store }: WorkParts,
): Promise<ActivityPage & { views: object[]; leftOut: number; cut?: TokenCut }> {
  const about = subject === undefined ? undefined : (await store.findId(subject)).id;
  const page = await store.listActivity({
    limit: checkWhole(limit, { field: "limit", fallback: 20 }),
    ...given({ subject: about, kind, beforeId }),
  });
  const ceiling = maxTokens === undefined ? undefined : checkWhole(maxTokens, { field: "max_tokens", fallback: 1 });
  const view = ({ id, at, actor, kind, text }: Activity) => present({ id: String(id), at, actor, kind, text });
  const { views, cut } = fitList(page.activity, { view, fields: "standard", maxTokens: ceiling });
  const activity = page.activity.slice(0, views.length);
  // The next page starts with what the limit left out.
  const nextBeforeId = cut ? (activity.at(-1)?.id ?? beforeId) : page.nextBeforeId;
  return {
    activity,
    total: page.total,
    leftOut: page.total - activity.length,
    ...given({ nextBeforeId, cut }),
    views: views.map(({ id: _, ...view }) => view),
  };
}
