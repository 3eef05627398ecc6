import { getEpic } from "../../engine/work/groups.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { EPIC_ID, formatGroup } from "../groups.ts";
import { inputOf, readWork } from "../work.ts";
import { FIELDS } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Shows an epic and how many of its tasks are where. `haversack tree ID` shows its stories and tasks.",
  arguments: [EPIC_ID],
  options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
  examples: [{ run: "haversack epic show E4829", says: "with its counts" }],
  json: "{id, title, status, description?, priority, tasks: {status: count}}; with --fields full also times and source.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const [epicId = ""] = call.arguments;
    const input = inputOf<Parameters<typeof getEpic>[0]>(call, { fields: "fields" });
    const { epic, view } = await getEpic({ epicId, ...input }, work);
    print(call, view, () => formatGroup(call.io, epic, work.by.at));
    return 0;
  });
}
