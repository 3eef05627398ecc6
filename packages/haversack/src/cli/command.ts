/** The definition of a command: what it runs, and its spec, the source of help, completion, the reference page and "did you mean". */
import { type FaultCode, isFault } from "../base/errors.ts";
import type { Environment } from "../engine/project.ts";
import { wrapColumns } from "./terminal.ts";

export interface OptionSpec {
  type: "string" | "boolean" | "integer" | "number";
  about: string;
  short?: string;
  /** The name of the value in help: `FILE`, `N`. */
  value?: string;
  choices?: readonly string[];
  /** May be given more than once; the value is then a list. */
  repeat?: boolean;
  minimum?: number;
  maximum?: number;
}

/** An option with a value: what help calls the value, and what the option is for. */
export function option(value: string, about: string, more: Partial<OptionSpec> = {}): OptionSpec {
  return { type: "string", value, about, ...more };
}

/** An option that takes a whole number from 1 on. */
export function wholeNumber(value: string, about: string, more: Partial<OptionSpec> = {}): OptionSpec {
  return { type: "integer", value, minimum: 1, about, ...more };
}

/** An option without a value. */
export function flag(about: string): OptionSpec {
  return { type: "boolean", about };
}

export interface ArgumentSpec {
  name: string;
  about: string;
  required?: boolean;
  /** Takes all the remaining words. */
  many?: boolean;
  /** Allowed values, for shell completion. The command itself checks them. */
  choices?: readonly string[];
}

export interface CommandSpec {
  /** A sentence or two below the usage line. */
  about: string;
  arguments?: readonly ArgumentSpec[];
  options?: Readonly<Record<string, OptionSpec>>;
  /** Words after `--`, passed to another program unchanged. Absent: such words are arguments. */
  rest?: ArgumentSpec;
  examples: readonly { run: string; says: string }[];
  /** The keys that `--json` prints. */
  json: string;
  /** Options of earlier versions, with their present names. */
  oldOptions?: Readonly<Record<string, string>>;
}

export type OptionValue = string | boolean | number | string[] | undefined;

export interface Io {
  env: Environment;
  cwd: string;
  isTerminal: boolean;
  /** Whether colours may be used on standard output. */
  isColour: boolean;
  /** Characters per line of the terminal; absent when the output is not a terminal. */
  width?: number;
  /** The same for standard error; called when something is written there. */
  errorWidth?(): number | undefined;
  out(text: string): void;
  err(text: string): void;
  /** False once the reader of standard output has gone: a command that only watches can end. Absent: always true. */
  hasReader?(): boolean;
  /** The command's own Io, if this one is for one of several ids. Warnings are printed once per command. */
  whole?: Io;
  /** The hint of an error that has none of its own: how to see the help of the command that runs. */
  helpHint?: string;
  /** Shows a text that is longer than the screen in the user's pager. Absent: there is no terminal. */
  page?(text: string): Promise<void>;
  readStdin(): Promise<string>;
  /** Runs when the command has ended. Absent: the process ends with it. */
  atEnd?(action: () => Promise<unknown>): void;
}

export interface Call {
  /** The command's full name: `task done`. */
  name: string;
  arguments: readonly string[];
  /** The words after `--`, if the command passes them on. */
  rest?: readonly string[];
  options: Readonly<Record<string, OptionValue>>;
  json: boolean;
  io: Io;
}

/** See EXIT_CODES in help.ts. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface Command {
  spec: CommandSpec;
  run(call: Call): Promise<ExitCode> | ExitCode;
}

export interface CommandEntry {
  /** The words typed: `store check`. `task done|review` stands for two commands that differ by this word. */
  name: string;
  summary: string;
  /** The heading in `haversack help`. */
  group: string;
  /** A form without the family name: `next` for `task next`. */
  short?: string;
  /** The family name alone runs this command: `config` is `config list`. */
  isDefault?: boolean;
  /** `name`: one of the entry's names. */
  load(name: string): Promise<Command>;
}

/**
 * Prints data: one JSON document with `--json`, else text for people, wrapped to the terminal's width.
 * `isVerbatim`: the text is for a model or a file, so its lines stay as they are.
 */
export function print(call: Call, data: unknown, text: () => string, { isVerbatim = false } = {}): void {
  const { io, json } = call;
  const shown = json ? jsonLine(data) : isVerbatim ? text() : wrapColumns(text(), io.width);
  if (shown !== "") io.out(shown.endsWith("\n") ? shown : `${shown}\n`);
}

/** Text for people that comes before the data, such as a plan that the user is asked about. */
export function say(io: Pick<Io, "out" | "width">, text: string): void {
  io.out(`${wrapColumns(text, io.width)}\n`);
}

/** Converts keys to snake_case. */
export function jsonLine(data: unknown): string {
  return `${JSON.stringify(snakeKeys(data))}\n`;
}

/** Names below these keys come from the user or a table and stay as they are. */
const NAMES_OF_OTHERS = new Set(["wip", "before", "after", "data", "value", "default", "sources", "rows"]);

function snakeKeys(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(snakeKeys);
  if (typeof data !== "object" || data === null || data instanceof Date) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      NAMES_OF_OTHERS.has(key) ? value : snakeKeys(value),
    ]),
  );
}

/** The exit code of a fault. An untrusted store is a refusal, because `haversack trust` lifts it; what is not listed is the machine's. */
export function exitOf(code: FaultCode): ExitCode {
  return EXIT_OF[code] ?? 3;
}

const EXIT_OF: Partial<Record<FaultCode, ExitCode>> = {
  usage: 2,
  "input-invalid": 2,
  "config-invalid": 1,
  "not-found": 1,
  refused: 1,
  "no-project": 1,
  "store-untrusted": 1,
};

