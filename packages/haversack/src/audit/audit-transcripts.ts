/** Reads transcripts and attributes the tokens of every window. Memory holds one line and the counts per window, whatever the files' size. */
import { realpathSync } from "node:fs";
import { localDay } from "../base/local-time.ts";
import type { TokenCounter } from "../tokens/count.ts";
import { Calibration } from "./calibration.ts";
import { AT, addTokens, CATEGORIES, noTokens, sumOf, type Tokens } from "./categories.ts";
import type { Elsewhere } from "./elsewhere.ts";
import type { FoundTranscript } from "./find-transcripts.ts";
import { findWastes, ItemTotals, type Waste } from "./wastes.ts";
import { type Lane, type Records, type Window, WindowLedger } from "./window-ledger.ts";

export interface AuditedWindow {
  startedAt: string | null;
  endedAt: string | null;
  requests: number;
  /** The sum of `categories`. */
  tokens: number;
  categories: Tokens;
  /** What the client reported for the last request; null if it did not. */
  reported: number | null;
  /** How much our count exceeds the client's: text that it dropped, or another tokenizer. */
  overcounted: number;
  /** Tokens of all requests: most of them come from the cache. */
  carried: number;
  /** Tokens that could have stayed out of the window, by category. */
  avoidable: Partial<Tokens>;
  /** How the window ended, and what the next one no longer had. Null: it ended with the session. */
  compaction: Compaction | null;
}

export interface Compaction {
  at: string | null;
  trigger: string;
  before: number;
  after: number;
  lost: Partial<Tokens>;
  /** Skills that were loaded in the window that ended. */
  skills: string[];
}

export interface AuditedSession {
  client: string;
  sessionId: string;
  agentId: string;
  project: string;
  path: string;
  tokens: number;
  requests: number;
  /** The system prompt and tools are not in the transcript. Their size is that of the first request, minus what the transcript has. */
  isSystemInferred: boolean;
  windows: AuditedWindow[];
}

export interface AuditTotal {
  name: string;
  sessions: number;
  windows: number;
  tokens: number;
  categories: Tokens;
}

export interface Audit {
  files: number;
  bytes: number;
  records: { read: number; skipped: number; broken: number; unknown: Record<string, number> };
  unreadable: { path: string; problem: string }[];
  windows: number;
  compactions: number;
  tokens: number;
  carried: number;
  categories: Tokens;
  overcounted: number;
  wastes: Waste[];
  sessions: AuditedSession[];
  projects: AuditTotal[];
  days: AuditTotal[];
  clients: AuditTotal[];
}

export interface AuditOptions {
  countTokens: TokenCounter;
  /** Only windows that ended at or after this. */
  since?: Date;
  /** Only sessions in this folder or below. */
  project?: string;
  onProgress?(bytes: number): void;
  /** Texts from elsewhere that some clients' transcripts lack. Default: none; their tokens then count as system. */
  elsewhere?: Elsewhere;
}

export function auditTranscripts(files: readonly FoundTranscript[], options: AuditOptions): Audit {
  const calibration = new Calibration(options.countTokens);
  const records: Records = { read: 0, skipped: 0, broken: 0, unknown: new Map() };
  const unreadable: Audit["unreadable"] = [];
  const items = new ItemTotals();
  const kept: Lane[] = [];
  const isWanted = wanted(options);
  let bytes = 0;
  const done = (lane: Lane) => {
    lane.windows = lane.windows.filter((window) => isCounted(window) && isWanted.window(window));
    if (lane.windows.length === 0 || !isWanted.project(lane.project)) return;
    items.take(lane);
    for (const window of lane.windows) {
      window.avoidable = avoidableIn(window);
      // From here on only the names are needed.
      window.items = new Map([...window.items].filter(([, { category }]) => category === AT.skill_bodies).slice(0, 20));
    }
    kept.push(lane);
  };
  for (const { path, reader } of files) {
    const { client, hasFixed, absent } = reader;
    const ledger = new WindowLedger({ client, hasFixed, absent, path }, { calibration, records, done });
    const progress = (count: number) => {
      bytes += count;
      options.onProgress?.(bytes);
    };
    try {
      reader.read(path, ledger, { bytes: progress });
    } catch (error) {
      unreadable.push({ path, problem: (error as NodeJS.ErrnoException).code ?? "is not as expected" });
    }
    ledger.end();
  }
  const sessions = kept.map((lane) => auditedSession(lane, options));
  const unknown = Object.fromEntries([...records.unknown].sort(([, a], [, b]) => b - a));
  return {
    files: files.length,
    bytes,
    records: { read: records.read, skipped: records.skipped, broken: records.broken, unknown },
    unreadable,
    ...totalsOf(sessions),
    wastes: findWastes(items, sessions),
    sessions: sessions.sort((a, b) => b.tokens - a.tokens),
  };
}

