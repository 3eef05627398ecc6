import { cleanLine } from "../../base/clean-text.ts";
import { createStory } from "../../engine/work/groups.ts";
import { viewStory } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { inputOf, readText, withWork } from "../work.ts";
import { AGENT, text } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Makes a story: tasks that together bring something about. It is done when all its tasks are.",
  arguments: [{ name: "TITLE", about: "what it brings, in one line", required: true }],
  options: {
    epic: { type: "string", value: "ID", about: "The epic it belongs to." },
    description: text("What it is for"),
    criteria: text("How one sees that it is done"),
    source: { type: "string", value: "TEXT", about: "Where it comes from." },
    agent: AGENT,
  },
  examples: [{ run: 'haversack story create "Users can reset their password" --epic E4829', says: "in an epic" }],
  json: "{id, title, status}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [title = ""] = call.arguments;
    const description = await readText(call, call.options["description"] as string | undefined);
    const acceptanceCriteria = await readText(call, call.options["criteria"] as string | undefined);
    const story = await createStory(
      {
        title,
        ...inputOf<Parameters<typeof createStory>[0]>(call, { epicId: "epic", source: "source" }),
        ...(description !== undefined && { description }),
        ...(acceptanceCriteria !== undefined && { acceptanceCriteria }),
      },
      work,
    );
    print(call, viewStory(story, "minimal"), () => `Made story ${story.id}: ${cleanLine(story.title)}`);
    return 0;
  });
}
