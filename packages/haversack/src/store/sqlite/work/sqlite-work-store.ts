/**
 * Work state in SQLite. Open its handle with `durability: "full"`: callers are told that it is saved. The operations are in
 * `work/`, one file per idea, as functions on the database; here each becomes a transaction of its own.
 */
import type { DatabaseSync } from "node:sqlite";
import { checkCount, invalid } from "../../../work/clean-input.ts";
import type { Blocker, Failure, TaskBrief } from "../../../work/task.ts";
import type { ImportReport, WorkRecord } from "../../work-records.ts";
import type { Actor, ClaimOutcome, ClaimRequest, GivenBatch, TaskCounts, WorkStore } from "../../work-store.ts";
import { readStore, writeStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";
import { addActivity, listActivity, note } from "./activity.ts";
import { addAgent, findAgent, getAgent, listAgents, removeAgent, seeAgent } from "./agents.ts";
import {
  hasExpired,
  heartbeat,
  listClaims,
  refuseIfLost,
  release,
  returnExpired,
  takeTask,
  touchClaims,
} from "./claims.ts";
import { addDependency, listDependencies, removeDependency } from "./dependencies.ts";
import { createEpic, createStory, listEpics, listStories, updateEpic, updateStory } from "./groups.ts";
import { decay, getHandoff, lastVerdict, listHandoffs, readHandoffDetails, restore, setHandoff } from "./handoffs.ts";
import { findAny, findEpic, findLonger, findStory, findTask } from "./ids.ts";
import { listLeft } from "./last-holders.ts";
import { inbox, markRead, sendMessage } from "./messages.ts";
import { importPlan } from "./plan.ts";
import { filesInProgress, firstReady, nextTasks } from "./queue.ts";
import { exportRecords } from "./records/export-records.ts";
import { importRecords } from "./records/import-records.ts";
import { all, one, run, toEpic, toStory, value } from "./rows.ts";
import { recordSkill, skillHistory } from "./skill-history.ts";
import { resolveBlockers, setBlocker, setStatus } from "./status.ts";
import { acceptTime, farLeases, shortenFarLeases } from "./store-clock.ts";
import { countTasks, createTask, getTask, listTasks, updateTask } from "./tasks.ts";
import { updateWip, wipHistory } from "./wip.ts";

type Operations = { [Name in keyof WorkStore]: WorkStore[Name] };

export class SqliteWorkStore implements WorkStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  createEpic: Operations["createEpic"] = async (epic, by) => this.#write(by.at, (db) => createEpic(db, epic, by));
  updateEpic: Operations["updateEpic"] = async (id, changes, by) =>
    this.#write(by.at, (db) => updateEpic(db, id, changes, by));
  getEpic: Operations["getEpic"] = async (id) =>
    this.#read((db) => {
      const row = findEpic(db, id);
      return { ...toEpic(row), counts: countTasks(db, { epicId: row.id }) };
    });
  listEpics: Operations["listEpics"] = async (query) => this.#read((db) => listEpics(db, query));

  createStory: Operations["createStory"] = async (story, by) => this.#write(by.at, (db) => createStory(db, story, by));
  updateStory: Operations["updateStory"] = async (id, changes, by) =>
    this.#write(by.at, (db) => updateStory(db, id, changes, by));
  getStory: Operations["getStory"] = async (id) =>
    this.#read((db) => {
      const row = findStory(db, id);
      return { ...toStory(row), counts: countTasks(db, { storyId: row.id }) };
    });
  listStories: Operations["listStories"] = async (query) => this.#read((db) => listStories(db, query));

  createTask: Operations["createTask"] = async (task, by) => this.#write(by.at, (db) => createTask(db, task, by));
  updateTask: Operations["updateTask"] = async (id, changes, by) =>
    this.#write(by.at, (db) => updateTask(db, id, changes, by));
  getTask: Operations["getTask"] = async (id, at) => this.#readAt(at, (db) => getTask(db, id));
  listTasks: Operations["listTasks"] = async (query) => this.#readAt(query.at, (db) => listTasks(db, query));
  async countTasks(scope: Parameters<WorkStore["countTasks"]>[0], at: Date): Promise<TaskCounts> {
    return this.#readAt(at, (db) => countTasks(db, scope));
  }
  setStatus: Operations["setStatus"] = async (change, by) => this.#write(by.at, (db) => setStatus(db, change, by));

  addDependency: Operations["addDependency"] = async (dependency, by) =>
    this.#write(by.at, (db) => addDependency(db, dependency, by));
  removeDependency: Operations["removeDependency"] = async (ends, by) =>
    this.#write(by.at, (db) => removeDependency(db, ends, by));
  listDependencies: Operations["listDependencies"] = async (taskId) => this.#read((db) => listDependencies(db, taskId));
  setBlocker: Operations["setBlocker"] = async (blocker, by) => this.#write(by.at, (db) => setBlocker(db, blocker, by));
  resolveBlockers: Operations["resolveBlockers"] = async (change, by) =>
    this.#write(by.at, (db) => resolveBlockers(db, change, by));

  async listBlockers(taskId: string): Promise<Blocker[]> {
    return this.#read((db) => {
      const { seq, id } = findTask(db, taskId);
      const rows = all<BlockerRow>(db, "SELECT * FROM blockers WHERE task = ? ORDER BY id", seq);
      return rows.map((row) => ({
        id: row.id,
        taskId: id,
        reason: row.reason,
        actor: row.actor,
        at: new Date(row.created_at),
        ...(row.resolved_at !== null && { resolvedAt: new Date(row.resolved_at) }),
        ...(row.resolved_by !== null && { resolvedBy: row.resolved_by }),
      }));
    });
  }

  recordFailure: Operations["recordFailure"] = async ({ taskId, summary, details }, by) =>
    this.#write(by.at, (db) => {
      if (summary.trim() === "") throw invalid("summary must not be empty");
      const task = findTask(db, taskId);
      refuseIfLost(db, task, by);
      const { seq, id } = task;
      run(
        db,
        "INSERT INTO failures (task, actor, created_at, summary, details) VALUES (?, ?, ?, ?, ?)",
        seq,
        by.name,
        by.at.toISOString(),
        summary,
        details ?? null,
      );
      note(db, by, "task-failed", id, summary);
      return { count: value(db, "SELECT count(*) FROM failures WHERE task = ?", seq) };
    });

  async listFailures(taskId: string): Promise<Failure[]> {
    return this.#read((db) => {
      const { seq, id } = findTask(db, taskId);
      const rows = all<FailureRow>(db, "SELECT * FROM failures WHERE task = ? ORDER BY id DESC", seq);
      return rows.map(({ actor, created_at, summary, details }) => ({
        taskId: id,
        at: new Date(created_at),
        actor,
        summary,
        ...(details !== null && { details }),
      }));
    });
  }

  nextTasks: Operations["nextTasks"] = async (query) => this.#readAt(query.at, (db) => nextTasks(db, query));
  filesInProgress: Operations["filesInProgress"] = async (scope, at) =>
    this.#readAt(at, (db) => filesInProgress(db, scope));

  async claim({ taskId, epicId, storyId, ...how }: ClaimRequest, by: Actor): Promise<ClaimOutcome> {
    const scope = { ...(epicId !== undefined && { epicId }), ...(storyId !== undefined && { storyId }) };
    return this.#write(by.at, (db) => {
      const id = taskId ?? firstReady(db, scope);
      if (id === undefined) return { kind: "nothing-ready" };
      const taken = takeTask(db, findTask(db, id), how, by);
      if (taken.kind !== "taken") return taken;
      return {
        kind: "claimed",
        claim: taken.claim,
        task: getTask(db, id),
        ...(taken.note !== undefined && { note: taken.note }),
      };
    });
  }
  heartbeat: Operations["heartbeat"] = async (request, by) => this.#write(by.at, (db) => heartbeat(db, request, by));
  release: Operations["release"] = async (request, by) => this.#write(by.at, (db) => release(db, request, by));
  listClaims: Operations["listClaims"] = async ({ agent, at }) => this.#readAt(at, (db) => listClaims(db, agent));
  listLeft: Operations["listLeft"] = async ({ limit, at }) => {
    checkCount("limit", limit);
    return this.#readAt(at, (db) => listLeft(db, limit));
  };

  updateWip: Operations["updateWip"] = async (change, by) =>
    this.#write(by.at, (db) => {
      touchClaims(db, by);
      return updateWip(db, change, by);
    });
  wipHistory: Operations["wipHistory"] = async (query) => this.#read((db) => wipHistory(db, query));

  setHandoff: Operations["setHandoff"] = async (handoff, by) =>
    this.#write(by.at, (db) => {
      touchClaims(db, by);
      return setHandoff(db, handoff, by);
    });
  getHandoff: Operations["getHandoff"] = async (query) => this.#read((db) => getHandoff(db, query));
  readHandoffDetails: Operations["readHandoffDetails"] = async (query) =>
    this.#read((db) => readHandoffDetails(db, query));
  listHandoffs: Operations["listHandoffs"] = async (query) => this.#read((db) => listHandoffs(db, query));
  decay: Operations["decay"] = async (request, by) => this.#write(by.at, (db) => decay(db, request, by));
  restore: Operations["restore"] = async (id, by) => this.#write(by.at, (db) => restore(db, id, by));

  recordActivity: Operations["recordActivity"] = async (activity) =>
    writeStore(this.#handle, (db) => ({ id: addActivity(db, activity) }));
  listActivity: Operations["listActivity"] = async (query) => this.#read((db) => listActivity(db, query));

  importPlan: Operations["importPlan"] = async (plan, by) => this.#write(by.at, (db) => importPlan(db, plan, by));

  addAgent: Operations["addAgent"] = async (agent, by) => this.#write(by.at, (db) => addAgent(db, agent, by));
  seeAgent: Operations["seeAgent"] = async (seen, at) => this.#write(at, (db) => seeAgent(db, seen, at));
  getAgent: Operations["getAgent"] = async (query) => this.#read((db) => getAgent(db, query));
  removeAgent: Operations["removeAgent"] = async (request, by) =>
    this.#write(by.at, (db) => removeAgent(db, request, by));
  listAgents: Operations["listAgents"] = async () => this.#read(listAgents);
  sendMessage: Operations["sendMessage"] = async (message, by) =>
    this.#write(by.at, (db) => sendMessage(db, message, by));
  inbox: Operations["inbox"] = async (query) => this.#read((db) => inbox(db, query));
  markRead: Operations["markRead"] = async ({ ids, ...agent }, at) =>
    this.#write(at, (db) => markRead(db, findAgent(db, agent).seq, ids, at));
  recordSkill: Operations["recordSkill"] = async (use, at) => this.#write(at, (db) => recordSkill(db, use, at));
  skillHistory: Operations["skillHistory"] = async (query) => this.#read((db) => skillHistory(db, query));

  findId: Operations["findId"] = async (id) =>
    this.#read((db) => {
      const { kind, id: whole } = findAny(db, id);
      return { kind, id: whole };
    });
  findLonger: Operations["findLonger"] = async (id) => this.#read((db) => findLonger(db, id));

  async lastBatch(receiver: string): Promise<GivenBatch | undefined> {
    return this.#read((db) => {
      const row = one<{ size: number; at: string; tasks: string }>(
        db,
        "SELECT size, at, tasks FROM batches WHERE session_id = ? ORDER BY id DESC LIMIT 1",
        receiver,
      );
      if (!row) return undefined;
      const tasks = all<TaskBrief & { seq: number }>(
        db,
        "SELECT seq, id, title, status FROM tasks WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq",
        row.tasks,
      );
      return {
        size: row.size,
        at: new Date(row.at),
        tasks: tasks.map(({ seq, id, title, status }) => {
          const verdict = lastVerdict(db, seq);
          return { id, title, status, ...(verdict && { lastVerdict: verdict }) };
        }),
      };
    });
  }

  recordBatch: Operations["recordBatch"] = async ({ receiver, size, taskIds }, by) =>
    this.#write(by.at, (db) => {
      checkCount("batch_size", size);
      run(
        db,
        "INSERT INTO batches (session_id, at, size, tasks) VALUES (?, ?, ?, ?)",
        receiver,
        by.at.toISOString(),
        size,
        JSON.stringify(taskIds),
      );
    });

  /** Read in one transaction, so that the records fit together whatever is written meanwhile. */
  async *exportRecords(): AsyncIterable<WorkRecord> {
    const records = this.#read((db) => {
      db.exec("BEGIN");
      try {
        return [...exportRecords(db)];
      } finally {
        db.exec("COMMIT");
      }
    });
    yield* records;
  }

  importRecords: Operations["importRecords"] = async (records, options, by): Promise<ImportReport> => {
    // Read before the lock is taken: others must not wait for a pipe.
    const list: WorkRecord[] = [];
    for await (const record of records) list.push(record);
    let report: ImportReport | undefined;
    try {
      return writeStore(this.#handle, (db) => {
        const made = importRecords(db, list, options, by);
        report = made;
        if (options.isDryRun) throw new DryRun();
        return made;
      });
    } catch (error) {
      if (error instanceof DryRun && report) return report;
      throw error;
    }
  };

  #read<T>(read: (db: DatabaseSync) => T): T {
    return readStore(this.#handle, read);
  }

  /** Claims that have expired by then are returned first; only then does reading write. Where nothing can be written, they still show. */
  #readAt<T>(at: Date, read: (db: DatabaseSync) => T): T {
    if (!this.#handle.isReadOnly && this.#read((db) => hasExpired(db, at) || farLeases(db, at).length > 0))
      writeStore(this.#handle, (db) => settleClaims(db, at));
    return this.#read(read);
  }

  #write<T>(at: Date, change: (db: DatabaseSync) => T): T {
    return writeStore(this.#handle, (db) => {
      settleClaims(db, at);
      return change(db);
    });
  }
}

/** By the time that the store believes, which may not be the caller's. */
function settleClaims(db: DatabaseSync, at: Date): void {
  const now = acceptTime(db, at);
  shortenFarLeases(db, now);
  if (hasExpired(db, now)) returnExpired(db, now);
}

/** Ends a transaction whose changes nobody wants. */
class DryRun extends Error {}

interface BlockerRow {
  id: number;
  reason: string;
  actor: string;
  created_at: string;
  resolved_at: string | null;
  resolved_by: string | null;
}

interface FailureRow {
  actor: string;
  created_at: string;
  summary: string;
  details: string | null;
}
