/**
 * Work state in SQLite. Open its handle with `durability: "full"`, because callers are told that their changes are saved. The
 * operations are functions on the database, one file per topic. Here, each runs in its own transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { shortRefusal } from "../../../work/explain-outcome.ts";
import type { WorkRecord } from "../../record-fields.ts";
import type { ClaimRequest, StatusChange, WorkStore } from "../../work-store.ts";
import { Operations, readStore, readTogether, type StoreHandle, writeStore } from "../access.ts";
import { addToOutbox } from "../outbox/outbox.ts";
import * as agents from "./agents.ts";
import * as claims from "./claims.ts";
import * as dependencies from "./dependencies.ts";
import * as groups from "./groups.ts";
import * as handoffs from "./handoffs.ts";
import * as ids from "./ids.ts";
import { listLeft } from "./last-holders.ts";
import { importPlan } from "./plan.ts";
import * as queue from "./queue.ts";
import { exportRecords } from "./records/export-records.ts";
import { importRecords } from "./records/import-records.ts";
import * as rows from "./rows.ts";
import * as status from "./status.ts";
import * as tasks from "./tasks.ts";

/**
 * A change to the local snapshot of shared work, made while the shared store cannot be reached. In the same transaction it goes into the
 * outbox, unless it was refused. Updates of WIP need `patch` instead of `merge`, because a function cannot be sent.
 */
export async function changeOffline(
  handle: StoreHandle,
  name: OfflineChange,
  args: readonly [...unknown[], Date | { at: Date }],
): Promise<unknown> {
  const last = args.at(-1) as Date | { at: Date };
  const isTime = last instanceof Date;
  const made: string[] = [];
  const afterChange = (db: DatabaseSync, result: unknown) => {
    if (shortRefusal(result) !== undefined) return;
    const claimed = claimedIn(name, args, result);
    const sent = sentArgs(name, args.slice(0, -1), result);
    const call = { name, args: sent, ...(!isTime && { by: last }), at: isTime ? last : last.at, ids: made };
    const taskId = claimed ?? (sent[0] as { taskId?: string } | undefined)?.taskId;
    addToOutbox(db, "call", () => call, { isClaim: claimed !== undefined, ...(taskId !== undefined && { taskId }) });
  };
  ids.planIds(handle.db, { wanted: [], made, moreDigits: 2 });
  try {
    const store = new SqliteWorkStore({ ...handle, afterChange });
    return await (store[name] as (...args: unknown[]) => Promise<unknown>)(...args);
  } finally {
    ids.planIds(handle.db, undefined);
  }
}

/** Imports cannot be sent later: what they find decides what they create. */
export type OfflineChange = Exclude<
  {
    [Name in keyof WorkStore]: WorkStore[Name] extends (...args: never[]) => Promise<unknown> ? Name : never;
  }[keyof WorkStore],
  "importPlan" | "importRecords"
>;

function claimedIn(name: OfflineChange, args: readonly unknown[], result: unknown): string | undefined {
  const { claim: made } = (result ?? {}) as { claim?: { taskId: string } };
  const isClaim = name === "claim" || (name === "setStatus" && (args[0] as StatusChange).status === "in_progress");
  return isClaim ? made?.taskId : undefined;
}

/** The next task is chosen here; the shared store is asked for that one. */
function sentArgs(name: OfflineChange, args: readonly unknown[], result: unknown): unknown[] {
  const [first] = args;
  if (name === "claim") {
    const { claim: made } = result as { claim?: { taskId: string } };
    const { epicId: _, storyId: __, ...request } = first as ClaimRequest;
    return [{ ...request, ...(made && { taskId: made.taskId }) }];
  }
  if (name === "updateWip") {
    const { taskId, patch } = first as { taskId: string; patch: unknown };
    return [{ taskId, patch }];
  }
  return [...args];
}

export class SqliteWorkStore extends Operations implements WorkStore {
  createEpic = this.#writes(groups.createEpic);
  updateEpic = this.#writes(groups.updateEpic);
  getEpic = this.reads((db, id: string) => {
    const row = ids.findEpic(db, id);
    return { ...rows.toEpic(row), counts: tasks.countTasks(db, { epicId: row.id }) };
  });
  listEpics = this.reads(groups.listEpics);
  createStory = this.#writes(groups.createStory);
  updateStory = this.#writes(groups.updateStory);
  getStory = this.reads((db, id: string) => {
    const row = ids.findStory(db, id);
    return { ...rows.toStory(row), counts: tasks.countTasks(db, { storyId: row.id }) };
  });
  listStories = this.reads(groups.listStories);

