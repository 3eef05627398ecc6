/** WIP as a few lines for a model or a person; empty when there is nothing to go on from. Loaded by the hook. */

type Fields = Record<string, unknown>;

export function formatWip(wip: Fields): string {
  const tests = object(wip["test_results"]);
  const plan = object(wip["plan"]);
  const lines = [
    line("Doing", wip["context"]),
    line("Phase", wip["phase"]),
    line("Plan", formatPlan(plan)),
    line("Worktree", wip["worktree"]),
    line("Files changed", list(wip["files_modified"], 15)),
    line("Not committed", list(wip["uncommitted_files"], 15)),
    line("Last commit", wip["last_commit"]),
    line("Tests", formatTests(tests)),
    line("Errors", list(wip["errors"], 3)),
    line("Decided", list(wip["decisions"], 8)),
    line("Next", wip["next_step"]),
  ].filter(Boolean);
  return lines.length === 0 ? "" : ["## Work in progress", ...lines].join("\n");
}

function line(label: string, value: unknown): string {
  const shown = typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "";
  return shown ? `- ${label}: ${shown.slice(0, 600)}` : "";
}

function formatPlan({ done, total, current }: Fields): string {
  if (typeof total !== "number") return "";
  return `${done ?? 0} of ${total} steps done${typeof current === "string" ? `; now: ${current}` : ""}`;
}

/** Agents leave `ran` out; only a plain no says that nothing ran. */
function formatTests({ ran, passed, failed, failing_test: failing, command }: Fields): string {
  const isSaid = [passed, failed].some((value) => typeof value === "number") || typeof failing === "string";
  if (ran === false || (!ran && !isSaid && typeof command !== "string")) return "";
  const count = (value: unknown, word: string) => (typeof value === "number" ? [`${value} ${word}`] : []);
  const counts = [...count(passed, "passed"), ...count(failed, "failed")];
  const name = typeof failing === "string" ? [`failing: ${failing}`] : [];
  return [...(counts.length > 0 ? counts : ["ran"]), ...name].join(", ");
}

/** Texts as they are; of objects, what a reader needs. */
function list(value: unknown, most: number): string {
  if (!Array.isArray(value)) return "";
  const texts = value.flatMap((entry) => {
    if (typeof entry === "string") return [entry];
    const { decision, reason, type, file, message } = object(entry);
    if (typeof decision === "string") return [typeof reason === "string" ? `${decision} (${reason})` : decision];
    return typeof message === "string"
      ? [[type, file, message].filter((part) => typeof part === "string").join(": ")]
      : [];
  });
  // The newest stand last, and they matter most.
  const shown = texts.slice(-most);
  const more = texts.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function object(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
