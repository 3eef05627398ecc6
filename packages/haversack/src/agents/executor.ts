/** Runs agents: one turn of a conversation at a time, whole or as a stream. */
import { randomUUID } from "node:crypto";
import {
  generateText,
  isStepCount,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  type OutputInterface,
  streamText,
  type Tool,
  type ToolSet,
  type UserContent,
} from "ai";
import { cutAt } from "../base/clean-text.ts";
import { errorText } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import type { AgentDefinition } from "./agent-file.ts";
import type { AgentSystemConfig } from "./config.ts";
import { ConversationLedger, type Conversations, copyOf, plainTask, type SavedConversation } from "./conversations.ts";
import { AgentError, modelError, turnError } from "./errors.ts";
import type { AgentEvent, AgentLogger } from "./events.ts";
import { input } from "./file-tools.ts";
import { beginningAndEnd } from "./handoff-text.ts";
import {
  type AgentContext,
  type AgentMiddleware,
  type AgentResult,
  type AgentStep,
  agentLoadingMiddleware,
  budgetMiddleware,
  compose,
  contextSetupMiddleware,
  createSkillAutoTriggerMiddleware,
  type Delegation,
  loggingMiddleware,
  OutputText,
  plainOutput,
  type ToolWrapper,
  toolExecutionMiddleware,
} from "./middleware.ts";
import { pendingCalls, unsupported } from "./pending-calls.ts";
import type { SkillCache } from "./skill-cache.ts";
import type { SkillRegistry } from "./skill-registry.ts";

export interface ExecuteOptions {
  /** Turns with the same ID are one conversation: they see its messages and its skills. Default: a new conversation. */
  conversationId?: string;
  /** Ends the turn; `execute` then throws an AgentError with the code `aborted`. */
  signal?: AbortSignal;
  onEvent?: (event: AgentEvent) => void;
}

/** What `execute` and `stream` take besides the options: `Output.object({ schema })` of the AI SDK, for a typed answer. */
export interface OutputOption<Output> {
  output?: OutputInterface<Output>;
}

/** A turn that is under way. */
export interface AgentStream<Output = unknown> {
  readonly conversationId: string;
  /**
   * The pieces of the answer as they arrive. Ends with the turn; throws what `result` rejects with. Can be iterated once: a second loop
   * throws an AgentError with the code `agents-misused`. `result` has the whole text.
   */
  readonly textStream: AsyncIterable<string>;
  /** Settles when the turn is over. */
  readonly result: Promise<AgentResult<Output>>;
}

/** The agents of a system. */
export class AgentRegistry {
  readonly #agents: ReadonlyMap<string, AgentDefinition>;

  constructor(agents: readonly AgentDefinition[]) {
    this.#agents = new Map(agents.map((agent) => [agent.name, agent]));
  }

  getAgent(name: string): AgentDefinition | undefined {
    return this.#agents.get(name);
  }

  listAgents(): AgentDefinition[] {
    return [...this.#agents.values()];
  }
}

export interface ExecutorParts {
  registry: AgentRegistry;
  skills: SkillRegistry;
  cache: SkillCache;
  conversations: Conversations;
  config: AgentSystemConfig;
  logger: AgentLogger;
  middlewares: readonly AgentMiddleware[];
  modelOf(agent: AgentDefinition): LanguageModel;
  /** The registered tools that the agent's file names; with `delegate` if it may delegate. */
  toolsOf(agent: AgentDefinition): { tools: ToolSet; canDelegate: boolean };
}

type TurnOptions = ExecuteOptions & OutputOption<unknown>;

/** Where a turn stands among delegations. */
interface Lineage {
  mainConversationId: string;
  /** The agents from the first to this one. */
  path: readonly string[];
  maxTokens: number;
}

export class AgentExecutor {
  readonly #parts: ExecutorParts;
  #isClosed = false;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  /** Gives the task to the agent and returns its answer, with the skills that were loaded and why. */
  async execute<Output = unknown>(
    agent: string,
    task: string | UserContent,
    options: ExecuteOptions & OutputOption<Output> = {},
  ): Promise<AgentResult<Output>> {
    const result = this.#turn(agent, task, options.conversationId ?? randomUUID(), { options });
    return result as Promise<AgentResult<Output>>;
  }

