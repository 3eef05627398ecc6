import { resolve } from "node:path";
import { importOhno } from "../../engine/work/import-ohno.ts";
import { present } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatImport, importData, some } from "../print-import.ts";
import { type OpenWork, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Takes over the work of an ohno project: epics, stories, tasks with their ids, dependencies, blockers, failures, handoffs, WIP and activity. Its file is only read. Importing again adds nothing. The report says what could not be carried over.",
  arguments: [{ name: "PATH", about: "the project's folder, its .ohno folder, or tasks.db (default: here)" }],
  options: { "dry-run": { type: "boolean", about: "Only report." }, agent: AGENT },
  examples: [
    { run: "haversack import ohno --dry-run", says: "what would come from .ohno/tasks.db here" },
    { run: "haversack import ohno ../other", says: "from another project" },
  ],
  json: "{file, dry_run?, added?: {kind: count}, same, updated?, kept?, renamed?, recognized?, problems?: [{where, text}], left?: [{where, count, why}]}; exit 1 when there are problems.",
};

export function run(call: Call): Promise<ExitCode> {
  const isDryRun = call.options["dry-run"] === true;
  const action = async ({ store, by }: OpenWork): Promise<ExitCode> => {
    const path = resolve(call.io.cwd, call.arguments[0] ?? ".");
    const { file, left, ...report } = await importOhno(store, { path, isDryRun }, by);
    const data = { file, ...importData(report, isDryRun), ...present({ left }) };
    print(call, data, () => {
      const lines = left.map(
        ({ where, count, why }) => `${where}, ${count} ${count === 1 ? "value" : "values"}: ${why}`,
      );
      return [`From ${file}:`, formatImport(call.io, report, isDryRun), ...some("Not carried over:", lines)].join("\n");
    });
    return report.problems.length > 0 ? 1 : 0;
  };
  return withWork(call, action, { isDryRun });
}