/**
 * Prints the error and, on its own line, a hint what to do about it. A text may end with its own: `there is no skill "pfd"; did you mean
 * pdf?`, or with a command to type.
 */
export function sayError(io: Pick<Io, "err" | "helpHint">, text: string, hint?: string): void {
  const [, error = text, guess] = /^(.*?); (did you mean .*\?|`(?:haversack |--).*)$/s.exec(text) ?? [];
  const help = guess ?? hint ?? io.helpHint;
  // Agents read the same text as a sentence.
  io.err(`haversack: error: ${error.replace(/(?<=[^.])\.$/, "")}\n${help ? `haversack: hint: ${help}\n` : ""}`);
}

/** Prints one line each. Notes are about the output, not part of it. */
export function sayNote(io: Pick<Io, "err">, ...lines: readonly string[]): void {
  for (const line of lines) io.err(`haversack: note: ${line}\n`);
}

export function sayWarning(io: Pick<Io, "err">, text: string): void {
  io.err(`haversack: warning: ${text}\n`);
}

// Commands that take several ids: one outcome each, and the exit code of the worst.

/** What `--json` prints of a command that takes several ids. */
export function several(one: string): string {
  return `${one}. Several: a list of these, with {id, error} for what failed.`;
}

/** The result for one id: for scripts and for people. */
export interface TaskResult {
  kind: "done";
  view: object;
  text: string;
}

/**
 * One id after the other. If one of several fails, it is reported, the others are still done, and the exit code is that of the worst. A fault
 * that has nothing to do with the id, such as a store that cannot be written, ends the command.
 * `isBlock`: the text of each is long, so an empty line separates them.
 */
export async function eachTask(
  call: Call,
  taskIds: readonly string[],
  act: (taskId: string) => Promise<TaskResult | { kind: string; text: string }>,
  { isBlock = false } = {},
): Promise<ExitCode> {
  const { io, json } = call;
  const ids = [...new Set(taskIds)];
  const views: object[] = [];
  let worst: ExitCode = 0;
  for (const id of ids) {
    const result = ids.length === 1 ? await act(id) : await act(id).catch(asFailure);
    if (isDone(result)) {
      if (!json) io.out(`${isBlock && views.length > 0 ? "\n" : ""}${wrapColumns(result.text, io.width)}\n`);
      views.push(result.view);
      continue;
    }
    worst = worse(worst, "code" in result ? (result.code as ExitCode) : 1);
    views.push({ id, error: result.text });
    sayError(io, result.text, "hint" in result ? (result.hint as string | undefined) : undefined);
  }
  if (json && ids.length > 1) io.out(jsonLine(views));
  else if (json && worst === 0) io.out(jsonLine(views[0]));
  return worst;
}

function worse(one: ExitCode, other: ExitCode): ExitCode {
  return one > other ? one : other;
}

interface EachOptions {
  /** The ids among the arguments (default: all). */
  idsOf?(words: readonly string[]): readonly string[];
  /** The arguments of the call for one id (default: the id alone). */
  wordsFor?(id: string, words: readonly string[]): string[];
  /** `--json` prints a list: those of several ids are joined. */
  isList?: boolean;
  /** The text of each is long, so an empty line separates them (default). */
  isBlock?: boolean;
}

/**
 * Lets a command that handles one id take several: it runs once for each. An id that fails is reported, and the others are still done. The
 * exit code is that of the worst.
 */
export function eachOne(
  run: (call: Call) => Promise<ExitCode> | ExitCode,
  { idsOf = (words) => words, wordsFor = (id) => [id], isList = false, isBlock = true }: EachOptions = {},
): Command["run"] {
  return async (call) => {
    const ids = [...new Set(idsOf(call.arguments))];
    if (ids.length < 2) return run(call);
    // Each in a pager of its own would be a nuisance.
    const { page: _, ...io } = call.io;
    const { json } = call;
    const views: unknown[] = [];
    let worst: ExitCode = 0;
    let isFirst = true;
    for (const id of ids) {
      let printed = "";
      let error = "";
      const own: Io = {
        ...io,
        whole: call.io.whole ?? call.io,
        out(text) {
          if (json) printed += text;
          else io.out(isBlock && printed === "" && !isFirst ? `\n${text}` : text);
          if (!json) printed = text;
        },
        err(text) {
          error ||= /^haversack: error: (.*)$/m.exec(text)?.[1] ?? "";
          io.err(text);
        },
      };
      const one = { ...call, arguments: wordsFor(id, call.arguments), io: own };
      let code: ExitCode;
      try {
        code = await run(one);
      } catch (fault) {
        const failed = asFailure(fault);
        sayError(own, failed.text, failed.hint);
        code = failed.code;
      }
      worst = worse(worst, code);
      if (printed !== "") isFirst = false;
      if (json && printed !== "") {
        const view: unknown = JSON.parse(printed);
        views.push(...(isList && Array.isArray(view) ? view : [view]));
      } else if (json && code !== 0) views.push({ id, error });
    }
    if (json) io.out(`${JSON.stringify(views)}\n`);
    return worst;
  };
}

export function isDone(result: TaskResult | { kind: string; text: string }): result is TaskResult {
  return "view" in result;
}

function asFailure(error: unknown): { kind: "failed"; text: string; hint: string | undefined; code: ExitCode } {
  const isAboutTask = ["not-found", "refused", "input-invalid"].some((code) => isFault(error, code as FaultCode));
  if (!isAboutTask || !isFault(error)) throw error;
  return { kind: "failed", text: error.message, hint: error.hint, code: exitOf(error.code) };
}
