import { cleanLine } from "../../base/clean-text.ts";
import { updateEpic } from "../../engine/work/groups.ts";
import { viewEpic } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { EPIC_ID, readChanges } from "../groups.ts";
import { withWork } from "../work.ts";
import { AGENT, GROUP_STATUS_CHANGE, PRIORITY, text } from "../work-options.ts";

const FIELDS = { title: "title", priority: "priority", description: "description", status: "status" } as const;

export const spec: CommandSpec = {
  about: "Changes fields of an epic. A new priority moves all its tasks in the queue at once.",
  arguments: [EPIC_ID],
  options: {
    title: { type: "string", value: "TEXT", about: "A new title." },
    priority: { ...PRIORITY, about: "P0 (first) to P3." },
    description: text("What it is for"),
    status: GROUP_STATUS_CHANGE,
    clear: {
      type: "string",
      value: "FIELD",
      repeat: true,
      choices: ["description"],
      about: "Empty a field: description.",
    },
    agent: AGENT,
  },
  examples: [
    { run: "haversack epic update E4829 --priority P0", says: "its tasks come first" },
    { run: "haversack epic update E4829 --status archived", says: "put away" },
  ],
  json: "{id, title, status}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [epicId = ""] = call.arguments;
    const changes = await readChanges<Parameters<typeof updateEpic>[0]>(call, "epic update", FIELDS);
    const epic = await updateEpic({ epicId, ...changes }, work);
    print(call, viewEpic(epic, "minimal"), () => `Changed epic ${epic.id}: ${cleanLine(epic.title)}`);
    return 0;
  });
}
