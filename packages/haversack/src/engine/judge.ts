/**
 * An optional second opinion on which skills fit: similarity of embeddings, from an endpoint that the user has configured. Only a long-lived server
 * asks it. It never delays a prompt by more than `BOUND_MS`; without an answer in time, the order by words stands.
 */
import { createHash } from "node:crypto";
import { cutAt } from "../base/clean-text.ts";
import { errorText } from "../base/errors.ts";
import { maskSecrets } from "../base/mask.ts";

export interface JudgeSettings {
  url: string;
  model: string;
  /** Sent as a bearer token. */
  key?: string | undefined;
}

export interface JudgedSkill {
  id: string;
  name: string;
  description: string;
}

/** How long a prompt waits, in milliseconds. */
export const BOUND_MS = 50;
/** How long the descriptions' embeddings may take. Nobody waits for them. */
const BACKGROUND_MS = 20_000;
/** After this many failures in a row, the endpoint is not asked for a while. */
const MOST_FAILURES = 3;
const PAUSE_MS = 60_000;
const MOST_VECTORS = 2000;
const MOST_BYTES = 8_000_000;
const LONGEST_PROMPT = 2000;
const LONGEST_SKILL = 1000;

export class Judge {
  readonly #settings: JudgeSettings;
  readonly #log: (text: string) => void;
  readonly #now: () => number;
  readonly #boundMs: number;
  /** The key is the hash of the text. */
  readonly #vectors = new Map<string, readonly number[]>();
  readonly #asked = new Set<string>();
  #failures = 0;
  #pausedUntil = 0;

  constructor(
    settings: JudgeSettings,
    { log, now = Date.now, boundMs = BOUND_MS }: { log: (text: string) => void; now?: () => number; boundMs?: number },
  ) {
    this.#boundMs = boundMs;
    this.#settings = settings;
    this.#log = log;
    this.#now = now;
  }

  /** Similarity of each skill to the prompt, from -1 to 1; undefined if it is not known in time. */
  async ask(prompt: string, skills: readonly JudgedSkill[]): Promise<ReadonlyMap<string, number> | undefined> {
    if (skills.length < 2 || this.#now() < this.#pausedUntil) return undefined;
    const texts = skills.map(textOf);
    const said = cutAt(maskSecrets(prompt.slice(0, 2 * LONGEST_PROMPT)), LONGEST_PROMPT);
    const learned = this.#learn(texts);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#boundMs);
    });
    const asked = Promise.all([this.#embed([said], this.#boundMs), learned]).then(([vectors]) => vectors[0]);
    const vector = await Promise.race([asked.catch((error: unknown) => this.#fail(error)), late]);
    clearTimeout(timer);
    if (!vector) return undefined;
    this.#failures = 0;
    const found = new Map<string, number>();
    skills.forEach(({ id }, at) => {
      const own = this.#vectors.get(hashOf(texts[at]!));
      const similarity = own && cosine(vector, own);
      if (similarity !== undefined) found.set(id, similarity);
    });
    return found.size < 2 ? undefined : found;
  }

  /** Requests the vectors of new texts. */
  async #learn(texts: readonly string[]): Promise<void> {
    const missing = [...new Set(texts)].filter((text) => {
      const hash = hashOf(text);
      return !this.#vectors.has(hash) && !this.#asked.has(hash);
    });
    if (missing.length === 0) return;
    for (const text of missing) this.#asked.add(hashOf(text));
    try {
      const vectors = await this.#embed(missing, BACKGROUND_MS);
      if (this.#vectors.size + vectors.length > MOST_VECTORS) this.#vectors.clear();
      for (const [at, vector] of vectors.entries()) this.#vectors.set(hashOf(missing[at]!), vector);
    } catch (error) {
      this.#fail(error);
    } finally {
      for (const text of missing) this.#asked.delete(hashOf(text));
    }
  }

  async #embed(input: readonly string[], timeoutMs: number): Promise<readonly (readonly number[])[]> {
    const { url, model, key } = this.#settings;
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input }),
      // Never follow a redirect: only the configured address gets the texts.
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return readVectors(await boundedText(response), input.length);
  }

  #fail(error: unknown): undefined {
    this.#failures++;
    if (this.#failures < MOST_FAILURES) return undefined;
    this.#failures = 0;
    this.#pausedUntil = this.#now() + PAUSE_MS;
    this.#log(`skills.judge_url does not answer in time or as expected (${errorText(error)}); asked again in a minute`);
    return undefined;
  }
}

function textOf({ name, description }: JudgedSkill): string {
  return cutAt(`${name}: ${description}`, LONGEST_SKILL);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** In the order of the input. Throws if the answer differs from the format that OpenAI documents. */
export function readVectors(text: string, count: number): number[][] {
  const { data } = JSON.parse(text) as { data?: unknown };
  if (!Array.isArray(data) || data.length !== count) throw new Error("not one vector for each text");
  const vectors: number[][] = [];
  data.forEach((entry: { index?: unknown; embedding?: unknown } | null, at) => {
    const place = typeof entry?.index === "number" ? entry.index : at;
    const embedding = entry?.embedding;
    const isVector = Array.isArray(embedding) && embedding.length > 0 && embedding.every(Number.isFinite);
    if (!isVector || !(place >= 0 && place < count)) throw new Error("not a vector");
    vectors[place] = embedding as number[];
  });
  if (Object.keys(vectors).length !== count) throw new Error("not one vector for each text");
  return vectors;
}

/** Undefined for vectors of different models. */
function cosine(a: readonly number[], b: readonly number[]): number | undefined {
  if (a.length !== b.length) return undefined;
  let dot = 0;
  let sizeA = 0;
  let sizeB = 0;
  for (let at = 0; at < a.length; at++) {
    dot += a[at]! * b[at]!;
    sizeA += a[at]! ** 2;
    sizeB += b[at]! ** 2;
  }
  const size = Math.sqrt(sizeA * sizeB);
  return size > 0 ? dot / size : undefined;
}
