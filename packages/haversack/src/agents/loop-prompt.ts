/** What `skillMiddleware` changes in a prompt: it adds the skills that each message needs, and makes calls of `skill` ordinary calls. */
import { createHash } from "node:crypto";
import type { LanguageModel, LanguageModelMiddleware } from "ai";
import { errorText } from "../base/errors.ts";
import { injectedRole, skillMessage } from "./middleware.ts";
import type { SkillMiddlewareOptions } from "./own-loop.ts";
import { SkillAutoTrigger, type SkillTrigger } from "./skill-auto-trigger.ts";
import { renew, trim } from "./skill-cache.ts";
import type { Skill, SkillRegistry } from "./skill-registry.ts";
import type { SkillToolInput } from "./skill-tool.ts";

export type CallOptions = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
export type Prompt = CallOptions["prompt"];
export type Message = Prompt[number];

type SkillText = Pick<SkillTrigger, "skill" | "reason" | "confidence"> & { text: string; tokens: number };

/** The texts of the skills that a task needs, the most probable first. */
export function skillTexts(
  task: string,
  {
    skills,
    confidenceThreshold,
    most,
    isNew = () => true,
    includeResources = true,
  }: {
    skills: SkillRegistry;
    confidenceThreshold: number | undefined;
    most: number;
    isNew?: (skill: Skill) => boolean;
    includeResources?: boolean;
  },
): SkillText[] {
  const triggers = new SkillAutoTrigger(skills).analyzeTask(task, {
    ...(confidenceThreshold !== undefined && { confidenceThreshold }),
  });
  const wanted = triggers.filter(({ skill }) => isNew(skill)).slice(0, most);
  return wanted.flatMap(({ skill, reason, confidence }) => {
    const readHint = `To read one: skill({ name: "${skill.name}", resource: "…" }).`;
    const loaded = skills.load(skill.name, { readHint, includeResources });
    if (loaded.kind !== "loaded") return [];
    const { tokens } = loaded;
    return [{ skill, reason, confidence, tokens, text: skillMessage(skill.name, loaded.text, { by: "auto", reason }) }];
  });
}

/** The skills whose text the messages hold. */
export class SkillWindow {
  readonly names = new Set<string>();
  /** There are calls of `skill`, also such as failed. */
  hasCalls = false;
  readonly #called = new Map<string, string>();
  readonly #hasOwn: boolean;

  /** `hasOwn`: calls of `skill` are those of another tool. */
  constructor(prompt: Prompt = [], { hasOwn = false } = {}) {
    this.#hasOwn = hasOwn;
    for (const message of prompt) this.add(message);
  }

  add(message: Message): void {
    const { role, content } = message;
    const injected = role === "system" ? MARK.exec(content)?.[1] : INJECTED.get(message);
    if (injected !== undefined) this.names.add(injected);
    if (this.#hasOwn || (role !== "assistant" && role !== "tool")) return;
    for (const part of content) {
      if (part.type === "tool-call" && part.toolName === "skill") {
        this.hasCalls = true;
        const { name, resource } = (part.input ?? {}) as SkillToolInput;
        if (typeof name === "string" && !resource) this.#called.set(part.toolCallId, name);
      }
      if (part.type !== "tool-result") continue;
      const name = this.#called.get(part.toolCallId);
      if (name !== undefined && plainOutput(part.output).type !== "error-text") this.names.add(name);
    }
  }
}

/** The skills of messages that we added as the user's. */
const INJECTED = new WeakMap<Message, string>();

/** Only the beginning of a message: the text of a skill may have any heading. */
const MARK = /^## AUTO-LOADED SKILL: (.+)/;

/** Adds the skills that each message of the user needs: before the first message, and after each later one. */
export class Injector {
  readonly #skills: SkillRegistry;
  readonly #options: SkillMiddlewareOptions;
  /** What was added for a message, by the hash of its text. Kept, so that a changed file does not change earlier bytes. */
  readonly #texts = new Map<string, SkillText[]>();

  constructor(skills: SkillRegistry, options: SkillMiddlewareOptions) {
    this.#skills = skills;
    this.#options = options;
  }