function avoidableIn({ items }: Window): Partial<Tokens> {
  const sums: Partial<Tokens> = {};
  for (const { category, wasted } of items.values()) {
    const key = CATEGORIES[category]!.key;
    if (wasted > 0) sums[key] = Math.round((sums[key] ?? 0) + wasted);
  }
  return sums;
}

/** A session that was only opened has nothing to count. */
function isCounted({ requests, counts }: Window): boolean {
  return requests > 0 || counts.some((count) => count > 0);
}

function wanted({ since, project }: AuditOptions) {
  const folder = project === undefined ? undefined : realPath(project);
  const isInside = (path: string) => path === folder || path.startsWith(`${folder === "/" ? "" : folder}/`);
  return {
    window: ({ endedAt }: Window) => since === undefined || endedAt >= since.getTime(),
    project: (path: string | undefined) =>
      folder === undefined || (path !== undefined && (isInside(path) || isInside(realPath(path)))),
  };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The project was moved or removed since.
    return path;
  }
}

function auditedSession(lane: Lane, { elsewhere, countTokens }: AuditOptions): AuditedSession {
  const { client, sessionId, agentId, project = "", path, first, fixed, isFixedKnown } = lane;
  const isSystemInferred = first !== undefined && (!isFixedKnown || fixed === 0);
  const added = lane.absent.includes("hook") && project !== "" ? (elsewhere?.injections(lane) ?? []) : [];
  const before = first ? added.filter(({ at }) => at <= first.at) : [];
  const known = first ? total(first.counts) + tokensOf(before) : 0;
  const inferred = noTokens();
  if (isSystemInferred) inferred.system = Math.max(0, Math.round(first.input - known));
  if (isSystemInferred && project !== "" && elsewhere) {
    if (lane.absent.includes("skill-listing"))
      moveFromSystem(inferred, "skill_listing", elsewhere.listing(lane, countTokens));
    if (lane.absent.includes("instructions"))
      moveFromSystem(inferred, "instructions", elsewhere.instructions(lane, countTokens));
  }
  const windows = lane.windows.map((window, place) => {
    const next = lane.windows[place + 1];
    const until = next ? next.startedAt : Number.POSITIVE_INFINITY;
    const own = added.filter(({ at }) => at >= (place === 0 ? 0 : window.startedAt) && at < until);
    return auditedWindow(window, { inferred: { ...inferred, injections: tokensOf(own) }, next });
  });
  const sum = (of: (window: AuditedWindow) => number) => windows.reduce((all, window) => all + of(window), 0);
  return {
    ...{ client, sessionId, agentId, project, path },
    tokens: sum(({ tokens }) => tokens),
    requests: sum(({ requests }) => requests),
    isSystemInferred,
    windows,
  };
}

