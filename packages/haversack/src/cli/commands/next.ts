import { cleanLine } from "../../base/clean-text.ts";
import { nextBatch, nextReady } from "../../engine/work/next-batch.ts";
import { COUNTED_READY, type QueuedTask } from "../../store/work-store.ts";
import { flag } from "../command.ts";
import { commandLine, dim, formatCounts, table } from "../print-work.ts";
import { defineWork, inputOf, type OpenWork } from "../work.ts";
import { EPIC, FIELDS, listOptions, STORY } from "../work-options.ts";

const { limit, "max-tokens": maxTokens } = listOptions(10);

export const command = defineWork("read", {
  about:
    "Lists the tasks that are ready, the most important first: nothing blocks them, nobody holds them. The order comes from the priority of epic and task, how many wait for it, and its age.",
  options: {
    limit,
    epic: EPIC,
    story: STORY,
    batch: flag("Only tasks that can run side by side: they share no file with each other or with tasks in progress."),
    fields: FIELDS,
    "max-tokens": maxTokens,
  },
  examples: {
    "haversack next --limit 3": "the next three",
    "haversack next --batch --limit 4 --epic E4829": "up to four of an epic, to run at once",
  },
  json: "[{id, title, status}]; --fields standard and full add more, with score and batch_group (the batch in which it could run). If some are left out, a note says how to get them.",
  async run(call, work) {
    const { batch: isBatch, fields } = call.options;
    const input = inputOf(call);
    const found = isBatch ? await nextBatch(input, work) : await nextReady(input, work);
    const { tasks, views, ready, cut } = found;
    const orders = tasks.map(({ score, batchGroup = 1 }: Next) => ({
      score: Math.round(score * 100) / 100,
      batch_group: batchGroup,
    }));
    const hasMore = fields === "standard" || fields === "full";
    const data = hasMore ? views.map((view, at) => ({ ...view, ...orders[at] })) : views;
    const isVerbatim = true;
    if (ready === 0) return { data, text: () => explainNothing(input, work), isVerbatim };
    const rows = () => table(call.io, tasks.map(row)).join("\n");
    if (ready <= tasks.length) return { data, text: rows, isVerbatim };
    const all = ready >= COUNTED_READY ? `${COUNTED_READY} or more` : String(ready);
    const held = "heldBack" in found ? found.heldBack.length : 0;
    const inTheWay = "inTheWay" in found && found.inTheWay;
    const why = inTheWay
      ? ` ${inTheWay}.`
      : held > 0
        ? ` ${held} ${held === 1 ? "touches" : "touch"} files of those or of what is in progress.`
        : "";
    // If the token ceiling cut the list, a larger limit would not help.
    const changes = cut ? { "max-tokens": cut.allTokens } : { limit: Math.max(tasks.length, 5) * 2 };
    const more = ` \`${commandLine(call, changes)}\` shows more.`;
    const line = `${tasks.length} of ${all} ready.${isBatch ? why : ""}${cut || !isBatch ? more : ""}`;
    return { data, text: rows, isVerbatim, more: line };
  },
});

type Next = QueuedTask & { batchGroup?: number };

/** Only later batches are named: tasks of the first can all run at once. */
function row({ id, priority, type, title, batchGroup = 1 }: Next) {
  return [id, priority, dim(type), dim(batchGroup > 1 ? `batch ${batchGroup}` : ""), cleanLine(title)];
}

async function explainNothing(
  { epicId, storyId }: Parameters<typeof nextReady>[0],
  { store, by }: OpenWork,
): Promise<string> {
  const counts = await store.countTasks({ ...(epicId && { epicId }), ...(storyId && { storyId }) }, by.at);
  const open = counts.in_progress + counts.review + counts.blocked + counts.todo;
  if (open > 0) return `Nothing is ready: ${formatCounts(counts)}.`;
  return counts.done > 0 ? "Nothing is ready: everything is done." : "Nothing is ready: there are no tasks.";
}
