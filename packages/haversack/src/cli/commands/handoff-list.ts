import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { listHandoffs } from "../../engine/work/handoffs.ts";
import { listed } from "../../engine/work/work-parts.ts";
import type { FitOptions } from "../../work/fit-list.ts";
import type { Handoff } from "../../work/handoff.ts";
import { viewHandoff } from "../../work/task-view.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { verdictCell } from "../print-handoff.ts";
import { formatAgo, printList } from "../print-work.ts";
import { TASK } from "../task-status.ts";
import { inputOf, LIST_INPUT, readWork } from "../work.ts";
import { EPIC, FIELDS, listOptions, STORY } from "../work-options.ts";

const { limit, "max-tokens": maxTokensOption } = listOptions(50);

export const spec: CommandSpec = {
  about:
    "Lists handoffs, newest first: all, or those of a task. --archived adds those that a completed epic has archived.",
  arguments: [{ ...TASK, about: `${TASK.about} (default: all tasks)`, required: false }],
  options: {
    task: { type: "string", value: "ID", about: "The same as TASK." },
    epic: EPIC,
    story: STORY,
    archived: { type: "boolean", about: "Include archived handoffs." },
    limit,
    "max-tokens": maxTokensOption,
    fields: { ...FIELDS, about: "What --json prints of each: minimal (verdict and summary), standard or full." },
  },
  examples: [
    { run: "haversack handoff list --story S4829", says: "what came of its tasks" },
    { run: "haversack handoff list T4829 --archived", says: "every attempt at one task" },
  ],
  json: "[{id, task_id, role, attempt, status, summary}]; --fields standard and full add more. What was left out is said on standard error.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const input = inputOf<Parameters<typeof listHandoffs>[0]>(call, {
      taskId: "task",
      epicId: "epic",
      storyId: "story",
      includeArchived: "archived",
      limit: "limit",
    });
    const [named] = call.arguments;
    if (named !== undefined && input.taskId !== undefined) {
      throw new HaversackError("usage", "TASK and --task exclude each other");
    }
    const taskId = named ?? input.taskId;
    // An unknown task is an error, and not a task without handoffs.
    if (taskId !== undefined) await work.store.getTask(taskId, work.by.at);
    const { items, total } = await listHandoffs({ limit: 50, ...input, taskId }, work);
    const { fields = "minimal", maxTokens } = inputOf<FitOptions<Handoff>>(call, LIST_INPUT);
    printList(call, {
      command: "handoff list",
      nouns: ["handoff", "handoffs"],
      listed: listed({ items, total }, { view: viewHandoff, fields, maxTokens, offset: 0 }),
      row: ({ id, taskId, role, attempt, status, summary, createdAt }) => [
        { text: id },
        { text: taskId },
        verdictCell(status),
        { text: `${cleanLine(role)} ${attempt}` },
        { text: formatAgo(createdAt, work.by.at), style: "dim" },
        { text: cleanLine(summary, { maxChars: 200 }) },
      ],
      none: "No handoffs.",
      isUnpaged: true,
    });
    return 0;
  });
}
