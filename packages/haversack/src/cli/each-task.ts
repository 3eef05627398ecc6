/** Commands that take one task or several: what they accept, and what they report of each. */
import { type FaultCode, isFault } from "../base/errors.ts";
import type { ArgumentSpec, Call, ExitCode } from "./command.ts";
import { refuse } from "./work.ts";

export const TASK: ArgumentSpec = {
  name: "TASK",
  about: "task ID or a unique prefix (3+ digits)",
  required: true,
};

/** For commands that take several. */
export const TASKS: ArgumentSpec = { ...TASK, about: `${TASK.about}; several are done one by one`, many: true };

/** What `--json` prints of a command that takes several tasks. */
export function several(one: string): string {
  return `${one}; for several tasks a list of these, with {id, error} for each that failed.`;
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
