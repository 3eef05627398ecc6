/** A tool as data: its listing and the function that answers a call. `tools.ts` lists all tools. */
import { isRecord } from "../base/json.ts";
import type { CallMarks } from "../engine/window-of-call.ts";
import type { LiveParts } from "../engine/work/live-work.ts";
import type { ServerParts } from "./server.ts";
import type { Field, InputField, InputSchema, ValueOf } from "./tool-input.ts";
import { DONE, refusal } from "./work-answer.ts";

export interface Tool {
  name: string;
  /** One line, because the model reads it in every session that loads the tool. */
  description: string;
  inputSchema: InputSchema;
  /** Parameters that work but are not listed: rare ones, and those of tools that people migrate from. */
  unlisted: InputSchema["properties"];
  annotations: ToolAnnotations;
  /** `all`: listed only with `--tools all`. `outputs`: also where long outputs are replaced. */
  set: "default" | "all" | "outputs";
  /** Claude Code shows only a tool's name until the model searches for it. Such a tool is shown in full from the start. Default: false. */
  isAlwaysLoaded?: boolean;
  run(input: Readonly<Record<string, unknown>>, call: ToolCall): ToolAnswer | Promise<ToolAnswer>;
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

/** All parameters of a call, listed or not. */
export function callSchema({ inputSchema, unlisted }: Tool): InputSchema {
  return { ...inputSchema, properties: { ...inputSchema.properties, ...unlisted } };
}

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type Needed<One> = One extends { isNeeded: true } ? true : false;
/** The parameters in camelCase. */
type Input<All> = {
  [Name in keyof All as Needed<All[Name]> extends true ? Camel<Name> : never]: ValueOf<All[Name]>;
} & {
  [Name in keyof All as Needed<All[Name]> extends true ? never : Camel<Name>]?: ValueOf<All[Name]>;
};

/** Tells `run` the types of the parameters. */
export function defineTool<const All extends Readonly<Record<string, Field>>>(
  about: Omit<Tool, "inputSchema" | "unlisted" | "run">,
  fields: All,
  run: (
    input: Input<All>,
    call: ToolCall,
    given: Readonly<Record<string, unknown>>,
  ) => ToolAnswer | Promise<ToolAnswer>,
): Tool {
  const properties: Record<string, InputField> = {};
  const unlisted: Record<string, InputField> = {};
  const required: string[] = [];
  for (const [name, { isNeeded, isHidden, ...field }] of Object.entries<Field>(fields)) {
    (isHidden ? unlisted : properties)[name] = field;
    if (isNeeded) required.push(name);
  }
  return {
    ...about,
    inputSchema: { type: "object", properties, ...(required.length > 0 && { required }) },
    unlisted,
    run: (input, call) => run(camelCased(input) as Input<All>, call, input),
  };
}

/** With both, Codex does not ask for approval before a call (seen in 0.166.0). */
export const ADDS = { destructiveHint: false, openWorldHint: false } as const;

/** Never creates the state folder. */
export const reads = toolMaker("read", { readOnlyHint: true });
export const writes = toolMaker("write", ADDS);

/** An outcome that has a text is a refusal, or says that there is nothing. */
type Refusal = { kind: string; text: string };

/**
 * Most tools make one request to the project's store: they are made of their parameters, an operation of the engine, and what the agent is
 * told of its outcome (default: the outcome itself if it is an answer, else that it is done).
 */
export function toolMaker(access: "read" | "write", annotations: ToolAnnotations, set: Tool["set"] = "all") {
  return <const All extends Readonly<Record<string, Field>>, Outcome>(
    name: string,
    description: string,
    fields: All,
    /** `given`: the parameters by their own names. */
    run: (
      input: Input<All>,
      parts: LiveParts,
      call: ToolCall,
      given: Readonly<Record<string, unknown>>,
    ) => Outcome | Promise<Outcome>,
    told?: (outcome: Exclude<Outcome, Refusal>) => ToolAnswer,
  ): Tool =>
    defineTool({ name, description, annotations, set }, fields, (input, call, given) =>
      call.parts.work[access](call, async (parts) => {
        const outcome = await run(input, parts, call, given);
        if (isRefusal(outcome)) return refusal(outcome);
        if (told) return told(outcome as Exclude<Outcome, Refusal>);
        return isAnswer(outcome) ? outcome : DONE;
      }),
    );
}

function isAnswer(outcome: unknown): outcome is ToolAnswer {
  return isRecord(outcome) && typeof outcome["text"] === "string";
}

function isRefusal(outcome: unknown): outcome is Refusal {
  return isAnswer(outcome) && "kind" in outcome;
}

function camelCased(input: object): object {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [camel(name), value]));
}
