/** How far the clients' transcripts were read, and the tool calls that events have told of since. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { SessionKey } from "../../local-store.ts";
import { readStore, writeEvent } from "../access.ts";
import type { StoreHandle } from "../handle.ts";

/** Who tells of a session's tool calls; "": not known yet. */
export type ToldBy = "" | "server" | "process";

export interface ReadTranscript extends SessionKey {
  path: string;
  /** In bytes: everything before it was read. */
  offset: number;
  /** Earlier calls are not ours. As ISO text, as all times in the spool but `at`. */
  since: string;
  toldBy: ToldBy;
  at: Date;
  /** Calls before the offset: nobody asks for them again. */
  passed?: readonly string[];
}

export interface SeenCall {
  sessionId: string;
  toolUseId: string;
  at: Date;
}

export class Transcripts {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  read({ sessionId, agentId = "" }: SessionKey): ReadTranscript | undefined {
    const row = readStore(this.#handle, (db) => db.prepare(SELECT).get(sessionId, agentId));
    return (
      row && {
        ...{ sessionId, agentId },
        path: String(row["path"]),
        offset: Number(row["offset"]),
        since: String(row["since"]),
        toldBy: String(row["told_by"]) as ToldBy,
        at: new Date(String(row["at"])),
      }
    );
  }

  save(transcript: ReadTranscript): void {
    writeEvent(this.#handle, "transcript", saveTranscript, transcript);
  }

  isSeen(sessionId: string, toolUseId: string): boolean {
    const sql = "SELECT 1 FROM seen_calls WHERE session_id = ? AND tool_use_id = ?";
    return readStore(this.#handle, (db) => db.prepare(sql).get(sessionId, toolUseId)) !== undefined;
  }

  noteSeen(call: SeenCall): void {
    writeEvent(this.#handle, "seen-call", saveSeenCall, call);
  }
}

/** For callers that hold the write lock already; so is the next one. */
export function saveTranscript(db: DatabaseSync, transcript: ReadTranscript): void {
  const { sessionId, agentId = "", path, offset, since, toldBy, at, passed = [] } = transcript;
  db.prepare("INSERT OR REPLACE INTO transcripts VALUES (?, ?, ?, ?, ?, ?, ?)").run(
    ...[sessionId, agentId, path],
    ...[offset, since, toldBy, at.toISOString()],
  );
  const forget = db.prepare("DELETE FROM seen_calls WHERE session_id = ? AND tool_use_id = ?");
  for (const toolUseId of passed) forget.run(sessionId, toolUseId);
}

export function saveSeenCall(db: DatabaseSync, { sessionId, toolUseId, at }: SeenCall): void {
  db.prepare("INSERT OR IGNORE INTO seen_calls VALUES (?, ?, ?)").run(sessionId, toolUseId, at.toISOString());
}

const SELECT = "SELECT path, offset, since, told_by, at FROM transcripts WHERE session_id = ? AND agent_id = ?";
