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
import {
  addAgent,
  findAgent,
  getAgent,
  inbox,
  listAgents,
  markRead,
  recordSkill,
  removeAgent,
  seeAgent,
  sendMessage,
  skillHistory,
} from "./agents.ts";
import { claim, farLeases, hasExpired, heartbeat, listClaims, release, settleClaims, touchClaims } from "./claims.ts";
import { addDependency, listDependencies, removeDependency } from "./dependencies.ts";
import { createEpic, createStory, listEpics, listStories, updateEpic, updateStory } from "./groups.ts";
import { decay, getHandoff, listHandoffs, readHandoffDetails, restore, setHandoff } from "./handoffs.ts";
import { findAny, findEpic, findLonger, findStory, planIds } from "./ids.ts";
import { listLeft } from "./last-holders.ts";
import { importPlan } from "./plan.ts";
import { filesInProgress, lastBatch, nextTasks, recordBatch } from "./queue.ts";
import { exportRecords } from "./records/export-records.ts";
import { importRecords } from "./records/import-records.ts";
import { addActivity, listActivity, toEpic, toStory } from "./rows.ts";
import { resolveBlockers, setBlocker, setStatus } from "./status.ts";
import {
  countTasks,
  createTask,
  getTask,
  listBlockers,
  listFailures,
  listTasks,
  recordFailure,
  updateTask,
  updateWip,
  wipHistory,
} from "./tasks.ts";

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
  const ids: string[] = [];
  const afterChange = (db: DatabaseSync, result: unknown) => {
    if (shortRefusal(result) !== undefined) return;
    const claimed = claimedIn(name, args, result);
    const sent = sentArgs(name, args.slice(0, -1), result);
    const call = { name, args: sent, ...(!isTime && { by: last }), at: isTime ? last : last.at, ids };
    const taskId = claimed ?? (sent[0] as { taskId?: string } | undefined)?.taskId;
    addToOutbox(db, "call", () => call, { isClaim: claimed !== undefined, ...(taskId !== undefined && { taskId }) });
  };
  planIds(handle.db, { wanted: [], made: ids, moreDigits: 2 });
  try {
    const store = new SqliteWorkStore({ ...handle, afterChange });
    return await (store[name] as (...args: unknown[]) => Promise<unknown>)(...args);
  } finally {
    planIds(handle.db, undefined);
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
  createEpic = this.#writes(createEpic);
  updateEpic = this.#writes(updateEpic);
  getEpic = this.reads((db, id: string) => {
    const row = findEpic(db, id);
    return { ...toEpic(row), counts: countTasks(db, { epicId: row.id }) };
  });
  listEpics = this.reads(listEpics);
  createStory = this.#writes(createStory);
  updateStory = this.#writes(updateStory);
  getStory = this.reads((db, id: string) => {
    const row = findStory(db, id);
    return { ...toStory(row), counts: countTasks(db, { storyId: row.id }) };
  });
  listStories = this.reads(listStories);

  createTask = this.#writes(createTask);
  updateTask = this.#writes(updateTask);
  getTask: WorkStore["getTask"] = async (id, at) => this.#readAt(at, (db) => getTask(db, id));
  listTasks: WorkStore["listTasks"] = async (query) => this.#readAt(query.at, (db) => listTasks(db, query));
  countTasks: WorkStore["countTasks"] = async (scope, at) => this.#readAt(at, (db) => countTasks(db, scope));
  setStatus = this.#writes(setStatus);
  addDependency = this.#writes(addDependency);
  removeDependency = this.#writes(removeDependency);
  listDependencies = this.reads(listDependencies);
  setBlocker = this.#writes(setBlocker);
  resolveBlockers = this.#writes(resolveBlockers);
  listBlockers = this.reads(listBlockers);
  recordFailure = this.#writes(recordFailure);
  listFailures = this.reads(listFailures);

  nextTasks: WorkStore["nextTasks"] = async (query) => this.#readAt(query.at, (db) => nextTasks(db, query));
  filesInProgress: WorkStore["filesInProgress"] = async (scope, at) =>
    this.#readAt(at, (db) => filesInProgress(db, scope));
  lastBatch = this.reads(lastBatch);
  recordBatch = this.#writes(recordBatch);

  claim = this.#writes(claim);
  heartbeat = this.#writes(heartbeat);
  release = this.#writes(release);
  listClaims: WorkStore["listClaims"] = async ({ agent, at }) => this.#readAt(at, (db) => listClaims(db, agent));
  listLeft: WorkStore["listLeft"] = async ({ limit, at }) => this.#readAt(at, (db) => listLeft(db, limit));
  updateWip: WorkStore["updateWip"] = this.#writes((db, change, by) => {
    touchClaims(db, by);
    return updateWip(db, change, by);
  });
  wipHistory = this.reads(wipHistory);

  setHandoff: WorkStore["setHandoff"] = this.#writes((db, handoff, by) => {
    touchClaims(db, by);
    return setHandoff(db, handoff, by);
  });
  getHandoff = this.reads(getHandoff);
  readHandoffDetails = this.reads(readHandoffDetails);
  listHandoffs = this.reads(listHandoffs);
  decay = this.#writes(decay);
  restore = this.#writes(restore);

  recordActivity: WorkStore["recordActivity"] = async (activity) =>
    writeStore(this.handle, (db) => ({ id: addActivity(db, activity) }));
  listActivity = this.reads(listActivity);
  addAgent = this.#writes(addAgent);
  seeAgent = this.#writes(seeAgent);
  getAgent = this.reads(getAgent);
  removeAgent = this.#writes(removeAgent);
  listAgents = this.reads(listAgents);
  sendMessage = this.#writes(sendMessage);
  inbox = this.reads(inbox);
  markRead: WorkStore["markRead"] = this.#writes((db, { ids, ...agent }, at) =>
    markRead(db, findAgent(db, agent).seq, ids, at),
  );
  recordSkill = this.#writes(recordSkill);
  skillHistory = this.reads(skillHistory);

  findId = this.reads((db, id: string) => {
    const { kind, id: whole } = findAny(db, id);
    return { kind, id: whole };
  });
  findLonger = this.reads(findLonger);

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
    const isDue = (db: DatabaseSync) => hasExpired(db, at) || farLeases(db, at).length > 0;
    if (!this.handle.isReadOnly && readStore(this.handle, isDue)) writeStore(this.handle, (db) => settleClaims(db, at));
    return readStore(this.handle, read);
  }

  /** The last argument of every change gives its time: a date, or an actor with `at`. */
  #writes<Args extends [...unknown[], Date | { at: Date }], T>(
    change: (db: DatabaseSync, ...args: Args) => T,
  ): (...args: Args) => Promise<T> {
    return async (...args) => {
      const last = args.at(-1) as Date | { at: Date };
      return writeStore(this.handle, (db) => {
        settleClaims(db, last instanceof Date ? last : last.at);
        return change(db, ...args);
      });
    };
  }
}
