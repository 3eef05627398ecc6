/** The definition of a command: what it runs, and its spec, the source of help, completion, the reference page and "did you mean". */
import { type FaultCode, HaversackError, isFault } from "../base/errors.ts";
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
  /** It must be given. What the error adds to `handoff set needs --status`: the name of the value, or its choices. */
  needs?: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

type Nothing = Record<never, never>;
type Declared<Type, More> = Omit<OptionSpec, "type" | keyof More> & Omit<{ type: Type }, keyof More> & More;

/** An option with a value: what help calls the value, and what the option is for. */
export function option<const More extends Partial<OptionSpec> = Nothing>(value: string, about: string, more?: More) {
  return { type: "string", value, about, ...more } as unknown as Declared<"string", NoInfer<More>>;
}

/** An option that takes a whole number from 1 on, or from `minimum`. */
export function wholeNumber<const More extends Partial<OptionSpec> = Nothing>(
  value: string,
  about: string,
  more?: More,
) {
  return { type: "integer", value, minimum: 1, about, ...more } as unknown as Declared<"integer", NoInfer<More>>;
}

/** An option without a value. */
export function flag(about: string): Declared<"boolean", Nothing> {
  return { type: "boolean", about };
}

type ValueOf<Option> = Option extends { repeat: true }
  ? string[]
  : Option extends { type: "boolean" }
    ? boolean
    : Option extends { type: "integer" | "number" }
      ? number
      : Option extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string;

/** What the parser makes of a command's options. */
export type OptionsOf<Options> = {
  readonly [Name in keyof Options as Options[Name] extends { needs: string } ? never : Name]?: ValueOf<Options[Name]>;
} & {
  readonly [Name in keyof Options as Options[Name] extends { needs: string } ? Name : never]: ValueOf<Options[Name]>;
};

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
  options?: OptionSpecs;
  /** Words after `--`, passed to another program unchanged. Absent: such words are arguments. */
  rest?: ArgumentSpec;
  /** What is typed, and what it does. */
  examples: Readonly<Record<string, string>>;
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
  /** The hint of an error that has none of its own: how to see the help of the command that runs. */
  helpHint?: string;
  /** Shows a text that is longer than the screen in the user's pager. Absent: there is no terminal. */
  page?(text: string): Promise<void>;
  readStdin(): Promise<string>;
  /** Runs when the command has ended. Absent: the process ends with it. */
  atEnd?(action: () => Promise<unknown>): void;
}

export interface Call<Options = Readonly<Record<string, OptionValue>>> {
  /** The command's full name: `task done`. */
  name: string;
  arguments: readonly string[];
  /** The words after `--`, if the command passes them on. */
  rest?: readonly string[];
  options: Options;
  json: boolean;
  io: Io;
}

/** See EXIT_CODES in help.ts. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface Command {
  spec: CommandSpec;
  run(call: Call): Promise<ExitCode>;
}

/** What a command prints: one JSON document with `--json`, else text for people, wrapped to the terminal's width. */
export interface Output {
  data: unknown;
  /** A function, if the text costs something: it is not called with `--json`. */
  text: string | (() => string | Promise<string>);
  /** The text is for a model or a file, or is a table that fits already: its lines stay as they are. */
  isVerbatim?: boolean;
  /** A text that is longer than the screen is shown in the user's pager. */
  isPaged?: boolean;
  /** What a list leaves out, and the command that shows it: below the text, or with `--json` on standard error. */
  more?: string | undefined;
  /** Lines on standard error, after the text. */
  notes?: readonly string[];
  /** Default: 0. */
  code?: ExitCode;
}

/** An expected outcome that is not a success: an error line, nothing on standard output, and exit code 1. */
export interface Refusal {
  text: string;
  hint?: string | undefined;
  /** Default: 1. */
  code?: ExitCode;
}

/** Undefined, or an exit code alone: the command has printed what there is. */
export type Answer = Output | Refusal | ExitCode | undefined;

type Several = "lines" | "blocks" | "list";

interface Definition<Options extends OptionSpecs, Opened> extends Omit<CommandSpec, "json"> {
  options?: Options;
  json?: string;
  /** Instead of `json`: the keys for one of several ids, which stand in a list. */
  jsonOfEach?: string;
  /**
   * Takes several ids, and runs once for each. An id that fails is reported, the others are still done, and the exit code is that of the
   * worst. A fault that has nothing to do with the id, such as a store that cannot be written, ends the command. The texts are lines, or
   * blocks with an empty line between them; `list`: blocks. The lists that `--json` prints are joined, except those of `blocks`.
   */
  several?: Several;
  /** Where the ids are among the arguments (default: all are ids). */
  idsAt?(words: readonly string[]): readonly [start: number, count: number];
  /** What `run` works on: opened once, also for several ids. */
  open?(call: Call<OptionsOf<Options>>): Opened;
  /** `word`: the id that this run is about, else the first argument; empty without arguments. */
  run(call: Call<OptionsOf<Options>>, opened: Awaited<Opened>, word: string): Answer | Promise<Answer>;
}

