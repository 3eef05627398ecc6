/** The input and results that all use cases of work share. */

import type { Config } from "../../base/config-schema.ts";
import type { Actor, Page, WorkStore } from "../../store/work-store.ts";
import { type Audience, explain, type Refusal } from "../../work/explain-outcome.ts";
import { type FitOptions, type FittedList, fitList, type TokenCut } from "../../work/fit-list.ts";
import type { View } from "../../work/task-view.ts";
import type { Environment } from "../project.ts";

export interface WorkParts {
  store: WorkStore;
  by: Actor;
  settings: WorkSettings;
  /** Whether texts name MCP tools or commands. Default: agent. */
  for?: Audience;
  /** Where the work is done: a claim records the state of skills and git there. */
  project: WorkProject;
}

/** An open project. Its store is untyped here: the published types must not depend on those of Node. */
export interface WorkProject {
  handle: { readonly file: string };
  cwd: string;
  env: Environment;
  paths: { readonly root: string };
  readonly config: Config;
}

/** An expected refusal: nothing was changed. */
export interface Refused {
  kind: "refused";
  refusal: Refusal;
  /** The reason and the remedy. */
  text: string;
}

export function refused(refusal: Refusal, { for: audience = "agent" }: Pick<WorkParts, "for">): Refused {
  return { kind: "refused", refusal, text: explain(refusal, { for: audience }) };
}

export interface Listed<T> {
  items: T[];
  views: View[];
  /** All results of the query, ignoring limit and offset. */
  total: number;
  /** How many follow the last one shown. */
  leftOut: number;
  /** The offset of the rest, if there is one. */
  nextOffset?: number;
  /** Only the first one fitted, and only in its smallest form. */
  isReduced: boolean;
  /** The token limit left some out. */
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

/** Leaves out fields that were not given: `exactOptionalPropertyTypes` and the store distinguish absent from undefined. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

// The settings of work, in its own units.

export interface WorkSettings {
  leaseMs: number;
  /** Per agent at the same time. Absent: no limit. */
  maxClaims?: number;
}

export function workSettings(config: Pick<Config, "work.lease_minutes" | "work.max_claims">): WorkSettings {
  const maxClaims = config["work.max_claims"];
  return { leaseMs: config["work.lease_minutes"] * 60_000, ...(maxClaims > 0 && { maxClaims }) };
}

// Filters that the store has no index for: read in pages and filtered here.

interface PageOf {
  limit: number;
  offset: number;
}

/** Reads all results, because the rest must be counted, but keeps only the page. */
export async function filterPages<T>(
  read: (page: PageOf) => Promise<Page<T>>,
  isWanted: (item: T) => boolean,
  { limit, offset }: PageOf,
): Promise<Page<T>> {
  const items: T[] = [];
  let total = 0;
  for await (const item of everyItem(read)) {
    if (!isWanted(item)) continue;
    if (total >= offset && items.length < limit) items.push(item);
    total++;
  }
  return { items, total };
}

const PAGE = 500;

export async function* everyItem<T>(read: (page: PageOf) => Promise<Page<T>>): AsyncGenerator<T> {
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await read({ limit: PAGE, offset });
    yield* items;
    if (items.length < PAGE) return;
  }
}

// What a shortened id may refer to.

const MOST_NAMED = 3;

/** Undefined: the id or alias matches exactly, or nothing starts with it; then the operation reports that. */
export async function explainShortId(short: string, { store }: Pick<WorkParts, "store">): Promise<string | undefined> {
  const meant = await store.findLonger(short);
  const [first] = meant;
  if (!first) return undefined;
  const ids = meant.slice(0, MOST_NAMED).map(({ id }) => id);
  return `there is no ${first.kind} "${short}"; did you mean ${ids.join(" or ")}? Give IDs in full.`;
}
