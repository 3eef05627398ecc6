import { cleanLine } from "../../base/clean-text.ts";
import { nextBatch, nextReady } from "../../engine/work/next-batch.ts";
import { COUNTED_READY, type QueuedTask } from "../../store/work-store.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { commandLine, formatCounts, table } from "../print-work.ts";
import { inputOf, type OpenWork, withWork } from "../work.ts";
import { EPIC, FIELDS, listOptions, STORY } from "../work-options.ts";

const { limit, "max-tokens": maxTokens } = listOptions(10);

export const spec: CommandSpec = {
  about:
    "Lists the tasks that are ready, the most important first: nothing blocks them, nobody holds them. The order comes from the priority of epic and task, how many wait for it, and its age.",
  options: {
    limit,
    epic: EPIC,
    story: STORY,
    batch: {
      type: "boolean",
      about: "Only tasks that can run side by side: they share no file with one another or with what is in progress.",
    },
    fields: FIELDS,
    "max-tokens": maxTokens,
  },
  examples: [
    { run: "haversack next --limit 3", says: "the next three" },
    { run: "haversack next --batch --limit 4 --epic E48", says: "up to four of an epic, to run at once" },
  ],
  json: "[{id, title, status}]; --fields standard and full add more. What was left out is said on standard error.",
};

type Input = Parameters<typeof nextReady>[0];

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const { io, json, options } = call;
    const input = inputOf<Input>(call, {
      limit: "limit",
      epicId: "epic",
      storyId: "story",
      fields: "fields",
      maxTokens: "max-tokens",
    });
    const found = options["batch"] ? await nextBatch(input, work) : await nextReady(input, work);
    const { tasks, views, ready } = found;
    if (json) io.out(`${JSON.stringify(views)}\n`);
    else if (ready === 0) io.out(`${await explainNothing(input, work)}\n`);
    else if (tasks.length > 0) io.out(`${table(io, tasks.map(row)).join("\n")}\n`);

    const left = ready - tasks.length;
    if (left <= 0) return 0;
    const all = ready >= COUNTED_READY ? `${COUNTED_READY} or more` : String(ready);
    const held = "heldBack" in found ? found.heldBack.length : 0;
    const why =
      held > 0 ? ` ${held} ${held === 1 ? "touches" : "touch"} files of those or of what is in progress.` : "";
    const more = `\`${commandLine("next", call, { limit: Math.max(tasks.length, 5) * 2 })}\` shows more.`;
    const line = `${tasks.length} of ${all} ready.${options["batch"] ? why : ` ${more}`}`;
    if (json) io.err(`haversack: ${line}\n`);
    else io.out(`${tasks.length > 0 ? "\n" : ""}${line}\n`);
    return 0;
  });
}

function row({ id, priority, type, title }: QueuedTask) {
  return [{ text: id }, { text: priority }, { text: type, style: "dim" as const }, { text: cleanLine(title) }];
}

async function explainNothing({ epicId, storyId }: Input, { store, by }: OpenWork): Promise<string> {
  const counts = await store.countTasks({ ...(epicId && { epicId }), ...(storyId && { storyId }) }, by.at);
  const open = counts.in_progress + counts.review + counts.blocked + counts.todo;
  if (open > 0) return `Nothing is ready: ${formatCounts(counts)}.`;
  return counts.done > 0 ? "Nothing is ready: everything is done." : "Nothing is ready: there are no tasks.";
}
