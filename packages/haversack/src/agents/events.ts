/** Events that happen while an agent works, and loggers for them. */
import type { LanguageModelUsage } from "ai";

/** How a skill came into the conversation. */
export type LoadedBy = "auto" | "tool" | "preload";

interface EventBase {
  agent: string;
  conversationId: string;
}

export type AgentEvent = EventBase &
  (
    | { type: "agent-start"; task: string; turn: number; depth: number }
    | { type: "agent-end"; turn: number; steps: number; usage: LanguageModelUsage; stoppedBy: string }
    | { type: "agent-failed"; code: string; text: string }
    /** The text of a skill was put into the conversation. */
    | { type: "skill-loaded"; skill: string; by: LoadedBy; reason: string; confidence?: number; tokens: number }
    /** The skill was asked for again. `sent`: whether its text was sent again. */
    | { type: "skill-cached"; skill: string; by: LoadedBy; reason: string; sent: boolean }
    | { type: "skill-failed"; skill: string; by: LoadedBy; text: string }
    /** A later message asks for skills that the conversation does not have. */
    | { type: "topic-changed"; skills: string[]; before: string[] }
    | { type: "step"; step: number; usage: LanguageModelUsage; toolCalls: string[] }
    | { type: "tool-start"; tool: string; toolCallId: string; input: unknown }
    | { type: "tool-end"; tool: string; toolCallId: string; ms: number }
    /** The model is told, and continues. */
    | { type: "tool-failed"; tool: string; toolCallId: string; text: string }
    | { type: "delegated"; to: string; task: string; depth: number }
    | { type: "handed-off"; from: string; status: string; tokens: number; handoffTokens: number }
    /** An agent's file lists `skills:`; see the migration guide. */
    | { type: "migration-hint"; text: string }
    | { type: "budget-spent"; usedTokens: number; maxTokens: number }
    | { type: "warning"; text: string }
    /** A piece of the answer, while it streams. */
    | { type: "text"; text: string }
  );

type Distribute<T> = T extends unknown ? Omit<T, "agent" | "conversationId"> : never;
/** An event without the agent and the conversation, which the executor adds. */
export type AgentEventDetails = Distribute<AgentEvent>;

type Listener = (event: AgentEventDetails) => void;

/** A listener that fails must not cost the model its skill. */
export function quietly(listener: Listener | undefined): Listener {
  return (event) => {
    try {
      listener?.(event);
    } catch {
      // Nobody else can be told.
    }
  };
}

export interface AgentLogger {
  log(event: AgentEvent): void;
}

/** One line for people. */
export function formatEvent(event: AgentEvent): string {
  return `${event.agent}: ${describe(event)}`;
}

function describe(event: AgentEvent): string {
  switch (event.type) {
    case "agent-start":
      return `start (turn ${event.turn}): ${event.task.slice(0, 120)}`;
    case "agent-end":
      return `end after ${event.steps} ${event.steps === 1 ? "step" : "steps"}, ${event.usage.totalTokens ?? 0} tokens (${event.stoppedBy})`;
    case "agent-failed":
      return `failed (${event.code}): ${event.text}`;
    case "skill-loaded": {
      const sure = event.confidence === undefined ? "" : ` (${Math.round(event.confidence * 100)}% confidence)`;
      return `Loading skill ${event.skill}${sure}: ${event.reason}; ${event.tokens} tokens`;
    }
    case "skill-cached":
      return `Using cached skill ${event.skill}: ${event.reason}`;
    case "skill-failed":
      return `Skill ${event.skill} was not loaded: ${event.text}`;
    case "topic-changed":
      return `The topic changed: ${event.skills.join(", ")}`;
    case "step":
      return `step ${event.step}: ${event.toolCalls.length > 0 ? event.toolCalls.join(", ") : "answer"}`;
    case "tool-start":
      return `${event.tool} starts`;
    case "tool-end":
      return `${event.tool} took ${Math.round(event.ms)} ms`;
    case "tool-failed":
      return `${event.tool} failed: ${event.text}`;
    case "delegated":
      return `delegates to ${event.to}: ${event.task.slice(0, 120)}`;
    case "handed-off":
      return `${event.from} handed off (${event.status}): ${event.tokens} tokens of work, ${event.handoffTokens} of handoff`;
    case "budget-spent":
      return `The token budget is spent: ${event.usedTokens} of ${event.maxTokens}`;
    case "migration-hint":
    case "warning":
      return event.text;
    case "text":
      return event.text;
  }
}

/** Lines for people on stderr. Pieces of the answer are left out. */
export function consoleLogger(options: { write?: (line: string) => void } = {}): AgentLogger {
  return linesLogger((event) => `[haversack] ${formatEvent(event)}`, options);
}

/** One JSON object per line, with the time, on stderr or where `write` puts it. Pieces of the answer are left out. */
export function jsonLinesLogger(options: { write?: (line: string) => void } = {}): AgentLogger {
  return linesLogger((event) => JSON.stringify({ at: new Date().toISOString(), ...event }), options);
}

function linesLogger(
  lineOf: (event: AgentEvent) => string,
  { write }: { write?: (line: string) => void },
): AgentLogger {
  const print = write ?? ((line: string) => void process.stderr.write(line));
  return {
    log: (event) => {
      if (event.type !== "text") print(`${lineOf(event)}\n`);
    },
  };
}

export interface MemoryLogger extends AgentLogger {
  readonly events: readonly AgentEvent[];
  /** The events of one type. */
  of<Type extends AgentEvent["type"]>(type: Type): Extract<AgentEvent, { type: Type }>[];
  clear(): void;
}

/** Keeps the latest events, for tests. Default: 1,000 of them. */
export function memoryLogger({ limit = 1_000 }: { limit?: number } = {}): MemoryLogger {
  const events: AgentEvent[] = [];
  return {
    events,
    of: (type) => events.filter((event): event is Extract<AgentEvent, { type: typeof type }> => event.type === type),
    clear: () => {
      events.length = 0;
    },
    log: (event) => {
      events.push(event);
      if (events.length > limit) events.splice(0, events.length - limit);
    },
  };
}

/** The default. */
export const noLogger: AgentLogger = { log: () => undefined };
