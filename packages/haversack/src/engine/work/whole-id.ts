/** What a shortened id may have meant. */
import type { WorkParts } from "./work-parts.ts";

const MOST_NAMED = 3;

/** Undefined: something has just this id or alias, or it is no prefix of one either, and the operation will say so. */
export async function explainShortId(short: string, { store }: Pick<WorkParts, "store">): Promise<string | undefined> {
  const meant = await store.findLonger(short);
  const [first] = meant;
  if (!first) return undefined;
  const ids = meant.slice(0, MOST_NAMED).map(({ id }) => id);
  return `there is no ${first.kind} "${short}"; did you mean ${ids.join(" or ")}? Give IDs in full.`;
}
