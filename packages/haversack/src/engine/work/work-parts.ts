/** What every use case of work takes and gives. */

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
  /** Where the work is done: a claim keeps what the skills and git say there. */
  project: WorkProject;
}

/** An open project. The types of its store stay out: the published ones must not need those of Node. */
export interface WorkProject {
  handle: { readonly file: string };
  cwd: string;
  env: Environment;
  paths: { readonly root: string };
  readonly config: Config;
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

// The settings that work goes by, in the units it counts in.

export interface WorkSettings {
  leaseMs: number;
  /** Of one agent at once. Absent: no limit. */
  maxClaims?: number;
}

export function workSettings(config: Pick<Config, "work.leaseMinutes" | "work.maxClaims">): WorkSettings {
  const maxClaims = config["work.maxClaims"];
  return { leaseMs: config["work.leaseMinutes"] * 60_000, ...(maxClaims > 0 && { maxClaims }) };
}

// Lists by what the store has no index for: read in pages, and filtered here.

interface PageOf {
  limit: number;
  offset: number;
}

/** Reads everything that the query has, because only then the rest can be counted; keeps no more than the page. */
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
