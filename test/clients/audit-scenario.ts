/**
 * What the tests of `haversack audit` share: texts that contain a word for their category, a model that reports the true size of each request, and
 * what the server received, by category. The attribution here uses those words and the wire format. It shares no code with the audit.
 */
import { expect } from "vitest";
import type { Audit, AuditedSession, AuditedWindow } from "../../packages/haversack/src/audit/audit-transcripts.ts";
import type { Tokens } from "../../packages/haversack/src/audit/categories.ts";
import { loadCounter } from "../../packages/haversack/src/tokens/count.ts";
import { blocksOf, type ContentBlock, type ModelRequest } from "./model-request.ts";
import { textOf } from "./request-text.ts";
import { haversack } from "./run-haversack.ts";
import type { Scratch } from "./scratch.ts";
import { answerOf, type Script } from "./script.ts";

const countTokens = await loadCounter();

export function source(name: string, functions: number): string {
  return Array.from(
    { length: functions },
    (_, at) =>
      `export function ${name}Step${at}(input: ReadonlyMap<string, number>): number {\n  return (input.get("key-${at}") ?? ${at}) * ${at % 7};\n}\n`,
  ).join("\n");
}

export function prose(topic: string, sentences: number): string {
  return Array.from(
    { length: sentences },
    (_, at) =>
      `${at + 1}. The ${topic} of part ${at} is described here in plain words, so that the reader knows what to expect when the ${topic} changes.`,
  ).join("\n");
}

export const SKILLS = "anchors bridges canvases dialects engines fabrics gardens harbors islands jackets".split(" ");

export function skillOf(name: string): { description: string; body: string } {
  return {
    description: `Handles the ${name} work of this project: reads the ${name} files, checks them and writes a report.`,
    body: `# ${name}\n\n${prose(name, 30)}`,
  };
}

export const PASTED = `Handle the anchors work of this project.\n${prose("pasted requirement", 60)}`;
export const NEXT = "Go on with islands work: check the islands files.";
export const PLAN = `I plan this. ${prose("plan", 12)}`;
export const REPORT = `Report.\n${prose("report", 20)}`;
export const RECALLED = prose("handle", 25);
export const SUMMARY_TEXT = prose("summary", 10);

/**
 * The model's server reports what it received as the size of the request, so that a client sees true numbers. Only texts count, because the markup of
 * a wire format is not in a model's window.
 */
export function honest(script: Script, attribution: Attribution): Script {
  const answer = answerOf(script);
  return (request, n) => {
    const reply = answer(request, n);
    if (!reply && request.kind === "side") return undefined;
    const inputTokens = Object.values(received(request, attribution)).reduce((sum, tokens) => sum + tokens, 0);
    return { ...(reply ?? { text: "DONE" }), usage: { inputTokens } };
  };
}

export type Received = Partial<Tokens>;

export interface Attribution {
  /** Category of a tool's results. */
  tools: Readonly<Record<string, keyof Tokens>>;
  /** Tools that change files. */
  edits: readonly string[];
  /** Parts of texts, in this order; what is left of a text is by its place. */
  spans: readonly (readonly [keyof Tokens, RegExp])[];
  /** An edit came before this window. */
  hasEdit?: boolean;
  /** The model's answer to this request. It is in the window, but in no request. */
  answer?: string;
}

/** What a request carried, by category. */
export function received(
  request: ModelRequest,
  { tools, edits, spans, hasEdit = false, answer = "" }: Attribution,
): Received {
  const sums: Record<string, number> = {};
  const add = (category: keyof Tokens, text: string) => {
    sums[category] = (sums[category] ?? 0) + countTokens(text);
  };
  const split = (text: string, rest: keyof Tokens) => {
    let left = text;
    for (const [category, pattern] of spans) {
      left = left.replace(new RegExp(pattern, "g"), (found) => {
        add(category, found);
        return "";
      });
    }
    if (left.trim() !== "") add(rest, left);
  };
  const head = { tools: request.tools, system: [], messages: request.messages };
  split(textOf({ ...head, messages: [] }), "system");
  split(
    blocksOf(request.system)
      .map(({ text = "" }) => text)
      .join("\n"),
    "system",
  );
  const calls = new Map<string, string>();
  const reads = new Set<string>();
  const isMain = request.kind === "main";
  let isEdited = hasEdit || !isMain;
  for (const { role, content } of request.messages) {
    for (const block of blocksOf(content)) {
      const call = callOf(block);
      const result = resultOf(block);
      if (call) {
        calls.set(call.id, call.name);
        add(isEdited ? "conversation" : "planning", `${call.name} ${call.input}`);
        // The text before the first edit still counts as planning.
        isEdited ||= edits.includes(call.name);
      } else if (result) {
        const name = calls.get(result.id) ?? "";
        const category = tools[`${name} ${textKind(result.text)}`] ?? tools[name] ?? "other_tools";
        const body = result.text.replace(/^[\s\S]{0,300}?\nOutput:\n/, "");
        add(category === "file_reads" && reads.has(body) ? "file_rereads" : category, result.text);
        if (category === "file_reads") reads.add(body);
      } else if (role === "assistant")
        split(block.text ?? JSON.stringify(block), isEdited ? "conversation" : "planning");
      else split(block.text ?? JSON.stringify(block), role === "system" ? "system" : "conversation");
    }
  }
  add(isEdited ? "conversation" : "planning", answer);
  return sums;
}

/** A tool can show files, skills and other output: the text decides. */
function textKind(text: string): "file" | "skill" | "output" {
  if (/Step0\(input/.test(text)) return "file";
  return /The (?:bridges|gardens) of part/.test(text) ? "skill" : "output";
}

function callOf(block: ContentBlock): { id: string; name: string; input: string } | undefined {
  if (block.type === "tool_use")
    return { id: String(block["id"]), name: String(block["name"]), input: JSON.stringify(block["input"]) };
  if (block.type !== "function_call" && block.type !== "custom_tool_call") return undefined;
  const name = `${block["namespace"] ? `${block["namespace"]}__` : ""}${block["name"]}`;
  return { id: String(block["call_id"]), name, input: String(block["arguments"] ?? block["input"]) };
}

function resultOf(block: ContentBlock): { id: string; text: string } | undefined {
  const isResult = block.type === "tool_result" || block.type.endsWith("_call_output");
  if (!isResult) return undefined;
  const content = (block["content"] ?? block["output"] ?? "") as string | ContentBlock[];
  const text = blocksOf(content)
    .map((part) => part.text ?? "")
    .join("\n");
  return { id: String(block["tool_use_id"] ?? block["call_id"]), text };
}

/** The audit of a folder by the built program. */
export function auditOf(repo: Pick<Scratch, "root" | "env">, ...words: string[]): AuditJson {
  return JSON.parse(haversack(repo, "audit", ...words, "--json")) as AuditJson;
}

/** As printed: keys are in snake_case. */
export type AuditJson = Omit<Audit, "sessions"> & {
  sessions: (AuditedSession & { session_id: string; agent_id: string })[];
};

/** Each category within 5% or 200 tokens of what the server received. */
export function expectAttributed(window: AuditedWindow | undefined, expected: Received): void {
  if (!window) throw new Error("there is no such window");
  const off = (Object.keys(window.categories) as (keyof Tokens)[]).flatMap((key) => {
    const [counted, wanted] = [window.categories[key], expected[key] ?? 0];
    return Math.abs(counted - wanted) <= Math.max(200, 0.05 * wanted)
      ? []
      : [`${key}: ${counted}, received ${Math.round(wanted)}`];
  });
  expect(off).toEqual([]);
}
