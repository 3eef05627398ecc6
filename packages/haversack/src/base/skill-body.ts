/** Splits a markdown file at its frontmatter, without parsing the frontmatter. The hook bundles this file. */
import { cutAt, stripControl } from "./clean-text.ts";

export interface MarkdownParts {
  /** The whole text, line ends as `\n`. */
  plain: string;
  /** The text before the first `---`; undefined if the file does not begin with one. */
  indent: string | undefined;
  /** Offset of the frontmatter. */
  start: number;
  /** Undefined if the frontmatter is not closed. */
  closed?: { header: string; body: string };
}

export function splitMarkdown(text: string): MarkdownParts {
  const plain = (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text).replace(/\r\n?/g, "\n");
  const opening = /^(\s*)---[ \t]*\n/.exec(plain);
  if (!opening) return { plain, indent: undefined, start: 0 };
  const start = opening[0].length;
  const closing = /^(?:---|\.\.\.)[ \t]*$/gm;
  closing.lastIndex = start;
  const end = closing.exec(plain);
  if (!end) return { plain, indent: opening[1]!, start };
  const body = plain.slice(end.index + end[0].length).replace(/^\n/, "");
  return { plain, indent: opening[1]!, start, closed: { header: plain.slice(start, end.index), body } };
}

/** Longer bodies are cut for the index and for loading: 64,000 tokens are more than a model should read at once. */
export const MAX_BODY_CHARS = 256 * 1024;

export function cutBody(body: string): string {
  return stripControl(cutAt(body, MAX_BODY_CHARS));
}

/** The body of nearly every skill file. For the rest, such as an unclosed frontmatter, `parseSkill` gives a different one. */
export function bodyOf(text: string): string {
  const { plain, closed } = splitMarkdown(text);
  return cutBody(closed?.body ?? plain);
}
