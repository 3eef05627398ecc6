/**
 * Exact o200k counts. The tokenizer takes about 200 ms to load, so it is loaded at the first call, and only its o200k part. The hook never
 * imports this file: hot paths use `estimateTokens`.
 *
 * Special tokens such as `<|endoftext|>` are counted as plain text; the tokenizer would throw on them.
 */
export type TokenCounter = (text: string) => number;

export async function countTokens(text: string): Promise<number> {
  const count = await loadCounter();
  return count(text);
}

let loading: Promise<TokenCounter> | undefined;

export function loadCounter(): Promise<TokenCounter> {
  loading ??= import("gpt-tokenizer/encoding/o200k_base").then((encoding) => {
    const asText = { disallowedSpecial: new Set<string>() };
    return (text) => {
      let total = 0;
      for (const piece of cutLongRuns(text)) total += encoding.countTokens(piece, asText);
      return total;
    };
  });
  return loading;
}

/**
 * The tokenizer's time grows with the square of the longest unbroken run: 100,000 letters take 5 s, a base64 line of 1 MB takes minutes. So
 * we cut longer runs. Text with such a run is off by at most about one token per cut; all other text is counted exactly.
 */
const MAX_RUN_CHARS = 512;

function* cutLongRuns(text: string): Generator<string> {
  let start = 0;
  let runStart = 0;
  let previous = -1;
  for (let index = 0; index < text.length; index++) {
    const kind = runKind(text.charCodeAt(index));
    if (kind !== previous || kind === DIGIT) {
      previous = kind;
      runStart = index;
    } else if (index - runStart >= MAX_RUN_CHARS && !isLowSurrogate(text.charCodeAt(index))) {
      yield text.slice(start, index);
      start = index;
      runStart = index;
    }
  }
  yield start === 0 ? text : text.slice(start);
}

const DIGIT = 1; // The tokenizer itself splits digits into groups of three.

/** Coarser than the tokenizer's own classes, but splits CJK text at its punctuation, as the tokenizer does. */
function runKind(code: number): number {
  if (code <= 32) return 0;
  if (code >= 48 && code <= 57) return DIGIT;
  if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)) return 2;
  if (code < 128) return 3;
  if ((code >= 0x2000 && code < 0x2e80) || (code >= 0x3000 && code < 0x3020) || (code >= 0xff00 && code < 0xff10))
    return 3;
  return 2;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}
