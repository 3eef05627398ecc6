/** A tool as data: its listing and the function that answers a call. `tools.ts` lists all tools. */
import type { CallMarks } from "../engine/window-of-call.ts";
import type { LiveParts } from "../engine/work/live-work.ts";
import type { ServerParts } from "./server.ts";
import type { InputOf, InputSchema, ValueOf } from "./tool-input.ts";

export interface Tool<Schema extends InputSchema = InputSchema, Unlisted extends Fields = Fields> {
  name: string;
  /** One line, because the model reads it in every session that loads the tool. */
  description: string;
  inputSchema: Schema;
  /** Parameters that work but are not listed: rare ones, and those of tools that people migrate from. */
  unlisted?: Unlisted;
  annotations: ToolAnnotations;
  /** `all`: listed only with `--tools all`. `outputs`: also where long outputs are replaced. */
  set: "default" | "all" | "outputs";
  /** Claude Code shows only a tool's name until the model searches for it. Such a tool is shown in full from the start. Default: false. */
  isAlwaysLoaded?: boolean;
  run(input: InputOf<Schema> & InputOf<FieldsOnly<Unlisted>>, call: ToolCall): ToolAnswer | Promise<ToolAnswer>;
}

type Fields = InputSchema["properties"];
interface FieldsOnly<Unlisted extends Fields> {
  type: "object";
  properties: Unlisted;
}

/** Send only what differs from the protocol's defaults. */
export interface ToolAnnotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface ToolCall {
  parts: ServerParts;
  marks: CallMarks;
  /** The name the client gave itself. */
  client?: string | undefined;
  at: Date;
}

export interface ToolAnswer {
  text: string;
  /** The agent asked for something that cannot be done; the text says what to do instead. */
  isError?: boolean;
}

/** Keeps the schema's type, which makes the input of `run` typed. */
export function defineTool<const Schema extends InputSchema, const Unlisted extends Fields = Record<never, never>>(
  tool: Tool<Schema, Unlisted>,
): Tool {
  return tool as unknown as Tool;
}

/** All parameters of a call, listed or not. */
export function callSchema({ inputSchema, unlisted }: Tool): InputSchema {
  return unlisted ? { ...inputSchema, properties: { ...inputSchema.properties, ...unlisted } } : inputSchema;
}

// Most tools make one request to the project's store. `reads` and `writes` declare such a tool in one call: `run` gets the fields in
// camelCase and the open project.

interface Takes<Properties extends Fields, Required extends keyof Properties, Unlisted extends Fields> {
  takes?: Properties;
  required?: readonly Required[];
  unlisted?: Unlisted;
  /** Default: all. */
  set?: Tool["set"];
  annotations?: ToolAnnotations;
}

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type CamelInput<Properties extends Fields, Required, Unlisted extends Fields> = {
  [Name in keyof Properties as Name extends Required ? Camel<Name> : never]: ValueOf<Properties[Name]>;
} & {
  [Name in keyof Properties as Name extends Required ? never : Camel<Name>]?: ValueOf<Properties[Name]>;
} & { [Name in keyof Unlisted as Camel<Name>]?: ValueOf<Unlisted[Name]> };

type Declare = <
  const Properties extends Fields = Record<never, never>,
  const Required extends keyof Properties & string = never,
  const Unlisted extends Fields = Record<never, never>,
>(
  name: string,
  description: string,
  takes: Takes<Properties, Required, Unlisted>,
  run: (
    input: CamelInput<Properties, Required, Unlisted>,
    parts: LiveParts,
    call: ToolCall,
  ) => ToolAnswer | Promise<ToolAnswer>,
) => Tool;

/** With both, Codex does not ask for approval before a call (seen in 0.166.0). */
export const ADDS = { destructiveHint: false, openWorldHint: false } as const;

/** Never creates the state folder. */
export const reads: Declare = declare("read", { readOnlyHint: true });
export const writes: Declare = declare("write", ADDS);

function declare(access: "read" | "write", usual: ToolAnnotations): Declare {
  return (name, description, { takes, required, unlisted, set = "all", annotations = usual }, run) => ({
    name,
    description,
    inputSchema: { type: "object", properties: takes ?? {}, ...(required && { required }) },
    ...(unlisted && { unlisted }),
    annotations,
    set,
    run: (input, call) => call.parts.work[access](call, async (parts) => run(camelCased(input) as never, parts, call)),
  });
}

function camelCased(input: object): object {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [camel(name), value]));
}
