/** The commands that move tasks from one status to another. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError, isFault } from "../../base/errors.ts";
import { resolveBlockers, type StatusChanged, setBlocker, setStatus } from "../../engine/work/set-status.ts";
import type { Refused } from "../../engine/work/work-parts.ts";
import type { TaskStatus } from "../../work/task.ts";
import type { Output } from "../command.ts";
import { statusWord } from "../print-work.ts";
import { defineWork, type OpenWork, readText, TASKS } from "../work.ts";
import { AGENT, text } from "../work-options.ts";

const STATUS_JSON = "{id, status, note?, warning?, boundaries?: {story_completed, epic_completed}}";

/** The status that each command sets. `task unblock` resolves the reasons instead, and the status follows. */
const STATUS_OF: Readonly<Record<string, TaskStatus>> = {
  "task done": "done",
  "task review": "review",
  "task reopen": "todo",
  "task archive": "archived",
};

const taskStatus = defineWork("save", {
  about: `Sets the status of tasks.
  done     tasks that wait for them become ready, and their claims end; reports a story or epic that this completes
  review   the work is finished, and there is no verdict yet
  reopen   puts tasks that are done, archived, in review or in progress back into the queue
  archive  takes tasks out of the queue and the counts; other tasks no longer wait for them
  unblock  removes all blockers of tasks; they go back into the queue`,
  arguments: [TASKS],
  options: { notes: text("Kept in the activity"), agent: AGENT },
  examples: {
    "haversack done T4829 T7713": "several at once",
    "haversack task done T4829 --notes 'merged as 4f2a91c'": "with a note",
    "haversack task reopen T4829 --notes 'breaks on Safari'": "back to the queue",
    "haversack task unblock T4829 --notes 'access granted'": "back to the queue",
  },
  jsonOfEach: STATUS_JSON,
  several: "lines",
  async run(call, work) {
    const status = STATUS_OF[call.name];
    const [taskId = ""] = call.arguments;
    const change = { taskId, notes: await readText(call, call.options.notes) };
    const outcome = status ? await setStatus({ ...change, status }, work) : await resolveBlockers(change, work);
    return describeStatus(outcome, work);
  },
});

export const commands = {
  ...Object.fromEntries([...Object.keys(STATUS_OF), "task unblock"].map((name) => [name, taskStatus])),
  "task block": defineWork("save", {
    about:
      "Marks tasks as blocked by something that is not a task, and stores the reason. A task that is already blocked gets one more reason. For a task that waits for another task, use `task dep --add`.",
    arguments: [
      TASKS,
      { name: "REASON", about: "why, as the last argument; - reads it from standard input", required: true },
    ],
    options: { agent: AGENT },
    examples: {
      "haversack task block T4829 'no access to the test server'": "until somebody unblocks it",
      "haversack task block T4829 T7713 'the API is down'": "several, for one reason",
    },
    jsonOfEach: STATUS_JSON,
    several: "lines",
    idsAt: (words) => [0, words.length - 1],
    async run(call, work) {
      const [taskId = "", given] = call.arguments;
      const reason = (await readText(call, given)) ?? "";
      if (await isTask(reason, work)) {
        throw new HaversackError("usage", `the reason is missing: ${cleanLine(reason)} is a task`, {
          hint: "for a task that waits for another task, use `haversack task dep --add`",
        });
      }
      const outcome = await setBlocker({ taskId, reason }, work);
      if (outcome.kind === "refused" || outcome.from !== "blocked") return describeStatus(outcome, work);
      const { task, view } = outcome;
      const open = (await work.store.listBlockers(task.id)).filter(({ resolvedAt }) => !resolvedAt);
      const text = `${task.id} is blocked by one more reason, ${open.length} in all: ${cleanLine(task.title)}`;
      return { data: view, text };
    },
  }),
};

function describeStatus(outcome: StatusChanged | Refused, { store }: OpenWork): Output | Refused {
  if (outcome.kind === "refused") return outcome;
  const { task, from, boundaries, note, view } = outcome;
  const { storyCompleted, epicCompleted } = boundaries;
  const change =
    from === task.status
      ? `${task.id} is ${statusWord(task.status)} already`
      : `${task.id} is ${statusWord(task.status)}, was ${statusWord(from)}`;
  // Titles are for people; scripts get the IDs.
  const text = async () => {
    const lines = [
      `${change}: ${cleanLine(task.title)}`,
      note && `Note: ${cleanLine(note)}`,
      view.warning && `Warning: ${view.warning}.`,
      storyCompleted &&
        `Story ${storyCompleted} is complete: ${cleanLine((await store.getStory(storyCompleted)).title)}`,
      epicCompleted && `Epic ${epicCompleted} is complete: ${cleanLine((await store.getEpic(epicCompleted)).title)}`,
    ];
    return lines.filter(Boolean).join("\n");
  };
  return { data: view, text };
}

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
