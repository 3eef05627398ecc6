/** Dispatches, reviews and receipts in SQLite. Open its handle with `durability: "full"`. */
import type { DatabaseSync } from "node:sqlite";
import type { RequiredDocument } from "../../artifacts/receipts.ts";
import type {
  ArtifactStore,
  DispatchTotals,
  LoopKey,
  ReceiptCount,
  ResumeCheck,
  StoredDispatch,
} from "../artifact-store.ts";
import { readStore, writeStore } from "./access.ts";
import { insertReceipts } from "./artifact-receipts.ts";
import { decideIssue, findLoop, listLoops, recordReview } from "./artifact-reviews.ts";
import type { StoreHandle } from "./handle.ts";
import { all, one, run } from "./work/prepared.ts";

type Operations = { [Name in keyof ArtifactStore]: ArtifactStore[Name] };

export class SqliteArtifactStore implements ArtifactStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  recordDispatch: Operations["recordDispatch"] = async (dispatch, by) =>
    this.#write((db) => {
      const { loop, iteration, task, kind, reason, documents, tokens, otherTokens, promptChars, gitCommit } = dispatch;
      run(
        db,
        `INSERT INTO dispatches (feature, phase, role, iteration, task, kind, reason, documents, sent, reads, pasted,
          pasted_unpruned, resumed, prompt_chars, git_commit, by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...keyOf(loop),
        iteration,
        task ?? null,
        kind,
        reason ?? null,
        JSON.stringify(documents),
        tokens.sent,
        tokens.reads,
        tokens.pasted,
        tokens.pastedUnpruned,
        otherTokens ?? null,
        promptChars,
        gitCommit ?? null,
        by.name,
        by.at.toISOString(),
      );
    });

  getDispatch: Operations["getDispatch"] = async (loop, iteration) =>
    this.#read((db) => {
      const row = one<DispatchRow>(
        db,
        "SELECT * FROM dispatches WHERE feature = ? AND phase = ? AND role = ? AND iteration = ? ORDER BY seq DESC LIMIT 1",
        ...keyOf(loop),
        iteration,
      );
      return row && toDispatch(row);
    });

  sumDispatches: Operations["sumDispatches"] = async ({ since }) =>
    this.#read((db) =>
      all<DispatchTotals>(
        db,
        // A resume that was followed by another dispatch of its iteration has failed, and saved nothing.
        `SELECT role, count(*) AS dispatches, sum(is_resumed) AS resumes, sum(kind = 'fallback') AS fallbacks,
          sum(sent) AS sent, sum(reads) AS reads, sum(pasted) AS pasted, sum(pasted_unpruned) AS pastedUnpruned,
          sum(iif(is_resumed AND resumed IS NOT NULL, resumed - sent - reads, 0)) AS saved
        FROM (SELECT *, kind = 'resume' AND NOT EXISTS (SELECT 1 FROM dispatches AS later
          WHERE later.feature = one.feature AND later.phase = one.phase AND later.role = one.role
            AND later.iteration = one.iteration AND later.seq > one.seq) AS is_resumed FROM dispatches AS one WHERE at >= ?)
        GROUP BY role ORDER BY role`,
        since?.toISOString() ?? "",
      ).map((row) => ({ ...row })),
    );

  recordReview: Operations["recordReview"] = async (review, by) =>
    this.#write((db) => {
      const outcome = recordReview(db, review, by);
      const { loop, iteration, receipts } = review;
      if (outcome.kind === "recorded" && receipts) {
        insertReceipts(db, { ...receipts, feature: loop.feature, role: loop.role, iteration }, by.at);
      }
      return outcome;
    });

  markInHistory: Operations["markInHistory"] = async (loop, iteration) =>
    this.#write((db) => {
      const sql = "UPDATE reviews SET is_in_history = 1 WHERE feature = ? AND phase = ? AND role = ? AND iteration = ?";
      run(db, sql, ...keyOf(loop), iteration);
    });

  getLoop: Operations["getLoop"] = async (loop) => this.#read((db) => findLoop(db, loop));
  listLoops: Operations["listLoops"] = async (feature) => this.#read((db) => listLoops(db, feature));
  decideIssue: Operations["decideIssue"] = async (loop, decision, by) =>
    this.#write((db) => decideIssue(db, loop, decision, by));

  failResume: Operations["failResume"] = async (loop, failure) =>
    this.#write((db) => {
      const sql = "UPDATE review_agents SET failure = ? WHERE feature = ? AND phase = ? AND role = ?";
      run(db, sql, failure, ...keyOf(loop));
    });

  recordReceipts: Operations["recordReceipts"] = async (receipts, by) =>
    this.#write((db) => insertReceipts(db, receipts, by.at));

  countReceipts: Operations["countReceipts"] = async ({ since }) =>
    this.#read((db) =>
      all<ReceiptCount>(
        db,
        `SELECT role, file, count(*) AS total, sum(is_missing) AS missing, avg(share) AS share,
          sum(source = 'events') AS fromEvents
        FROM receipts WHERE at >= ? GROUP BY role, file ORDER BY role, file`,
        since?.toISOString() ?? "",
      ).map((row) => ({ ...row })),
    );

  recordResumeCheck: Operations["recordResumeCheck"] = async ({ client, isOk, text, at }) =>
    this.#write((db) => {
      run(db, "INSERT OR REPLACE INTO resume_checks VALUES (?, ?, ?, ?)", client, isOk ? 1 : 0, text, at.toISOString());
    });

  getResumeCheck: Operations["getResumeCheck"] = async (client) =>
    this.#read((db): ResumeCheck | undefined => {
      const row = one<{ is_ok: number; text: string; at: string }>(
        db,
        "SELECT * FROM resume_checks WHERE client = ?",
        client,
      );
      return row && { client, isOk: row.is_ok === 1, text: row.text, at: new Date(row.at) };
    });

  #write<T>(change: (db: DatabaseSync) => T): T {
    return writeStore(this.#handle, change);
  }

  #read<T>(read: (db: DatabaseSync) => T): T {
    return readStore(this.#handle, read);
  }
}

function keyOf({ feature, phase, role }: LoopKey): [string, string, string] {
  return [feature, phase, role];
}

interface DispatchRow {
  feature: string;
  phase: string;
  role: string;
  iteration: number;
  task: string | null;
  kind: StoredDispatch["kind"];
  reason: string | null;
  documents: string;
  sent: number;
  reads: number;
  pasted: number;
  pasted_unpruned: number;
  /** Of the way not taken. */
  resumed: number | null;
  prompt_chars: number;
  git_commit: string | null;
  by: string;
  at: string;
}

function toDispatch(row: DispatchRow): StoredDispatch {
  return {
    loop: { feature: row.feature, phase: row.phase, role: row.role },
    iteration: row.iteration,
    ...(row.task !== null && { task: row.task }),
    kind: row.kind,
    ...(row.reason !== null && { reason: row.reason }),
    documents: JSON.parse(row.documents) as RequiredDocument[],
    tokens: { sent: row.sent, reads: row.reads, pasted: row.pasted, pastedUnpruned: row.pasted_unpruned },
    ...(row.resumed !== null && { otherTokens: row.resumed }),
    promptChars: row.prompt_chars,
    ...(row.git_commit !== null && { gitCommit: row.git_commit }),
    by: row.by,
    at: new Date(row.at),
  };
}
