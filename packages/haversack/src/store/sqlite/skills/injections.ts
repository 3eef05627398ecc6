/**
 * Every text that was put into a window, and why, for `why` and `usage`. Owns the table `injections`. The hook bundles the
 * writing half.
 */
import type { DatabaseSync } from "node:sqlite";
import { readStore, type StoreHandle, writeEvent } from "../access.ts";
import type { SessionKey } from "../sessions/sqlite-local-store.ts";

/** Why a text was shown, as facts at that time. `engine/explain-session.ts` turns them into sentences. */
export type Because =
  | { kind: "prompt"; number: number }
  | ({ kind: "packet" } & PacketFacts)
  | { kind: "messages"; messages: readonly { id: string; from: string; to: string; at: string; subject?: string }[] }
  | { kind: "news"; since: string; tasks: readonly string[] }
  /** Unfinished work of earlier sessions: task IDs, or the session whose edits belong to no task. */
  | { kind: "left"; tasks: readonly string[]; session?: string }
  /** A rule requires a skill before a file is edited. */
  | { kind: "guard"; skill: string; path: string; enforcement: string }
  /** Documents that a sub-agent has to read: named in its prompt, or still unread when it wanted to end. */
  | { kind: "documents"; role: string; files: readonly string[] }
  /** A preview that replaces a tool's output. */
  | { kind: "output"; handle: string; source: string; chars: number }
  /** A stored handoff that replaces a sub-agent's answer. */
  | { kind: "handoff"; handoff: string; taskId: string; agentId: string };

export interface PacketFacts {
  agent: { name: string; role: string };
  task?: { id: string; title: string; holder?: string };
  /** The previous holder of a task that is free now. */
  leftBy?: { agent: string; because: string };
  isCoordinating?: boolean;
  alsoHolds?: readonly string[];
  plan?: { file: string; section?: string };
  skills?: readonly { id: string; because: string; hasChanged?: boolean; isCarried?: boolean }[];
  handoffs?: readonly string[];
  messages?: readonly { id: string; from: string }[];
  wipAt?: string;
  /** By template placeholder or `skill:ID`: whether the part is complete, and its size. */
  parts: readonly { key: string; form: string; chars?: number }[];
  leftOut?: readonly { what: string; count: number }[];
}

/** An estimate for the record. The real estimator costs a hook 3 ms per packet. */
export function roughTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export const INJECT =
  "INSERT INTO injections (at, session_id, agent_id, window, event, format, tokens, text, because) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";

export interface NewInjection extends SessionKey {
  at: Date;
  /** Default: the present window of the session or sub-agent. */
  window?: number;
  event: string;
  format: string;
  text: string;
  because: Because;
}

/** Call inside a write transaction. */
export function recordInjection(db: DatabaseSync, injection: NewInjection): void {
  const { sessionId, agentId = "", at, event, format, text, because } = injection;
  const window = injection.window ?? windowOf(db, sessionId, agentId);
  const tokens = roughTokens(text);
  db.prepare(INJECT).run(
    at.toISOString(),
    sessionId,
    agentId,
    window,
    event,
    format,
    tokens,
    text,
    JSON.stringify(because),
  );
}

/** The same for an event, which may have to wait in the spool. */
export function noteInjection(
  handle: StoreHandle,
  { sessionId, agentId = "" }: SessionKey,
  shown: Omit<NewInjection, keyof SessionKey>,
): void {
  writeEvent(handle, "injection", recordInjection, { sessionId, agentId, ...shown });
}

export function windowOf(db: DatabaseSync, sessionId: string, agentId: string): number {
  const row = db.prepare("SELECT window FROM sessions WHERE session_id = ? AND agent_id = ?").get(sessionId, agentId);
  return Number(row?.["window"] ?? 1);
}

export interface Injection extends Required<SessionKey> {
  at: string;
  window: number;
  /** prompt, startup, compaction, agent-start, before-tool, UserPromptSubmit, … */
  event: string;
  format: string;
  tokens: number;
  /** Empty: the prompt got no text. */
  text: string;
  /** Absent: the row was written by an older version. */
  because?: Because;
  /** For a prompt, while it is among the last ones of its session. */
  match?: { promptNumber: number; prompt: string; explanation: unknown };
}

export interface InjectionQuery {
  sessionId: string;
  /** A sub-agent, or "" for the main agent. Default: all agents of the session. */
  agentId?: string | undefined;
  limit: number;
}

export interface InjectionPage {
  /** Newest first. */
  injections: Injection[];
  total: number;
  /** How many of them have a text; the others are prompts that got none. */
  shown: number;
  /** The sum over all of them. */
  tokens: number;
}

export function readInjections(handle: StoreHandle, { sessionId, agentId, limit }: InjectionQuery): InjectionPage {
  return readStore(handle, (db) => {
    const where = agentId === undefined ? "i.session_id = ?" : "i.session_id = ? AND i.agent_id = ?";
    const key = agentId === undefined ? [sessionId] : [sessionId, agentId];
    const rows = db.prepare(`${SELECT} WHERE ${where} ORDER BY i.id DESC LIMIT ?`).all(...key, limit);
    const sum = db
      .prepare(
        `SELECT count(*) AS total, sum(text <> '') AS shown, sum(tokens) AS tokens FROM injections i WHERE ${where}`,
      )
      .get(...key);
    return {
      injections: rows.map(toInjection),
      total: Number(sum?.["total"] ?? 0),
      shown: Number(sum?.["shown"] ?? 0),
      tokens: Number(sum?.["tokens"] ?? 0),
    };
  });
}

/** The session that last received a text, for sessions without any other event. */
export function latestInjected(handle: StoreHandle): string | undefined {
  const row = readStore(handle, (db) =>
    db.prepare("SELECT session_id AS id FROM injections ORDER BY id DESC LIMIT 1").get(),
  );
  return row && String(row["id"]);
}

/** Joined by time and number: parallel hooks share a time, and `session reset` restarts the numbers. */
const SELECT = `SELECT i.*, m.prompt_number, m.prompt, m.data FROM injections i LEFT JOIN prompt_matches m
ON i.event = 'prompt' AND m.session_id = i.session_id AND m.agent_id = i.agent_id AND m.at = i.at
AND m.prompt_number = coalesce(i.because ->> '$.number', m.prompt_number)`;

function toInjection(row: Record<string, unknown>): Injection {
  const { because, data } = row;
  return {
    sessionId: String(row["session_id"]),
    agentId: String(row["agent_id"]),
    at: String(row["at"]),
    window: Number(row["window"]),
    event: String(row["event"]),
    format: String(row["format"]),
    tokens: Number(row["tokens"]),
    text: String(row["text"]),
    ...(typeof because === "string" && { because: JSON.parse(because) as Because }),
    ...(typeof data === "string" && {
      match: {
        promptNumber: Number(row["prompt_number"]),
        prompt: String(row["prompt"]),
        explanation: JSON.parse(data) as unknown,
      },
    }),
  };
}
