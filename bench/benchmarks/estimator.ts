/**
 * The error of the fast token estimate against the exact o200k count, per kind of text, beside the two usual rules of thumb. The
 * texts are the project's own (`bench/data/texts/<kind>/`); the corpus is the folder in HAVERSACK_CORPUS.
 */
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { loadCounter, type TokenCounter } from "../../packages/haversack/src/tokens/count.ts";
import { estimateTokens } from "../../packages/haversack/src/tokens/estimate.ts";

const TEXTS = join(import.meta.dirname, "..", "data", "texts");

const METHODS: Record<string, (text: string) => number> = {
  estimator: estimateTokens,
  "chars/4": (text) => text.length / 4,
  "words*1.3": (text) => (text.match(/\S+/g)?.length ?? 0) * 1.3,
};

interface KindResult {
  kind: string;
  texts: number;
  tokens: number;
  /** Mean absolute error of each method, in percent of the exact count. */
  errorPercent: Record<string, number>;
  /** Mean signed error of the estimator; above 0 it overestimates. */
  biasPercent: number;
}

export const estimator = {
  name: "estimator",
  summary: "Error of the fast token estimate against the exact count, per kind of text",

  async run({ corpus }: { corpus: string | undefined }) {
    const count = await loadCounter();
    const notes = ["Error: mean of |estimate - exact| / exact over the texts of a kind. Exact: o200k_base."];
    const own = await readOwnTexts();
    const results = [...own].map(([kind, texts]) => measure(kind, texts, count));
    results.push(measure("all own texts", [...own.values()].flat(), count));

    if (corpus === undefined) {
      notes.push("HAVERSACK_CORPUS is not set: own texts only.");
    } else {
      const kinds = await readCorpus(corpus);
      for (const [kind, texts] of kinds) results.push(measure(`corpus: ${kind}`, texts, count));
      notes.push(
        kinds.size > 0
          ? "Kinds named `corpus` are from HAVERSACK_CORPUS."
          : `No readable text of ${MIN_CHARS} or more characters in HAVERSACK_CORPUS (${corpus}).`,
      );
    }

    const methods = Object.keys(METHODS);
    return {
      table: {
        columns: ["kind", "texts", "tokens", ...methods.map((method) => `${method} error %`), "estimator bias %"],
        rows: results.map(({ kind, texts, tokens, errorPercent, biasPercent }) => [
          kind,
          texts,
          tokens,
          ...methods.map((method) => round(errorPercent[method] ?? 0)),
          round(biasPercent),
        ]),
      },
      notes,
      data: results,
    };
  },
};

function measure(kind: string, texts: readonly string[], count: TokenCounter): KindResult {
  const exact = texts.map(count);
  const errors = (method: (text: string) => number) =>
    texts.map((text, index) => method(text) / (exact[index] || 1) - 1);
  return {
    kind,
    texts: texts.length,
    tokens: exact.reduce((sum, tokens) => sum + tokens, 0),
    errorPercent: Object.fromEntries(
      Object.entries(METHODS).map(([name, method]) => [name, 100 * mean(errors(method).map(Math.abs))]),
    ),
    biasPercent: 100 * mean(errors(estimateTokens)),
  };
}

async function readOwnTexts(): Promise<Map<string, string[]>> {
  const kinds = new Map<string, string[]>();
  for (const kind of (await readdir(TEXTS)).sort()) {
    const names = (await readdir(join(TEXTS, kind))).sort();
    kinds.set(kind, await Promise.all(names.map((name) => readFile(join(TEXTS, kind, name), "utf8"))));
  }
  return kinds;
}

/** Shorter files say nothing about the error. Longer ones are cut, because the exact count is slow. */
const MIN_CHARS = 400;
const MAX_CHARS = 40_000;
const MAX_TEXTS_PER_KIND = 400;

/** Groups the corpus into SKILL.md and, by extension, all other files. */
async function readCorpus(folder: string): Promise<Map<string, string[]>> {
  const kinds = new Map<string, string[]>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.sort()) {
    const kind = path.endsWith("SKILL.md") ? "SKILL.md" : extname(path);
    const texts = kinds.get(kind) ?? [];
    if (!TEXT_ENDINGS.has(extname(path)) || texts.length >= MAX_TEXTS_PER_KIND) continue;
    const text = (await readFile(path, "utf8")).slice(0, MAX_CHARS);
    if (text.length >= MIN_CHARS) kinds.set(kind, [...texts, text]);
  }
  return new Map([...kinds].sort(([a], [b]) => a.localeCompare(b)));
}

const TEXT_ENDINGS = new Set([
  ".md",
  ".txt",
  ".json",
  ".jsonl",
  ".yaml",
  ".ts",
  ".tsx",
  ".js",
  ".mjs",
  ".py",
  ".sh",
  ".log",
]);

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