  createTask = this.#writes(tasks.createTask);
  updateTask = this.#writes(tasks.updateTask);
  getTask: WorkStore["getTask"] = async (id, at) => this.#readAt(at, (db) => tasks.getTask(db, id));
  listTasks: WorkStore["listTasks"] = async (query) => this.#readAt(query.at, (db) => tasks.listTasks(db, query));
  countTasks: WorkStore["countTasks"] = async (scope, at) => this.#readAt(at, (db) => tasks.countTasks(db, scope));
  setStatus = this.#writes(status.setStatus);
  addDependency = this.#writes(dependencies.addDependency);
  removeDependency = this.#writes(dependencies.removeDependency);
  listDependencies = this.reads(dependencies.listDependencies);
  setBlocker = this.#writes(status.setBlocker);
  resolveBlockers = this.#writes(status.resolveBlockers);
  listBlockers = this.reads(tasks.listBlockers);
  recordFailure = this.#writes(tasks.recordFailure);
  listFailures = this.reads(tasks.listFailures);

  nextTasks: WorkStore["nextTasks"] = async (query) => this.#readAt(query.at, (db) => queue.nextTasks(db, query));
  filesInProgress: WorkStore["filesInProgress"] = async (scope, at) =>
    this.#readAt(at, (db) => queue.filesInProgress(db, scope));
  lastBatch = this.reads(queue.lastBatch);
  recordBatch = this.#writes(queue.recordBatch);

  claim = this.#writes(claims.claim);
  heartbeat = this.#writes(claims.heartbeat);
  release = this.#writes(claims.release);
  listClaims: WorkStore["listClaims"] = async ({ agent, at }) => this.#readAt(at, (db) => claims.listClaims(db, agent));
  listLeft: WorkStore["listLeft"] = async ({ limit, at }) => this.#readAt(at, (db) => listLeft(db, limit));
  updateWip: WorkStore["updateWip"] = this.#writes((db, change, by) => {
    claims.touchClaims(db, by);
    return tasks.updateWip(db, change, by);
  });
  wipHistory = this.reads(tasks.wipHistory);

  setHandoff: WorkStore["setHandoff"] = this.#writes((db, handoff, by) => {
    claims.touchClaims(db, by);
    return handoffs.setHandoff(db, handoff, by);
  });
  getHandoff = this.reads(handoffs.getHandoff);
  readHandoffDetails = this.reads(handoffs.readHandoffDetails);
  listHandoffs = this.reads(handoffs.listHandoffs);
  decay = this.#writes(handoffs.decay);
  restore = this.#writes(handoffs.restore);

  recordActivity: WorkStore["recordActivity"] = async (activity) =>
    writeStore(this.handle, (db) => ({ id: rows.addActivity(db, activity) }));
  listActivity = this.reads(rows.listActivity);
  addAgent = this.#writes(agents.addAgent);
  seeAgent = this.#writes(agents.seeAgent);
  getAgent = this.reads(agents.getAgent);
  removeAgent = this.#writes(agents.removeAgent);
  listAgents = this.reads(agents.listAgents);
  sendMessage = this.#writes(agents.sendMessage);
  inbox = this.reads(agents.inbox);
  markRead: WorkStore["markRead"] = this.#writes((db, { ids, ...agent }, at) =>
    agents.markRead(db, agents.findAgent(db, agent).seq, ids, at),
  );
  recordSkill = this.#writes(agents.recordSkill);
  skillHistory = this.reads(agents.skillHistory);

  findId = this.reads((db, id: string) => {
    const { kind, id: whole } = ids.findAny(db, id);
    return { kind, id: whole };
  });
  findLonger = this.reads(ids.findLonger);

  importPlan = this.#writes(importPlan);

  /** Reads in one transaction, so the records are consistent despite concurrent writes. */
  async *exportRecords(): AsyncIterable<WorkRecord> {
    yield* readTogether(this.handle, (db) => [...exportRecords(db)]);
  }

  importRecords: WorkStore["importRecords"] = async (records, options, by) => {
    // Read the input before taking the lock: others must not wait for a pipe.
    const list: WorkRecord[] = [];
    for await (const record of records) list.push(record);
    return writeStore(this.handle, (db) => importRecords(db, list, options, by));
  };

  /** Returns expired claims first; only then does a read write. If the store is read-only, expired claims are still shown. */
  #readAt<T>(at: Date, read: (db: DatabaseSync) => T): T {
    const isDue = (db: DatabaseSync) => claims.hasExpired(db, at) || claims.farLeases(db, at).length > 0;
    if (!this.handle.isReadOnly && readStore(this.handle, isDue))
      writeStore(this.handle, (db) => claims.settleClaims(db, at));
    return readStore(this.handle, read);
  }

  /** The last argument of every change gives its time: a date, or an actor with `at`. */
  #writes<Args extends [...unknown[], Date | { at: Date }], T>(
    change: (db: DatabaseSync, ...args: Args) => T,
  ): (...args: Args) => Promise<T> {
    return async (...args) => {
      const last = args.at(-1) as Date | { at: Date };
      return writeStore(this.handle, (db) => {
        claims.settleClaims(db, last instanceof Date ? last : last.at);
        return change(db, ...args);
      });
    };
  }
}