  /** `hasOwn`: the caller has a tool called `skill`, so the model cannot load anything with ours. */
  inject(prompt: Prompt, { hasOwn, model }: { hasOwn: boolean; model: LanguageModel }): Prompt {
    const next: Message[] = [];
    const known = new SkillWindow([], { hasOwn });
    let isFirst = true;
    for (const message of prompt) {
      if (message.role !== "user") {
        next.push(message);
        known.add(message);
        continue;
      }
      const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      const isSystem = ({ role }: Message) => role === "system";
      const place = { model, isFirst: next.every(isSystem), hasSystem: next.some(isSystem) };
      const role = injectedRole(this.#options.injectAs ?? "auto", place);
      const added = this.#messagesFor(text, { known: known.names, hasOwn, role, isNew: message === prompt.at(-1) });
      if (isFirst) next.push(...added, message);
      else next.push(message, ...added);
      isFirst = false;
    }
    return next;
  }

  #messagesFor(
    task: string,
    { known, hasOwn, role, isNew }: { known: Set<string>; hasOwn: boolean; role: "system" | "user"; isNew: boolean },
  ): Message[] {
    const key = `${hasOwn ? "own " : ""}${createHash("sha256").update(task).digest("base64")}`;
    // A new message has no earlier bytes, and another conversation may have begun with the same one long ago.
    const texts = (isNew ? undefined : this.#texts.get(key)) ?? this.#load(task, { hasOwn });
    renew(this.#texts, key, texts);
    trim(this.#texts, MAX_TEXTS);
    const fresh = texts.filter(({ skill }) => !known.has(skill.name)).slice(0, this.#options.maxSkills ?? 3);
    return fresh.map(({ skill: { name }, text, ...why }) => {
      known.add(name);
      if (isNew) this.#options.onEvent?.({ type: "skill-loaded", skill: name, by: "auto", ...why });
      if (role === "system") return { role, content: text };
      const message: Message = { role, content: [{ type: "text", text }] };
      INJECTED.set(message, name);
      return message;
    });
  }

  /** If the matching or a skill's text fails, the call goes on without skills. */
  #load(task: string, { hasOwn }: { hasOwn: boolean }): SkillText[] {
    const { confidenceThreshold, maxSkills = 3 } = this.#options;
    try {
      return skillTexts(task, {
        ...{ skills: this.#skills, confidenceThreshold },
        // A few more than are added, because earlier messages may already have some of them.
        most: maxSkills + 3,
        // Names of files are useless if no tool can read them.
        includeResources: !hasOwn,
      });
    } catch (error) {
      this.#options.onEvent?.({ type: "warning", text: `skills were not loaded: ${errorText(error)}` });
      return [];
    }
  }
}

/** Messages whose skills are remembered, over all conversations. */
const MAX_TEXTS = 500;

/**
 * What we marked as executed by the provider, as ordinary calls and results again: the provider knows the tool, but did not run it. Results
 * of other tools of the same step follow in the message of the AI SDK, and the two are joined.
 */
export function withPlainCalls(prompt: Prompt): Prompt {
  const next: Message[] = [];
  let pending: Extract<Message, { role: "tool" }>["content"] = [];
  const flush = () => {
    if (pending.length > 0) next.push({ role: "tool", content: pending });
    pending = [];
  };
  for (const message of prompt) {
    if (message.role === "tool" && pending.length > 0) {
      next.push({ ...message, content: [...pending, ...message.content] });
      pending = [];
      continue;
    }
    flush();
    const isTouched =
      message.role === "assistant" &&
      message.content.some((part) => part.type === "tool-result" && part.toolName === "skill");
    if (!isTouched || message.role !== "assistant") {
      next.push(message);
      continue;
    }
    // Everything after a result belongs to the model's next answer.
    let parts: typeof message.content = [];
    for (const part of message.content) {
      if (part.type === "tool-result" && part.toolName === "skill") {
        pending.push({ ...part, output: plainOutput(part.output) });
        continue;
      }
      const isCall = part.type === "tool-call" && part.toolName === "skill";
      if (pending.length > 0) {
        next.push({ ...message, content: parts });
        flush();
        parts = [];
      }
      if (isCall) {
        const { providerExecuted: _, ...call } = part;
        parts.push(call);
      } else parts.push(part);
    }
    if (parts.length > 0) next.push({ ...message, content: parts });
  }
  flush();
  return next;
}

type ToolOutput = Extract<Extract<Message, { role: "tool" }>["content"][number], { type: "tool-result" }>["output"];

function plainOutput(output: ToolOutput): ToolOutput {
  const value = output.type === "json" ? output.value : undefined;
  if (typeof value !== "object" || value === null || !("output" in value)) return output;
  const text = String((value as { output: unknown }).output);
  return { type: (value as { success?: unknown }).success === false ? "error-text" : "text", value: text };
}
