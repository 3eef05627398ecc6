/** The CLI's entry point: finds the command, runs it, and translates faults into one line and an exit code. */
import type { CompiledFile } from "../base/compiled-code.ts";
import { errorText, HaversackError, isFault } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";
import {
  type Command,
  type CommandEntry,
  type ExitCode,
  exitOf,
  type Io,
  jsonLine,
  sayError,
  sayNote,
} from "./command.ts";
import { formatAll, formatCommandHelp, formatFamily, formatOverview, formatUsage } from "./help.ts";
import { parseCall } from "./parse.ts";
import { COMMANDS, findCommand, namesOf, OLD_NAMES } from "./table.ts";
import { processIo, wrapColumns, wrapLines } from "./terminal.ts";

export async function main(): Promise<void> {
  let io: Io;
  try {
    io = processIo();
  } catch (error) {
    if (!isFault(error)) throw error;
    process.stderr.write(`haversack: error: ${error.message}\nhaversack: hint: ${error.hint}\n`);
    process.exitCode = exitOf(error.code);
    return;
  }
  process.exitCode = await runCli(process.argv.slice(2), io);
}

/** Saves compiled code for the next start: see base/compiled-code.ts. */
export async function keep(files: readonly CompiledFile[], outcome: string): Promise<void> {
  const { keepCompiled } = await import("../base/compiled-folder.ts");
  keepCompiled(files, outcome);
}

export async function runCli(words: readonly string[], given: Io): Promise<ExitCode> {
  const ends: (() => Promise<unknown>)[] = [];
  const io: Io = {
    ...given,
    err: (text) => given.err(wrapLines(text, given.errorWidth?.())),
    atEnd: (action) => void ends.push(action),
  };
  try {
    return await dispatch(words, io);
  } catch (error) {
    if (isFault(error)) return sayFault(io, error);
    sayError(io, `internal fault: ${errorText(error)}`, "HAVERSACK_DEBUG=1 shows where");
    if (io.env["HAVERSACK_DEBUG"] && error instanceof Error) io.err(`${error.stack}\n`);
    return 3;
  } finally {
    for (const end of ends) await end();
  }
}

function sayFault(io: Io, { message, hint, code }: HaversackError): ExitCode {
  sayError(io, message, hint);
  return exitOf(code);
}

async function dispatch(words: readonly string[], io: Io): Promise<ExitCode> {
  const [first, second] = words;
  if (first === undefined || words.every((word) => word === "--json"))
    return runCommand("", (await import("./commands/start.ts")).command, words, io);
  if (first === "--help" || first === "-h" || first === "help") return showHelp(words.slice(1), io);
  if (["--version", "-V", "-v", "version"].includes(first)) return show(`${__VERSION__}\n`, io);
  const found = findTyped(words);
  if (found) return runCommand(found.name, await loadCommand(found), words.slice(found.length), io, found.entry);

  const old = [`${first} ${second}`, first].find((name) => Object.hasOwn(OLD_NAMES, name));
  if (old === undefined) return unknownCommand(words, io);
  const { now, words: rewrite } = OLD_NAMES[old]!;
  // A script that reads JSON might take a note on standard error for a problem.
  if (!words.includes("--json")) sayNote(io, `\`haversack ${old}\` is now \`haversack ${now}\``);
  const rest = words.slice(old.split(" ").length);
  return dispatch(rewrite ? rewrite(rest) : [...now.split(" "), ...rest], io);
}

/** `haversack help`, `help all`, `help FAMILY` and `help COMMAND`. With --json: a list of commands. */
function showHelp(words: readonly string[], io: Io): Promise<ExitCode> | ExitCode {
  const topic = words.filter((word) => word !== "--json");
  const [family] = topic;
  const isAll = topic.length === 0 || (family === "all" && topic.length === 1);
  if (!isAll && !(isFamily(family) && topic.length === 1)) return dispatch([...topic, "--help"], io);
  if (topic.length < words.length) {
    const commands = COMMANDS.flatMap((entry) =>
      namesOf(entry).map((name) => ({ name, summary: entry.summary, group: entry.group })),
    );
    io.out(jsonLine(isAll ? commands : commands.filter(({ name }) => name.startsWith(`${family} `))));
    return 0;
  }
  if (!isAll) return show(formatFamily(family!, COMMANDS), io);
  return show(family === "all" ? formatAll(COMMANDS) : formatOverview(COMMANDS), io);
}

interface Typed {
  entry: CommandEntry;
  /** The full name of what was typed. */
  name: string;
  /** How many words the name has. */
  length: number;
}

