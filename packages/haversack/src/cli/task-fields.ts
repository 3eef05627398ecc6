/** The options of `task create` and `task update`, and what they become. */
import { isAbsolute } from "node:path";
import type { TaskFields } from "../engine/work/tasks.ts";
import { projectPath } from "../work/project-path.ts";
import type { Call, OptionSpec } from "./command.ts";
import { readList, readText } from "./work.ts";
import { PRIORITY, TASK_TYPE, text } from "./work-options.ts";

export const TASK_FIELDS: Readonly<Record<string, OptionSpec>> = {
  story: { type: "string", value: "ID", about: "The story it belongs to." },
  parent: { type: "string", value: "ID", about: "The task it is a part of." },
  type: TASK_TYPE,
  priority: PRIORITY,
  description: text("What is to be done"),
  criteria: text("How one sees that it is done"),
  files: {
    type: "string",
    value: "PATH",
    repeat: true,
    about: "A file it will touch, from the project's root; repeat it, or separate several by commas.",
  },
  step: { type: "string", value: "TEXT", repeat: true, about: "A step of it; repeat it for the next one." },
  estimate: { type: "number", value: "HOURS", minimum: 0, about: "How long it will take." },
  skill: { type: "string", value: "NAME", about: "The skill it needs; several, separated by commas." },
  plan: { type: "string", value: "FILE#SECTION", about: "The plan it comes from." },
  context: text("What whoever takes it must know"),
  "handoff-notes": text("What whoever took it leaves behind"),
  assignee: { type: "string", value: "NAME", about: "Who is to do it." },
};

/** Only what was given. */
export async function readTaskFields(call: Call, root: string): Promise<TaskFields> {
  const { options } = call;
  const given: Record<string, unknown> = {
    storyId: options["story"],
    parentId: options["parent"],
    type: options["type"],
    priority: options["priority"],
    description: await readText(call, options["description"] as string | undefined),
    acceptanceCriteria: await readText(call, options["criteria"] as string | undefined),
    files: readList(options["files"])?.map((file) => (isAbsolute(file) ? projectPath(file, { root }) : file)),
    steps: options["step"],
    estimateHours: options["estimate"],
    skill: options["skill"],
    traceabilityRef: options["plan"],
    contextSummary: await readText(call, options["context"] as string | undefined),
    handoffNotes: await readText(call, options["handoff-notes"] as string | undefined),
    assignee: options["assignee"],
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
