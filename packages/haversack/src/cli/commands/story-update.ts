import { cleanLine } from "../../base/clean-text.ts";
import { updateStory } from "../../engine/work/groups.ts";
import { viewStory } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { readChanges, STORY_ID } from "../groups.ts";
import { withWork } from "../work.ts";
import { AGENT, GROUP_STATUS_CHANGE, text } from "../work-options.ts";

const FIELDS = {
  title: "title",
  epicId: "epic",
  description: "description",
  acceptanceCriteria: "criteria",
  status: "status",
} as const;
const CLEARS = ["epic", "description", "criteria"];

export const spec: CommandSpec = {
  about: "Changes fields of a story. With another epic its tasks go along.",
  arguments: [STORY_ID],
  options: {
    title: { type: "string", value: "TEXT", about: "A new title." },
    epic: { type: "string", value: "ID", about: "The epic it belongs to." },
    description: text("What it is for"),
    criteria: text("How one sees that it is done"),
    status: GROUP_STATUS_CHANGE,
    clear: {
      type: "string",
      value: "FIELD",
      repeat: true,
      choices: CLEARS,
      about: `Empty a field: ${CLEARS.join(", ")}.`,
    },
    agent: AGENT,
  },
  examples: [
    { run: "haversack story update S4829 --epic E1207", says: "into another epic" },
    { run: "haversack story update S4829 --clear epic", says: "out of its epic" },
  ],
  json: "{id, title, status}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [storyId = ""] = call.arguments;
    const changes = await readChanges<Parameters<typeof updateStory>[0]>(call, "story update", FIELDS);
    const story = await updateStory({ storyId, ...changes }, work);
    print(call, viewStory(story, "minimal"), () => `Changed story ${story.id}: ${cleanLine(story.title)}`);
    return 0;
  });
}
