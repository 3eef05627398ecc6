import { cleanLine } from "../../base/clean-text.ts";
import { recallOutput } from "../../engine/outputs/kept-outputs.ts";
import { SqliteOutputs } from "../../store/sqlite/outputs/sqlite-outputs.ts";
import { defineCommand, flag, type Io, type Output, option, sayNote, wholeNumber } from "../command.ts";
import { dim, formatAgo, table } from "../print-work.ts";
import { openProject } from "../project.ts";

export const command = defineCommand({
  about:
    "Prints a part of a tool output that was kept outside the window (see the setting outputs.replace_over). Without HANDLE it lists what is kept.",
  arguments: [{ name: "HANDLE", about: "the handle in the preview, such as K482913" }],
  options: {
    lines: option("A-B", "These lines, counted from 1; -20 for the last twenty."),
    chars: option("A-B", "These characters."),
    find: option("TEXT", "The lines that contain this text, with the lines around them."),
    "max-chars": wholeNumber("N", "The most to print (default 8,000)."),
    all: flag("Print all of it."),
    limit: wholeNumber("N", "How many to list (default 20)."),
  },
  examples: {
    "haversack recall": "lists what is kept",
    "haversack recall K482913 --lines 40-80": "these lines, as they were printed",
    "haversack recall K482913 --find TypeError": "where it says so",
    "haversack recall K482913 --all > output.txt": "the whole text",
  },
  json: "With HANDLE {handle, source, about, text, next?: {lines}|{chars}}, else [{handle, at, session_id, agent_id, source, lines, chars}].",
  run(call) {
    const { io, options, json } = call;
    const { handle: store, config } = openProject(call, { access: "look" });
    const shelf = new SqliteOutputs(store);
    const [handle] = call.arguments;
    if (handle === undefined)
      return list(io, shelf.list(options.limit ?? 20), { isOn: config["outputs.replace_over"] > 0 });
    const { lines, chars, find, all: isWhole, "max-chars": most } = options;
    const maxChars = isWhole ? Number.MAX_SAFE_INTEGER : most;
    const found = recallOutput(shelf, handle, { lines, chars, find, ...(maxChars !== undefined && { maxChars }) });
    if (found.kind !== "part") return { text: found.text };
    const { source, about, text, next } = found;
    const data = { handle: handle.toUpperCase(), source, about, text, ...(next && { next }) };
    const [way, range] = Object.entries(next ?? {})[0] ?? [];
    const isNoted = !json && (next || text === "" || io.isTerminal);
    const notes = isNoted ? [next ? `${about}; the next part: --${way} ${range}` : about] : [];
    if (json || !isWhole) return { data, text, isVerbatim: true, notes };
    // To the byte: what is redirected into a file must be the whole output and nothing else.
    io.out(text);
    sayNote(io, ...notes);
    return 0;
  },
});

function list(io: Io, kept: ReturnType<SqliteOutputs["list"]>, { isOn }: { isOn: boolean }): Output {
  const now = new Date();
  const rows = kept.map(({ handle, at, source, lines, chars }) => [
    handle,
    dim(formatAgo(at, now)),
    `${lines} lines, ${chars} characters`,
    cleanLine(source, { maxChars: 80 }),
  ]);
  const how = isOn
    ? ""
    : " `haversack config set outputs.replace_over 20000`, then `haversack init`, keeps long ones and shows the model a preview.";
  return { data: kept, text: table(io, rows).join("\n") || `No tool output is kept.${how}` };
}
