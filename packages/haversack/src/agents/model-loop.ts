/** The innermost part of a turn: the tool loop of the AI SDK, whole or as a stream. */
import {
  generateText,
  isStepCount,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  type OutputInterface,
  streamText,
  type ToolSet,
} from "ai";
import { errorText } from "../base/errors.ts";
import {
  type AgentContext,
  type AgentResult,
  type AgentStep,
  type Delegation,
  OutputText,
  plainOutput,
  type ToolWrapper,
} from "./middleware.ts";

/** Asks the model and runs its tools until the turn is over. Sets `context.result`. */
export async function callModel(
  context: AgentContext,
  {
    wrappers,
    listeners,
    delegations,
    output = context.agent.responseFormat === "json" ? Output.json() : undefined,
    onText,
  }: {
    wrappers: readonly ToolWrapper[];
    listeners: readonly ((step: AgentStep) => "stop" | undefined)[];
    delegations: Delegation[];
    output: OutputInterface | undefined;
    onText: ((text: string) => void) | undefined;
  },
): Promise<void> {
  const { agent, config, signal } = context;
  let mustStop = false;
  const ran = new Set<string>();
  const noteRun: ToolWrapper = ({ toolCallId }, run) => {
    ran.add(toolCallId);
    return run();
  };
  const tools = wrapTools(context.tools, [noteRun, ...wrappers]);
  const settings = {
    model: context.model,
    instructions: context.instructions,
    messages: context.messages,
    allowSystemInMessages: true,
    tools,
    stopWhen: [isStepCount(config.limits.maxSteps), () => mustStop],
    maxRetries: config.call.maxRetries ?? 2,
    ...(config.call.timeout !== undefined && { timeout: config.call.timeout }),
    ...(config.call.headers && { headers: config.call.headers }),
    ...(config.call.providerOptions && { providerOptions: config.call.providerOptions as never }),
    ...(signal && { abortSignal: signal }),
    ...(agent.temperature !== undefined && { temperature: agent.temperature }),
    ...(agent.topP !== undefined && { topP: agent.topP }),
    ...(agent.maxOutputTokens !== undefined && { maxOutputTokens: agent.maxOutputTokens }),
    ...(agent.reasoning && { reasoning: agent.reasoning }),
    ...(output && { output: output as never }),
    prepareStep: ({ messages }: { messages: ModelMessage[] }) => ({ messages: withoutBlankTexts(messages) }),
    telemetry: { functionId: context.agentName, ...config.call.telemetry },
    // Before the tools of the step run, so that what they delegate gets only the rest of the budget.
    onLanguageModelCallEnd: ({ usage }: { usage: LanguageModelUsage }) => {
      for (let at: AgentContext | undefined = context; at; at = at.parent) at.usedTokens += tokensOf(usage);
    },
    onStepEnd: ({ usage, toolCalls, content }: Pick<Step, "usage" | "toolCalls" | "content">) => {
      // Calls of unknown tools and with wrong arguments, which never ran.
      for (const part of content)
        if (part.type === "tool-error" && !ran.has(part.toolCallId)) {
          const { toolName: tool, toolCallId, error } = part;
          context.emit({ type: "tool-failed", tool, toolCallId, text: errorText(error) });
        }
      const step = { step: context.iteration, usage, toolCalls: toolCalls.map(({ toolName }) => toolName) };
      context.emit({ type: "step", ...step });
      for (const listener of listeners) if (listener(step) === "stop") mustStop = true;
      context.iteration++;
    },
  };
  const done = onText ? await runStream(settings, context, onText) : await generateText(settings);
  const { text, steps, usage, finishReason, responseMessages } = done;
  const stoppedBy = mustStop ? "budget" : finishReason === "tool-calls" ? "steps" : "model";
  context.messages.push(...withoutBlankTexts(responseMessages));
  context.result = {
    agent: context.agentName,
    conversationId: context.conversationId,
    turn: context.turn,
    text,
    ...(output && stoppedBy === "model" && { output: (await done.output) as unknown }),
    messages: context.messages,
    usage,
    totalTokens: context.usedTokens,
    steps: steps.length,
    finishReason,
    stoppedBy,
    skills: context.loaded,
    toolCalls: steps.flatMap(({ content }) => toolCallsOf(content)),
    delegations,
  };
}

