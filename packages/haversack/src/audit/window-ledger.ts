/** Counts what the reader of a transcript reports: per session and sub-agent, window by window. */
import { hash } from "node:crypto";
import type { PartKind, ReportedUsage, SessionInfo, TranscriptReader, TranscriptSink } from "../clients/transcript.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import type { Calibration } from "./calibration.ts";
import { AT, CATEGORY_COUNT, type Tokens } from "./categories.ts";

/** From this size on a prompt counts as a pasted document. */
export const PASTED_TOKENS = 500;
/** A result above this could have been replaced by its head, its tail and a handle, which take about `HANDLE_TOKENS`. */
export const LARGE_TOKENS = 1_000;
export const HANDLE_TOKENS = 400;
/** A note in place of a text that the window still holds. */
const NOTE_TOKENS = 30;
/** A handoff's card in place of a sub-agent's whole report. */
export const HANDOFF_TOKENS = 150;
/** A reference in place of a pasted document. */
export const REFERENCE_TOKENS = 60;

/** Texts of one kind and name in a window. */
export interface Item {
  category: number;
  name: string;
  count: number;
  tokens: number;
  /** Tokens that could have been kept out. */
  wasted: number;
}

export interface Window {
  counts: Float64Array;
  /** As the model received it in the window's first request, and in the last with a reported usage. */
  atFirst: Float64Array | undefined;
  atLast: Float64Array | undefined;
  reported: ReportedUsage | undefined;
  /** Tokens of all requests: what is in the window is sent again each time. */
  carried: Float64Array;
  requests: number;
  startedAt: number;
  endedAt: number;
  items: Map<string, Item>;
  /** Filled in when the session is over. */
  avoidable: Partial<Tokens>;
  /** How it ended; undefined: with the session. */
  compaction?: { trigger: string };
}

export interface Lane extends SessionInfo {
  client: string;
  path: string;
  windows: Window[];
  hasEdit: boolean;
  /** The first request and what was known of it: the rest of its usage is the system prompt and the tools. */
  first: { input: number; counts: Float64Array; at: number } | undefined;
  /** Tokens of the system prompt and tools, as far as the transcript has them. */
  fixed: number;
  isFixedKnown: boolean;
  absent: TranscriptReader["absent"];
}

interface OpenLane extends Lane {
  window: Window;
  reads: Set<string>;
  marks: Map<string, { category: number; tokens: number }[]>;
  mark: string;
  /** There was an edit before the content was replaced. */
  hadEdit: boolean;
}

const MOST_MARKS = 400;
const MOST_ITEMS = 2_000;
const OURS = /\b[Hh]aversack\b|^# Skills? (?:Recommendations|Available)/;

export interface Records {
  read: number;
  skipped: number;
  broken: number;
  unknown: Map<string, number>;
}

export class WindowLedger implements TranscriptSink {
  readonly #calibration: Calibration;
  readonly #client: string;
  readonly #path: string;
  readonly #isFixedKnown: boolean;
  readonly #absent: TranscriptReader["absent"];
  readonly #done: (lane: Lane) => void;
  readonly #records: Records;
  readonly #lanes = new Map<string, OpenLane>();
  #lane: OpenLane | undefined;
  #at = 0;

  constructor(
    about: Pick<TranscriptReader, "client" | "hasFixed" | "absent"> & { path: string },
    { calibration, records, done }: { calibration: Calibration; records: Records; done: (lane: Lane) => void },
  ) {
    this.#client = about.client;
    this.#path = about.path;
    this.#isFixedKnown = about.hasFixed;
    this.#absent = about.absent;
    this.#calibration = calibration;
    this.#records = records;
    this.#done = done;
  }

