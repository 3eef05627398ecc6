import { cleanLine } from "../../base/clean-text.ts";
import { createEpic } from "../../engine/work/groups.ts";
import { viewEpic } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { inputOf, readText, withWork } from "../work.ts";
import { AGENT, PRIORITY, text } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Makes an epic: stories that belong together. Its priority moves all its tasks in the queue.",
  arguments: [{ name: "TITLE", about: "what it is about, in one line", required: true }],
  options: {
    priority: PRIORITY,
    description: text("What it is for"),
    source: { type: "string", value: "TEXT", about: "Where it comes from." },
    agent: AGENT,
  },
  examples: [{ run: 'haversack epic create "Sign in with a passkey" --priority P1', says: "above the rest" }],
  json: "{id, title, status}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [title = ""] = call.arguments;
    const description = await readText(call, call.options["description"] as string | undefined);
    const input = inputOf<Parameters<typeof createEpic>[0]>(call, { priority: "priority", source: "source" });
    const epic = await createEpic({ title, ...input, ...(description !== undefined && { description }) }, work);
    print(call, viewEpic(epic, "minimal"), () => `Made epic ${epic.id}: ${cleanLine(epic.title)}`);
    return 0;
  });
}
