/**
 * For programs with their own loop: a middleware for `wrapLanguageModel`, and plain functions. An existing `generateText`, `streamText` or agent
 * needs only the middleware: it loads the skills that a message needs, and answers the model's calls of `skill` itself.
 */
import type { LanguageModelMiddleware, SystemModelMessage, Tool } from "ai";
import { ANY, BOOLEAN, checkSettings, countFrom, type Kinds, numberFrom, oneOf } from "./check-settings.ts";
import type { InjectAs } from "./config.ts";
import { type AgentEventDetails, quietly } from "./events.ts";
import {
  type CallOptions,
  Injector,
  type Message,
  type Prompt,
  SkillWindow,
  skillTexts,
  withPlainCalls,
} from "./loop-prompt.ts";
import type { SkillCache } from "./skill-cache.ts";
import type { Skill, SkillRegistry } from "./skill-registry.ts";
import {
  ASKED,
  SKILL_INPUT_SCHEMA,
  SkillTool,
  type SkillToolInput,
  type SkillToolOptions,
  type SkillToolResult,
} from "./skill-tool.ts";

export interface AutoTriggerOptions {
  /** The confidence that a skill needs if its author set none. Default: 0.6. */
  confidenceThreshold?: number;
  /** How many skills one message may load. Default: 3. */
  maxSkills?: number;
}

/** The skill tool for `tools`: `generateText({ tools: { ...skillTools(skills), ...yours } })`. */
export function skillTools(
  skills: SkillRegistry,
  options: SkillToolOptions = {},
): { skill: Tool<SkillToolInput, SkillToolResult> } {
  return { skill: new SkillTool(skills, options).toTool() };
}

/**
 * The skills that a task needs, as system messages to put before it. Give `allowSystemInMessages: true` to the call that gets them. With a
 * cache and a conversation, a skill is returned once.
 */
export function skillMessages(
  skills: SkillRegistry,
  task: string,
  {
    confidenceThreshold,
    maxSkills = 3,
    cache,
    conversationId,
  }: AutoTriggerOptions & { cache?: SkillCache; conversationId?: string } = {},
): SystemModelMessage[] {
  skills.keepFresh();
  const isNew = ({ name, hash }: Skill) =>
    conversationId === undefined || cache?.get(conversationId, name)?.skill.hash !== hash;
  return skillTexts(task, { skills, confidenceThreshold, most: maxSkills, isNew }).map(({ skill, text }) => {
    if (conversationId !== undefined) cache?.set(conversationId, skill.name, skill);
    return { role: "system", content: text };
  });
}

type GenerateOptions = Parameters<NonNullable<LanguageModelMiddleware["wrapGenerate"]>>[0];
type Generated = Awaited<ReturnType<GenerateOptions["doGenerate"]>>;
type Content = Generated["content"][number];
type Streamed = Awaited<ReturnType<GenerateOptions["doStream"]>>;
type StreamPart = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;
type ToolCall = Extract<Content, { type: "tool-call" }>;
type ToolResult = Extract<Content, { type: "tool-result" }>;

export interface SkillMiddlewareOptions extends AutoTriggerOptions {
  /** Load the skills that a message needs. Default: true. */
  autoTrigger?: boolean;
  /** Most tokens of the catalogue in the description of the skill tool. Default: 1,500. */
  catalogueTokens?: number;
  /** How many times in a row the model may call `skill` before its answer is passed on. Default: 5. */
  maxRounds?: number;
  /** The role of the messages that hold skills. Default: auto. */
  injectAs?: InjectAs;
  /** Called when a skill is added for a new message, when the model asks for one, and when either fails. */
  onEvent?: (event: AgentEventDetails) => void;
}

const OPTION_KINDS: Kinds = {
  confidenceThreshold: numberFrom(0, 1),
  maxSkills: countFrom(0),
  autoTrigger: BOOLEAN,
  catalogueTokens: numberFrom(0),
  maxRounds: countFrom(0),
  injectAs: oneOf("auto", "system", "user"),
  onEvent: ANY,
};

/**
 * `wrapLanguageModel({ model, middleware: skillMiddleware(skills) })`. Without skills it adds nothing. Needs no conversation ID: what it adds
 * to a message depends only on the messages up to it, and stays when the file of a skill changes, so the provider's prompt cache holds. Throws
 * an AgentError if an option is unknown or has a wrong value.
 */
