import { cleanLine } from "../../base/clean-text.ts";
import { nextBatch, nextReady } from "../../engine/work/next-batch.ts";
import { COUNTED_READY, type QueuedTask } from "../../store/work-store.ts";
import type { View } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, flag, jsonLine, sayNote } from "../command.ts";
import { commandLine, formatCounts, table } from "../print-work.ts";
import { inputOf, LIST_INPUT, type OpenWork, openWork } from "../work.ts";
import { EPIC, FIELDS, listOptions, STORY } from "../work-options.ts";

const { limit, "max-tokens": maxTokens } = listOptions(10);

export const spec: CommandSpec = {
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
  examples: [
    { run: "haversack next --limit 3", says: "the next three" },
    { run: "haversack next --batch --limit 4 --epic E4829", says: "up to four of an epic, to run at once" },
  ],
  json: "[{id, title, status}]; --fields standard and full add more, with score and batch_group (the batch in which it could run). If some are left out, a note says how to get them.",
};

type Input = Parameters<typeof nextReady>[0];

export async function run(call: Call): Promise<ExitCode> {
  const work = await openWork(call, "read");
  const { io, json, options } = call;
  const input = inputOf<Input>(call, "epic", "story", ...LIST_INPUT);
  const found = options["batch"] ? await nextBatch(input, work) : await nextReady(input, work);
  const { tasks, views, ready } = found;
  const hasMore = options["fields"] === "standard" || options["fields"] === "full";
  if (json) io.out(jsonLine(hasMore ? views.map((view, at) => withOrder(view, tasks[at])) : views));
  else if (ready === 0) io.out(`${await explainNothing(input, work)}\n`);
  else if (tasks.length > 0) io.out(`${table(io, tasks.map(row)).join("\n")}\n`);

  const left = ready - tasks.length;
  if (left <= 0) return 0;
  const all = ready >= COUNTED_READY ? `${COUNTED_READY} or more` : String(ready);
  const held = "heldBack" in found ? found.heldBack.length : 0;
  const inTheWay = "inTheWay" in found && found.inTheWay;
  const why = inTheWay
    ? ` ${inTheWay}.`
    : held > 0
      ? ` ${held} ${held === 1 ? "touches" : "touch"} files of those or of what is in progress.`
      : "";
  // If the token ceiling cut the list, a larger limit would not help.
  const changes = found.cut ? { "max-tokens": found.cut.allTokens } : { limit: Math.max(tasks.length, 5) * 2 };
  const more = ` \`${commandLine(call, changes)}\` shows more.`;
  const line = `${tasks.length} of ${all} ready.${options["batch"] ? why : ""}${found.cut || !options["batch"] ? more : ""}`;
  if (json) sayNote(io, line);
  else io.out(`${tasks.length > 0 ? "\n" : ""}${line}\n`);
  return 0;
}

type Next = QueuedTask & { batchGroup?: number };

/** Only later batches are named: tasks of the first can all run at once. */
function row({ id, priority, type, title, batchGroup = 1 }: Next) {
  return [
    { text: id },
    { text: priority },
    { text: type, style: "dim" as const },
    { text: batchGroup > 1 ? `batch ${batchGroup}` : "", style: "dim" as const },
    { text: cleanLine(title) },
  ];
}

function withOrder(view: View, task: Next | undefined): View {
  if (!task) return view;
  return { ...view, score: Math.round(task.score * 100) / 100, batch_group: task.batchGroup ?? 1 };
}

async function explainNothing({ epicId, storyId }: Input, { store, by }: OpenWork): Promise<string> {
  const counts = await store.countTasks({ ...(epicId && { epicId }), ...(storyId && { storyId }) }, by.at);
  const open = counts.in_progress + counts.review + counts.blocked + counts.todo;
  if (open > 0) return `Nothing is ready: ${formatCounts(counts)}.`;
  return counts.done > 0 ? "Nothing is ready: everything is done." : "Nothing is ready: there are no tasks.";
}
