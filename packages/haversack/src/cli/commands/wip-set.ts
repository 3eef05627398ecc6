import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { updateWip } from "../../engine/work/update-wip.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { TASK } from "../task-status.ts";
import { readText, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Adds to a task's work in progress. Objects merge, lists of files, decisions and errors unite, other values replace, null removes a field. What was replaced stays in `wip show --history`.",
  arguments: [TASK, { name: "JSON", about: "an object; - reads it from standard input", required: true }],
  options: { agent: AGENT },
  examples: [
    {
      run: `haversack wip set T4829 '{"phase":"testing","next_step":"fix the failing test"}'`,
      says: "where the work stands",
    },
    { run: "haversack wip set T4829 - < wip.json", says: "from a file" },
  ],
  json: "{id, changed}: changed is false when it was known already.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = "", given = ""] = call.arguments;
    const read = readJson((await readText(call, given)) ?? "");
    if (read.problem !== undefined) throw new HaversackError("usage", `WIP must be a JSON object: ${read.problem}`);
    if (typeof read.value !== "object" || read.value === null || Array.isArray(read.value))
      throw new HaversackError(
        "usage",
        `WIP must be a JSON object such as {"next_step": "…"}, but is ${kindOf(read.value)}`,
      );
    const { changed } = await updateWip({ taskId, wip: read.value }, work);
    const { id } = await work.store.findId(taskId);
    print(call, { id, changed }, () => (changed ? `Work in progress of ${id} saved.` : `Nothing new for ${id}.`));
    return 0;
  });
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`;
}