function tokensOf(list: readonly { tokens: number }[]): number {
  return list.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Not more than is left, because the text on disk may be newer than the session. */
function moveFromSystem(inferred: Tokens, key: "skill_listing" | "instructions", tokens: number): void {
  const moved = Math.min(tokens, inferred.system);
  inferred.system -= moved;
  inferred[key] += moved;
}

function auditedWindow(
  window: Window,
  { inferred, next }: { inferred: Tokens; next: Window | undefined },
): AuditedWindow {
  const { counts, atLast, reported, carried, requests } = window;
  const categories = byCategory(counts);
  addTokens(categories, inferred);
  const known = atLast ? total(atLast) + sumOf(inferred) : 0;
  const rest = reported ? reported.input - known : 0;
  categories.unexplained = Math.max(0, Math.round(rest));
  const compaction = window.compaction
    ? lossOf(window, { categories, trigger: window.compaction.trigger, next, inferred })
    : null;
  return {
    startedAt: timeOf(window.startedAt),
    endedAt: timeOf(window.endedAt),
    requests,
    tokens: sumOf(categories),
    categories,
    reported: reported?.input ?? null,
    overcounted: Math.max(0, Math.round(-rest)),
    carried: Math.round(total(carried) + sumOf(inferred) * requests),
    avoidable: window.avoidable,
    compaction,
  };
}

interface LossOptions {
  categories: Tokens;
  trigger: string;
  next: Window | undefined;
  inferred: Tokens;
}

function lossOf(window: Window, { categories, trigger, next, inferred }: LossOptions): Compaction {
  const after = next ? byCategory(next.atFirst ?? next.counts) : noTokens();
  addTokens(after, { ...inferred, injections: 0 });
  const lost = Object.fromEntries(
    CATEGORIES.map(({ key }) => [key, Math.max(0, categories[key] - after[key])] as const).filter(
      ([, tokens]) => tokens > 0,
    ),
  );
  const skills = [...window.items.values()].flatMap(({ name }) => (name ? [name] : []));
  return { at: timeOf(window.endedAt), trigger, before: sumOf(categories), after: sumOf(after), lost, skills };
}

function byCategory(counts: Float64Array): Tokens {
  const tokens = noTokens();
  for (const [at, { key }] of CATEGORIES.entries()) tokens[key] = Math.round(counts[at]!);
  return tokens;
}

function total(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function timeOf(at: number): string | null {
  return at > 0 && at < 8.64e15 ? new Date(at).toISOString() : null;
}

function totalsOf(sessions: readonly AuditedSession[]) {
  const all = { windows: 0, compactions: 0, tokens: 0, carried: 0, overcounted: 0, categories: noTokens() };
  const [projects, days, clients] = [new Totals(), new Totals(), new Totals()];
  for (const session of sessions) {
    for (const window of session.windows) {
      all.windows++;
      if (window.compaction) all.compactions++;
      all.tokens += window.tokens;
      all.carried += window.carried;
      all.overcounted += window.overcounted;
      addTokens(all.categories, window.categories);
      projects.add(session.project, session, window);
      clients.add(session.client, session, window);
      days.add(window.endedAt === null ? "unknown" : localDay(new Date(window.endedAt)), session, window);
    }
  }
  return {
    ...all,
    projects: projects.list().sort((a, b) => b.tokens - a.tokens),
    clients: clients.list().sort((a, b) => b.tokens - a.tokens),
    days: days.list().sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

class Totals {
  readonly #totals = new Map<string, AuditTotal & { seen: Set<AuditedSession> }>();

  add(name: string, session: AuditedSession, { tokens, categories }: AuditedWindow): void {
    let total = this.#totals.get(name);
    if (!total) {
      total = { name, sessions: 0, windows: 0, tokens: 0, categories: noTokens(), seen: new Set() };
      this.#totals.set(name, total);
    }
    // Sub-agents belong to the session that started them.
    if (session.agentId === "" && !total.seen.has(session)) {
      total.seen.add(session);
      total.sessions++;
    }
    total.windows++;
    total.tokens += tokens;
    addTokens(total.categories, categories);
  }

  list(): AuditTotal[] {
    return [...this.#totals.values()].map(({ seen: _, ...total }) => total);
  }
}
