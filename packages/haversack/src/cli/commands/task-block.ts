import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError, isFault } from "../../base/errors.ts";
import { setBlocker } from "../../engine/work/set-status.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { describeStatus, eachTask, isDone, STATUS_JSON, TASKS } from "../task-status.ts";
import { type OpenWork, readText, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Marks tasks as blocked by something that is not a task, and stores the reason. A task that is blocked already gets one more reason. For a task that waits for another task, use `dep add`.",
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
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const reason = (await readText(call, call.arguments.at(-1))) ?? "";
    if (await isTask(reason, work)) {
      throw new HaversackError("usage", `the reason is missing: ${cleanLine(reason)} is a task`, {
        hint: "for a task that waits for another task, use `haversack dep add`",
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
  });
}

/** Several tasks and a forgotten reason: the last task would become it. */
async function isTask(reason: string, { store }: OpenWork): Promise<boolean> {
  if (!/^[A-Za-z][\w.-]*\d[\w.-]*$/.test(reason)) return false;
  try {
    return (await store.findId(reason)).kind === "task";
  } catch (error) {
    if (isFault(error, "not-found") || isFault(error, "input-invalid")) return false;
    throw error;
  }
}
