/** The commands that move tasks from one status to another. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError, isFault } from "../../base/errors.ts";
import { resolveBlockers, type StatusChanged, setBlocker, setStatus } from "../../engine/work/set-status.ts";
import type { Refused } from "../../engine/work/work-parts.ts";
import type { TaskStatus } from "../../work/task.ts";
import type { Call, Command } from "../command.ts";
import { eachTask, isDone, several, type TaskResult } from "../command.ts";
import { statusWord } from "../print-work.ts";
import { type OpenWork, openWork, readText, TASKS } from "../work.ts";
import { AGENT, text } from "../work-options.ts";

const STATUS_JSON = several("{id, status, note?, warning?, boundaries?: {story_completed, epic_completed}}");

/** The status that each command sets. `task unblock` resolves the reasons instead, and the status follows. */
const STATUS_OF: Readonly<Record<string, TaskStatus>> = {
  "task done": "done",
  "task review": "review",
  "task reopen": "todo",
  "task archive": "archived",
};

const taskStatus: Command = {
  spec: {
    about: `Sets the status of tasks.
  done     tasks that wait for them become ready, and their claims end; reports a story or epic that this completes
  review   the work is finished, and there is no verdict yet
  reopen   puts tasks that are done, archived, in review or in progress back into the queue
  archive  takes tasks out of the queue and the counts; other tasks no longer wait for them
  unblock  removes all blockers of tasks; they go back into the queue`,
    arguments: [TASKS],
    options: { notes: text("Kept in the activity"), agent: AGENT },
    examples: [
      { run: "haversack done T4829 T7713", says: "several at once" },
      { run: "haversack task done T4829 --notes 'merged as 4f2a91c'", says: "with a note" },
      { run: "haversack task reopen T4829 --notes 'breaks on Safari'", says: "back to the queue" },
      { run: "haversack task unblock T4829 --notes 'access granted'", says: "back to the queue" },
    ],
    json: STATUS_JSON,
  },
  async run(call) {
    const status = STATUS_OF[call.name];
    const work = await openWork(call, "save");
    const notes = await readText(call, call.options["notes"] as string | undefined);
    return eachTask(call, call.arguments, async (taskId) => {
      const change = { taskId, ...(notes !== undefined && { notes }) };
      const outcome = status ? await setStatus({ ...change, status }, work) : await resolveBlockers(change, work);
      return describeStatus(outcome, { call, work });
    });
  },
};

async function describeStatus(
  outcome: StatusChanged | Refused,
  { call, work: { store } }: { call: Call; work: Pick<OpenWork, "store"> },
): Promise<TaskResult | Refused> {
  if (outcome.kind === "refused") return outcome;
  const { task, from, boundaries, note, view } = outcome;
  if (call.json) return { kind: "done", view, text: "" };
  // Titles are for people; scripts get the IDs.
  const completed: string[] = [];
  const { storyCompleted, epicCompleted } = boundaries;
  if (storyCompleted)
    completed.push(`Story ${storyCompleted} is complete: ${cleanLine((await store.getStory(storyCompleted)).title)}`);
  if (epicCompleted)
    completed.push(`Epic ${epicCompleted} is complete: ${cleanLine((await store.getEpic(epicCompleted)).title)}`);
  const change =
    from === task.status
      ? `${task.id} is ${statusWord(task.status)} already`
      : `${task.id} is ${statusWord(task.status)}, was ${statusWord(from)}`;
  const lines = [
    `${change}: ${cleanLine(task.title)}`,
    ...(note ? [`Note: ${cleanLine(note)}`] : []),
    ...(view.warning ? [`Warning: ${view.warning}.`] : []),
    ...completed,
  ];
  return { kind: "done", view, text: lines.join("\n") };
}

const taskBlock: Command = {
  spec: {
    about:
      "Marks tasks as blocked by something that is not a task, and stores the reason. A task that is already blocked gets one more reason. For a task that waits for another task, use `task dep --add`.",
    arguments: [
      TASKS,
      { name: "REASON", about: "why, as the last argument; - reads it from standard input", required: true },
    ],
    options: { agent: AGENT },
    examples: [
      { run: "haversack task block T4829 'no access to the test server'", says: "until somebody unblocks it" },
      { run: "haversack task block T4829 T7713 'the API is down'", says: "several, for one reason" },
    ],
    json: STATUS_JSON,
  },
  async run(call) {
    const work = await openWork(call, "save");
    const reason = (await readText(call, call.arguments.at(-1))) ?? "";
    if (await isTask(reason, work)) {
      throw new HaversackError("usage", `the reason is missing: ${cleanLine(reason)} is a task`, {
        hint: "for a task that waits for another task, use `haversack task dep --add`",
      });
    }
    return eachTask(call, call.arguments.slice(0, -1), async (taskId) => {
      const outcome = await setBlocker({ taskId, reason }, work);
      const result = await describeStatus(outcome, { call, work });
      if (outcome.kind === "refused" || outcome.from !== "blocked" || !isDone(result)) return result;
      const { task } = outcome;
      const open = (await work.store.listBlockers(task.id)).filter(({ resolvedAt }) => !resolvedAt);
      const text = `${task.id} is blocked by one more reason, ${open.length} in all: ${cleanLine(task.title)}`;
      return { ...result, text };
    });
  },
};

/** With several tasks and a forgotten reason, the last task ID would be taken as the reason. */
async function isTask(reason: string, { store }: OpenWork): Promise<boolean> {
  if (!/^[A-Za-z][\w.-]*\d[\w.-]*$/.test(reason)) return false;
  try {
    return (await store.findId(reason)).kind === "task";
  } catch (error) {
    if (isFault(error, "not-found") || isFault(error, "input-invalid")) return false;
    throw error;
  }
}

export const commands: Readonly<Record<string, Command>> = {
  ...Object.fromEntries([...Object.keys(STATUS_OF), "task unblock"].map((name) => [name, taskStatus])),
  "task block": taskBlock,
};
