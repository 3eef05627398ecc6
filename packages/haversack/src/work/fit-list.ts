/**
 * Cuts a list of views to a number of tokens. The ceiling holds for the whole answer, with what stands around the list. No view
 * is cut in the middle: the first may shrink to id, title and status, the others are left out and counted.
 */
import { estimateTokens } from "../tokens/estimate.ts";
import type { FieldSet, View } from "./task-view.ts";

export interface FittedList {
  views: View[];
  /** The first is minimal, though more was asked for. */
  isReduced: boolean;
  /** Set when the ceiling left something out. */
  cut?: TokenCut;
}

/** Ceilings that would do. */
export interface TokenCut {
  /** For the first alone, as it was asked for. */
  firstTokens: number;
  allTokens: number;
}

export interface FitOptions<T> {
  view(item: T, fields: FieldSet): View;
  fields: FieldSet;
  /** Default: no limit. */
  maxTokens?: number | undefined;
  /** What the rest of the answer takes. */
  aroundTokens?: number;
  /** How the answer writes one. Default: JSON. */
  text?: ((view: View) => string) | undefined;
}

/** The estimate is 3 to 6% off on JSON, 17% low on some languages. */
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

/** With a margin, and the comma or line break behind it. */
function textTokens(text: string): number {
  return Math.ceil(estimateTokens(text) * MARGIN) + 1;
}
