import { existsSync } from "node:fs";
import { lookAtStore } from "../../engine/look-at-store.ts";
import { distrust, requireTrust } from "../../engine/open-project.ts";
import { projectPaths } from "../../engine/project.ts";
import { checkStore } from "../../store/sqlite/maintenance/check-store.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { columns } from "../help.ts";
import { formatBytes } from "../terminal.ts";

export const spec: CommandSpec = {
  about: "Reads the whole store and says whether it is sound. Changes nothing.",
  examples: [{ run: "haversack store check", says: "exit 1 when something is wrong" }],
  json: "{file, exists, ok, problems: [text], facts: {sizeBytes, walBytes, pages, freePages, version, knownVersion, rows}}.",
};

export function run(call: Call): ExitCode {
  const paths = projectPaths(call.io.cwd, call.io.env);
  const file = paths.store;
  const untrusted = distrust(paths);
  // Looking changes nothing; a link could lead to any file.
  if (untrusted?.because === "link") requireTrust(paths);
  if (untrusted) call.io.err(`haversack: note: not used: ${untrusted.why} (${untrusted.hint})\n`);
  if (!existsSync(file)) {
    print(
      call,
      { file, exists: false, ok: true, problems: [] },
      () => `No store yet at ${file}; the first command that saves something makes it.`,
    );
    return 0;
  }
  const { ok, problems, facts } = untrusted ? lookAtStore(file) : checkStore(file);
  print(call, { file, exists: true, ok, problems, facts }, () => {
    const tables = Object.entries(facts.rows);
    const full = tables.filter(([, count]) => count > 0);
    const empty = tables.length - full.length;
    const widest = Math.max(0, ...full.map(([, count]) => String(count).length));
    return [
      ok ? `The store is sound: ${file}` : `The store is damaged: ${file}`,
      ...problems.map((problem) => `  ${problem}`),
      `  ${formatBytes(facts.sizeBytes)}, ${formatBytes(facts.walBytes)} of it still in the write-ahead file, schema ${facts.version}`,
      ...(full.length > 0
        ? ["Rows:", columns(full.map(([table, count]) => [table, String(count).padStart(widest)]))]
        : []),
      ...(empty > 0 ? [`  and ${empty} empty ${empty === 1 ? "table" : "tables"} (--json lists all)`] : []),
      ...(ok
        ? []
        : ["`haversack store restore FILE` takes the content back from a backup and keeps this file beside it."]),
    ].join("\n");
  });
  return ok ? 0 : 1;
}
