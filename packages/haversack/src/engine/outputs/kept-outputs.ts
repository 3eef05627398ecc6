/**
 * Keeps tool outputs outside the window: stores the whole text, returns a preview with a handle, and reads any part of it again. Hooks, the
 * MCP server, the command line and the library for agents use it; the texts are in the project's store, or in memory.
 */
import { cleanLine, stripControl } from "../../base/clean-text.ts";
import { maskSecrets } from "../../base/mask.ts";
import { nearest } from "../../base/nearest.ts";
import type { NewOutput, OutputFacts, OutputLimits } from "../../work/outputs/kept-output.ts";
import { linesOf, previewOutput, type RecallWays } from "../../work/outputs/preview-output.ts";
import { type PartRequest, readPart } from "../../work/outputs/read-part.ts";

export type { OutputFacts, OutputLimits } from "../../work/outputs/kept-output.ts";
export type { RecallWays } from "../../work/outputs/preview-output.ts";
export type { PartRequest } from "../../work/outputs/read-part.ts";

/** The storage of kept texts: `SqliteOutputs` or `MemoryOutputs`. */
export interface OutputShelf {
  /** The texts are lost with the process, so they are kept unchanged. Default: false; control characters and secrets are removed. */
  readonly isInMemory?: boolean;
  /** Returns the handle. */
  put(output: NewOutput, limits: OutputLimits): string;
  get(handle: string): (OutputFacts & { text: string }) | undefined;
  /** Newest first. With a session: only its own outputs. */
  list(limit: number, sessionId?: string): OutputFacts[];
  /** Removes all outputs of a session. */
  forget(sessionId: string): void;
}

/** Longer texts are not kept, and stay as they are. */
export const MOST_KEPT_CHARS = 8_000_000;
/** Below this size a preview saves nothing. */
export const FEWEST_REPLACED_CHARS = 2_000;

export interface ToolOutput {
  text: string;
  /** The command, the tool or the file that it came from. */
  source: string;
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  at: Date;
  /** Output of a command: errors and failing tests are looked for. Default: false. */
  isCommand?: boolean;
  exitCode?: number | undefined;
}

export interface KeepOptions {
  limits: OutputLimits;
  /** How the reader recalls a part. */
  ways(handle: string): RecallWays;
  /** The size of the preview. */
  maxChars: number;
  /** Keep nothing that would lose its secrets in the store. Default: they are masked, and the preview says so. */
  isAllOrNothing?: boolean;
}

export interface Kept {
  handle: string;
  /** What the model sees instead. */
  preview: string;
  /** Characters of the whole output. */
  chars: number;
}

/** Undefined: too short to be worth it, too long to keep, or not without loss. The output then stays as it is. */
export function keepOutput(
  shelf: OutputShelf,
  output: ToolOutput,
  { limits, ways, maxChars, isAllOrNothing = false }: KeepOptions,
): Kept | undefined {
  if (output.text.length < FEWEST_REPLACED_CHARS || output.text.length > MOST_KEPT_CHARS) return undefined;
  const hash = hashOf(output.text);
  const { text, isMasked } = shelf.isInMemory ? { text: output.text, isMasked: false } : storable(output.text);
  if (isMasked && isAllOrNothing) return undefined;
  const { isCommand = false, exitCode, ...facts } = output;
  const source = cleanLine(maskSecrets(stripControl(facts.source)), { maxChars: SOURCE_CHARS });
  const lines = linesOf(text).length;
  const handle = shelf.put({ ...facts, source, text, hash, lines, chars: text.length }, limits);
  const note = isMasked ? "Secrets in it are masked." : undefined;
  const preview = previewOutput(text, { handle, ways: ways(handle), maxChars, isCommand, exitCode, note });
  return preview.length < output.text.length ? { handle, preview, chars: text.length } : undefined;
}

const SOURCE_CHARS = 200;

/** The text as it is stored: without control characters and secrets. */
function storable(original: string): { text: string; isMasked: boolean } {
  const plain = stripControl(original);
  const text = maskSecrets(plain);
  return { text, isMasked: text !== plain };
}

/** Loaded here: it takes a new process 5 ms, and only kept outputs need it. */
export function hashOf(text: string, encoding: "base64url" | "hex" = "base64url"): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest(encoding);
}

export type Recalled =
  | { kind: "part"; text: string; about: string; source: string; next?: PartRequest }
  | { kind: "unknown"; text: string }
  | { kind: "wrong-range"; text: string };

