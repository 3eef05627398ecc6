import { cleanLine } from "../../base/clean-text.ts";
import { listEpics } from "../../engine/work/groups.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { printList, statusCell } from "../print-work.ts";
import { inputOf, isNarrowed, LIST_INPUT, readWork } from "../work.ts";
import { FIELDS, GROUP_STATUS, listOptions } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Lists epics by priority, then age. Archived ones only with --status archived.",
  options: { status: GROUP_STATUS, ...listOptions(50), fields: FIELDS },
  examples: [{ run: "haversack epic list --status in_progress", says: "those that have begun" }],
  json: "[{id, title, status}]; --fields standard and full add more. What was left out is said on standard error.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const input = inputOf<Parameters<typeof listEpics>[0]>(call, { status: "status", ...LIST_INPUT });
    printList(call, {
      command: "epic list",
      nouns: ["epic", "epics"],
      listed: await listEpics(input, work),
      row: ({ id, status, priority, title }) => [
        { text: id },
        statusCell(status),
        { text: priority },
        { text: cleanLine(title) },
      ],
      none: isNarrowed(call) ? "No epic is like that." : 'No epics yet; `haversack epic create "TITLE"` makes one.',
    });
    return 0;
  });
}
