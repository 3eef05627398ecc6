/** A tool as data: what a client is told of it, and what answers a call. `tools.ts` lists them all. */
import type { CallMarks } from "../engine/window-of-call.ts";
import type { ServerParts } from "./server.ts";
import type { InputOf, InputSchema } from "./tool-input.ts";

export interface Tool<Schema extends InputSchema = InputSchema, Unlisted extends Fields = Fields> {
  name: string;
  /** The model reads it in every session that loads the tool: one line. */
  description: string;
  inputSchema: Schema;
  /** Parameters that a call may have and no listing shows: those of tools that people switch from, and rare ones. */
  unlisted?: Unlisted;
  annotations: ToolAnnotations;
  /** all: only with `--tools all`. */
  set: "default" | "all";
  /** Claude Code shows a tool's name alone until the model searches for it; this one is there from the start. Default: false. */
  isAlwaysLoaded?: boolean;
  run(input: InputOf<Schema> & InputOf<FieldsOnly<Unlisted>>, call: ToolCall): ToolAnswer | Promise<ToolAnswer>;
}

type Fields = InputSchema["properties"];
interface FieldsOnly<Unlisted extends Fields> {
  type: "object";
  properties: Unlisted;
}

/** Only what differs from the protocol's defaults is worth sending. */
export interface ToolAnnotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface ToolCall {
  parts: ServerParts;
  marks: CallMarks;
  /** As the client named itself. */
  client?: string | undefined;
  at: Date;
}

export interface ToolAnswer {
  text: string;
  /** The agent asked for something that cannot be done; the text says what to do instead. */
  isError?: boolean;
}

/** Keeps the schema's type, so that `run` gets its input typed. The registry holds tools of all schemas. */
export function defineTool<const Schema extends InputSchema, const Unlisted extends Fields = Record<never, never>>(
  tool: Tool<Schema, Unlisted>,
): Tool {
  return tool as unknown as Tool;
}

/** All that a call may have. */
export function callSchema({ inputSchema, unlisted }: Tool): InputSchema {
  return unlisted ? { ...inputSchema, properties: { ...inputSchema.properties, ...unlisted } } : inputSchema;
}