  session(info: SessionInfo): void {
    const key = `${info.sessionId}\0${info.agentId}`;
    let lane = this.#lanes.get(key);
    if (!lane) {
      lane = {
        ...info,
        client: this.#client,
        path: this.#path,
        windows: [],
        hasEdit: false,
        first: undefined,
        fixed: 0,
        isFixedKnown: this.#isFixedKnown,
        absent: this.#absent,
        window: newWindow(this.#at),
        reads: new Set(),
        marks: new Map(),
        mark: "",
        hadEdit: false,
      };
      this.#lanes.set(key, lane);
    }
    lane.project ??= info.project!;
    this.#lane = lane;
  }

  sessionEnd(): void {
    const lane = this.#lane;
    if (!lane) return;
    this.#lanes.delete(`${lane.sessionId}\0${lane.agentId}`);
    this.#lane = undefined;
    this.#close(lane);
  }

  /** The file is read. */
  end(): void {
    for (const lane of this.#lanes.values()) this.#close(lane);
    this.#lanes.clear();
    this.#lane = undefined;
  }

  time(at: string | number): void {
    const time = typeof at === "number" ? at : Date.parse(at);
    if (!Number.isFinite(time) || time <= 0) return;
    this.#at = time;
    const window = this.#lane?.window;
    if (!window) return;
    window.startedAt ||= time;
    if (time > window.endedAt) window.endedAt = time;
  }

  fixed(text: string): void {
    const lane = this.#lane;
    if (!lane) return;
    this.#records.read++;
    const tokens = this.#calibration.count(AT.system, text);
    lane.window.counts[AT.system]! += tokens - lane.fixed;
    lane.fixed = tokens;
  }

  add(kind: PartKind, text: string, name = "", body = text): void {
    this.#records.read++;
    const lane = this.#lane;
    if (!lane || text === "") return;
    const isPasted = kind === "prompt" && lane.agentId === "" && estimateTokens(text) >= PASTED_TOKENS;
    const category = isPasted ? AT.pasted : this.#categoryOf(lane, kind, body);
    const tokens = this.#calibration.count(category, text);
    this.#put(lane, category, tokens);
    const named = isPasted ? contentHash(text) : name;
    if (ITEMIZED.has(category)) this.#itemize(lane, category, "", tokens);
    else if (named !== "") this.#itemize(lane, category, named, tokens);
  }

  request(): void {
    const lane = this.#lane;
    if (!lane) return;
    const { window } = lane;
    window.requests++;
    window.atFirst ??= window.counts.slice();
    for (let at = 0; at < CATEGORY_COUNT; at++) window.carried[at]! += window.counts[at]!;
    this.#asked = window.counts.slice();
  }

  #asked: Float64Array | undefined;

  usage(usage: ReportedUsage): void {
    const lane = this.#lane;
    if (!lane || !this.#asked || usage.input <= 0) return;
    lane.window.reported = usage;
    lane.window.atLast = this.#asked;
    lane.first ??= { input: usage.input, counts: this.#asked, at: this.#at };
  }

  edit(): void {
    if (this.#lane) this.#lane.hasEdit = true;
  }

  mark(id: string): void {
    const lane = this.#lane;
    if (!lane) return;
    lane.mark = id;
    if (lane.marks.size < MOST_MARKS) return;
    const [oldest] = lane.marks.keys();
    if (oldest !== undefined) lane.marks.delete(oldest);
  }

  compaction({ trigger = "", kept = [] }: { trigger?: string; kept?: readonly string[] }): void {
    const lane = this.#lane;
    if (!lane) return;
    this.#records.read++;
    lane.window.compaction = { trigger };
    lane.windows.push(lane.window);
    const parts = kept.flatMap((id) => (lane.marks.get(id) ?? []).map((part) => ({ ...part, id })));
    lane.marks.clear();
    this.#begin(lane);
    for (const { id, category, tokens } of parts) {
      // The next compaction may keep it too.
      lane.mark = id;
      this.#put(lane, category, tokens);
    }
    lane.mark = "";
  }

  restart(): void {
    const lane = this.#lane;
    if (!lane) return;
    this.#records.read++;
    const { window } = lane;
    window.counts.fill(0);
    window.counts[AT.system] = lane.fixed;
    window.items.clear();
    lane.reads.clear();
    // Adding the content again finds the first edit again, unless a compaction has removed it.
    lane.hadEdit ||= lane.hasEdit;
    lane.hasEdit = false;
  }

  retold(): void {
    if (this.#lane) this.#lane.hasEdit ||= this.#lane.hadEdit;
  }

  skipped(): void {
    this.#records.skipped++;
  }

  broken(): void {
    this.#records.broken++;
  }

  unknown(kind: string): void {
    const { unknown } = this.#records;
    const key = unknown.has(kind) || unknown.size < 100 ? kind : "other";
    unknown.set(key, (unknown.get(key) ?? 0) + 1);
  }

  #begin(lane: OpenLane): void {
    lane.window = newWindow(this.#at);
    lane.window.counts[AT.system] = lane.fixed;
    lane.reads.clear();
    this.#asked = undefined;
  }

  #categoryOf(lane: OpenLane, kind: PartKind, text: string): number {
    switch (kind) {
      case "answer":
        return lane.agentId === "" && !lane.hasEdit ? AT.planning : AT.conversation;
      case "hook":
        return OURS.test(text) ? AT.injections : AT.other_hooks;
      case "read": {
        const key = contentHash(text);
        if (lane.reads.has(key)) return AT.file_rereads;
        lane.reads.add(key);
        return AT.file_reads;
      }
      default:
        return PLACES[kind];
    }
  }

  #put(lane: OpenLane, category: number, tokens: number): void {
    lane.window.counts[category]! += tokens;
    if (lane.mark === "") return;
    const parts = lane.marks.get(lane.mark);
    if (parts) parts.push({ category, tokens });
    else lane.marks.set(lane.mark, [{ category, tokens }]);
  }

  #itemize({ window: { items } }: OpenLane, category: number, name: string, tokens: number): void {
    const label = category === AT.shell_output ? commandLabel(name) : name.slice(0, 300);
    const key = `${category}\0${label}`;
    let item = items.get(key);
    if (!item) {
      if (items.size >= MOST_ITEMS) return;
      item = { category, name: label, count: 0, tokens: 0, wasted: 0 };
      items.set(key, item);
    }
    item.count++;
    item.tokens += tokens;
    item.wasted += wastedOf(category, tokens, item.count);
  }

  #close(lane: OpenLane): void {
    lane.windows.push(lane.window);
    // Without an edit there was no planning, only a conversation.
    if (!lane.hasEdit && !lane.hadEdit) for (const window of lane.windows) movePlanning(window);
    // Most of it is needed only while reading. Kept for thousands of sessions, it would take hundreds of megabytes.
    const { window: _, reads: __, marks: ___, mark: ____, hadEdit: _____, ...done } = lane;
    this.#done(done);
  }
}

/** Everything except what depends on the text. */
const PLACES: Readonly<Record<Exclude<PartKind, "answer" | "hook" | "read">, number>> = {
  system: AT.system,
  instructions: AT.instructions,
  "skill-listing": AT.skill_listing,
  "skill-body": AT.skill_bodies,
  mcp: AT.mcp_results,
  shell: AT.shell_output,
  "sub-agent": AT.sub_agent_results,
  tool: AT.other_tools,
  prompt: AT.conversation,
  summary: AT.summaries,
};

/** Counted as one item, whatever their names. */
const ITEMIZED = new Set<number>([AT.skill_listing, AT.sub_agent_results, AT.instructions]);

/** `count`: how many texts of this name the window has by now. */
function wastedOf(category: number, tokens: number, count: number): number {
  switch (category) {
    case AT.skill_listing:
      return tokens;
    case AT.file_rereads:
      return Math.max(0, tokens - NOTE_TOKENS);
    case AT.skill_bodies:
      return count > 1 ? Math.max(0, tokens - NOTE_TOKENS) : 0;
    case AT.shell_output:
    case AT.mcp_results:
      return tokens > LARGE_TOKENS ? tokens - HANDLE_TOKENS : 0;
    case AT.sub_agent_results:
      return Math.max(0, tokens - HANDOFF_TOKENS);
    case AT.pasted:
      return tokens - REFERENCE_TOKENS;
    default:
      return 0;
  }
}

function newWindow(at: number): Window {
  return {
    counts: new Float64Array(CATEGORY_COUNT),
    atFirst: undefined,
    atLast: undefined,
    reported: undefined,
    carried: new Float64Array(CATEGORY_COUNT),
    requests: 0,
    startedAt: at,
    endedAt: at,
    items: new Map(),
    avoidable: {},
  };
}

function movePlanning({ counts, atFirst, atLast, carried }: Window): void {
  for (const list of new Set([counts, atFirst, atLast, carried])) {
    if (!list) continue;
    list[AT.conversation]! += list[AT.planning]!;
    list[AT.planning] = 0;
  }
}

function contentHash(text: string): string {
  return hash("md5", text, "base64");
}

/** A program and its first word, such as `npm test`. Never an argument that could be a secret. */
function commandLabel(command: string): string {
  const bare = command
    .trim()
    .replace(/^(?:cd\s+\S+\s*(?:&&|;)\s*|[A-Z_][A-Z0-9_]*=\S*\s+|sudo\s+|time\s+|env\s+)+/, "");
  const [program = "", word = ""] = bare.split(/\s+/, 2);
  const name = /^[\w./@+-]{1,80}$/.test(program) ? program.split("/").at(-1)! : "";
  if (name === "") return "a script";
  return /^[a-z][a-z:-]{0,20}$/.test(word) ? `${name} ${word}` : name;
}