export function skillMiddleware(skills: SkillRegistry, options: SkillMiddlewareOptions = {}): LanguageModelMiddleware {
  checkSettings(options, OPTION_KINDS, { of: "skillMiddleware" });
  const { autoTrigger = true, maxRounds = 5 } = options;
  const tell = quietly(options.onEvent);
  const tool = new SkillTool(skills, {
    ...(options.catalogueTokens !== undefined && { catalogueTokens: options.catalogueTokens }),
    onEvent: tell,
  });
  const injector = new Injector(skills, { ...options, onEvent: tell });
  /** Calls that carry our tool: if the caller has a tool of that name, it stays the caller's. */
  const isOurs = (params: CallOptions) => OURS.has(params);
  const OURS = new WeakSet<CallOptions>();

  return {
    specificationVersion: "v4",
    transformParams: async ({ params, model }) => {
      skills.keepFresh();
      const hasOwn = params.tools?.some(({ name }) => name === tool.name) ?? false;
      const prompt = hasOwn ? params.prompt : withPlainCalls(params.prompt);
      const next: CallOptions = {
        ...params,
        prompt: autoTrigger ? injector.inject(prompt, { hasOwn, model }) : prompt,
      };
      // Without skills there is nothing to offer. A prompt that has calls of the tool keeps it: some providers refuse calls of unknown tools.
      const isOffered = skills.listSkills().length > 0 || new SkillWindow(prompt).hasCalls;
      if (!hasOwn && isOffered && params.toolChoice?.type !== "none") {
        const { name, description } = tool;
        const definition = { type: "function" as const, name, description, inputSchema: SKILL_INPUT_SCHEMA };
        next.tools = [...(params.tools ?? []), definition];
        OURS.add(next);
      }
      return next;
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      if (!isOurs(params)) return doGenerate();
      const content: Content[] = [];
      let usage: Generated["usage"] | undefined;
      for (let round = 0; ; round++) {
        const result = round === 0 ? await doGenerate() : await model.doGenerate(continued(params, content));
        usage = usage ? addUsage(usage, result.usage) : result.usage;
        const { results, isOver } = await answerCalls(result.content, tool, {
          prompt: continued(params, content).prompt,
          tell,
        });
        // Results after all calls, as in a stream: a call after a result is then one of the model's next answer.
        content.push(...result.content.map((part) => asExecuted(part, tool.name)), ...results);
        if (isOver || round >= maxRounds) return { ...result, content, usage };
      }
    },
    wrapStream: async ({ doStream, params, model }) => {
      if (!isOurs(params)) return doStream();
      const first = await doStream();
      let current = first.stream.getReader();
      let isCancelled = false;
      const stream = new ReadableStream<StreamPart>({
        start: async (controller) => {
          const content: Content[] = [];
          let usage: Generated["usage"] | undefined;
          try {
            for (let round = 0; ; round++) {
              const said = new StreamContent();
              let finish: Extract<StreamPart, { type: "finish" }> | undefined;
              for (;;) {
                const { done, value: part } = await current.read();
                if (done) break;
                said.add(part);
                if (part.type === "finish") finish = part;
                else if (part.type !== "stream-start" || round === 0) controller.enqueue(asExecuted(part, tool.name));
              }
              if (isCancelled) return;
              const { results, isOver } = await answerCalls(said.content, tool, {
                prompt: continued(params, content).prompt,
                tell,
              });
              for (const result of results) controller.enqueue(result);
              content.push(...said.content.map((part) => asExecuted(part, tool.name)), ...results);
              if (finish) usage = usage ? addUsage(usage, finish.usage) : finish.usage;
              if (!finish || isOver || round >= maxRounds) {
                if (finish) controller.enqueue({ ...finish, usage: usage! });
                controller.close();
                return;
              }
              current = (await model.doStream(continued(params, content))).stream.getReader();
              if (isCancelled) return await current.cancel();
            }
          } catch (error) {
            if (isCancelled) return;
            controller.enqueue({ type: "error", error });
            controller.close();
          }
        },
        cancel: (reason) => {
          isCancelled = true;
          return current.cancel(reason);
        },
      });
      return { ...first, stream };
    },
  };
}

/** Marks our calls as executed by the provider: the AI SDK then neither looks for a tool of ours nor runs it. */
const EXECUTED = { providerExecuted: true, dynamic: true } as const;

function asExecuted<Part extends Content | StreamPart>(part: Part, toolName: string): Part {
  const isOurs = (part.type === "tool-call" || part.type === "tool-input-start") && part.toolName === toolName;
  return isOurs ? { ...part, ...EXECUTED } : part;
}

/** Puts the parts of a stream together, as they would stand in a whole answer. */
class StreamContent {
  readonly content: Content[] = [];
  readonly #open = new Map<string, Extract<Content, { type: "text" | "reasoning" }>>();