/** With `sessionId`, the outputs of other sessions are neither read nor named. */
export function recallOutput(
  shelf: Pick<OutputShelf, "get" | "list">,
  handle: string,
  { sessionId, ...request }: PartRequest & { sessionId?: string | undefined },
): Recalled {
  const found = shelf.get(handle.trim().toUpperCase());
  if (!found || (sessionId !== undefined && found.sessionId !== sessionId))
    return { kind: "unknown", text: unknownHandle(shelf, handle, sessionId) };
  const part = readPart(found.text, request);
  return part.kind === "part" ? { ...part, source: found.source } : part;
}

/** The part. Its first line says which part it is and what to ask for next. */
export function formatRecalled({ text, about, next }: Extract<Recalled, { kind: "part" }>, handle: string): string {
  const more = next
    ? `; next: ${Object.entries(next)
        .map(([name, value]) => `${name} "${value}"`)
        .join(", ")}`
    : "";
  return `[${handle.trim().toUpperCase()}: ${about}${more}]${text === "" ? "" : `\n${text}`}`;
}

const MOST_NAMED = 5;

function unknownHandle(shelf: Pick<OutputShelf, "list">, handle: string, sessionId: string | undefined): string {
  const wanted = cleanLine(handle, { maxChars: 40 });
  // Filter again: the caller's own store may ignore sessions.
  const known = shelf.list(200, sessionId).filter((one) => sessionId === undefined || one.sessionId === sessionId);
  if (known.length === 0) return `there is no kept output ${wanted}; none is kept at present.`;
  const [near] = nearest(
    wanted.toUpperCase(),
    known.map((one) => one.handle),
  );
  const shown = near ? known.filter((one) => one.handle === near) : known.slice(0, MOST_NAMED);
  const list = shown.map((one) => `${one.handle} (${cleanLine(one.source, { maxChars: 60 })})`).join(", ");
  return `there is no kept output ${wanted}, or it is too old. ${near ? "The nearest is" : "The newest are"} ${list}.`;
}

/** For programs without a store: the newest texts, up to a limit. */
export class MemoryOutputs implements OutputShelf {
  readonly isInMemory = true;
  readonly #kept = new Map<string, OutputFacts & { text: string; hash: string }>();
  readonly #handles = new Map<string, string>();
  #chars = 0;

  put(output: NewOutput, { maxBytes }: OutputLimits): string {
    const handle = this.#handles.get(keyOf(output)) ?? this.#freeHandle(output);
    // Insert again: the order of the map is the order of use.
    this.#remove(handle);
    this.#kept.set(handle, { ...output, handle });
    this.#handles.set(keyOf(output), handle);
    this.#chars += output.chars;
    for (const oldest of this.#kept.keys()) {
      if (this.#chars <= maxBytes || oldest === handle) break;
      this.#remove(oldest);
    }
    return handle;
  }

  get(handle: string): (OutputFacts & { text: string }) | undefined {
    return this.#kept.get(handle);
  }

  list(limit: number, sessionId?: string): OutputFacts[] {
    const all = [...this.#kept.values()].toReversed();
    return (sessionId === undefined ? all : all.filter((one) => one.sessionId === sessionId)).slice(0, limit);
  }

  forget(sessionId: string): void {
    for (const { handle } of this.list(Number.POSITIVE_INFINITY, sessionId)) this.#remove(handle);
  }

  #remove(handle: string): void {
    const found = this.#kept.get(handle);
    if (!found) return;
    this.#kept.delete(handle);
    this.#handles.delete(keyOf(found));
    this.#chars -= found.chars;
  }

  /**
   * Made from the text, so that messages that are converted again, also by another process, have the same bytes and stay in the
   * provider's cache.
   */
  #freeHandle(output: Pick<NewOutput, "sessionId" | "hash">): string {
    for (let attempt = 0; ; attempt++) {
      const number = Number.parseInt(hashOf(`${keyOf(output)}\n${attempt}`, "hex").slice(0, 12), 16);
      const handle = `K${100_000_000 + (number % 900_000_000)}`;
      if (!this.#kept.has(handle)) return handle;
    }
  }
}

function keyOf({ sessionId, hash }: Pick<NewOutput, "sessionId" | "hash">): string {
  return `${sessionId}\n${hash}`;
}
