/** Runs agents: one turn of a conversation at a time, whole or as a stream. */
import { randomUUID } from "node:crypto";
import type { LanguageModel, ModelMessage, OutputInterface, ToolSet, UserContent } from "ai";
import { errorText } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";
import type { AgentDefinition } from "./agent-file.ts";
import type { AgentSystemConfig } from "./config.ts";
import { ConversationLedger, type Conversations, copyOf, plainTask, type SavedConversation } from "./conversations.ts";
import { type DelegatedTurn, delegateTool, pathOf } from "./delegation.ts";
import { AgentError, modelError, turnError } from "./errors.ts";
import type { AgentEvent, AgentLogger } from "./events.ts";
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
  injectedRole,
  loggingMiddleware,
  type ToolWrapper,
  toolExecutionMiddleware,
} from "./middleware.ts";
import { callModel } from "./model-loop.ts";
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
      () => pieces.end({}),
      (error: unknown) => pieces.end({ error }),
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
    const misused = misuse(task, conversationId);
    if (misused) throw new AgentError("agents-misused", misused.text, { hint: misused.hint, agent });
    const { conversations } = this.#parts;
    const { signal } = options;
    const run = async (before: SavedConversation) => {
      const content = plainTask(task);
      const context = await this.#run({ agent, task: content, conversationId, before, options, onText });
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
    parent,
    options: { signal, onEvent, output },
    onText,
  }: {
    agent: string;
    task: string | UserContent;
    conversationId: string;
    before: SavedConversation;
    parent?: AgentContext | undefined;
    options: TurnOptions;
    onText?: ((text: string) => void) | undefined;
  }): Promise<AgentContext> {
    const { skills, cache, config, logger, middlewares } = this.#parts;
    const turn = before.turns + 1;
    const wrappers: ToolWrapper[] = [];
    const listeners: ((step: AgentStep) => "stop" | undefined)[] = [];
    const delegations: Delegation[] = [];
    let head = 0;
    let hasLaterSystem = false;
    const context: AgentContext = {
      agentName: agent,
      // Set by agent loading, before anybody else can look.
      agent: undefined as unknown as AgentDefinition,
      model: undefined as unknown as LanguageModel,
      conversationId,
      mainConversationId: parent?.mainConversationId ?? conversationId,
      parent,
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
      maxTokens: parent ? parent.maxTokens - parent.usedTokens : config.limits.maxTokens,
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
        const { messages, model, instructions } = context;
        const hasSystem = instructions !== "" || messages.some(({ role }) => role === "system");
        const role = injectedRole(config.skills.autoTrigger.injectAs, { model, isFirst: turn === 1, hasSystem });
        hasLaterSystem ||= turn > 1 && role === "system";
        const message: ModelMessage = { role, content: text };
        // The first turn has no earlier bytes. In later ones everything up to the newest message is in the provider's cache.
        if (turn === 1) context.messages.splice(head++, 0, message);
        else context.messages.push(message);
      },
      wrapTools: (wrapper) => void wrappers.push(wrapper),
      onStep: (listener) => void listeners.push(listener),
    };
    const find = (name: string) => {
      const definition = this.#find(name);
      const { tools, canDelegate } = this.#parts.toolsOf(definition);
      const others = this.#parts.registry.listAgents().filter((other) => other !== definition);
      const run = async ({ signal: stop, ...delegated }: DelegatedTurn) => {
        const before = { messages: [], ledger: [], turns: 0 };
        const options = { ...(stop && { signal: stop }), ...(onEvent && { onEvent }) };
        return (await this.#run({ ...delegated, before, options })).result!;
      };
      const delegate = canDelegate && delegateTool(context, { others, delegations, run });
      return {
        agent: definition,
        model: this.#parts.modelOf(definition),
        tools: delegate ? { ...tools, delegate } : tools,
      };
    };
    const pipeline = compose(
      [
        loggingMiddleware(pathOf(context).length - 1),
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
      throw turnError(error, { agent, conversationId, signal, hasLaterSystem });
    }
    if (!context.result)
      throw new AgentError("agents-misused", `A middleware of ${agent} ended the turn without a result.`, {
        hint: "Call next(), or set context.result.",
        agent,
        conversationId,
      });
    // Providers would refuse every later turn.
    const [pending] = pendingCalls(context.result.messages);
    if (pending !== undefined) throw pendingError(pending, context);
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
}

/** A call has no result: the AI SDK did not run the tool. */
function pendingError(name: string, { agentName: agent, conversationId, tools, result }: AgentContext): AgentError {
  const same = "The conversation is as it was before this turn.";
  const reason = result?.finishReason ?? "";
  if (reason !== "tool-calls")
    return new AgentError(
      "model-failed",
      `The model of ${agent} ended in the middle of a call of '${name}' (${reason}).`,
      {
        hint: `${reason === "length" ? "Raise its maxOutputTokens (`max_output_tokens` in the agent's file), or ask for less at once. " : ""}${same}`,
        agent,
        conversationId,
      },
    );
  // A tool that a middleware added.
  const tool = tools[name];
  const problem = tool && unsupported(tool);
  const why = problem ? `, which ${problem.text}` : "";
  return new AgentError("tool-unsupported", `The turn ended without a result of the tool '${name}'${why}.`, {
    hint: `${problem?.hint ?? "See that every call of a tool gets a result."} ${same}`,
    agent,
    conversationId,
  });
}

function misuse(task: unknown, conversationId: unknown): { text: string; hint: string } | undefined {
  const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";
  if (typeof task !== "string" && !Array.isArray(task)) {
    const hint = "Give it a text, or parts of a message.";
    return { text: `The task is ${task === null ? "null" : typeof task}.`, hint };
  }
  if (!isText(task) && (typeof task === "string" || task.length === 0))
    return { text: "The task is empty.", hint: "Say what the agent is to do: providers refuse empty messages." };
  if (isText(conversationId)) return undefined;
  // Without an ID, different people must not share a conversation.
  const hint = "Give each conversation an ID of its own, or leave conversationId out for a new one.";
  return { text: "The conversationId is empty.", hint };
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

  end(how: { error?: unknown }): void {
    this.#end = how;
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