/** The longest command name at the start of the words: `config set` before `config`. */
function findTyped(words: readonly string[]): Typed | undefined {
  for (const length of [2, 1]) {
    const typed = words.slice(0, length).join(" ");
    const found = findCommand(typed);
    // The two words may be an old name: `wip` must not take its former verb for a task.
    if (found && !(length === 1 && Object.hasOwn(OLD_NAMES, words.slice(0, 2).join(" ")))) return { ...found, length };
  }
  return undefined;
}

async function runCommand(
  name: string,
  { spec, run }: Command,
  words: readonly string[],
  io: Io,
  entry?: CommandEntry,
): Promise<ExitCode> {
  const parsed = parseCall(words, spec);
  if (parsed.kind === "help") return show(formatCommandHelp(name, spec, entry?.short), io);
  if (parsed.kind === "usage") {
    sayError(io, `${name}: ${parsed.text}`, `usage: ${formatUsage(name, spec)}`);
    return 2;
  }
  const own: Io = { ...io, helpHint: `\`haversack ${name} --help\` shows options and examples` };
  try {
    return await run({ ...parsed, name, io: own });
  } catch (error) {
    if (isFault(error)) return sayFault(own, error);
    throw error;
  }
}

/** A client's plugin contains only the commands that the client calls. */
async function loadCommand({ entry, name }: Typed): Promise<Command> {
  try {
    return await entry.load(name);
  } catch (error) {
    if (!(error instanceof Error) || !/^(?:Cannot find module|ENOENT).*\bcommand-[\w-]+\.cjs'/.test(error.message))
      throw error;
    throw new HaversackError("usage", `a client's plugin has no "${name}"`, {
      hint: "install the npm package haversack for all commands",
    });
  }
}

function show(text: string, io: Io): ExitCode {
  io.out(wrapColumns(text, io.width));
  return 0;
}

function isFamily(word: string | undefined): boolean {
  return COMMANDS.some((entry) => namesOf(entry).some((name) => name.startsWith(`${word} `)));
}

/** What other programs call it. */
const USUAL_NAMES: Readonly<Record<string, readonly string[]>> = {
  add: ["create", "new"],
  new: ["create", "add"],
  create: ["add", "new"],
  ls: ["list"],
  rm: ["rm", "archive"],
  remove: ["rm", "archive"],
  delete: ["rm", "archive"],
  del: ["rm", "archive"],
  edit: ["update"],
  set: ["update"],
  close: ["done"],
  finish: ["done"],
  get: ["show"],
  view: ["show"],
  install: ["init"],
  setup: ["init"],
  ps: ["top"],
};

function unknownCommand(words: readonly string[], io: Io): ExitCode {
  const [first = "", second] = words;
  const names = COMMANDS.flatMap(namesOf);
  if (isFamily(first)) {
    if (second === "--help" || second === "-h") return show(formatFamily(first, COMMANDS), io);
    if (second === undefined) {
      sayError(io, `${first} needs a command`, "type one of these");
      io.err(`\n${formatFamily(first, COMMANDS)}`);
      return 2;
    }
    const verbs = names.filter((name) => name.startsWith(`${first} `)).map((name) => name.slice(first.length + 1));
    const [guess] = [...(USUAL_NAMES[second] ?? []).filter((name) => verbs.includes(name)), ...nearest(second, verbs)];
    sayError(
      io,
      `unknown command "${first} ${second}"`,
      guess ? `did you mean \`haversack ${first} ${guess}\`?` : `\`haversack ${first}\` has ${verbs.join(", ")}`,
    );
    return 2;
  }
  const typed = second && !second.startsWith("-") ? `${first} ${second}` : first;
  const usual = (USUAL_NAMES[first] ?? [])
    .flatMap((name) => [`task ${name}`, name])
    .filter((name) => names.includes(name));
  const [guess] = [
    ...usual,
    // `list` suggests `task list`; else the first family in the table that has the word.
    ...[`task ${first}`, ...names].filter((name) => name.endsWith(` ${first}`) && names.includes(name)).slice(0, 1),
    ...nearest(first, [...new Set(["help", "version", ...names.map((name) => name.split(" ")[0] ?? name)])]),
    ...nearest(typed, names),
  ];
  const hint = guess ? `did you mean \`haversack ${guess}\`?` : "`haversack help` lists the commands";
  sayError(io, `unknown ${first.startsWith("-") ? "option" : "command"} "${first}"`, hint);
  return 2;
}
