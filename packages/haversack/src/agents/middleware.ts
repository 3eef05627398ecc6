/**
 * One turn of an agent as a pipeline: each middleware sees the context, calls `next`, and may look at the result afterwards. The order is
 * logging, agent loading, context set-up, skill auto-trigger, budget, tool execution, yours, and then the model.
 */
import type {
  FinishReason,
  JSONValue,
  LanguageModel,
  LanguageModelUsage,
  ModelMessage,
  ToolSet,
  UserContent,
} from "ai";
import { errorText } from "../base/errors.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import type { AgentDefinition } from "./agent-file.ts";
import type { AgentSystemConfig, InjectAs } from "./config.ts";
import type { ConversationLedger } from "./conversations.ts";
import { turnError } from "./errors.ts";
import type { AgentEventDetails, LoadedBy } from "./events.ts";
import { readsSkills } from "./file-tools.ts";
import { SkillAutoTrigger, type SkillTrigger } from "./skill-auto-trigger.ts";
import type { SkillCache } from "./skill-cache.ts";
import type { SkillRegistry } from "./skill-registry.ts";
import { isSkillTool, SkillTool } from "./skill-tool.ts";

/** A skill of this turn: how it came into the conversation, and what it cost. */
export interface LoadedSkill {
  name: string;
  by: LoadedBy;
  reason: string;
  confidence?: number;
  matchedKeywords?: string[];
  /** Tokens of its text in this turn; 0 if the conversation had it. */
  tokens: number;
  /** The conversation had it already. */
  cached: boolean;
}

export interface AgentToolCall {
  tool: string;
  input: unknown;
  /** What the model got. */
  output?: unknown;
  /** Why it failed; the model was told. */
  error?: string;
}

/** What an agent did for another one, whose model gets only the handoff. */
export interface Delegation {
  agent: string;
  task: string;
  /** The whole answer. */
  text: string;
  /** The text that the delegating model was given. */
  handoff: string;
  status: "completed" | "failed" | "refused";
  usage: LanguageModelUsage;
}

export interface AgentResult<Output = unknown> {
  agent: string;
  conversationId: string;
  /** 1 for the first turn of the conversation. */
  turn: number;
  text: string;
  /** The answer as the option `output` describes it, or parsed if the agent has `response_format: json`. Undefined if the turn was stopped before. */
  output?: Output;
  /** A copy of the whole conversation, with this turn and the texts of skills. */
  messages: ModelMessage[];
  /** Of this agent's own calls, in this turn. */
  usage: LanguageModelUsage;
  /** Tokens of this turn, including delegated work. */
  totalTokens: number;
  steps: number;
  finishReason: FinishReason;
  /** Why the turn ended: the model was done, the limit of steps, or the budget. */
  stoppedBy: "model" | "steps" | "budget";
  /** The skills of this turn, and why they were loaded. */
  skills: LoadedSkill[];
  toolCalls: AgentToolCall[];
  delegations: Delegation[];
}

export interface ToolCallInfo {
  readonly tool: string;
  readonly toolCallId: string;
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
}

/** Runs around each call of a tool. Return an `OutputText` to give the model another text than the tool's own output. */
export type ToolWrapper = (call: ToolCallInfo, next: () => Promise<unknown>) => Promise<unknown>;

/** The text that the model gets in place of a tool's own output. */
export class OutputText {
  readonly text: string;
  /** The text that it was made from, if that is longer. */
  readonly whole: string | undefined;

  constructor(text: string, whole?: string) {
    this.text = text;
    this.whole = whole;
  }
}

