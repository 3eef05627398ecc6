/** The CLI's edge: finds the command, runs it, and translates faults into one line and an exit code. */
import { errorText, type FaultCode, HaversackError, isFault } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";
import type { Command, CommandEntry, ExitCode, Io } from "./command.ts";
import { formatCommandHelp, formatFirstScreen, formatGroup, formatOverview, formatUsage } from "./help.ts";
import { parseCall } from "./parse.ts";
import { COMMANDS } from "./table.ts";
import { processIo } from "./terminal.ts";
import { wrapColumns, wrapLines } from "./wrap-text.ts";

export async function main(): Promise<void> {
  process.exitCode = await runCli(process.argv.slice(2), processIo());
}

export async function runCli(words: readonly string[], given: Io): Promise<ExitCode> {
  const io: Io = { ...given, err: (text) => given.err(wrapLines(text, given.errorWidth?.())) };
  try {
    return await dispatch(words, io);
  } catch (error) {
    if (isFault(error)) {
      io.err(`haversack: ${error.message}${error.hint ? ` (${error.hint})` : ""}\n`);
      return EXIT_OF[error.code] ?? 3;
    }
    const trace = io.env["HAVERSACK_DEBUG"] && error instanceof Error ? `${error.stack}\n` : "";
    io.err(`haversack: internal fault: ${errorText(error)} (HAVERSACK_DEBUG=1 shows where)\n${trace}`);
    return 3;
  }
}

/** What is no fault of the machine's. A store that is not accepted is a refusal: `haversack trust` lifts it. */
const EXIT_OF: Partial<Record<FaultCode, ExitCode>> = {
  usage: 2,
  "not-found": 1,
  refused: 1,
  "no-project": 1,
  "store-untrusted": 1,
};

async function dispatch(words: readonly string[], io: Io): Promise<ExitCode> {
  const [first] = words;
  if (first === undefined) {
    io.out(wrapColumns(formatFirstScreen(COMMANDS), io.width));
    return 0;
  }
  if (first === "--help" || first === "-h" || first === "help") {
    return words[1] && first === "help" ? dispatch([...words.slice(1), "--help"], io) : overview(io);
  }
  if (first === "--version" || first === "-V" || first === "version") {
    io.out(`${__VERSION__}\n`);
    return 0;
  }
  const entry = findCommand(words);
  if (!entry) return unknownCommand(words, io);

  const command = await loadCommand(entry);
  const parsed = parseCall(words.slice(entry.name.split(" ").length), command.spec);
  if (parsed.kind === "help") {
    io.out(wrapColumns(formatCommandHelp(entry.name, command.spec), io.width));
    return 0;
  }
  if (parsed.kind === "usage") {
    io.err(`haversack ${entry.name}: ${parsed.text}\nUsage: ${formatUsage(entry.name, command.spec)}\n`);
    return 2;
  }
  return command.run({ ...parsed, io });
}

/** A client's plugin has the commands that the client calls, and no others. */
async function loadCommand({ name, load }: CommandEntry): Promise<Command> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !/Cannot find module '\.\.?\/commands\//.test(error.message)) throw error;
    throw new HaversackError("usage", `a client's plugin has no "${name}"`, {
      hint: "install the npm package haversack for all commands",
    });
  }
}

/** The longest name that the words begin with: `store check` before `store`. */
function findCommand(words: readonly string[]): CommandEntry | undefined {
  const two = `${words[0]} ${words[1]}`;
  return COMMANDS.find(({ name }) => name === two) ?? COMMANDS.find(({ name }) => name === words[0]);
}

function overview(io: Io): ExitCode {
  io.out(wrapColumns(formatOverview(COMMANDS), io.width));
  return 0;
}

function unknownCommand(words: readonly string[], io: Io): ExitCode {
  const [first = "", second] = words;
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0) {
    if (second === undefined || second === "--help" || second === "-h") {
      io[second ? "out" : "err"](wrapColumns(formatGroup(first, group), io.width));
      return second ? 0 : 2;
    }
    const [guess] = nearest(
      second,
      group.map(({ name }) => name.slice(first.length + 1)),
    );
    const known = `it has ${group.map(({ name }) => name.slice(first.length + 1)).join(", ")}`;
    io.err(`haversack ${first}: unknown command "${second}"; ${guess ? `did you mean "${first} ${guess}"?` : known}\n`);
    return 2;
  }
  const typed = second && !second.startsWith("-") ? `${first} ${second}` : first;
  const names = COMMANDS.map(({ name }) => name);
  const [guess] = [
    // `done` for `task done`: the first family in the table that has it.
    ...names.filter((name) => name.endsWith(` ${first}`)).slice(0, 1),
    ...nearest(first, [...new Set(names.map((name) => name.split(" ")[0] ?? name))]),
    ...nearest(typed, names),
  ];
  const advice = guess ? `did you mean "${guess}"?` : "`haversack help` lists the commands";
  io.err(`haversack: unknown ${first.startsWith("-") ? "option" : "command"} "${first}"; ${advice}\n`);
  return 2;
}
