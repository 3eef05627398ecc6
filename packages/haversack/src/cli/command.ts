/**
 * What a command is. One file per command exports its `spec` and `run`; help, completion, the reference page and
 * the "did you mean" lines all derive from the spec.
 */
import type { Environment } from "../engine/project.ts";

export interface OptionSpec {
  type: "string" | "boolean" | "integer" | "number";
  about: string;
  short?: string;
  /** How the value is called in help: `FILE`, `N`. */
  value?: string;
  choices?: readonly string[];
  /** May be given more than once; the value is then a list. */
  repeat?: boolean;
  minimum?: number;
  maximum?: number;
}

export interface ArgumentSpec {
  name: string;
  about: string;
  required?: boolean;
  /** Takes all the remaining words. */
  many?: boolean;
  /** What it can be, for shell completion; the command itself checks it. */
  choices?: readonly string[];
}

export interface CommandSpec {
  /** A sentence or two below the usage line. */
  about: string;
  arguments?: readonly ArgumentSpec[];
  options?: Readonly<Record<string, OptionSpec>>;
  /** Words after `--`, handed on to another program as they are. Absent: such words are arguments. */
  rest?: ArgumentSpec;
  examples: readonly { run: string; says: string }[];
  /** The keys that `--json` prints. Absent: the command prints no data and has no `--json`. */
  json?: string;
}

export type OptionValue = string | boolean | number | string[] | undefined;

export interface Io {
  env: Environment;
  cwd: string;
  isTerminal: boolean;
  /** Whether colours may be used on standard output. */
  isColour: boolean;
  /** Characters in a line of the terminal; absent when the output goes elsewhere. */
  width?: number;
  /** The same of standard error; asked when something is written there. */
  errorWidth?(): number | undefined;
  out(text: string): void;
  err(text: string): void;
  /** At a terminal: through the user's pager where the text is longer than the screen. Absent: there is no terminal. */
  page?(text: string): Promise<void>;
  readStdin(): Promise<string>;
}

export interface Call {
  arguments: readonly string[];
  /** What came after `--`, where the command hands it on. */
  rest?: readonly string[];
  options: Readonly<Record<string, OptionValue>>;
  json: boolean;
  io: Io;
}

/** 0 done; 1 refused, a problem was found, or what was named does not exist; 2 wrong usage; 3 fault. See EXIT_CODES in help.ts. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface Command {
  spec: CommandSpec;
  run(call: Call): Promise<ExitCode> | ExitCode;
}

export interface CommandEntry {
  /** The words typed: `store check`. */
  name: string;
  summary: string;
  /** The heading it stands under in `haversack --help`. */
  group: string;
  load(): Promise<Command>;
}

/** Prints data: one JSON document with `--json`, else text for people. */
export function print(call: Call, data: unknown, text: () => string): void {
  if (call.json) call.io.out(`${JSON.stringify(data)}\n`);
  else {
    const lines = text();
    if (lines !== "") call.io.out(lines.endsWith("\n") ? lines : `${lines}\n`);
  }
}
