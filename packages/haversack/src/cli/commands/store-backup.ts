import { resolve } from "node:path";
import { requireTrust } from "../../engine/open-project.ts";
import { projectPaths } from "../../engine/project.ts";
import { placeOfNamed } from "../../engine/wired-place.ts";
import { backupStore } from "../../store/sqlite/maintenance/backup.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatBytes } from "../terminal.ts";

export const spec: CommandSpec = {
  about:
    "Writes a complete copy of the store while others go on working with it. An existing file is never overwritten.",
  arguments: [{ name: "FILE", about: "where to write the copy", required: true }],
  examples: [{ run: "haversack store backup ~/haversack-monday.db", says: "a copy that `store restore` takes" }],
  json: "{file, sizeBytes}.",
};

export function run(call: Call): ExitCode {
  const file = resolve(call.io.cwd, call.arguments[0] ?? "");
  const paths = projectPaths(call.io.cwd, call.io.env);
  requireTrust(paths);
  const { sizeBytes } = backupStore(paths.store, file, placeOfNamed(file, call.io.cwd));
  print(call, { file, sizeBytes }, () => `Saved to ${file} (${formatBytes(sizeBytes)}).`);
  return 0;
}
