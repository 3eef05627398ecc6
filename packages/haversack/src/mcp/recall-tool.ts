/** `recall`: a part of a tool output that was kept outside the window. */
import { formatRecalled, recallOutput } from "../engine/outputs/kept-outputs.ts";
import { outputsOf } from "../engine/outputs/project-outputs.ts";
import { reads, type Tool } from "./tool.ts";

/** About 10,000 tokens. */
const MOST_CHARS = 40_000;

export const recallTool: Tool = reads(
  "recall",
  "Part of a kept tool output.",
  {
    takes: {
      handle: { type: "string" },
      lines: { type: "string", description: "40-80" },
      find: { type: "string" },
    },
    required: ["handle"],
    unlisted: { chars: { type: "string" }, max_chars: { type: "integer", minimum: 100 } },
    set: "outputs",
  },
  ({ handle, lines, chars, find, maxChars }, { handle: store }) => {
    const most = maxChars === undefined ? {} : { maxChars: Math.min(maxChars, MOST_CHARS) };
    const found = recallOutput(outputsOf(store), handle, { lines, chars, find, ...most });
    return found.kind === "part" ? { text: formatRecalled(found, handle) } : { text: found.text, isError: true };
  },
);
