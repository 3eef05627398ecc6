/** Problems in users' files, for people: grouped by file, worst first. */
import type { Problem } from "../skills/types.ts";
import type { Io } from "./command.ts";
import { paint } from "./terminal.ts";

const ORDER: Record<Problem["level"], number> = { error: 0, warning: 1, suggestion: 2 };

export function formatProblems(io: Io, problems: readonly Problem[]): string {
  const files = new Map<string, Problem[]>();
  for (const problem of problems) files.set(problem.file, [...(files.get(problem.file) ?? []), problem]);
  return [...files]
    .map(([file, own]) => {
      const lines = own
        .sort((a, b) => ORDER[a.level] - ORDER[b.level])
        .map(
          ({ level, where, text }) =>
            `  ${paint(io, level === "error" ? "red" : level === "warning" ? "yellow" : "dim", level)}: ${where ? `${where}: ` : ""}${text}`,
        );
      return [file, ...lines].join("\n");
    })
    .join("\n");
}

export function countProblems(problems: readonly Problem[]): string {
  const count = (level: Problem["level"]) => problems.filter((problem) => problem.level === level).length;
  const parts = (["error", "warning", "suggestion"] as const).map((level) => {
    const found = count(level);
    return `${found} ${level}${found === 1 ? "" : "s"}`;
  });
  return parts.join(", ");
}

/** For commands that only mention the problems; empty when there are none. */
export function mentionProblems(count: number): string {
  return count === 0
    ? ""
    : `; ${count} ${count === 1 ? "problem" : "problems"}, \`haversack skill check\` shows ${count === 1 ? "it" : "them"}`;
}
