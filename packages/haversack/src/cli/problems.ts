/** Problems in users' files, for people: grouped by file, worst first. */
import type { Problem } from "../skills/types.ts";
import type { Io } from "./command.ts";
import { counted, paint } from "./terminal.ts";

const STYLES = { error: "red", warning: "yellow", suggestion: "dim" } as const;
const LEVELS = ["error", "warning", "suggestion"] as const;

export function formatProblems(io: Io, problems: readonly Problem[]): string {
  const line = ({ level, where, text }: Problem) =>
    `  ${paint(io, STYLES[level], level)}: ${where ? `${where}: ` : ""}${text}`;
  return [...Map.groupBy(problems, ({ file }) => file)]
    .flatMap(([file, own]) => [
      file,
      ...own.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level)).map(line),
    ])
    .join("\n");
}

export function countProblems(problems: readonly Problem[]): string {
  return LEVELS.map((level) => counted(problems.filter((problem) => problem.level === level).length, level)).join(", ");
}

/** For commands that only mention the problems; empty when there are none. */
export function mentionProblems(count: number): string {
  return count === 0
    ? ""
    : `; ${counted(count, "problem")}, \`haversack skill check\` shows ${count === 1 ? "it" : "them"}`;
}
