import { HaversackError } from "../../base/errors.ts";
import { putFile } from "../../base/safe-write.ts";
import { placeOfNamed } from "../../engine/wired-place.ts";
import { FIRST_LINE, formatRecord } from "../../store/record-fields.ts";
import { flag } from "../command.ts";
import { targetFile } from "../project.ts";
import { counted, formatBytes } from "../terminal.ts";
import { defineWork } from "../work.ts";

export const command = defineWork("read", {
  about:
    "Writes all work as JSON lines: epics, stories, tasks with their WIP and claims, dependencies, blockers, failures, handoffs, agents, messages, the skills that tasks used, activity. One line per record, in a fixed order, so that it diffs well in git; `haversack import` reads it back without loss. It contains everything that is stored, so read it before you share it. Only you can read a new file.",
  arguments: [{ name: "FILE", about: "where to write; standard output without it" }],
  options: { "no-activity": flag("Leave out the activity, which grows with every change.") },
  examples: {
    "haversack export work.jsonl": "replaces the file in one step",
    'haversack export | grep \'"kind":"task"\'': "for a pipe",
  },
  json: "{file, records, size_bytes}: only with FILE.",
  async run(call, { store }) {
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
    const done = `${counted(lines.length, "record")} to ${file} (${formatBytes(sizeBytes)}).`;
    return { data: { file, records: lines.length, sizeBytes }, text: done };
  },
});
