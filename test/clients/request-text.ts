/** Questions that tests ask of a recorded request: what the model reads, what hooks put there, what it costs. */
import { countTokens } from "../../packages/haversack/src/tokens/count.ts";
import { blocksOf, type ContentBlock, type Message, type ModelRequest } from "./model-request.ts";

/** Everything the model receives, in its order: tools, system prompt, messages. */
export function textOf({ tools, system, messages }: Pick<ModelRequest, "tools" | "system" | "messages">): string {
  // A tool with defer_loading is not shown to the model until a tool_reference names it.
  const shown = tools.filter((tool) => !tool.defer_loading || isLoaded(tool.name, messages));
  return [
    ...shown.map((tool) => JSON.stringify({ ...tool, cache_control: undefined })),
    ...blocksOf(system).map(blockText),
    ...messages.map(messageText),
  ].join("\n");
}

/** Text of the messages alone. */
export function messagesText({ messages }: Pick<ModelRequest, "messages">): string {
  return messages.map(messageText).join("\n");
}

export interface Injection {
  /** `SessionStart`, `UserPromptSubmit`, `PostToolUse:Write`, …; the client's own label. */
  event: string;
  text: string;
  /** The index of the message that contains it. */
  message: number;
}

/**
 * The contexts that hooks gave, in order. The client writes `<event> hook additional context: <text>`: for newer models into a
 * `system` message, joined to other context with an empty line, so where a text ends is known only when the caller
 * names what the hooks gave (`given`), else it runs to the next hook context or the end of the message; for older models
 * into a `<system-reminder>` of its own in the user message or in the tool result.
 */
export function injected({ messages }: Pick<ModelRequest, "messages">, given?: readonly string[]): Injection[] {
  return messages.flatMap((message, place) => {
    const text = messageText(message);
    const labels = [...text.matchAll(LABEL)];
    return labels.map((label, index) => {
      const rest = text.slice(label.index + label[0].length, labels[index + 1]?.index);
      const own = label[1] ? (rest.split("\n</system-reminder>")[0] ?? "") : rest.trimEnd();
      const whole = given?.find((candidate) => own.startsWith(candidate.trimEnd()));
      return { event: label[2] ?? "", text: whole ?? own, message: place };
    });
  });
}

const LABEL = /(?:^|\n)(<system-reminder>\n)?([A-Z]\w+(?::[\w-]+)?) hook additional context: /g;

/** Exact o200k tokens of everything the model receives. */
export function tokens(request: Pick<ModelRequest, "tools" | "system" | "messages">): Promise<number> {
  return countTokens(textOf(request));
}

/**
 * Whether the later request begins with the earlier one, so that the prompt cache holds: same tools, same system prompt, and the
 * earlier messages unchanged. Cache marks move from request to request and are not part of the text; neither is whether
 * one text is sent as a string or as a block.
 */
export function isPrefixOf(earlier: ModelRequest, later: ModelRequest): boolean {
  return firstChange(earlier, later) === undefined;
}

/** Where `later` differs from a continuation of `earlier`, for the message of a failed test. */
export function firstChange(earlier: ModelRequest, later: ModelRequest): string | undefined {
  const loaded = (request: ModelRequest) => bare(request.tools.filter((tool) => !tool.defer_loading));
  if (loaded(earlier) !== loaded(later)) return "tools";
  if (bare(withoutStamp(earlier.system)) !== bare(withoutStamp(later.system))) return "system";
  const at = earlier.messages.findIndex((message, index) => {
    const other = later.messages[index];
    return !other || bare(normal(message)) !== bare(normal(other));
  });
  return at === -1 ? undefined : `message ${at}`;
}

/** The client's first system block is an accounting line with a checksum; the model's cache does not include it. */
function withoutStamp(system: ModelRequest["system"]): ContentBlock[] {
  return blocksOf(system).filter((block) => !block.text?.startsWith("x-anthropic-billing-header"));
}

function normal(message: Message): Message {
  return { ...message, content: blocksOf(message.content) };
}

function bare(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (key === "cache_control" ? undefined : inner));
}

function isLoaded(name: string, messages: readonly Message[]): boolean {
  return bare(messages).includes(`{"type":"tool_reference","tool_name":${JSON.stringify(name)}}`);
}

function messageText(message: Message): string {
  return blocksOf(message.content).map(blockText).join("\n");
}

function blockText(block: ContentBlock): string {
  if (block.type === "text") return block.text ?? "";
  if (block.type === "tool_use") return `${block["name"]} ${JSON.stringify(block["input"])}`;
  if (block.type !== "tool_result") return bare(block);
  return blocksOf((block["content"] ?? "") as string | ContentBlock[])
    .map(blockText)
    .join("\n");
}
