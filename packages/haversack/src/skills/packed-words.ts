/**
 * Fixed word lists that a process of a few milliseconds can afford. A Set or Map of some hundred words takes longer to build than a
 * prompt takes to read, so a list stays one text that is searched; whoever asks often (the index does, a long prompt too)
 * gets the Set or Map after all.
 */

/** Questions after which the list is built: about where building has paid for itself. */
export const MANY_QUESTIONS = 300;

/** Of words parted by spaces, with a space at either end. A word that is asked for must hold none. */
export class PackedSet {
  readonly #text: string;
  #asked = 0;
  #built: Set<string> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  has(word: string): boolean {
    if (this.#built) return this.#built.has(word);
    if (++this.#asked > MANY_QUESTIONS) this.#built = new Set(this.#text.trim().split(" "));
    return placeOf(this.#text, `${word} `) >= 0;
  }
}

/** Of `word:value` parted by spaces, with a space at either end. A word that is asked for must hold no space or colon. */
export class PackedMap {
  readonly #text: string;
  #asked = 0;
  #built: Map<string, string> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get(word: string): string | undefined {
    if (this.#built) return this.#built.get(word);
    if (++this.#asked > MANY_QUESTIONS) {
      const pairs = this.#text.trim().split(" ");
      this.#built = new Map(pairs.map((pair) => pair.split(":") as [string, string]));
    }
    const at = placeOf(this.#text, `${word}:`);
    if (at < 0) return undefined;
    const from = at + word.length + 1;
    return this.#text.slice(from, this.#text.indexOf(" ", from));
  }
}

/** Where a word of the list begins so. A search for its first letter stops less often than one for the space before it. */
function placeOf(text: string, wanted: string): number {
  let at = text.indexOf(wanted);
  while (at >= 0 && text.charCodeAt(at - 1) !== 32) at = text.indexOf(wanted, at + 1);
  return at;
}
