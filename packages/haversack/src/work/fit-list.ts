/**
 * Cuts a list of views to a number of tokens. The limit applies to the whole answer, including the text around the list. No view is cut
 * in the middle: the first may be reduced to id, title and status; the others are left out and counted.
 */
import { estimateTokens } from "../tokens/estimate.ts";
import type { FieldSet, View } from "./task-view.ts";

export interface FittedList {
  views: View[];
  /** The first view is minimal, although more was requested. */
  isReduced: boolean;
  /** Set if the limit left something out. */
  cut?: TokenCut;
}

/** Limits that would be sufficient. */
export interface TokenCut {
  /** For the first view alone, as requested. */
  firstTokens: number;
  allTokens: number;
}

export interface FitOptions<T> {
  view(item: T, fields: FieldSet): View;
  fields: FieldSet;
  /** Default: no limit. */
  maxTokens?: number | undefined;
  /** Tokens for the rest of the answer. */
  aroundTokens?: number;
  /** How the answer formats a view. Default: JSON. */
  text?: ((view: View) => string) | undefined;
}

/** The estimate is off by 3 to 6% on JSON, and 17% too low on some languages. */
const MARGIN = 1.2;
/** `{"tasks":[],"left_out":9950,"more":"get_task has the rest of this one; offset: 1"}` */
const AROUND_TOKENS = 30;

export function fitList<T>(
  items: readonly T[],
  { view, fields, maxTokens, aroundTokens = AROUND_TOKENS, text = JSON.stringify }: FitOptions<T>,
): FittedList {
  if (maxTokens === undefined) return { views: items.map((item) => view(item, fields)), isReduced: false };
  const sizeOf = (shown: View) => textTokens(text(shown));
  let left = maxTokens - aroundTokens;
  const views: View[] = [];
  for (const item of items) {
    const next = view(item, fields);
    left -= sizeOf(next);
    if (left < 0) break;
    views.push(next);
  }
  const [first] = items;
  if (first === undefined || views.length === items.length) return { views, isReduced: false };
  const sizes = items.map((item) => sizeOf(view(item, fields)));
  const cut = {
    firstTokens: aroundTokens + (sizes[0] ?? 0),
    allTokens: aroundTokens + sizes.reduce((sum, size) => sum + size, 0),
  };
  if (views.length > 0 || fields === "minimal") return { views, isReduced: false, cut };
  const minimal = view(first, "minimal");
  const isFitting = sizeOf(minimal) <= maxTokens - aroundTokens;
  return { views: isFitting ? [minimal] : [], isReduced: isFitting, cut };
}

export function tokensOf(value: unknown): number {
  return textTokens(JSON.stringify(value));
}

/** Includes a margin, and the comma or line break after it. */
function textTokens(text: string): number {
  return Math.ceil(estimateTokens(text) * MARGIN) + 1;
}
