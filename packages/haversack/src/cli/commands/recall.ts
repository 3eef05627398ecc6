import { cleanLine } from "../../base/clean-text.ts";
import { recallOutput } from "../../engine/outputs/kept-outputs.ts";
import { SqliteOutputs } from "../../store/sqlite/outputs/sqlite-outputs.ts";
import {
  type Call,
  type CommandSpec,
  type ExitCode,
  flag,
  jsonLine,
  option,
  print,
  sayNote,
  wholeNumber,
} from "../command.ts";
import { formatAgo, table } from "../print-work.ts";
import { openProject } from "../project.ts";
import { refuse } from "../work.ts";

export const spec: CommandSpec = {
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
  examples: [
    { run: "haversack recall", says: "lists what is kept" },
    { run: "haversack recall K482913 --lines 40-80", says: "these lines, as they were printed" },
    { run: "haversack recall K482913 --find TypeError", says: "where it says so" },
    { run: "haversack recall K482913 --all > output.txt", says: "the whole text" },
  ],
  json: "With HANDLE {handle, source, about, text, next?: {lines}|{chars}}, else [{handle, at, session_id, agent_id, source, lines, chars}].",
};

export function run(call: Call): ExitCode {
  const { io, options, json } = call;
  const { handle: store, config } = openProject(call, { access: "look" });
  const shelf = new SqliteOutputs(store);
  const [handle] = call.arguments;
  if (handle === undefined) return list(call, shelf, { isOn: config["outputs.replace_over"] > 0 });
  const all = options["all"] === true ? { maxChars: Number.MAX_SAFE_INTEGER } : {};
  const most = options["max-chars"] === undefined ? {} : { maxChars: options["max-chars"] as number };
  const found = recallOutput(shelf, handle, {
    lines: options["lines"] as string | undefined,
    chars: options["chars"] as string | undefined,
    find: options["find"] as string | undefined,
    ...most,
    ...all,
  });
  if (found.kind !== "part") return refuse(call, { text: found.text });
  const { source, about, text, next } = found;
  if (json) {
    io.out(jsonLine({ handle: handle.toUpperCase(), source, about, text, ...(next && { next }) }));
    return 0;
  }
  if (text !== "") io.out(text.endsWith("\n") || options["all"] === true ? text : `${text}\n`);
  const [way, range] = Object.entries(next ?? {})[0] ?? [];
  if (next || text === "" || io.isTerminal) sayNote(io, next ? `${about}; the next part: --${way} ${range}` : about);
  return 0;
}

function list(call: Call, shelf: SqliteOutputs, { isOn }: { isOn: boolean }): ExitCode {
  const { io } = call;
  const kept = shelf.list((call.options["limit"] as number | undefined) ?? 20);
  const now = new Date();
  print(call, kept, () =>
    kept.length === 0
      ? `No tool output is kept.${isOn ? "" : " `haversack config set outputs.replace_over 20000`, then `haversack init`, keeps long ones and shows the model a preview."}`
      : table(
          io,
          kept.map(({ handle, at, source, lines, chars }) => [
            { text: handle },
            { text: formatAgo(at, now), style: "dim" as const },
            { text: `${lines} lines, ${chars} characters` },
            { text: cleanLine(source, { maxChars: 80 }) },
          ]),
        ).join("\n"),
  );
  return 0;
}
