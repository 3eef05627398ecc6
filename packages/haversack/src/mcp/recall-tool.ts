/** `recall`: a part of a tool output that was kept outside the window. */
import { formatRecalled, recallOutput } from "../engine/outputs/kept-outputs.ts";
import { outputsOf } from "../engine/outputs/project-outputs.ts";
import { type Tool, toolMaker } from "./tool.ts";
import { hidden } from "./tool-input.ts";
import { ID, TEXT } from "./work-answer.ts";

/** About 10,000 tokens. */
const MOST_CHARS = 40_000;

const recalls = toolMaker("read", { readOnlyHint: true }, "outputs");

export const recallTool: Tool = recalls(
  "recall",
  "Part of a kept tool output.",
  {
    ...{ handle: ID, lines: { type: "string", description: "40-80" }, find: TEXT },
    ...{ chars: hidden(TEXT), max_chars: hidden({ type: "integer", minimum: 100 }) },
  },
  ({ handle, maxChars, ...range }, { handle: store }) => {
    const most = maxChars === undefined ? {} : { maxChars: Math.min(maxChars, MOST_CHARS) };
    const found = recallOutput(outputsOf(store), handle, { ...range, ...most });
    return found.kind === "part" ? { text: formatRecalled(found, handle) } : found;
  },
);