  /** The same as a stream. The turn starts at once. */
  stream<Output = unknown>(
    agent: string,
    task: string | UserContent,
    options: ExecuteOptions & OutputOption<Output> = {},
  ): AgentStream<Output> {
    const conversationId = options.conversationId ?? randomUUID();
    const pieces = new Pieces();
    const result = this.#turn(agent, task, conversationId, { options, onText: (text) => pieces.push(text) });
    result.then(
      () => pieces.end(),
      (error: unknown) => pieces.fail(error),
    );
    return { conversationId, textStream: pieces, result: result as Promise<AgentResult<Output>> };
  }

  /** A copy of the messages of a conversation so far; undefined if it is unknown. */
  async messages(conversationId: string): Promise<ModelMessage[] | undefined> {
    const saved = await this.#parts.conversations.read(conversationId);
    return saved && copyOf(saved.messages);
  }

  /** Ends a conversation: deletes its messages, skills and kept outputs, also in the stores. Waits for a running turn. */
  async forget(conversationId: string): Promise<void> {
    const { cache, conversations, middlewares } = this.#parts;
    await conversations.forget(conversationId);
    cache.clear(conversationId);
    for (const middleware of middlewares) await middleware.forget?.(conversationId);
  }

  /** Waits for running turns. Later calls throw. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#parts.conversations.close();
    this.#parts.cache.clear();
  }

  async #turn(
    agent: string,
    task: string | UserContent,
    conversationId: string,
    { options, onText }: { options: TurnOptions; onText?: (text: string) => void },
  ): Promise<AgentResult> {
    if (this.#isClosed)
      throw new AgentError("agents-misused", "The system was closed.", { hint: "Build a new one.", agent });
    const misused = taskProblem(task) ?? idProblem(conversationId);
    if (misused) throw new AgentError("agents-misused", misused.text, { hint: misused.hint, agent });
    const { conversations, config } = this.#parts;
    const lineage: Lineage = { mainConversationId: conversationId, path: [agent], maxTokens: config.limits.maxTokens };
    const { signal } = options;
    const run = async (before: SavedConversation) => {
      const content = plainTask(task);
      const context = await this.#run({ agent, task: content, conversationId, before, lineage, options, onText });
      const after = {
        messages: context.result!.messages,
        ledger: context.ledger.entries,
        turns: context.turn,
      };
      return { after, result: { ...context.result!, messages: copyOf(context.result!.messages) } };
    };
    try {
      return await conversations.turn(conversationId, run, signal);
    } catch (error) {
      // The turn was aborted while it waited for an earlier one.
      throw turnError(error, { agent, conversationId, signal });
    }
  }

  async #run({
    agent,
    task,
    conversationId,
    before,
    lineage,
    options: { signal, onEvent, output },
    onText,
  }: {
    agent: string;
    task: string | UserContent;
    conversationId: string;
    before: SavedConversation;
    lineage: Lineage;
    options: TurnOptions;
    onText?: ((text: string) => void) | undefined;
  }): Promise<AgentContext> {
    const { skills, cache, config, logger, middlewares } = this.#parts;
    const turn = before.turns + 1;
    const depth = lineage.path.length - 1;
    const wrappers: ToolWrapper[] = [];
    const listeners: ((step: AgentStep) => "stop" | undefined)[] = [];
    const delegations: Delegation[] = [];
    let head = 0;
    const context: AgentContext = {
      agentName: agent,
      // Set by agent loading, before anybody else can look.
      agent: undefined as unknown as AgentDefinition,
      model: undefined as unknown as LanguageModel,
      conversationId,
      mainConversationId: lineage.mainConversationId,
      turn,
      iteration: 1,
      task: textOf(task),
      content: task,
      instructions: "",
      messages: copyOf([...before.messages, { role: "user", content: task }]),
      tools: {},
      config,
      skills,
      cache,
      ledger: new ConversationLedger(before.ledger, turn),
      loaded: [],
      signal,
      usedTokens: 0,
      maxTokens: lineage.maxTokens,
      emit: (details) => {
        const event = { agent, conversationId, ...details } as AgentEvent;
        // A logger that throws must not end the turn.
        for (const tell of [() => logger.log(event), () => onEvent?.(event)]) {
          try {
            tell();
          } catch (error) {
            if (details.type !== "warning") reportQuietly(logger, { agent, conversationId }, error);
          }
        }
      },
      inject: (text) => {
        const message: ModelMessage = { role: config.skills.autoTrigger.injectAs, content: text };
        // The first turn has no earlier bytes. In later ones everything up to the newest message is in the provider's cache.
        if (turn === 1) context.messages.splice(head++, 0, message);
        else context.messages.push(message);
      },
      wrapTools: (wrapper) => void wrappers.push(wrapper),
      onStep: (listener) => void listeners.push(listener),
    };
    // The outermost wrapper, because a middleware may have changed the handoff: reports what the model gets.
    const handedOver = new Map<string, Delegation>();
    context.wrapTools(async ({ toolCallId }, run) => {
      const output = await run();
      const delegation = handedOver.get(toolCallId);
      if (!delegation) return output;
      handedOver.delete(toolCallId);
      if (output instanceof OutputText) delegation.handoff = output.text;
      else if (typeof output === "string") delegation.handoff = output;
      context.emit({
        type: "handed-off",
        from: delegation.agent,
        status: delegation.status,
        tokens: delegation.usage.totalTokens ?? 0,
        handoffTokens: estimateTokens(delegation.handoff),
      });
      return output;
    });
    const find = (name: string) => {
      const definition = this.#find(name);
      const { tools, canDelegate } = this.#parts.toolsOf(definition);
      const delegate = canDelegate
        ? this.#delegateTool(context, { lineage, delegations, handedOver, signal, onEvent })
        : undefined;
      return {
        agent: definition,
        model: this.#parts.modelOf(definition),
        tools: delegate ? { ...tools, delegate } : tools,
      };
    };
    const pipeline = compose(
      [
        loggingMiddleware(depth),
        agentLoadingMiddleware(find),
        contextSetupMiddleware(),
        createSkillAutoTriggerMiddleware(),
        budgetMiddleware(),
        toolExecutionMiddleware(),
        ...middlewares,
      ],
      async (ready) => {
        try {
          await callModel(ready, { wrappers, listeners, delegations, output, onText });
        } catch (error) {
          throw modelError(error);
        }
      },
    );
    try {
      signal?.throwIfAborted();
      await pipeline(context);
    } catch (error) {
      throw turnError(error, { agent, conversationId, signal });
    }
    if (!context.result)
      throw new AgentError("agents-misused", `A middleware of ${agent} ended the turn without a result.`, {
        hint: "Call next(), or set context.result.",
        agent,
        conversationId,
      });
    // A tool that a middleware added. Providers would refuse every later turn.
    const [pending] = pendingCalls(context.result.messages);
    if (pending !== undefined) {
      const tool = context.tools[pending];
      const problem = tool && unsupported(tool);
      throw new AgentError(
        "tool-unsupported",
        `The turn ended without a result of the tool '${pending}'${problem ? `, which ${problem.text}` : ""}.`,
        {
          hint: `${problem?.hint ?? "See that every call of a tool gets a result."} The conversation is as it was before this turn.`,
          agent,
          conversationId,
        },
      );
    }
    return context;
  }

  #find(name: string): AgentDefinition {
    const { registry } = this.#parts;
    const found = registry.getAgent(name);
    if (found) return found;
    const names = registry.listAgents().map((agent) => agent.name);
    const [guess] = nearest(name, names);
    throw new AgentError("agent-unknown", `There is no agent '${name}'.`, {
      hint:
        names.length === 0
          ? "Add agents with withAgentsFrom or withAgent."
          : `${guess ? `Did you mean '${guess}'? ` : ""}The agents are ${names.slice(0, 20).join(", ")}.`,
      agent: name,
    });
  }

  /** Another agent does a part of the task in its own conversation, and hands over its result. */
  #delegateTool(
    context: AgentContext,
    {
      lineage,
      delegations,
      handedOver,
      signal,
      onEvent,
    }: {
      lineage: Lineage;
      delegations: Delegation[];
      handedOver: Map<string, Delegation>;
      signal: AbortSignal | undefined;
      onEvent: ExecuteOptions["onEvent"];
    },
  ): Tool {
    const { registry, config, cache } = this.#parts;
    const others = registry.listAgents().filter(({ name }) => name !== context.agentName);
    const list = others.map(
      ({ name, description }) => `  - ${name}${description ? `: ${cutAt(description, 160)}` : ""}`,
    );
    const depth = lineage.path.length;
    return {
      description: `Gives a part of the task to another agent, which works on its own and hands over a short result. It does not see this conversation, so the task must say all that it needs.\n\nAgents:\n${list.join("\n")}`,
      inputSchema: input<{ agent: string; task: string }>(
        {
          agent: { type: "string", description: "Name of the agent" },
          task: { type: "string", description: "What it is to do, with all that it needs to know" },
        },
        ["agent", "task"],
      ),
      execute: async ({ agent: to, task }: { agent: string; task: string }, { abortSignal, toolCallId }) => {
        const refuse = (text: string): OutputText => {
          delegations.push({ agent: to, task, text: "", handoff: text, status: "refused", usage: NO_USAGE });
          context.emit({ type: "tool-failed", tool: "delegate", toolCallId, text });
          return new OutputText(text);
        };
        if (!registry.getAgent(to))
          return refuse(`There is no agent '${to}'. The agents are ${others.map(({ name }) => name).join(", ")}.`);
        if (lineage.path.includes(to))
          return refuse(
            `Not delegated: ${[...lineage.path, to].join(" → ")} is a cycle. '${to}' already works on this task; do this part yourself.`,
          );
        if (depth > config.limits.maxDepth)
          return refuse(
            `Not delegated: ${lineage.path.join(" → ")} is as deep as delegation may go. Do this part yourself.`,
          );
        const maxTokens = context.maxTokens - context.usedTokens;
        if (maxTokens <= 0) return refuse("Not delegated: the token budget is spent.");
        const conversationId = `${context.conversationId}/${to}/${toolCallId}`;
        context.emit({ type: "delegated", to, task, depth });
        let delegation: Delegation;
        try {
          const child = await this.#run({
            agent: to,
            task,
            conversationId,
            before: { messages: [], ledger: [], turns: 0 },
            lineage: { ...lineage, path: [...lineage.path, to], maxTokens },
            options: {
              ...((abortSignal ?? signal) && { signal: abortSignal ?? signal! }),
              ...(onEvent && { onEvent }),
            },
          });
          const { result } = child;
          context.usedTokens += result!.totalTokens;
          delegation = {
            agent: to,
            task,
            text: result!.text,
            handoff: handoffText(result!, config.limits.handoffTokens),
            status: "completed",
            usage: result!.usage,
          };
        } catch (error) {
          // An abort ends the agent that delegated as well.
          signal?.throwIfAborted();
          const handoff = `${to} failed: ${errorText(error)}`;
          delegation = { agent: to, task, text: "", handoff, status: "failed", usage: NO_USAGE };
        } finally {
          cache.clear(conversationId);
        }
        delegations.push(delegation);
        handedOver.set(toolCallId, delegation);
        return new OutputText(delegation.handoff, delegation.text);
      },
    } as Tool;
  }
}