/** Models write texts of white space alone, and Anthropic refuses every later request of a conversation that has one. */
function withoutBlankTexts(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.flatMap((message) => {
    if (message.role !== "assistant" || typeof message.content === "string") return [message];
    // One with options of its provider may carry a signature.
    const content = message.content.filter(
      (part) => part.type !== "text" || part.text.trim() !== "" || part.providerOptions,
    );
    return content.length > 0 ? [{ ...message, content }] : [];
  });
}

type Settings = Parameters<typeof generateText<ToolSet>>[0];

async function runStream(settings: Settings, context: AgentContext, onText: (text: string) => void) {
  const stream = streamText({
    ...(settings as unknown as Parameters<typeof streamText<ToolSet>>[0]),
    // The error is also a part of the stream, where it is thrown. Without this the SDK prints it.
    onError: () => undefined,
  });
  for await (const part of stream.stream) {
    if (part.type === "text-delta") {
      onText(part.text);
      context.emit({ type: "text", text: part.text });
    } else if (part.type === "error") throw part.error;
    else if (part.type === "abort") throw context.signal?.reason ?? new Error(part.reason ?? "the stream was aborted");
  }
  const [text, steps, usage, finishReason, responseMessages] = await Promise.all([
    stream.text,
    stream.steps,
    stream.usage,
    stream.finishReason,
    stream.responseMessages,
  ]);
  return {
    ...{ text, steps, usage, finishReason, responseMessages },
    // Read only if it is wanted: it rejects if the turn was stopped before.
    get output(): PromiseLike<unknown> {
      return stream.output;
    },
  };
}

type Step = Awaited<ReturnType<typeof generateText<ToolSet>>>["steps"][number];

function toolCallsOf(content: Step["content"]): AgentResult["toolCalls"] {
  const results = new Map<string, { output?: unknown; error?: string }>();
  for (const part of content) {
    if (part.type === "tool-result")
      results.set(part.toolCallId, { output: part.output instanceof OutputText ? part.output.text : part.output });
    if (part.type === "tool-error") results.set(part.toolCallId, { error: errorText(part.error) });
  }
  return content.flatMap((part) =>
    part.type === "tool-call" ? [{ tool: part.toolName, input: part.input, ...results.get(part.toolCallId) }] : [],
  );
}

/** Each tool with the wrappers around its execution. A tool without `execute` is left to the caller and stays as it is. */
function wrapTools(tools: ToolSet, wrappers: readonly ToolWrapper[]): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      const { execute, toModelOutput } = tool as unknown as {
        execute?: (input: unknown, options: { toolCallId: string; abortSignal?: AbortSignal }) => unknown;
        toModelOutput?: (options: { output: unknown }) => unknown;
      };
      if (!execute) return [name, tool];
      const wrapped = {
        ...tool,
        execute: (given: unknown, options: { toolCallId: string; abortSignal?: AbortSignal }) => {
          const call = { tool: name, toolCallId: options.toolCallId, input: given, signal: options.abortSignal };
          const run = (at: number): Promise<unknown> => {
            const wrapper = wrappers[at];
            return wrapper ? wrapper(call, () => run(at + 1)) : settle(execute(given, options));
          };
          return run(0);
        },
        toModelOutput: (options: { output: unknown }) => {
          const { output } = options;
          return toModelOutput && !(output instanceof OutputText) ? toModelOutput(options) : plainOutput(output);
        },
      };
      return [name, wrapped as unknown as ToolSet[string]];
    }),
  );
}

/** A tool may yield preliminary results; the last one counts. */
async function settle(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const value of output as AsyncIterable<unknown>) last = value;
  return last;
}

/** Some providers give no total. */
function tokensOf({ totalTokens, inputTokens, outputTokens }: LanguageModelUsage): number {
  return totalTokens ?? (inputTokens ?? 0) + (outputTokens ?? 0);
}
