/** The commands that move a task to another status: what they print, and what a completed story or epic adds. */
import { cleanLine } from "../base/clean-text.ts";
import { type StatusChanged, setStatus } from "../engine/work/set-status.ts";
import type { Refused } from "../engine/work/work-parts.ts";
import type { TaskStatus } from "../work/task.ts";
import { type ArgumentSpec, type Call, type ExitCode, type OptionSpec, print } from "./command.ts";
import { statusWord } from "./print-work.ts";
import { type OpenWork, readText, refuse, withWork } from "./work.ts";
import { AGENT, text } from "./work-options.ts";

export const TASK: ArgumentSpec = {
  name: "TASK",
  about: "task ID or a unique prefix (3+ digits)",
  required: true,
};

export const STATUS_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  notes: text("Kept in the activity"),
  agent: AGENT,
};

export const STATUS_JSON = "{id, status, note?, boundaries?: {story_completed, epic_completed}}.";

export function runStatus(call: Call, status: TaskStatus): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = ""] = call.arguments;
    const notes = await readText(call, call.options["notes"] as string | undefined);
    const outcome = await setStatus({ taskId, status, ...(notes !== undefined && { notes }) }, work);
    return printStatus(call, outcome, work);
  });
}

export async function printStatus(
  call: Call,
  outcome: StatusChanged | Refused,
  { store }: Pick<OpenWork, "store">,
): Promise<ExitCode> {
  if (outcome.kind === "refused") return refuse(call, outcome);
  const { task, from, boundaries, note, view } = outcome;
  const completed: string[] = [];
  if (!call.json) {
    // Their titles are for people; a script has the ids.
    const { storyCompleted, epicCompleted } = boundaries;
    if (storyCompleted)
      completed.push(`Story ${storyCompleted} is complete: ${cleanLine((await store.getStory(storyCompleted)).title)}`);
    if (epicCompleted)
      completed.push(`Epic ${epicCompleted} is complete: ${cleanLine((await store.getEpic(epicCompleted)).title)}`);
  }
  print(call, view, () => {
    const change =
      from === task.status
        ? `${task.id} is ${statusWord(task.status)} already`
        : `${task.id} is ${statusWord(task.status)}, was ${statusWord(from)}`;
    return [`${change}: ${cleanLine(task.title)}`, ...(note ? [`Note: ${cleanLine(note)}`] : []), ...completed].join(
      "\n",
    );
  });
  return 0;
}
