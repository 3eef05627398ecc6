/**
 * The conversations of a system: messages, and the ledger of what the model has been shown. Kept in memory within bounds, and in a store if
 * there is one. A turn works on a copy: it is kept when the turn succeeds, so a failed turn changes nothing.
 */
import type { ModelMessage, UserContent } from "ai";
import { errorText } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { LoadLedger, LoadRecord } from "../engine/load-skill.ts";
import { AgentError } from "./errors.ts";
import type { LoadedBy } from "./events.ts";

export interface LedgerEntry {
  skill: string;
  /** The version that was shown. */
  hash: string;
  by: LoadedBy;
  turn: number;
}

/** What survives between two turns. Plain data, so a store can keep it. */
export interface SavedConversation {
  messages: ModelMessage[];
  ledger: LedgerEntry[];
  turns: number;
}

/** Keeps conversations beyond the process. `folderStore` is one that writes files. */
export interface ConversationStore {
  loadConversation(id: string): Promise<SavedConversation | undefined>;
  saveConversation(id: string, conversation: SavedConversation): Promise<void>;
  deleteConversation(id: string): Promise<void>;
  close?(): Promise<void> | void;
}

/** What a conversation's model has been shown. One skill, one entry. */
export class ConversationLedger implements LoadLedger {
  readonly #entries: Map<string, LedgerEntry>;
  readonly #turn: number;
  /** Who causes the next load, for its record. */
  by: LoadedBy = "tool";

  constructor(entries: readonly LedgerEntry[] = [], turn = 1) {
    this.#entries = new Map(entries.map((entry) => [entry.skill, entry]));
    this.#turn = turn;
  }

  has(skill: string, hash?: string): boolean {
    const entry = this.#entries.get(skill);
    return entry !== undefined && (hash === undefined || entry.hash === hash);
  }

  get entries(): LedgerEntry[] {
    return [...this.#entries.values()];
  }

  tracking(): ReturnType<LoadLedger["tracking"]> {
    return {
      window: 1,
      promptCount: this.#turn - 1,
      ledger: this.entries.map(({ skill, hash }) => ({ skill, loadedHash: hash })),
    };
  }

  recordLoad({ skill, hash }: Pick<LoadRecord, "skill" | "hash">): void {
    this.#entries.set(skill, { skill, hash, by: this.by, turn: this.#turn });
  }
}

/** A task as plain data, which a store can keep: bytes as base64, URLs as text. The model gets the same. */
export function plainTask(task: string | UserContent): string | UserContent {
  if (typeof task === "string") return task;
  return task.map((part) => {
    if (part.type === "file") return { ...part, data: plainFile(part.data) };
    return part.type === "image" ? { ...part, image: plainFile(part.image) } : part;
  }) as UserContent;
}

function plainFile(data: unknown): unknown {
  if (data instanceof URL) return data.href;
  if (data instanceof ArrayBuffer) return Buffer.from(data).toString("base64");
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  if (!isRecord(data)) return data;
  // A tagged URL is an object in the AI SDK; as text it needs no tag.
  if (data["type"] === "url") return String(data["url"]);
  return data["type"] === "data" ? { ...data, data: plainFile(data["data"]) } : data;
}

/** A deep copy, so that nobody can change a conversation from outside. */
export function copyOf<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map((item) => copyOf(item)) as Value;
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)])) as Value;
}

async function unlessAborted(earlier: Promise<unknown> | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (!earlier || !signal) return void (await earlier);
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([earlier, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

export interface ConversationsOptions {
  maxConversations: number;
  ttlMs: number;
  store?: ConversationStore | undefined;
  /** The conversation could not be saved. It stays in memory. */
  onUnsaved?: (id: string, error: unknown) => void;
  now?: () => number;
}

interface Kept {
  saved: SavedConversation;
  usedAt: number;
}

export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>();
  /** By conversation, the end of its last waiting or running turn, because turns of one conversation run one after the other. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Runs a turn after the earlier ones of its conversation. Keeps what it returns; if it throws, nothing has changed. If the signal is
   * aborted, a waiting turn ends immediately.
   */
  async turn<Result>(
    id: string,
    run: (before: SavedConversation) => Promise<{ after: SavedConversation; result: Result }>,
    signal?: AbortSignal | undefined,
  ): Promise<Result> {
    const before = this.#queues.get(id);
    const mine = (async () => {
      await unlessAborted(before, signal);
      const { after, result } = await run(await this.#load(id));
      this.#keep(id, after);
      try {
        await this.#options.store?.saveConversation(id, after);
      } catch (error) {
        // The answer is paid for, so return it even if it could not be saved.
        this.#options.onUnsaved?.(id, error);
      }
      return result;
    })();
    // If a waiting turn gives up, the next one must still wait for the turn before it.
    const settled = mine.then(
      () => before,
      () => before,
    );
    this.#queues.set(id, settled);
    try {
      return await mine;
    } finally {
      if (this.#queues.get(id) === settled) this.#queues.delete(id);
    }
  }

  async read(id: string): Promise<SavedConversation | undefined> {
    const saved = await this.#load(id);
    return saved.turns === 0 ? undefined : saved;
  }

  async forget(id: string): Promise<void> {
    await this.#queues.get(id);
    this.#kept.delete(id);
    await this.#options.store?.deleteConversation(id);
  }

  get size(): number {
    return this.#kept.size;
  }

  async close(): Promise<void> {
    await Promise.all(this.#queues.values());
    this.#kept.clear();
    await this.#options.store?.close?.();
  }

  async #load(id: string): Promise<SavedConversation> {
    const kept = this.#kept.get(id);
    if (kept && this.#now() - kept.usedAt < this.#options.ttlMs) return kept.saved;
    try {
      const stored = await this.#options.store?.loadConversation(id);
      return stored ?? { messages: [], ledger: [], turns: 0 };
    } catch (error) {
      throw new AgentError("store-failed", `The store could not read the conversation: ${errorText(error)}`, {
        hint: "Fix the store that you gave to withStore, or use another conversation ID. Nothing was changed.",
        conversationId: id,
        cause: error,
      });
    }
  }

  #keep(id: string, saved: SavedConversation): void {
    this.#kept.delete(id);
    this.#kept.set(id, { saved, usedAt: this.#now() });
    for (const [oldest, { usedAt }] of this.#kept) {
      if (this.#kept.size <= this.#options.maxConversations && this.#now() - usedAt < this.#options.ttlMs) return;
      this.#kept.delete(oldest);
    }
  }
}
