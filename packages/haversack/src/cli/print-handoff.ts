/** Handoffs for people. */
import { cleanLine, stripControl } from "../base/clean-text.ts";
import type { Handoff } from "../work/handoff.ts";
import type { Io } from "./command.ts";
import { block, type Cell, fields, formatAgo } from "./print-work.ts";
import { paint } from "./terminal.ts";

export function formatHandoff(io: Io, handoff: Handoff, now: Date): string {
  const { id, taskId, role, attempt, status, summary, filesChanged, detailsChars, actor, createdAt } = handoff;
  const { style, text } = verdictCell(status);
  return [
    `${id}  ${style ? paint(io, style, text) : text} for ${taskId}`,
    ...fields(io, [
      ["role", `${cleanLine(role)}, attempt ${attempt}`],
      ["by", `${cleanLine(actor)}, ${formatAgo(createdAt, now)}`],
      ["files", handoff.state === "archived" ? "" : filesChanged.map((file) => cleanLine(file)).join(", ")],
      ["details", detailsChars > 0 ? `${detailsChars} characters${STATE[handoff.state]}` : undefined],
    ]),
    // What is in the archive is shown once it is back.
    ...(handoff.state === "archived" ? [] : ["", block(stripControl(summary).trimEnd())]),
  ].join("\n");
}

const STATE: Record<Handoff["state"], string> = {
  whole: "",
  compacted: ", in the archive",
  archived: ", in the archive",
};

export function verdictCell(status: Handoff["status"]): Cell {
  return { text: status, style: status === "PASS" ? "green" : "red" };
}
