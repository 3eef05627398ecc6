/** WIP for people: what every window is told, and behind it the fields that agents have added of their own. */
import { cleanLine, stripControl } from "../base/clean-text.ts";
import { formatWip } from "../work/wip/wip.ts";

/** Shown by `formatWip`, or of no use to a reader. */
const SAID = new Set([
  "context",
  "phase",
  "worktree",
  "plan",
  "files_modified",
  "uncommitted_files",
  "uncommitted_changes",
  "last_commit",
  "test_results",
  "errors",
  "decisions",
  "next_step",
  "updated_at",
]);

export function wipLines(wip: Readonly<Record<string, unknown>>): string[] {
  const others = Object.entries(wip).filter(([field]) => !SAID.has(field));
  return [
    // Without its heading: the caller has one.
    ...stripControl(formatWip(wip)).split("\n").slice(1),
    ...others.map(([field, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return `- ${cleanLine(field, { maxChars: 60 })}: ${cleanLine(text, { maxChars: 600 })}`;
    }),
  ];
}
