/** A tool as data: what a client is told of it, and what answers a call. `tools.ts` lists them all. */
import type { CallMarks } from "../engine/window-of-call.ts";
import type { ServerParts } from "./server.ts";
import type { InputOf, InputSchema } from "./tool-input.ts";

export interface Tool<Schema extends InputSchema = InputSchema> {
  name: string;
  /** The model reads it in every session that loads the tool: one line. */
  description: string;
  inputSchema: Schema;
  annotations: ToolAnnotations;
  /** all: only with `--tools all`. */
  set: "default" | "all";
  /** Claude Code shows a tool's name alone until the model searches for it; this one is there from the start. Default: false. */
  isAlwaysLoaded?: boolean;
  run(input: InputOf<Schema>, call: ToolCall): ToolAnswer | Promise<ToolAnswer>;
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
  at: Date;
}

export interface ToolAnswer {
  text: string;
  /** The agent asked for something that cannot be done; the text says what to do instead. */
  isError?: boolean;
}

/** Keeps the schema's type, so that `run` gets its input typed. The registry holds tools of all schemas. */
export function defineTool<const Schema extends InputSchema>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
