/**
 * Finds places in prompt templates that paste whole documents: `{content of spec.md}`, `{full contents of design.md}`, `{spec.md
 * content}`, `{content of prd.md, or "None - …"}`, `{Problem Statement + Goals from prd.md}`. Intentionally pasted sections
 * (`{extractSection(design.md, …)}`) are listed as sections.
 */
export interface PastePlace {
  /** From 1. */
  line: number;
  column: number;
  /** The placeholder, on one line. */
  text: string;
  documents: string[];
  /**
   * paste: every prompt from this template contains the document. section: only a part of it. mention: the placeholder is in backticks
   * in a sentence, so it is not used.
   */
  kind: "paste" | "section" | "mention";
  /** The cost per prompt, if the sizes are known. */
  tokens?: number;
}

const PLACEHOLDER_MAX_CHARS = 400;
const PLACES_MAX = 1_000;
/** The file name may itself be a placeholder: `<file>.md`, `{artifact}.md`, `*.md`. */
const DOCUMENT = /(?:[\p{L}\p{N}_@./*-]|<[\w ]{1,30}>|\{[\w ]{1,30}\}){1,100}\.md\b/gu;
const PASTES = /\b(?:contents?|full text|text of|paste|insert|embed|inline|body of|copy of|include)\b/i;
const PARTS = /\b(?:sections?|extract\w*|scoped|excerpts?|summary of|parts?)\b/i;
/** `{Problem Statement + Goals from prd.md}`: parts of a document, without the word "content". */
const FROM = /\bfrom\s+(?:the\s+)?\S{0,60}\.md\b/i;
/** `{list of files with code}`, `{path to spec.md}`: names, not text. */
const REFERENCES = /\b(?:paths?|list of|link to|location of|names? of|line counts?)\b/i;

export function auditTemplate(
  text: string,
  { tokensOf }: { tokensOf?: (document: string) => number | undefined } = {},
): PastePlace[] {
  const places: PastePlace[] = [];
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf("{"); at >= 0 && places.length < PLACES_MAX; at = text.indexOf("{", at + 1)) {
    const end = endOfPlaceholder(text, at);
    if (end === undefined) continue;
    const inside = text.slice(at + 1, end - 1);
    const documents = [...new Set([...inside.matchAll(DOCUMENT)].map(([name]) => name))];
    const kind = documents.length === 0 ? undefined : kindOf(inside);
    if (kind === undefined) continue;
    line += text.slice(counted, at).split("\n").length - 1;
    counted = at;
    const place: PastePlace = {
      line,
      column: at - text.lastIndexOf("\n", at),
      text: text.slice(at, end).replace(/\s+/g, " "),
      documents,
      kind: text[at - 1] === "`" && text[end] === "`" ? "mention" : kind,
    };
    const tokens = place.kind === "paste" ? documents.map((document) => tokensOf?.(document)) : [];
    if (tokens.length > 0 && tokens.every((count) => count !== undefined))
      place.tokens = tokens.reduce((sum, count) => sum + count, 0);
    places.push(place);
    // Skip the whole placeholder with its nested brackets.
    at = end - 1;
  }
  return places;
}

function kindOf(inside: string): "paste" | "section" | undefined {
  if (/^\s*[\w.]*extract\w*\s*\(/i.test(inside) || (PARTS.test(inside) && !/\bfull\b/i.test(inside))) return "section";
  const isFrom = FROM.test(inside);
  if (/\bcontents?\b/i.test(inside) || (PASTES.test(inside) && !isFrom)) return "paste";
  if (REFERENCES.test(inside)) return undefined;
  return isFrom ? "section" : undefined;
}

/** The offset after the bracket that closes the one at `start`. Undefined: none, or too far away. */
function endOfPlaceholder(text: string, start: number): number | undefined {
  let depth = 0;
  const last = Math.min(text.length, start + PLACEHOLDER_MAX_CHARS);
  for (let at = start; at < last; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at + 1;
    // A placeholder does not span an empty line.
    else if (text[at] === "\n" && /^[ \t\r]*\n/.test(text.slice(at + 1, at + 20))) return undefined;
  }
  return undefined;
}
