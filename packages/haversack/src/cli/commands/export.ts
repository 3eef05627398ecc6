import { HaversackError } from "../../base/errors.ts";
import { putFile } from "../../base/safe-write.ts";
import { placeOfNamed } from "../../engine/wired-place.ts";
import { FIRST_LINE, formatRecord } from "../../store/record-fields.ts";
import { type Call, type CommandSpec, type ExitCode, flag, print } from "../command.ts";
import { targetFile } from "../project.ts";
import { formatBytes } from "../terminal.ts";
import { openWork } from "../work.ts";

export const spec: CommandSpec = {
  about:
    "Writes all work as JSON lines: epics, stories, tasks with their WIP and claims, dependencies, blockers, failures, handoffs, agents, messages, the skills that tasks used, activity. One line per record, in a fixed order, so that it diffs well in git; `haversack import` reads it back without loss. It contains everything that is stored, so read it before you share it. Only you can read a new file.",
  arguments: [{ name: "FILE", about: "where to write; standard output without it" }],
  options: { "no-activity": flag("Leave out the activity, which grows with every change.") },
  examples: [
    { run: "haversack export work.jsonl", says: "replaces the file in one step" },
    { run: 'haversack export | grep \'"kind":"task"\'', says: "for a pipe" },
  ],
  json: "{file, records, size_bytes}: only with FILE.",
};

export async function run(call: Call): Promise<ExitCode> {
  const { store } = await openWork(call, "read");
  const [name] = call.arguments;
  if (name === undefined && call.json)
    throw new HaversackError("usage", "--json needs FILE: the export itself goes to standard output");
  const lines: string[] = [];
  for await (const record of store.exportRecords()) {
    if (record.kind === "activity" && call.options["no-activity"]) continue;
    lines.push(`${formatRecord(record)}\n`);
  }
  if (name === undefined) {
    call.io.out(`${FIRST_LINE}\n`);
    for (const line of lines) call.io.out(line);
    return 0;
  }
  const file = targetFile(call, name);
  const text = `${FIRST_LINE}\n${lines.join("")}`;
  putFile(file, text, { ...placeOfNamed(file, call.io.cwd), mode: 0o600 });
  const sizeBytes = Buffer.byteLength(text);
  print(call, { file, records: lines.length, sizeBytes }, () => {
    return `${lines.length} ${lines.length === 1 ? "record" : "records"} to ${file} (${formatBytes(sizeBytes)}).`;
  });
  return 0;
}