/** What the model gets of a tool's output if the tool does not say it itself. Plain data, also if the output has dates or refers to itself. */
export function plainOutput(
  output: unknown,
): { type: "text" | "error-text"; value: string } | { type: "json"; value: JSONValue } {
  if (output instanceof OutputText) return { type: "text", value: output.text };
  if (typeof output === "string") return { type: "text", value: output };
  try {
    const text = JSON.stringify(output, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    return { type: "json", value: text === undefined ? null : (JSON.parse(text) as JSONValue) };
  } catch (error) {
    return { type: "error-text", value: `The output of this tool cannot be sent: ${firstLine(errorText(error))}` };
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

export interface AgentStep {
  /** 1 for the first. */
  step: number;
  usage: LanguageModelUsage;
  toolCalls: string[];
}

/** What a middleware sees of a turn, and may change before it calls `next`. */
export interface AgentContext {
  readonly agentName: string;
  /** Set by agent loading, the second middleware. */
  agent: AgentDefinition;
  readonly conversationId: string;
  /** The conversation that `execute` was called with. Another one than `conversationId` while an agent works on what was delegated to it. */
  readonly mainConversationId: string;
  /** The turn that delegated to this one. */
  readonly parent: AgentContext | undefined;
  /** 1 for the first turn of the conversation. */
  readonly turn: number;
  /** 1 before the model's first step of the turn; then the number of the step. */
  iteration: number;
  /** The text of the task, and the task as the model gets it. */
  readonly task: string;
  readonly content: UserContent;
  /** The system prompt. */
  instructions: string;
  /** All messages that the model gets: earlier turns, then this one. Add with `inject`, so that earlier bytes stay as they are. */
  messages: ModelMessage[];
  tools: ToolSet;
  model: LanguageModel;
  readonly config: AgentSystemConfig;
  readonly skills: SkillRegistry;
  readonly cache: SkillCache;
  /** What the model of this conversation has been shown. */
  readonly ledger: ConversationLedger;
  /** Skills of this turn; in the result. */
  readonly loaded: LoadedSkill[];
  readonly signal: AbortSignal | undefined;
  /** Tokens that the turn has used so far, with all that it delegated. */
  usedTokens: number;
  /** Most tokens of the turn. */
  maxTokens: number;
  /** Sends an event to the logger and to `onEvent`. */
  emit(event: AgentEventDetails): void;
  /** Adds a message for the model: after the system prompt in the first turn, after the newest message in later ones. */
  inject(text: string): void;
  /** Runs around each call of a tool; the first to be added is the outermost. */
  wrapTools(wrapper: ToolWrapper): void;
  /** Called after each step. Return "stop" to end the turn. */
  onStep(listener: (step: AgentStep) => "stop" | undefined): void;
  /** After `next`: the result of the turn. */
  result?: AgentResult;
}

export interface AgentMiddleware {
  (context: AgentContext, next: () => Promise<void>): Promise<void>;
  /** Called by `executor.forget`: removes what the middleware has kept of a conversation and its delegations. */
  forget?: (conversationId: string) => Promise<void> | void;
}

/** Runs the middlewares in order around `last`. Calling `next` twice is an error, as everywhere. */
export function compose(
  middlewares: readonly AgentMiddleware[],
  last: (context: AgentContext) => Promise<void>,
): (context: AgentContext) => Promise<void> {
  return (context) => {
    let reached = -1;
    const run = async (at: number): Promise<void> => {
      if (at <= reached) throw new Error("a middleware called next() twice");
      reached = at;
      const middleware = middlewares[at];
      await (middleware ? middleware(context, () => run(at + 1)) : last(context));
    };
    return run(0);
  };
}

/** Start, end and failure of a turn. */
export function loggingMiddleware(depth = 0): AgentMiddleware {
  return async (context, next) => {
    const { agentName: agent, conversationId, task, turn, signal } = context;
    context.emit({ type: "agent-start", task, turn, depth });
    try {
      await next();
    } catch (error) {
      const { code, message } = turnError(error, { agent, conversationId, signal });
      context.emit({ type: "agent-failed", code, text: message });
      throw error;
    }
    if (context.result) {
      const { steps, usage, stoppedBy } = context.result;
      context.emit({ type: "agent-end", turn, steps, usage, stoppedBy });
    }
  };
}

/** Finds the agent, its model and its tools. */
export function agentLoadingMiddleware(
  find: (name: string) => { agent: AgentDefinition; model: LanguageModel; tools: ToolSet },
): AgentMiddleware {
  return async (context, next) => {
    const { agent, model, tools } = find(context.agentName);
    context.agent = agent;
    context.model = model;
    context.tools = { ...tools };
    context.instructions = agent.instructions;
    await next();
  };
}

const KNOWLEDGE_HEADING = "## Dynamic Knowledge System";
/** What the model is told about skills. It must not expect skills that nobody loads. */
const knowledge = (isAutomatic: boolean) => `${KNOWLEDGE_HEADING}

Skills hold expertise for kinds of tasks: guidelines, templates, methods. The description of the \`skill\` tool lists them.
${
  isAutomatic
    ? `- A skill that fits the task is loaded for you, marked AUTO-LOADED SKILL, with the reason.
- Any other is loaded with skill({ name: "skill-name" }).`
    : `- A skill is loaded with skill({ name: "skill-name" }).`
}
- The resources of a skill are listed with it and can be read when they are needed.`;

/** The section on skills in the system prompt, the skill tool of this conversation, and the skills that the agent's file lists. */
export function contextSetupMiddleware(): AgentMiddleware {
  return async (context, next) => {
    const { agent, skills, cache, ledger, conversationId, config, tools } = context;
    for (const { file, text } of skills.keepFresh())
      context.emit({ type: "warning", text: `${file}: ${text}. The last good version of its skills is used.` });
    if (isSkillTool(tools["skill"], skills) && !hasSkills(context)) delete context.tools["skill"];
    if (isSkillTool(tools["skill"], skills)) {
      const readTool = readsSkills(tools["read"]) ? "read" : undefined;
      const tool = new SkillTool(skills, {
        cache,
        ledger,
        conversationId,
        catalogueTokens: config.skills.catalogueTokens,
        ...(readTool && { readTool }),
        onEvent: (event) => {
          noteToolLoad(context, event);
          context.emit(event);
        },
      });
      // As text: the catalogue stays the same within a turn, whatever happens to the registry.
      context.tools["skill"] = Object.assign(tool.toTool(), { description: tool.description }) as ToolSet[string];
      if (!/dynamic knowledge system/i.test(context.instructions))
        context.instructions = `${context.instructions}\n\n${knowledge(config.skills.autoTrigger.enabled)}`;
    }
    if (agent.skills.length > 0 && context.turn === 1) {
      context.emit({
        type: "migration-hint",
        text: `${agent.file}: skills: preloads ${agent.skills.join(", ")} into every conversation. Give those skills triggers, remove the list, and they are loaded when a task needs them.`,
      });
      for (const name of agent.skills)
        injectSkill(context, name, { by: "preload", reason: "listed in the agent's file" });
    }
    await next();
  };
}

/** Without skills there is nothing to offer. A conversation that has calls of the tool keeps it: some providers refuse calls of unknown tools. */
function hasSkills({ skills, messages }: AgentContext): boolean {
  if (skills.listSkills().length > 0) return true;
  return messages.some(
    ({ role, content }) =>
      role === "assistant" &&
      typeof content !== "string" &&
      content.some((part) => part.type === "tool-call" && part.toolName === "skill"),
  );
}

function noteToolLoad(context: AgentContext, event: AgentEventDetails): void {
  if (event.type !== "skill-loaded" && event.type !== "skill-cached") return;
  const { skill: name, by, reason } = event;
  const tokens = event.type === "skill-loaded" ? event.tokens : 0;
  context.loaded.push({ name, by, reason, tokens, cached: event.type === "skill-cached" });
}

/** Loads the skills that the newest message needs: at the start of a conversation, and when a later message brings up another topic. */
export function createSkillAutoTriggerMiddleware(registry?: SkillRegistry, cache?: SkillCache): AgentMiddleware {
  let made: { registry: SkillRegistry; trigger: SkillAutoTrigger } | undefined;
  return async (context, next) => {
    const { enabled, confidenceThreshold, maxSkills } = context.config.skills.autoTrigger;
    if (!enabled || context.iteration !== 1) return next();
    const skills = registry ?? context.skills;
    if (made?.registry !== skills) made = { registry: skills, trigger: new SkillAutoTrigger(skills) };
    let triggers: SkillTrigger[] = [];
    try {
      triggers = made.trigger.analyzeTask(context.task, { confidenceThreshold });
    } catch (error) {
      context.emit({ type: "warning", text: `the task could not be matched with skills: ${errorText(error)}` });
    }
    const { ledger, conversationId } = context;
    const fresh = triggers.filter(({ skill }) => !ledger.has(skill.name, skill.hash)).slice(0, maxSkills);
    const known = triggers.filter(({ skill }) => ledger.has(skill.name, skill.hash)).slice(0, maxSkills);
    // A new version of a skill that the conversation has is not a new topic.
    const newTopics = fresh.map(({ skill }) => skill.name).filter((name) => !ledger.has(name));
    if (context.turn > 1 && newTopics.length > 0) {
      const before = ledger.entries.map(({ skill }) => skill);
      context.emit({ type: "topic-changed", skills: newTopics, before });
    }
    const whyOf = ({ reason, confidence, matchedKeywords }: SkillTrigger) => {
      return { by: "auto" as const, reason, confidence, matchedKeywords };
    };
    // The ledger knows what the conversation has. The cache is filled for the model's calls, and not asked.
    const kept = cache ?? context.cache;
    for (const trigger of known) {
      const { name } = trigger.skill;
      kept.set(conversationId, name, trigger.skill);
      context.emit({ type: "skill-cached", skill: name, by: "auto", reason: trigger.reason, sent: false });
      context.loaded.push({ name, ...whyOf(trigger), tokens: 0, cached: true });
    }
    let room = context.config.skills.autoTrigger.maxTokens;
    for (const trigger of fresh)
      room -= injectSkill(context, trigger.skill.name, whyOf(trigger), { room, registry: skills, cache: kept });
    await next();
  };
}

/** Puts a skill's text before the model, or one line that says why it is not there. Returns the tokens of the text. */
function injectSkill(
  context: AgentContext,
  name: string,
  why: Pick<LoadedSkill, "by" | "reason" | "confidence" | "matchedKeywords">,
  { room = Number.POSITIVE_INFINITY, registry = context.skills, cache = context.cache } = {},
): number {
  const { ledger, conversationId } = context;
  const { matchedKeywords: _, ...told } = why;
  const { by, reason } = why;
  const fail = (text: string, line: string): number => {
    context.emit({ type: "skill-failed", skill: name, by, text });
    context.inject(line);
    return 0;
  };
  const hasTool = isSkillTool(context.tools["skill"], context.skills);
  const again = (text: string) => (hasTool ? ` skill({ name: "${name}" }) ${text}.` : "");
  try {
    const skill = registry.getSkill(name);
    if (!skill) return fail("there is no such skill", `The skill '${name}' was to be loaded, but it is not installed.`);
    if (by === "preload" && ledger.has(skill.name, skill.hash)) return 0;
    if (estimateTokens(skill.instructions) > room)
      return fail(
        "its text does not fit into autoTrigger.maxTokens",
        `The skill '${name}' fits this task (${reason}). It is long, so it was not loaded.${again("loads it")}`,
      );
    const { read } = context.tools;
    const readHint =
      readsSkills(read) || !hasTool
        ? "Use the read tool to access these resources."
        : `To read one: skill({ name: "${skill.name}", resource: "…" }).`;
    ledger.by = by;
    // Names of files are useless if no tool can read them.
    const includeResources = read !== undefined || hasTool;
    const loaded = registry.load(skill.name, { ledger, conversationId, readHint, includeResources });
    if (loaded.kind === "unknown") return fail(loaded.text, `The skill '${name}' could not be loaded.`);
    cache.set(conversationId, skill.name, skill);
    const text = skillMessage(skill.name, loaded.text, { by, reason });
    const tokens = estimateTokens(text);
    context.inject(text);
    context.loaded.push({ name: skill.name, ...why, tokens, cached: false });
    context.emit({ type: "skill-loaded", skill: skill.name, ...told, tokens });
    return tokens;
  } catch (error) {
    return fail(errorText(error), `The skill '${name}' fits this task but could not be loaded.${again("tries again")}`);
  } finally {
    ledger.by = "tool";
  }
}

/** The text of a skill that nobody asked for: marked, and with the reason. */
export function skillMessage(name: string, text: string, { by, reason }: { by: LoadedBy; reason: string }): string {
  const own = `# ${name}\n\n`;
  const body = text.startsWith(own) ? text.slice(own.length) : text;
  if (by === "preload") return `## SKILL: ${name}\n\n${body}\n\nThis skill was loaded because it is ${reason}.`;
  return `## AUTO-LOADED SKILL: ${name}\n\n${body}\n\nThis skill was automatically loaded based on your task (${reason}).`;
}

/** The packages of these providers throw at a system message after the first message of the user. */
const SYSTEM_FIRST = /^(google|amazon|bedrock)\b/;

/** The role of a message that holds a skill. `isFirst`: only system messages are before it. `hasSystem`: there is one before it. */
export function injectedRole(
  injectAs: InjectAs,
  { model, isFirst, hasSystem }: { model: LanguageModel; isFirst: boolean; hasSystem: boolean },
): "system" | "user" {
  if (injectAs !== "auto") return injectAs;
  const names = typeof model === "string" ? [model] : [model.provider, model.modelId];
  // Without one before it, some providers make it the system prompt, which changes earlier bytes.
  return isFirst || (hasSystem && !names.some((name) => SYSTEM_FIRST.test(name))) ? "system" : "user";
}

/** Ends the turn when it has used its tokens. */
export function budgetMiddleware(): AgentMiddleware {
  return async (context, next) => {
    let isWarned = false;
    context.onStep(({ usage }) => {
      const isCounted = (usage.totalTokens ?? usage.inputTokens ?? usage.outputTokens) !== undefined;
      if (!isCounted && !isWarned && context.maxTokens !== Number.POSITIVE_INFINITY) {
        isWarned = true;
        const text =
          "the provider reports no usage, so limits.maxTokens cannot end this turn; some report it only on request";
        context.emit({ type: "warning", text });
      }
      if (!isSpent(context)) return undefined;
      context.emit({ type: "budget-spent", usedTokens: context.usedTokens, maxTokens: context.maxTokens });
      return "stop";
    });
    await next();
  };
}

/** Also if those above have spent theirs, because others may work for them at the same time. */
export function isSpent({ usedTokens, maxTokens, parent }: AgentContext): boolean {
  return usedTokens >= maxTokens || (parent !== undefined && isSpent(parent));
}

/** Events for each call of a tool. The wrappers of other middlewares run inside. */
export function toolExecutionMiddleware(): AgentMiddleware {
  return async (context, next) => {
    context.wrapTools(async ({ tool, toolCallId, input }, run) => {
      const start = performance.now();
      context.emit({ type: "tool-start", tool, toolCallId, input });
      try {
        const output = await run();
        context.emit({ type: "tool-end", tool, toolCallId, ms: performance.now() - start });
        return output;
      } catch (error) {
        context.emit({ type: "tool-failed", tool, toolCallId, text: errorText(error) });
        throw error;
      }
    });
    await next();
  };
}
