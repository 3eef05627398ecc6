/**
 * What a packet says already, so that nothing is said twice: whatever its case and punctuation, in the same words and order. Loaded
 * by the hook.
 */
export class Said {
  #text = "";

  add(...texts: (string | undefined)[]): void {
    for (const text of texts) if (text) this.#text += `${plain(text)}\n`;
  }

  has(text: string): boolean {
    const wanted = plain(text);
    return wanted.length > 2 && this.#text.includes(wanted);
  }
}

/** Of longer ones the beginning tells. */
const MOST_CHARS = 4_000;

/**
 * Words between single spaces: a part of a word is no word. The box of a step is no word either. ASCII's signs only: a class of
 * all letters is compiled in every hook, and that costs more than all the rest here.
 */
function plain(text: string): string {
  const start = text.slice(0, MOST_CHARS);
  const words = start.includes("] ") ? start.replace(/^\s*[-*] \[[ xX]\] /gm, "") : start;
  return ` ${words
    .toLowerCase()
    .replace(/[\s!-/:-@[-^`{-~]+/g, " ")
    .trim()} `;
}
