/**
 * Keeps long tool outputs and results of sub-agents out of the window: the model gets a preview and a handle, and reads any part again
 * with the tool `recall`. Your own code still gets whole outputs. Works with any tools of the AI SDK, and as a middleware of
 * `AgentSystemBuilder`.
 */
import type { Tool, ToolSet } from "ai";
import { isRecord } from "../base/json.ts";
import {
  FEWEST_REPLACED_CHARS,
  formatRecalled,
  type Kept,
  keepOutput,
  MemoryOutputs,
  type OutputShelf,
  type PartRequest,
  recallOutput,
} from "../engine/outputs/kept-outputs.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import { checkSettings, type Kinds, numberFrom } from "./check-settings.ts";
import { AgentError } from "./errors.ts";
import { input } from "./file-tools.ts";
import { beginningAndEnd } from "./handoff-text.ts";
import { type AgentMiddleware, OutputText, plainOutput } from "./middleware.ts";

/** Where outputs are kept. `projectOutputs` returns one that outlives the process. */
export type OutputStore = OutputShelf;

export interface OutputSaverOptions {
  /** Outputs with more characters than this are kept, and the model gets a preview. At least 2,000. Default: 20,000. */
  over?: number;
  /** The size of a preview in characters. At least 1,200. Default: 3,000. */
  previewChars?: number;
  /**
   * How many characters of whole tool outputs one turn may add to the window. After that, everything over 2,000 characters is kept and previewed.
   * Default: no limit.
   */
  turnChars?: number;
  /** The most characters that one `recall` returns. Default: 8,000. */
  recallChars?: number;
  /** Tools whose outputs stay whole. Default: `skill` and `read`, whose text the model is about to use. */
  except?: readonly string[];
  /** Default: in memory, at most `maxBytes`. */
  store?: OutputStore;
  /** Maximum size of kept outputs. The oldest are removed first. Default: 64 MB. */
  maxBytes?: number;
  /** How long a store keeps outputs, in days. Default: 14. */
  keepDays?: number;
  /** Called for each output that was kept. */
  onKept?: (output: SavedOutput) => void;
}

export interface SavedOutput {
  handle: string;
  /** The tool that it came from. */
  tool: string;
  conversationId: string;
  chars: number;
  previewChars: number;
  /** Estimated tokens that were kept out of the window. */
  savedTokens: number;
}

export interface RecallInput {
  handle: string;
  /** `40-80`, `-20` for the last twenty. */
  lines?: string;
  chars?: string;
  /** Lines that contain this text. */
  find?: string;
}

/**
 * Keeps outputs and returns parts of them. One saver is enough for all conversations of a process, because `recall` reads only outputs of its own
 * conversation.
 */
export class OutputSaver {
  readonly #options: Required<Omit<OutputSaverOptions, "onKept">> & Pick<OutputSaverOptions, "onKept">;

