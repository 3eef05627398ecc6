/** The settings of an agent system, each with its default. */
import type { RequestOptions, TelemetryOptions, ToolSet } from "ai";
import { ANY, BOOLEAN, checkSettings, countFrom, type Kinds, numberFrom, oneOf } from "./check-settings.ts";

/**
 * Options for every call of the model. Retries, timeout, headers and telemetry as in the AI SDK; provider options as its providers document them. The
 * `functionId` of telemetry is the agent's name unless you set one.
 */
export type CallOptions = Pick<RequestOptions<ToolSet>, "maxRetries" | "timeout" | "headers"> & {
  telemetry?: TelemetryOptions;
  providerOptions?: Record<string, Record<string, JsonValue>>;
};
/** `auto`: system, but user for a later skill where a system message is refused (Google, Amazon Bedrock) or would become the system prompt. */
export type InjectAs = "auto" | "system" | "user";
type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue | undefined };

export interface AgentSystemConfig {
  skills: {
    autoTrigger: {
      /** Default: true with `AgentSystemBuilder.default()`, else false. */
      enabled: boolean;
      /** The confidence that a skill needs if its author set none, 0 to 1. Default: 0.6. */
      confidenceThreshold: number;
      /** How many skills one message may load. Default: 3. */
      maxSkills: number;
      /** Maximum number of tokens that one message may load. A skill that does not fit is only named. Default: 10,000. */
      maxTokens: number;
      /** Skills are loaded once per conversation. */
      cacheStrategy: "conversation";
      /** The role of the messages that hold skills. Default: auto. */
      injectAs: InjectAs;
    };
    /** Maximum number of tokens of the catalogue in the description of the skill tool. Default: 1,500. */
    catalogueTokens: number;
    /** How often the folders of skills may be checked for changes, in ms; 0 for never. Default: 3,000. */
    refreshMs: number;
  };
  limits: {
    /** How many steps one turn may take. Default: 20. */
    maxSteps: number;
    /** How many tokens one turn may use, including delegated work. The turn ends after the step that reaches the limit. Default: no limit. */
    maxTokens: number;
    /** How many levels deep agents may delegate. Default: 2. */
    maxDepth: number;
    /** Maximum number of tokens of a handoff to the agent that delegated. Default: 800. */
    handoffTokens: number;
    /** How many conversations are kept in memory. The least recently used is removed first. Default: 1,000. */
    maxConversations: number;
    /** How long an unused conversation is kept in memory, in ms. Default: 1 hour. */
    conversationTtlMs: number;
  };
  agents: {
    /** What `build` does if an agent cannot be used: throw, or leave it out and log it. Default: throw. */
    onInvalid: "throw" | "skip";
  };
  call: CallOptions;
}

type DeepPartial<T> = {
  [Key in keyof T]?: T[Key] extends (infer U)[] ? U[] : T[Key] extends object ? DeepPartial<T[Key]> : T[Key];
};
/** The settings that you want to change. */
export type AgentSystemOptions = DeepPartial<Omit<AgentSystemConfig, "call">> & { call?: CallOptions };

export const DEFAULT_CONFIG: AgentSystemConfig = {
  skills: {
    autoTrigger: {
      enabled: false,
      confidenceThreshold: 0.6,
      maxSkills: 3,
      maxTokens: 10_000,
      cacheStrategy: "conversation",
      injectAs: "auto",
    },
    catalogueTokens: 1_500,
    refreshMs: 3_000,
  },
  limits: {
    maxSteps: 20,
    maxTokens: Number.POSITIVE_INFINITY,
    maxDepth: 2,
    handoffTokens: 800,
    maxConversations: 1_000,
    conversationTtlMs: 3_600_000,
  },
  agents: { onInvalid: "throw" },
  call: {},
};

const CONFIG_KINDS: Kinds = {
  skills: {
    autoTrigger: {
      enabled: BOOLEAN,
      confidenceThreshold: numberFrom(0, 1),
      maxSkills: countFrom(0),
      maxTokens: numberFrom(0),
      cacheStrategy: oneOf("conversation"),
      injectAs: oneOf("auto", "system", "user"),
    },
    catalogueTokens: numberFrom(0),
    refreshMs: numberFrom(0),
  },
  limits: {
    maxSteps: countFrom(1),
    maxTokens: numberFrom(1),
    maxDepth: countFrom(0),
    handoffTokens: numberFrom(1),
    maxConversations: countFrom(1),
    conversationTtlMs: numberFrom(0),
  },
  agents: { onInvalid: oneOf("throw", "skip") },
  call: { maxRetries: countFrom(0), timeout: ANY, headers: ANY, providerOptions: ANY, telemetry: ANY },
};

/** Throws an AgentError with the code `config-invalid` that names the setting. */
export function checkConfig(options: unknown): void {
  checkSettings(options, CONFIG_KINDS, { of: "withConfig" });
}

export function mergeConfig(base: AgentSystemConfig, options: AgentSystemOptions): AgentSystemConfig {
  const { autoTrigger, ...skills } = options.skills ?? {};
  return {
    skills: {
      ...base.skills,
      ...given(skills),
      autoTrigger: { ...base.skills.autoTrigger, ...given(autoTrigger ?? {}) },
    },
    limits: { ...base.limits, ...given(options.limits ?? {}) },
    agents: { ...base.agents, ...given(options.agents ?? {}) },
    call: { ...base.call, ...options.call },
  };
}

/** Without the keys that are undefined, so that they do not hide a default. */
function given<T extends object>(options: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };
}