/** The answer of the agent within the budget, and what is known about its work. */
function handoffText({ agent, text, skills, steps, stoppedBy }: AgentResult, budgetTokens: number): string {
  const names = [...new Set(skills.map(({ name }) => name))];
  const facts = [
    stoppedBy === "model" ? "completed" : `stopped by its ${stoppedBy} limit`,
    `${steps} ${steps === 1 ? "step" : "steps"}`,
    ...(names.length > 0 ? [`skills: ${names.join(", ")}`] : []),
  ];
  const head = `Handoff from ${agent} (${facts.join("; ")}):\n\n`;
  if (estimateTokens(head + text) <= budgetTokens) return head + text;
  return head + beginningAndEnd(text, budgetTokens - estimateTokens(head));
}

/** The innermost part of a turn: the tool loop of the AI SDK. */
async function callModel(
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
    telemetry: { functionId: context.agentName, ...config.call.telemetry },
    // Before the tools of the step run, so that what they delegate gets only the rest of the budget.
    onLanguageModelCallEnd: ({ usage }: { usage: LanguageModelUsage }) => {
      context.usedTokens += tokensOf(usage);
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
  context.messages.push(...responseMessages);
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
  const read = { text, steps, usage, finishReason, responseMessages };
  // Read only if it is wanted: it rejects if the turn was stopped before.
  return Object.defineProperty(read as typeof read & { output: PromiseLike<unknown> }, "output", {
    get: () => stream.output,
  });
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

function taskProblem(task: unknown): { text: string; hint: string } | undefined {
  if (typeof task !== "string" && !Array.isArray(task))
    return {
      text: `The task is ${task === null ? "null" : typeof task}.`,
      hint: "Give it a text, or parts of a message.",
    };
  if (task.length > 0 && (typeof task !== "string" || task.trim() !== "")) return undefined;
  return { text: "The task is empty.", hint: "Say what the agent is to do: providers refuse empty messages." };
}

/** Without an ID, different people must not share a conversation. */
function idProblem(conversationId: unknown): { text: string; hint: string } | undefined {
  if (typeof conversationId === "string" && conversationId.trim() !== "") return undefined;
  return {
    text: "The conversationId is empty.",
    hint: "Give each conversation an ID of its own, or leave conversationId out for a new one.",
  };
}

function textOf(task: string | UserContent): string {
  if (typeof task === "string") return task;
  return task.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function reportQuietly(logger: AgentLogger, who: { agent: string; conversationId: string }, error: unknown): void {
  try {
    logger.log({ ...who, type: "warning", text: `a listener failed: ${errorText(error)}` });
  } catch {
    // The logger itself has failed.
  }
}

const NO_USAGE: LanguageModelUsage = {
  inputTokens: 0,
  inputTokenDetails: { noCacheTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  outputTokens: 0,
  outputTokenDetails: { textTokens: 0, reasoningTokens: 0 },
  totalTokens: 0,
};

/** Some providers give no total. */
function tokensOf({ totalTokens, inputTokens, outputTokens }: LanguageModelUsage): number {
  return totalTokens ?? (inputTokens ?? 0) + (outputTokens ?? 0);
}

/** Pieces of text that wait for a reader. */
class Pieces implements AsyncIterable<string> {
  readonly #waiting: string[] = [];
  #wake: (() => void) | undefined;
  #end: { error?: unknown } | undefined;
  #isTaken = false;

  push(text: string): void {
    this.#waiting.push(text);
    this.#wake?.();
  }

  end(): void {
    this.#end = {};
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#end = { error };
    this.#wake?.();
  }

  /** Pieces are handed out once, so two readers would each get a part of the answer. */
  [Symbol.asyncIterator](): AsyncGenerator<string> {
    if (this.#isTaken)
      throw new AgentError("agents-misused", "textStream was iterated before, and can be iterated only once.", {
        hint: "Keep the pieces of the first loop, or await `result` for the whole text.",
      });
    this.#isTaken = true;
    return this.#read();
  }

  async *#read(): AsyncGenerator<string> {
    for (;;) {
      const text = this.#waiting.shift();
      if (text !== undefined) yield text;
      else if (this.#end) {
        if ("error" in this.#end) throw this.#end.error;
        return;
      } else
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
    }
  }
}
