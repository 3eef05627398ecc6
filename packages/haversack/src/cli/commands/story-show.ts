import { getStory } from "../../engine/work/groups.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatGroup, STORY_ID } from "../groups.ts";
import { inputOf, readWork } from "../work.ts";
import { FIELDS } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Shows a story and how many of its tasks are where. `haversack tree ID` shows its tasks.",
  arguments: [STORY_ID],
  options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
  examples: [{ run: "haversack story show S4829", says: "with its counts" }],
  json: "{id, title, status, epic_id?, description?, acceptance_criteria?, tasks: {status: count}}; with --fields full also times and source.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const [storyId = ""] = call.arguments;
    const input = inputOf<Parameters<typeof getStory>[0]>(call, { fields: "fields" });
    const { story, view } = await getStory({ storyId, ...input }, work);
    print(call, view, () => formatGroup(call.io, story, work.by.at));
    return 0;
  });
}