  add(part: StreamPart): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const type = part.type === "text-start" ? "text" : "reasoning";
        const block = { type, text: "", ...metadataOf(part) } as const;
        this.#open.set(`${type} ${part.id}`, block);
        this.content.push(block);
        return;
      }
      case "text-delta":
      case "text-end":
      case "reasoning-delta":
      case "reasoning-end": {
        const block = this.#open.get(`${part.type.startsWith("text") ? "text" : "reasoning"} ${part.id}`);
        if (block) Object.assign(block, "delta" in part && { text: block.text + part.delta }, metadataOf(part));
        return;
      }
      case "tool-call":
      case "tool-result":
      case "file":
      case "reasoning-file":
      case "custom":
        this.content.push(part);
    }
  }
}

/** Signatures and the like, which the provider wants back with the part. The last one counts. */
function metadataOf({ providerMetadata }: { providerMetadata?: Generated["providerMetadata"] }) {
  return providerMetadata && { providerMetadata };
}

/** The same call with what the model has said since, as the AI SDK will send it with the messages of later turns. */
function continued(params: CallOptions, content: readonly Content[]): CallOptions {
  if (content.length === 0) return params;
  return { ...params, prompt: [...params.prompt, ...withPlainCalls([assistantMessage(content)])] };
}

type AssistantMessage = Extract<Message, { role: "assistant" }>;

function assistantMessage(content: readonly Content[]): AssistantMessage {
  return { role: "assistant", content: content.flatMap((part) => promptPart(part) ?? []) };
}

function promptPart(part: Content): AssistantMessage["content"][number] | undefined {
  if (part.type === "source" || part.type === "tool-approval-request") return undefined;
  const own = part.providerMetadata && { providerOptions: part.providerMetadata };
  switch (part.type) {
    case "text":
      return part.text === "" && !own ? undefined : { type: part.type, text: part.text, ...own };
    case "reasoning":
      return { type: part.type, text: part.text, ...own };
    case "custom":
      return { type: part.type, kind: part.kind, ...own };
    case "file":
    case "reasoning-file":
      return { type: part.type, data: part.data, mediaType: part.mediaType, ...own };
    case "tool-call": {
      const { type, toolCallId, toolName, providerExecuted } = part;
      const input: unknown = parseInput(part.input) ?? {};
      return { type, toolCallId, toolName, input, ...(providerExecuted && { providerExecuted }), ...own };
    }
    case "tool-result": {
      const { type, toolCallId, toolName, result } = part;
      const output = { type: part.isError ? ("error-json" as const) : ("json" as const), value: result };
      return { type, toolCallId, toolName, output, ...own };
    }
  }
}

/** Runs the calls of our tool. `isOver`: there were none, or the AI SDK must run others before the model goes on. */
async function answerCalls(
  content: readonly Content[],
  tool: SkillTool,
  { prompt, tell }: { prompt: Prompt; tell: (event: AgentEventDetails) => void },
) {
  const calls = content.filter((part): part is ToolCall => part.type === "tool-call");
  const window = new SkillWindow(prompt).names;
  const results: ToolResult[] = [];
  for (const { toolCallId, toolName, input: text } of calls.filter(({ toolName }) => toolName === tool.name)) {
    const input = parseInput(text);
    const already = input?.name && !input.reload && !input.resource && window.has(input.name);
    if (already) tell({ type: "skill-cached", skill: input.name!, by: "tool", reason: ASKED, sent: false });
    const { success, output } = already
      ? {
          success: true,
          output: `Skill '${input.name}' is already in this conversation. To get its text again: skill({ name: "${input.name}", reload: true }).`,
        }
      : await tool.execute(input as SkillToolInput);
    if (input?.name && success && !input.resource) window.add(input.name);
    results.push({ type: "tool-result", toolCallId, toolName, result: { success, output }, dynamic: true });
  }
  const isOver = results.length === 0 || calls.some((call) => call.toolName !== tool.name && !call.providerExecuted);
  return { results, isOver };
}

function parseInput(text: string): SkillToolInput | undefined {
  try {
    return JSON.parse(text === "" ? "{}" : text) as SkillToolInput;
  } catch {
    // The tool's answer says what it expects.
    return undefined;
  }
}

function addUsage(a: Generated["usage"], b: Generated["usage"]): Generated["usage"] {
  const sum = (x: number | undefined, y: number | undefined) =>
    x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0);
  return {
    ...b,
    inputTokens: {
      total: sum(a.inputTokens.total, b.inputTokens.total),
      noCache: sum(a.inputTokens.noCache, b.inputTokens.noCache),
      cacheRead: sum(a.inputTokens.cacheRead, b.inputTokens.cacheRead),
      cacheWrite: sum(a.inputTokens.cacheWrite, b.inputTokens.cacheWrite),
    },
    outputTokens: {
      total: sum(a.outputTokens.total, b.outputTokens.total),
      text: sum(a.outputTokens.text, b.outputTokens.text),
      reasoning: sum(a.outputTokens.reasoning, b.outputTokens.reasoning),
    },
  };
}
