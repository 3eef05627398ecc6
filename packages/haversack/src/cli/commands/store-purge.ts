import { HaversackError } from "../../base/errors.ts";
import { purgeSnapshots } from "../../engine/artifacts/purge-snapshots.ts";
import { requireTrust } from "../../engine/open-project.ts";
import { projectPaths } from "../../engine/project.ts";
import { purgeStore } from "../../store/sqlite/maintenance/purge.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { columns } from "../help.ts";

export const spec: CommandSpec = {
  about:
    "Removes sessions that were last heard of before a time, with what hangs on them, and older snapshots of reviews. Work state is not touched. Without --yes it only counts.",
  options: {
    "older-than": {
      type: "string",
      value: "AGE",
      about: "An age such as 30d, 12h, 8w, or a date such as 2026-09-01. Required.",
    },
    yes: { type: "boolean", about: "Really remove them." },
  },
  examples: [
    { run: "haversack store purge --older-than 90d", says: "counts what would go" },
    { run: "haversack store purge --older-than 90d --yes", says: "removes it" },
  ],
  json: "{olderThan, dryRun, removed: {table: rows}, snapshotFiles}.",
};

export function run(call: Call): ExitCode {
  const age = call.options["older-than"] as string | undefined;
  if (!age) throw new HaversackError("usage", "store purge needs --older-than, such as --older-than 90d");
  const olderThan = parseAge(age, new Date());
  const paths = projectPaths(call.io.cwd, call.io.env);
  requireTrust(paths);
  const limits = { olderThan, dryRun: !call.options["yes"] };
  const { removed, dryRun } = purgeStore(paths.store, limits);
  const snapshotFiles = purgeSnapshots(paths.state, limits);
  print(call, { olderThan: olderThan.toISOString(), dryRun, removed, snapshotFiles }, () => {
    const rows = [...Object.entries(removed), ["files of snapshots", snapshotFiles] as const].map(
      ([what, count]): [string, string] => [what, String(count)],
    );
    const head = dryRun ? "Would remove" : "Removed";
    return `${head} what is older than ${olderThan.toISOString()}:\n${columns(rows)}${dryRun ? "\nNothing was removed; --yes does it." : ""}`;
  });
  return 0;
}

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `90d` or a date to the moment it means. */
export function parseAge(text: string, now: Date): Date {
  const [, amount, unit = ""] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  const at = amount
    ? now.getTime() - Number(amount) * (UNIT_MS[unit] ?? 0)
    : /^\d{4}-\d{2}-\d{2}/.test(text)
      ? Date.parse(text)
      : Number.NaN;
  if (Number.isNaN(at) || Number.isNaN(new Date(at).getTime())) {
    throw new HaversackError("usage", `"${text}" is no age: write 30m, 12h, 90d, 8w or a date such as 2026-09-01`);
  }
  return new Date(at);
}
