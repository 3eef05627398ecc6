import { parseRecords } from "../../store/record-lines.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatImport, importData } from "../print-import.ts";
import { type OpenWork, readFileOrStdin, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Takes work from an export. New things are added, equal ones left alone; of two versions of one thing the one changed later wins, and the report names the fields. The same id for two different things gives what comes a new one. What cannot be taken over is reported, and the rest is taken. Importing again adds nothing.",
  arguments: [{ name: "FILE", about: "an export, or - for standard input", required: true }],
  options: { "dry-run": { type: "boolean", about: "Only report." }, agent: AGENT },
  examples: [
    { run: "haversack import jsonl work.jsonl --dry-run", says: "what would happen" },
    { run: "git show main:work.jsonl | haversack import jsonl -", says: "from another branch" },
  ],
  json: "{dry_run?, added?: {kind: count}, same, updated?: [{id, fields}], kept?: [{id, fields}], renamed?: [{from, to}], recognized?: [{from, to}], problems?: [{where, text}]}; exit 1 when there are problems.",
};

export function run(call: Call): Promise<ExitCode> {
  const isDryRun = call.options["dry-run"] === true;
  const action = async ({ store, by }: OpenWork): Promise<ExitCode> => {
    const { records, problems } = parseRecords(await readFileOrStdin(call, call.arguments[0] ?? ""));
    const taken = await store.importRecords(records, { isDryRun }, by);
    const report = { ...taken, problems: [...problems, ...taken.problems] };
    print(call, importData(report, isDryRun), () => formatImport(call.io, report, isDryRun));
    return report.problems.length > 0 ? 1 : 0;
  };
  return withWork(call, action, { isDryRun });
}
