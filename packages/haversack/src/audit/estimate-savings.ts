/**
 * What Haversack would have saved in the sessions of a transcript. The prompts go through the real engine, and its answers are counted. Fixed rules
 * say what would have stayed out of the windows. This is an estimate, because a model with less in its window would have acted differently.
 */
import type { Payload } from "../clients/client-adapter.ts";
import { type ClientFacts, type ClientName, FACTS } from "../clients/facts.ts";
import type { PartKind, SessionInfo, TranscriptReader, TranscriptSink } from "../clients/transcript.ts";
import type { TokenCounter } from "../tokens/count.ts";
import type { AuditedSession } from "./audit-transcripts.ts";
import { bundledTokens } from "./elsewhere.ts";
import type { ScratchEngine } from "./scratch-engine.ts";

export interface Saving {
  what: string;
  /** What the user has to do for it. */
  needs: string;
  /** Tokens in windows, without and with Haversack. */
  before: number;
  after: number;
  /** Part of the low estimate: Haversack does this automatically once the listing is deferred. */
  isSure: boolean;
}

export interface SavingsEstimate {
  sessions: number;
  windows: number;
  prompts: number;
  /** Tokens in all windows, as they were. */
  tokens: number;
  /** What the engine added at these prompts. */
  added: number;
  savings: Saving[];
  /** Tokens in windows minus the savings: with the sure rows only, and with all. */
  saved: { low: number; high: number };
  /** The same for all requests: each sends the window again, mostly from the cache. */
  savedInRequests: { low: number; high: number };
  method: string;
}

const METHOD = [
  "This is an estimate. The transcript's prompts and tool results went through the engine, with the skills that the project has now and without the pauses between them; what it answered is counted as added.",
  "The listing is taken as deferred, except for the client's bundled skills.",
  "Low: the listing, and skills loaded again. High: also handoffs for sub-agents, and outputs.replace_over for unchanged reads and results above 1,000 tokens.",
  "Counts are within 5% or 200 tokens per row. How a model would have gone on with less in its window is not known, and no row allows for it: what it would have had to recall costs extra.",
].join(" ");

export interface EstimateOptions {
  engine: ScratchEngine;
  countTokens: TokenCounter;
}

export function estimateSavings(
  sessions: readonly AuditedSession[],
  { events, listings }: TranscriptEvents,
  { engine, countTokens }: EstimateOptions,
): SavingsEstimate {
  const added = events.reduce((sum, { payload }) => sum + countTokens(engine.answer(REPLAYED_AS, payload).text), 0);
  const windows = sessions.flatMap((session) => session.windows);
  const sum = (of: (window: AuditedSession["windows"][0]) => number) =>
    Math.round(windows.reduce((all, window) => all + of(window), 0));
  const row = (key: "skill_bodies" | "file_rereads" | "shell_output" | "mcp_results" | "sub_agent_results") => {
    const before = sum(({ categories }) => categories[key]);
    return { before, after: Math.max(0, before - sum(({ avoidable }) => avoidable[key] ?? 0)) };
  };
  const client = FACTS[sessions[0]?.client as ClientName];
  /** Nothing is saved where the client lets no hook replace it. */
  const replaced = (
    what: ClientFacts["replaces"][number],
    needs: string,
    { before, after }: ReturnType<typeof row>,
  ) => {
    if (client?.replaces.includes(what)) return { needs, before, after, isSure: false };
    return { needs: `not possible in ${client?.title ?? "this client"}`, before, after: before, isSure: false };
  };
  const output = (key: "file_rereads" | "shell_output" | "mcp_results") =>
    replaced("output", "outputs.replace_over", row(key));
  const listed = sum(({ categories }) => categories.skill_listing);
  const kept = Math.min(listed, keptListing(sessions, listings, { engine, countTokens }));
  const savings: Saving[] = [
    {
      what: "Skill listing, and what Haversack adds",
      needs: "haversack init, haversack skill defer --all",
      before: listed + sum(({ categories }) => categories.injections),
      after: kept + added,
      isSure: true,
    },
    { what: "Skill bodies", needs: "skills loaded with Haversack's skill tool", ...row("skill_bodies"), isSure: true },
    {
      what: "Sub-agent results",
      ...replaced("sub-agent", "sub-agents that store handoffs", row("sub_agent_results")),
    },
    { what: "Same text read again", ...output("file_rereads") },
    { what: "Shell output", ...output("shell_output") },
    { what: "MCP results", ...output("mcp_results") },
  ];
  const saved = (list: readonly Saving[]) => list.reduce((all, { before, after }) => all + before - after, 0);
  const low = saved(savings.filter(({ isSure }) => isSure));
  const high = saved(savings);
  const tokens = sum((window) => window.tokens);
  // Each token in a window is sent again with the requests after it, on average as often as those of this transcript.
  const perToken = tokens > 0 ? sum(({ carried }) => carried) / tokens : 0;
  return {
    sessions: sessions.filter(({ agentId }) => agentId === "").length,
    windows: windows.length,
    prompts: events.filter(({ isPrompt }) => isPrompt).length,
    tokens,
    added,
    savings,
    saved: { low, high },
    savedInRequests: { low: Math.round(low * perToken), high: Math.round(high * perToken) },
    method: METHOD,
  };
}

