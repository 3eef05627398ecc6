import { resolve } from "node:path";
import { distrust, recordStore, requireTrust } from "../../engine/open-project.ts";
import { ensureStateFolder, projectPaths } from "../../engine/project.ts";
import { restoreStore } from "../../store/sqlite/maintenance/backup.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";

export const spec: CommandSpec = {
  about:
    "Checks a backup and takes the store's content from it. What was in the store before is kept in a file beside it.",
  arguments: [{ name: "FILE", about: "a file that `store backup` wrote", required: true }],
  examples: [
    { run: "haversack store restore ~/haversack-monday.db", says: "names the file that keeps the former content" },
  ],
  json: "{restored, kept, way: in-place|moved-aside|new, tables}.",
};

export function run(call: Call): ExitCode {
  const paths = projectPaths(call.io.cwd, call.io.env);
  const untrusted = distrust(paths);
  const isReplaced = untrusted?.because === "other-file";
  // After git has replaced the user's own store, or put a file beside it, this is the way back.
  if (!isReplaced && untrusted?.because !== "other-log") requireTrust(paths);
  ensureStateFolder(paths);
  const from = resolve(call.io.cwd, call.arguments[0] ?? "");
  const { kept, way, tables } = restoreStore(paths.store, from, {
    foreign: isReplaced ? "store" : (untrusted?.files ?? []),
  });
  // A damaged store was moved aside: another file is the store now.
  if (way !== "in-place") recordStore(paths);
  print(call, { restored: paths.store, ...(kept && { kept }), way, tables }, () =>
    [`Restored from ${from}.`, ...(kept ? [`What was there before is kept in ${kept}`] : [])].join("\n"),
  );
  return 0;
}
