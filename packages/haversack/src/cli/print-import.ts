/** What an import did, for people and as data. */
import { cleanLine } from "../base/clean-text.ts";
import type { ImportReport } from "../store/work-records.ts";
import { present } from "../work/task-view.ts";
import type { Io } from "./command.ts";
import { paint } from "./terminal.ts";

/** Of each kind of line; `--json` has all. */
const MOST = 20;

/** Absent means empty. */
export function importData({ added, same, ...lists }: ImportReport, isDryRun: boolean): object {
  const counts = Object.fromEntries(Object.entries(added).filter(([, count]) => count > 0));
  return present({ dry_run: isDryRun || undefined, added: counts, same, ...lists });
}

export function formatImport(io: Io, report: ImportReport, isDryRun: boolean): string {
  const { added, same, updated, kept, renamed, recognized, problems } = report;
  const counts = Object.entries(added).filter(([, count]) => count > 0);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const parts = counts.map(([kind, count]) => `${count} ${(count === 1 ? kind : plural(kind)).replace("_", " ")}`);
  return [
    total > 0 ? `${isDryRun ? "Would add" : "Added"} ${parts.join(", ")}.` : "Nothing new.",
    ...(same > 0 ? [`${same} ${same === 1 ? "is" : "are"} there already.`] : []),
    ...some(
      isDryRun ? "Would update, being newer in the import:" : "Updated, being newer in the import:",
      updated.map(({ id, fields }) => `${id}: ${fields.join(", ")}`),
    ),
    ...some(
      "Kept, being newer here:",
      kept.map(({ id, fields }) => `${id}: ${fields.join(", ")}`),
    ),
    ...some(
      "Renamed, because something else has the id:",
      renamed.map(({ from, to }) => (isDryRun ? `${from} gets a new id` : `${from} is now ${to}`)),
    ),
    ...some(
      "Already here under another id:",
      recognized.map(({ from, to }) => `${from} is ${to}`),
    ),
    ...formatImportProblems(io, problems),
    ...dryRunLine(isDryRun),
  ].join("\n");
}

export function formatImportProblems(io: Io, problems: ImportReport["problems"]): string[] {
  return some(
    paint(io, "yellow", problems.length === 1 ? "1 problem:" : `${problems.length} problems:`),
    problems.map(({ where, text }) => `${cleanLine(where)}: ${cleanLine(text, { maxChars: 500 })}`),
  );
}

export function dryRunLine(isDryRun: boolean): string[] {
  return isDryRun ? ["Nothing was changed: this was a dry run."] : [];
}

/** A heading and its lines, or nothing. */
export function some(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MOST ? [`  and ${lines.length - MOST} more; --json has all`] : [];
  return [heading, ...lines.slice(0, MOST).map((line) => `  ${line}`), ...more];
}

function plural(kind: string): string {
  if (kind === "activity") return "lines of activity";
  return kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}
