/** What every use case of work takes and gives. */
import type { Actor, WorkStore } from "../../store/work-store.ts";
import { type Audience, explain, type Refusal } from "../../work/explain-outcome.ts";
import { type FitOptions, type FittedList, fitList, type TokenCut } from "../../work/fit-list.ts";
import type { View } from "../../work/task-view.ts";
import type { WorkSettings } from "./work-settings.ts";

export interface WorkParts {
  store: WorkStore;
  by: Actor;
  settings: WorkSettings;
  /** Whether texts name MCP tools or commands. Default: agent. */
  for?: Audience;
  /** What else follows from a claim; see engine/wake/after-claim.ts. */
  afterClaim?: (taskId: string) => Promise<void>;
}

/** An expected no: nothing was changed. */
export interface Refused {
  kind: "refused";
  refusal: Refusal;
  /** What stands in the way and what to do. */
  text: string;
}

export function refused(refusal: Refusal, { for: audience = "agent" }: Pick<WorkParts, "for">): Refused {
  return { kind: "refused", refusal, text: explain(refusal, { for: audience }) };
}

export interface Listed<T> {
  items: T[];
  views: View[];
  /** All that the query has, without limit and offset. */
  total: number;
  /** Behind the last one shown. */
  leftOut: number;
  /** Where the rest begins, when there is a rest. */
  nextOffset?: number;
  /** There was room for the first alone, and only in its smallest form. */
  isReduced: boolean;
  /** A ceiling of tokens left some out. */
  cut?: TokenCut;
}

export function listed<T>(
  { items, total }: { items: readonly T[]; total: number },
  { offset, ...fit }: FitOptions<T> & { offset: number },
): Listed<T> {
  const { views, isReduced, cut }: FittedList = fitList(items, fit);
  const next = offset + views.length;
  const leftOut = Math.max(0, total - next);
  return {
    items: items.slice(0, views.length),
    views,
    total,
    leftOut,
    ...(leftOut > 0 && { nextOffset: next }),
    isReduced,
    ...(cut && { cut }),
  };
}

/** Without the fields that were not given: `exactOptionalPropertyTypes` tells absent from undefined, and so does the store. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