/** The part of the listings that `skill defer` cannot hide: the client's bundled skills, and skills that the engine does not know. */
function keptListing(
  sessions: readonly AuditedSession[],
  listings: readonly string[],
  { engine, countTokens }: EstimateOptions,
): number {
  if (listings.length === 0) {
    // Rebuilt from disk: the bundled skills are a fixed part of each.
    return sessions.reduce((all, { client, windows }) => all + bundledTokens(client) * windows.length, 0);
  }
  const isDeferrable = (line: string) => {
    const [, name] = /^\s*- (?:\*\*)?([\w.:-]+?)(?:\*\*)?(?::|$)/.exec(line) ?? [];
    return name !== undefined && engine.skills.has(name);
  };
  return listings.reduce((all, text) => {
    const kept = text.split("\n").filter((line) => !isDeferrable(line));
    return all + countTokens(kept.join("\n"));
  }, 0);
}

export interface TranscriptEvents {
  events: { payload: Payload; isPrompt: boolean }[];
  /** Listings of skills, as sent. */
  listings: string[];
}

/** All transcripts are replayed in this client's form, because it has the most events. */
const REPLAYED_AS = "claude-code";
const MOST_EVENTS = 5_000;
/** Enough of a tool's output to find test results and errors in it. */
const MAX_OUTPUT_CHARS = 20_000;

/** The events that the client would have sent: starts, prompts, tools, sub-agents and compactions. `root`: where the project is replayed. */
export function eventsOf(reader: TranscriptReader, path: string, { root }: { root: string }): TranscriptEvents {
  const sink = new EventSink(root);
  reader.read(path, sink, { bytes: () => undefined });
  return { events: sink.events, listings: sink.listings };
}

const ignored = () => undefined;

class EventSink implements TranscriptSink {
  readonly events: TranscriptEvents["events"] = [];
  readonly listings: string[] = [];
  readonly #root: string;
  readonly #started = new Set<string>();
  #session: SessionInfo = { sessionId: "", agentId: "" };
  #isReplaying = false;
  #calls = 0;

  constructor(root: string) {
    this.#root = root;
  }

  session(info: SessionInfo): void {
    this.#session = info;
    const key = `${info.sessionId} ${info.agentId}`;
    if (this.#started.has(key)) return;
    this.#started.add(key);
    if (info.agentId === "") this.#put("SessionStart", { source: "startup" });
    else this.#put("SubagentStart", { agent_type: "general-purpose" });
  }

  add(kind: PartKind, text: string, name = ""): void {
    if (kind === "skill-listing") this.listings.push(text);
    if (this.#isReplaying) return;
    const path = this.#placed(name);
    if (kind === "prompt" && this.#session.agentId === "") this.#put("UserPromptSubmit", { prompt: text }, true);
    else if (kind === "skill-body" && name !== "") this.#tool("Skill", { skill: name }, { success: true });
    else if (kind === "read") this.#tool("Read", { file_path: path }, { type: "text", file: { filePath: path } });
    else if (kind === "shell")
      this.#tool("Bash", { command: name }, { stdout: text.slice(0, MAX_OUTPUT_CHARS), stderr: "" });
  }

  edit(path: string): void {
    if (path !== "" && !this.#isReplaying) this.#tool("Edit", { file_path: this.#placed(path) }, {});
  }

  compaction({ isRetold = false }: { isRetold?: boolean }): void {
    if (this.#session.agentId === "") this.#put("SessionStart", { source: "compact" });
    // Prompts that the client kept are repeated here, and were answered before.
    this.#isReplaying = isRetold;
  }

  restart(): void {
    this.#isReplaying = true;
  }

  retold(): void {
    this.#isReplaying = false;
  }

  readonly time = ignored;
  readonly fixed = ignored;
  readonly request = ignored;
  readonly usage = ignored;
  readonly sessionEnd = ignored;
  readonly mark = ignored;
  readonly skipped = ignored;
  readonly unknown = ignored;
  readonly broken = ignored;

  #placed(path: string): string {
    const { project } = this.#session;
    return project && path.startsWith(`${project}/`) ? this.#root + path.slice(project.length) : path;
  }

  #tool(name: string, input: Payload, response: Payload): void {
    this.#put("PostToolUse", {
      tool_name: name,
      tool_use_id: `replayed-${++this.#calls}`,
      tool_input: input,
      tool_response: response,
    });
  }

  #put(event: string, more: Payload, isPrompt = false): void {
    if (this.events.length >= MOST_EVENTS) return;
    const { sessionId, agentId } = this.#session;
    const payload = { session_id: sessionId, ...(agentId && { agent_id: agentId }), hook_event_name: event, ...more };
    this.events.push({ payload, isPrompt });
  }
}
