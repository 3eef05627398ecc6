/** The store as a file. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isFault } from "../../base/errors.ts";
import { purgeSnapshots } from "../../engine/artifacts/git-snapshot.ts";
import { distrust, recordStore, requireTrust } from "../../engine/open-project.ts";
import { ensureStateFolder, projectPaths } from "../../engine/project.ts";
import { lookAtStore } from "../../engine/trust-project.ts";
import { placeOfNamed } from "../../engine/wired-place.ts";
import { sharedPlace } from "../../engine/work-of.ts";
import { backupStore, restoreStore } from "../../store/sqlite/maintenance/backup.ts";
import { checkStore } from "../../store/sqlite/maintenance/check-store.ts";
import { purgeStore } from "../../store/sqlite/maintenance/purge.ts";
import { defineCommand, flag, option, type Refusal, sayNote } from "../command.ts";
import { columns } from "../help.ts";
import { parseAge } from "../parse.ts";
import { counted, formatBytes } from "../terminal.ts";

export const commands = {
  "store check": defineCommand({
    about: "Reads the whole store and says whether it is sound. Changes nothing.",
    examples: { "haversack store check": "exit 1 when something is wrong" },
    json: "{file, exists, ok, problems: [text], facts: {size_bytes, wal_bytes, pages, free_pages, version, known_version, rows}}.",
    run(call) {
      const paths = projectPaths(call.io.cwd, call.io.env);
      const file = paths.store;
      const untrusted = distrust(paths);
      // An untrusted store may be inspected, but not through a link, which could lead to any file.
      if (untrusted?.because === "link") requireTrust(paths);
      if (untrusted) sayNote(call.io, `not used: ${untrusted.why} (${untrusted.hint})`);
      if (!existsSync(file)) {
        const text = `No store yet at ${file}; the first command that saves something makes it.`;
        return { data: { file, exists: false, ok: true, problems: [] }, text };
      }
      const { ok, problems, facts } = untrusted ? lookAtStore(file) : checkStore(file);
      const tables = Object.entries(facts.rows);
      const full = tables.filter(([, count]) => count > 0);
      const widest = Math.max(0, ...full.map(([, count]) => String(count).length));
      const rows = full.map(([table, count]) => [table, String(count).padStart(widest)] as const);
      const empty = counted(tables.length - full.length, "empty table");
      const lines = [
        ok ? `The store is sound: ${file}` : `The store is damaged: ${file}`,
        ...problems.map((problem) => `  ${problem}`),
        `  ${formatBytes(facts.sizeBytes)}, ${formatBytes(facts.walBytes)} of it still in the write-ahead file, schema ${facts.version}`,
        ...(full.length > 0 ? ["Rows:", columns(rows)] : []),
        ...(full.length < tables.length ? [`  and ${empty} (--json lists all)`] : []),
        ...(ok ? [] : ["`haversack store restore FILE` restores a backup and keeps this file beside it."]),
      ];
      return { data: { file, exists: true, ok, problems, facts }, text: lines.join("\n"), code: ok ? 0 : 1 };
    },
  }),
  "store backup": defineCommand({
    about: "Writes a complete copy of the store while others keep using it. An existing file is never overwritten.",
    arguments: [{ name: "FILE", about: "where to write the copy", required: true }],
    examples: { "haversack store backup ~/haversack-monday.db": "a copy that `store restore` takes" },
    json: "{file, size_bytes}.",
    run(call) {
      const file = resolve(call.io.cwd, call.arguments[0] ?? "");
      const paths = projectPaths(call.io.cwd, call.io.env);
      requireTrust(paths);
      const { sizeBytes } = backupStore(paths.store, file, placeOfNamed(file, call.io.cwd));
      const shared = sharedPlace({ paths, env: call.io.env });
      if (shared) {
        const how = "`haversack export` or `pg_dump` saves what is there.";
        sayNote(call.io, `the work is at ${shared.shown}: this file has the local copy of it. ${how}`);
      }
      return { data: { file, sizeBytes }, text: `Saved to ${file} (${formatBytes(sizeBytes)}).` };
    },
  }),
  "store restore": defineCommand({
    about: "Checks a backup and restores the store from it. The previous content is kept in a file beside it.",
    arguments: [{ name: "FILE", about: "a file that `store backup` wrote", required: true }],
    examples: { "haversack store restore ~/haversack-monday.db": "names the file that keeps the former content" },
    json: "{restored, kept, way: in-place|moved-aside|new, tables}.",
    run(call) {
      const paths = projectPaths(call.io.cwd, call.io.env);
      const untrusted = distrust(paths);
      const isReplaced = untrusted?.because === "other-file";
      // Restoring is the way back after git has replaced the user's store or put a file beside it.
      if (!isReplaced && untrusted?.because !== "other-log") requireTrust(paths);
      ensureStateFolder(paths);
      const from = resolve(call.io.cwd, call.arguments[0] ?? "");
      const foreign = isReplaced ? "store" : (untrusted?.files ?? []);
      const restored = refuseBad(from, () => restoreStore(paths.store, from, { foreign }));
      if ("text" in restored) return restored;
      const { kept, way, tables } = restored;
      // A damaged store was moved aside, so the store is a new file now.
      if (way !== "in-place") recordStore(paths);
      const shared = sharedPlace({ paths, env: call.io.env });
      if (shared) sayNote(call.io, `the work is at ${shared.shown}, and stays as it is there.`);
      const text = `Restored from ${from}.${kept ? `\nWhat was there before is kept in ${kept}` : ""}`;
      return { data: { restored: paths.store, ...(kept && { kept }), way, tables }, text };
    },
  }),
  "store purge": defineCommand({
    about:
      "Removes sessions that were last seen before a time, with their data, and older snapshots of reviews. Tasks and handoffs are never touched. Without --yes it only counts.",
    options: {
      "older-than": option("AGE", "An age such as 30d, 12h, 8w, or a date such as 2026-09-01. Required.", {
        needs: ", such as --older-than 90d",
      }),
      yes: flag("Really remove them."),
    },
    examples: {
      "haversack store purge --older-than 90d": "counts what would go",
      "haversack store purge --older-than 90d --yes": "removes it",
    },
    json: "{older_than, dry_run, removed: {table: rows}, snapshot_files}.",
    run(call) {
      const olderThan = parseAge(call.options["older-than"], new Date());
      const paths = projectPaths(call.io.cwd, call.io.env);
      requireTrust(paths);
      const limits = { olderThan, dryRun: !call.options.yes };
      const { removed, dryRun } = purgeStore(paths.store, limits);
      const snapshotFiles = purgeSnapshots(paths.state, limits);
      const at = olderThan.toISOString();
      const rows = [...Object.entries(removed), ["files of snapshots", snapshotFiles] as const]
        .filter(([, count]) => count > 0)
        .map(([what, count]) => [what, String(count)] as const);
      const head = `${dryRun ? "Would remove" : "Removed"} what is older than ${at}:`;
      const end = dryRun ? "\nNothing was removed; --yes does it." : "";
      const text = rows.length > 0 ? `${head}\n${columns(rows)}${end}` : `Nothing is older than ${at}.`;
      return { data: { olderThan: at, dryRun, removed, snapshotFiles }, text };
    },
  }),
};

/** A file that is no backup, or a damaged one, is wrong input, not a fault of the store. */
function refuseBad<Result>(from: string, action: () => Result): Result | Refusal {
  try {
    return action();
  } catch (error) {
    const isBad = isFault(error, "store-not-a-database") || isFault(error, "store-corrupt");
    if (!isBad || !error.message.includes(from)) throw error;
    return { text: error.message, hint: error.hint };
  }
}