/** What `--json` prints of a command that takes several ids. */
export const SEVERAL = "Several: a list of these, with {id, error} for what failed.";

/** Tells `run` the types of the options, and does what is the same for all commands: what they need, opening, several ids, printing. */
export function defineCommand<const Options extends OptionSpecs = Nothing, Opened = undefined>(
  definition: Definition<Options, Opened>,
): Command {
  const { several, idsAt, open, jsonOfEach } = definition;
  const { json = `${jsonOfEach}. ${SEVERAL}` } = definition;
  return {
    spec: { ...definition, json },
    async run(given) {
      for (const [name, { needs }] of Object.entries<OptionSpec>(definition.options ?? {}))
        if (needs !== undefined && !given.options[name])
          throw new HaversackError("usage", `${given.name} needs --${name}${needs}`);
      const words = given.arguments;
      const [start, count] = idsAt?.(words) ?? [0, words.length];
      const ids = several ? [...new Set(words.slice(start, start + count))] : [];
      // Each in a pager of its own would be a nuisance.
      const { page, ...io } = given.io;
      const call = { ...given, io: ids.length > 1 ? io : given.io };
      const typed = call as unknown as Call<OptionsOf<Options>>;
      const opened = (await open?.(typed)) as Awaited<Opened>;
      if (ids.length < 2) return give(call, await definition.run(typed, opened, words[start] ?? ""));
      return giveEach(call, ids, { several }, async (id) =>
        definition.run({ ...typed, arguments: words.toSpliced(start, count, id) }, opened, id),
      );
    },
  };
}

/** Defines commands on something that is opened first: `access` says how, and may depend on the call. */
export function definesOn<Access extends string, Opened>(
  open: (call: Pick<Call, "options" | "io">, access: Access) => Promise<Opened>,
) {
  return <const Options extends OptionSpecs = Nothing>(
    access: Access | ((call: Call<OptionsOf<Options>>) => Access),
    definition: Omit<Definition<Options, Promise<Opened>>, "open">,
  ): Command =>
    defineCommand<Options, Promise<Opened>>({
      ...definition,
      open: (call) => open(call as unknown as Call, typeof access === "string" ? access : access(call)),
    });
}

async function give(call: Call, answer: Answer): Promise<ExitCode> {
  if (typeof answer !== "object") return answer ?? 0;
  if ("data" in answer) {
    const { page } = call.io;
    if (answer.isPaged && page && !call.json) await page(`${(await textOf(answer, call.io)).trimEnd()}\n`);
    else await print(call, answer);
    sayNote(call.io, ...(answer.notes ?? []));
    return answer.code ?? 0;
  }
  sayError(call.io, answer.text, answer.hint);
  return answer.code ?? 1;
}

/** One answer after the other. With `--json` one list at the end. */
async function giveEach(
  call: Call,
  ids: readonly string[],
  { several }: { several: Several | undefined },
  run: (id: string) => Promise<Answer>,
): Promise<ExitCode> {
  const { io, json } = call;
  const views: unknown[] = [];
  let worst: ExitCode = 0;
  let isFirst = true;
  const out = (text: string) => {
    if (json) return;
    io.out(several !== "lines" && !isFirst ? `\n${text}` : text);
    isFirst = false;
  };
  for (const id of ids) {
    const answer = await run(id).catch(asRefusal);
    const code = await give({ ...call, io: { ...io, out } }, answer);
    if (code > worst) worst = code;
    if (typeof answer !== "object") continue;
    const view = "data" in answer ? answer.data : { id, error: answer.text };
    views.push(...(several !== "blocks" && Array.isArray(view) ? view : [view]));
  }
  if (json) io.out(jsonLine(views));
  return worst;
}

function asRefusal(error: unknown): Refusal {
  const isAboutId = isFault(error) && ["not-found", "refused", "input-invalid"].includes(error.code);
  if (!isAboutId) throw error;
  return refusalOf(error);
}

export function refusalOf({ message, hint, code }: HaversackError): Refusal {
  return { text: message, hint, code: exitOf(code) };
}

export async function print({ io, json }: Pick<Call, "io" | "json">, output: Output): Promise<void> {
  const { data, more } = output;
  const shown = json ? jsonLine(data) : await textOf(output, io);
  if (shown !== "") io.out(shown.endsWith("\n") ? shown : `${shown}\n`);
  if (json && more !== undefined) sayNote(io, more);
}

async function textOf({ text, isVerbatim, more }: Output, { width }: Io): Promise<string> {
  const given = typeof text === "string" ? text : await text();
  const shown = isVerbatim ? given : wrapColumns(given, width);
  return more === undefined ? shown : `${shown && `${shown}\n\n`}${more.replace(/\.?$/, ".")}`;
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

export function snakeKeys(data: unknown): unknown {
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
