/** The prompts of headless sessions: the batch, the failing test, the review. The packets come from the wake part. */
import type { EndWhy } from "./client-session.ts";
import type { BriefTask } from "./run-event.ts";

const WHY_END: Readonly<Record<EndWhy, string>> = {
  "window-full": "Your window is nearly full.",
  stopped: "The user stops this run.",
  limit: "A limit of this run is reached.",
  circling: "You repeat the same calls, and nothing comes of it.",
};

export function endRequest(why: EndWhy): string {
  return `${WHY_END[why]} Save what the files do not show with update_task_wip (decisions, next_step) and end your turn now: the next session goes on from there.`;
}

export interface BatchNotes {
  /** What reviewers found in earlier sessions. */
  findings?: readonly string[];
  /** Whether the run tests the work. */
  isTested: boolean;
}

export function batchPrompt(
  tasks: readonly BriefTask[],
  packets: readonly string[],
  { findings = [], isTested }: BatchNotes,
): string {
  const several = tasks.length > 1;
  const failed = findings.length > 0 ? `\n\nA review failed:\n${findings.map((text) => `- ${text}`).join("\n")}` : "";
  return `You work without a person. ${several ? "These tasks are" : "This task is"} claimed for this session: ${list(tasks)}.

${several ? 'Where you can start sub-agents, give each task to one, all at once, with the prompt "Task ID"; else do one after another.\n' : ""}For each task: do what it asks and no more, test it, then store the outcome with set_task_handoff (PASS, FAIL or BLOCKED) and set the status with update_task_status: done, or blocked with the reason. Take no other task. Ask nothing: what only a person can decide is a reason to block.${isTested ? " The tests are run again after you." : ""}${failed}

${packets.join("\n\n---\n\n")}`;
}

export interface FixInput {
  tasks: readonly BriefTask[];
  command: string;
  output: string;
  diff: string;
  attempt: number;
  most: number;
}

/** Contains only the failure, the change and its files: a small job needs a small window. */
export function fixPrompt({ tasks, command, output, diff, attempt, most }: FixInput): string {
  return `The tests fail after ${list(tasks)}. Find the cause, fix it, and leave the rest alone; do not weaken or remove a test to make it pass. Attempt ${attempt} of ${most}. You work without a person; the tests are run again after you.

Run: ${command}

Its output ends with:
\`\`\`
${output}
\`\`\`

What was changed:
\`\`\`diff
${diff}
\`\`\``;
}

export interface ReviewInput {
  role: string;
  tasks: readonly BriefTask[];
  /** Changed since the tasks began. */
  files: readonly string[];
  packets: readonly string[];
  instructions: string;
}

const SHOWN_FILES = 100;

export function reviewPrompt({ role, tasks, files, packets, instructions }: ReviewInput): string {
  const shown = files.slice(0, SHOWN_FILES).join(", ");
  const more = files.length > SHOWN_FILES ? ` and ${files.length - SHOWN_FILES} more` : "";
  return `You are the ${role} of ${list(tasks)}. You work without a person.

${instructions}

Changed since work on ${tasks.length > 1 ? "these tasks" : "this task"} began: ${shown || "no file"}${more}.

Store each outcome with set_task_handoff (role: ${role}, status, summary, full_details). The last line of your answer, alone: VERDICT: PASS, FAIL or BLOCKED; FAIL when one task fails.

${packets.join("\n\n---\n\n")}`;
}

function list(tasks: readonly BriefTask[]): string {
  return tasks.map(({ id, title }) => `${id} "${title}"`).join(", ");
}