  /** Throws an AgentError with the code `config-invalid` if an option is unknown or has a wrong value. */
  constructor(options: OutputSaverOptions = {}) {
    checkSettings(options, OPTION_KINDS, { of: "The options for kept outputs" });
    this.#options = {
      over: options.over ?? 20_000,
      previewChars: options.previewChars ?? 3_000,
      turnChars: options.turnChars ?? Number.POSITIVE_INFINITY,
      recallChars: options.recallChars ?? 8_000,
      except: options.except ?? ["skill", "read"],
      store: options.store ?? new MemoryOutputs(),
      maxBytes: options.maxBytes ?? 64_000_000,
      keepDays: options.keepDays ?? 14,
      ...(options.onKept && { onKept: options.onKept }),
    };
  }

  /**
   * Your tools with `recall`: `generateText({ tools: saver.tools(yours) })`. What the model gets of an output depends on the output alone
   * (and, with `turnChars`, on those before it), so messages that are converted again have the same bytes. With `turnChars`, call this once
   * for each turn.
   */
  tools<Tools extends ToolSet>(
    tools: Tools,
    { conversationId = "" }: { conversationId?: string } = {},
  ): Tools & { recall: Tool<RecallInput, string> } {
    if (tools["recall"])
      throw new AgentError(
        "agents-misused",
        "There is a tool named recall already, and the name is needed for kept outputs.",
        {
          hint: "Give your tool another name.",
        },
      );
    let room = this.#options.turnChars;
    /** The same call may be converted again, with the messages of later requests. */
    const tight = new Map<string, boolean>();
    const isTight = (toolCallId: string, length: number): boolean => {
      if (room === Number.POSITIVE_INFINITY) return false;
      const known = tight.get(toolCallId);
      if (known !== undefined) return known;
      const result = length > room;
      tight.set(toolCallId, result);
      if (!result) room -= length;
      return result;
    };
    const wrapped = Object.entries(tools).map(([name, tool]) => {
      if (this.#options.except.includes(name)) return [name, tool];
      const own = tool.toModelOutput as ((options: ModelOutputOptions) => unknown) | undefined;
      const toModelOutput = async (options: ModelOutputOptions) => {
        const output = (own ? await own(options) : plainOutput(options.output)) as ModelOutput;
        const text = textOf(output);
        if (text === undefined) return output;
        const length = text.length > this.#options.over ? this.#options.previewChars : text.length;
        const kept = this.keep(text, { tool: name, conversationId, isTight: isTight(options.toolCallId, length) });
        return kept ? { type: "text", value: kept.preview } : output;
      };
      return [name, { ...tool, toModelOutput }];
    });
    return { ...Object.fromEntries(wrapped), recall: this.recallTool({ conversationId }) } as Tools & {
      recall: Tool<RecallInput, string>;
    };
  }

  /** Undefined if the text is short enough to stay. `isTight`: keep it even if it is shorter than `over`. */
  keep(
    text: string,
    { tool, conversationId = "", isTight = false }: { tool: string; conversationId?: string; isTight?: boolean },
  ): Kept | undefined {
    const { over, previewChars } = this.#options;
    if (text.length <= (isTight ? FEWEST_REPLACED_CHARS : over)) return undefined;
    return this.#keep(text, { source: tool, conversationId, maxChars: previewChars, isCommand: true });
  }

  #keep(
    text: string,
    {
      source,
      conversationId,
      maxChars,
      isCommand = false,
    }: { source: string; conversationId: string; maxChars: number; isCommand?: boolean },
  ): Kept | undefined {
    const { store, keepDays, maxBytes, onKept } = this.#options;
    const kept = keepOutput(
      store,
      { text, source, sessionId: conversationId, agentId: "", at: new Date(), isCommand },
      { limits: { keepDays, maxBytes }, ways: recallWays, maxChars },
    );
    if (!kept) return undefined;
    const { handle, preview, chars } = kept;
    const savedTokens = Math.max(0, estimateTokens(text) - estimateTokens(preview));
    onKept?.({ handle, tool: source, conversationId, chars, previewChars: preview.length, savedTokens });
    return kept;
  }

  /**
   * What the tool `recall` answers: the part, or what to do if there is none. Without a conversation it reads the outputs of all, so give
   * one if a model or a user of yours asks.
   */
  recall({ handle, ...part }: RecallInput, { conversationId }: { conversationId?: string } = {}): string {
    const request: PartRequest = { ...part, maxChars: this.#options.recallChars };
    const found = recallOutput(this.#options.store, String(handle), { ...request, sessionId: conversationId });
    return found.kind === "part" ? formatRecalled(found, String(handle)) : found.text;
  }

  /** Removes all outputs of a conversation. `forget` of an agent system calls it. */
  forget(conversationId: string): void {
    this.#options.store.forget(conversationId);
  }

  /** The tool `recall` for one conversation. It neither reads nor names outputs of others. */
  recallTool({ conversationId = "" }: { conversationId?: string } = {}): Tool<RecallInput, string> {
    const range = { type: "string", description: 'such as "40-80"; "-20" for the last 20' };
    return {
      description: "Returns a part of a tool output that was kept outside the conversation.",
      inputSchema: input<RecallInput>(
        {
          handle: { type: "string", description: "from the preview" },
          lines: range,
          chars: range,
          find: { type: "string", description: "lines with this text" },
        },
        ["handle"],
      ),
      execute: async (asked: RecallInput) => this.recall(asked, { conversationId }),
    } as Tool<RecallInput, string>;
  }

  /**
   * The answer of a sub-agent as a handoff: whole if it has at most `maxTokens`, else its beginning, its end and a handle. For loops of
   * your own; `delegate` of an agent system does this with the middleware `contextSavers`.
   */
  handoff(
    answer: string,
    { from, conversationId = "", maxTokens = 800 }: { from: string; conversationId?: string; maxTokens?: number },
  ): string {
    const head = `Handoff from ${from}:\n\n`;
    if (estimateTokens(head + answer) <= maxTokens) return head + answer;
    const maxChars = Math.max(SHORTEST_PREVIEW, maxTokens * CHARS_PER_TOKEN);
    const kept = this.#keep(answer, { source: from, conversationId, maxChars });
    if (!kept) return head + beginningAndEnd(answer, maxTokens - estimateTokens(head));
    return head + kept.preview;
  }
}

const SHORTEST_PREVIEW = 1_200;
const CHARS_PER_TOKEN = 4;

const OPTION_KINDS: Kinds = {
  over: numberFrom(FEWEST_REPLACED_CHARS),
  previewChars: numberFrom(SHORTEST_PREVIEW),
  turnChars: numberFrom(0),
  recallChars: numberFrom(1),
  except: { must: "a list of names of tools", isRight: Array.isArray },
  store: { must: "a store, such as projectOutputs gives", isRight: isRecord },
  maxBytes: numberFrom(1),
  keepDays: numberFrom(0),
  onKept: { must: "a function", isRight: (value) => typeof value === "function" },
};

const recallWays = (handle: string) => ({
  lines: (range: string) => `recall({ handle: "${handle}", lines: "${range}" })`,
  chars: (range: string) => `recall({ handle: "${handle}", chars: "${range}" })`,
  find: 'recall with find: "TEXT"',
});

/** Your tools with `recall`, and long outputs kept: `generateText({ tools: saveOutputs(tools) })`. */
export function saveOutputs<Tools extends ToolSet>(
  tools: Tools,
  { conversationId, ...options }: OutputSaverOptions & { conversationId?: string } = {},
): Tools & { recall: Tool<RecallInput, string> } {
  return new OutputSaver(options).tools(tools, { ...(conversationId !== undefined && { conversationId }) });
}

/** For `AgentSystemBuilder.use`: long outputs of every agent's tools, and results of those it delegates to. */
export function contextSavers(options: OutputSaverOptions | OutputSaver = {}): AgentMiddleware {
  const saver = options instanceof OutputSaver ? options : new OutputSaver(options);
  const middleware: AgentMiddleware = async (context, next) => {
    // Outputs that a delegated agent keeps belong to the user's conversation.
    const conversationId = context.mainConversationId;
    context.tools = saver.tools(context.tools, { conversationId });
    context.wrapTools(async (_, run) => {
      const output = await run();
      if (!(output instanceof OutputText) || !output.whole || output.whole.length <= output.text.length) return output;
      // A sub-agent's answer that was cut to its handoff.
      const kept = saver.keep(output.whole, { tool: "delegate", conversationId, isTight: true });
      if (!kept) return output;
      const all = `recall({ handle: "${kept.handle}" })`;
      return new OutputText(`${output.text}\n[The whole answer was kept as ${kept.handle}: ${all}.]`, output.whole);
    });
    await next();
  };
  return Object.assign(middleware, { forget: (conversationId: string) => saver.forget(conversationId) });
}

/** Keeps outputs in the store of the project that `folder` belongs to, so that `haversack recall` and later processes find them. */
export async function projectOutputs(folder = "."): Promise<OutputStore & { close(): void }> {
  const { openOutputs } = await import("../engine/outputs/project-outputs.ts");
  return openOutputs(folder);
}

interface ModelOutputOptions {
  toolCallId: string;
  input: unknown;
  output: unknown;
}

type ModelOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "json" | "error-json"; value: unknown }
  | { type: "content"; value: readonly { type: string; text?: string }[] }
  | { type: string };

/** The text of an output that a preview can replace. Undefined: it has images or files, or it is an error, which stays whole. */
function textOf(output: ModelOutput): string | undefined {
  if (output.type === "text") return (output as { value: string }).value;
  if (output.type === "json") return JSON.stringify((output as { value: unknown }).value, null, 1);
  if (output.type !== "content") return undefined;
  const { value } = output as { value: readonly { type: string; text?: string }[] };
  return value.every(({ type }) => type === "text") ? value.map(({ text }) => text ?? "").join("\n") : undefined;
}
