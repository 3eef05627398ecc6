/** The commands that move a task to another status: what they print, and what a completed story or epic adds. */
import { cleanLine } from "../base/clean-text.ts";
import { type FaultCode, isFault } from "../base/errors.ts";
import { type StatusChanged, setStatus } from "../engine/work/set-status.ts";
import type { Refused } from "../engine/work/work-parts.ts";
import type { TaskStatus } from "../work/task.ts";
import type { ArgumentSpec, Call, ExitCode, OptionSpec } from "./command.ts";
import { statusWord } from "./print-work.ts";
import { type OpenWork, readText, refuse, withWork } from "./work.ts";
import { AGENT, text } from "./work-options.ts";

export const TASK: ArgumentSpec = {
  name: "TASK",
  about: "task ID or a unique prefix (3+ digits)",
  required: true,
};

/** For commands that take several. */
export const TASKS: ArgumentSpec = { ...TASK, about: `${TASK.about}; several are done one by one`, many: true };

export const STATUS_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  notes: text("Kept in the activity"),
  agent: AGENT,
};

export const STATUS_JSON = several("{id, status, note?, warning?, boundaries?: {story_completed, epic_completed}}");

/** What `--json` prints of a command that takes several tasks. */
export function several(one: string): string {
  return `${one}; for several tasks a list of these, with {id, error} for each that failed.`;
}

export function runStatus(call: Call, status: TaskStatus): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const notes = await readText(call, call.options["notes"] as string | undefined);
    return eachTask(call, call.arguments, async (taskId) =>
      describeStatus(await setStatus({ taskId, status, ...(notes !== undefined && { notes }) }, work), { call, work }),
    );
  });
}

/** What came of one task: for scripts and for people. */
export interface TaskResult {
  kind: "done";
  view: object;
  text: string;
}

/**
 * One task after the other. Of several, each that fails is reported and the others are done all the same; the exit code is then 1. A fault
 * that has nothing to do with the task, such as a store that cannot be written, ends the command.
 */
export async function eachTask(
  call: Call,
  taskIds: readonly string[],
  act: (taskId: string) => Promise<TaskResult | { kind: string; text: string }>,
): Promise<ExitCode> {
  const { io, json } = call;
  const ids = [...new Set(taskIds)];
  const views: object[] = [];
  let failed = 0;
  for (const id of ids) {
    const result = ids.length === 1 ? await act(id) : await act(id).catch(asFailure);
    if (isDone(result)) {
      views.push(result.view);
      if (!json) io.out(`${result.text}\n`);
      continue;
    }
    failed++;
    views.push({ id, error: result.text });
    refuse(call, result);
  }
  if (json && ids.length > 1) io.out(`${JSON.stringify(views)}\n`);
  else if (json && failed === 0) io.out(`${JSON.stringify(views[0])}\n`);
  return failed > 0 ? 1 : 0;
}

export function isDone(result: TaskResult | { kind: string; text: string }): result is TaskResult {
  return "view" in result;
}

function asFailure(error: unknown): { kind: "failed"; text: string } {
  const isAboutTask = ["not-found", "refused", "input-invalid"].some((code) => isFault(error, code as FaultCode));
  if (!isAboutTask || !isFault(error)) throw error;
  return { kind: "failed", text: error.hint ? `${error.message} (${error.hint})` : error.message };
}

export async function describeStatus(
  outcome: StatusChanged | Refused,
  { call, work: { store } }: { call: Call; work: Pick<OpenWork, "store"> },
): Promise<TaskResult | Refused> {
  if (outcome.kind === "refused") return outcome;
  const { task, from, boundaries, note, view } = outcome;
  if (call.json) return { kind: "done", view, text: "" };
  // Their titles are for people; a script has the ids.
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
