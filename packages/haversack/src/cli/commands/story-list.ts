import { cleanLine } from "../../base/clean-text.ts";
import { listStories } from "../../engine/work/groups.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { printList, statusCell } from "../print-work.ts";
import { inputOf, isNarrowed, LIST_INPUT, readWork } from "../work.ts";
import { EPIC, FIELDS, GROUP_STATUS, listOptions } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Lists stories, oldest first. Archived ones only with --status archived.",
  options: { epic: EPIC, status: GROUP_STATUS, ...listOptions(50), fields: FIELDS },
  examples: [{ run: "haversack story list --epic E4829", says: "those of an epic" }],
  json: "[{id, title, status}]; --fields standard and full add more. What was left out is said on standard error.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const input = inputOf<Parameters<typeof listStories>[0]>(call, { epicId: "epic", status: "status", ...LIST_INPUT });
    printList(call, {
      command: "story list",
      nouns: ["story", "stories"],
      listed: await listStories(input, work),
      row: ({ id, status, epicId, title }) => [
        { text: id },
        statusCell(status),
        { text: epicId ?? "", style: "dim" },
        { text: cleanLine(title) },
      ],
      none: isNarrowed(call) ? "No story is like that." : 'No stories yet; `haversack story create "TITLE"` makes one.',
    });
    return 0;
  });
}
