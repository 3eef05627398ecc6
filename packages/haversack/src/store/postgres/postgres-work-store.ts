/**
 * Work state in PostgreSQL, for several machines. The operations are those of SQLite (work/, made by scripts/make-postgres.mjs); here each
 * runs in its own transaction. Times are the server's, because the clocks of several machines differ.
 */
import { isFault } from "../../base/errors.ts";
import { checkCount } from "../../work/clean-input.ts";
import type { WorkRecord } from "../record-fields.ts";
import type { Actor, ClaimOutcome, ClaimRequest, NewActivity, WorkStore } from "../work-store.ts";
import { NextClaims } from "./claim-next.ts";
import type { Connection } from "./connection.ts";
import type { Server, Start } from "./server.ts";
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
} from "./work/agents.ts";
import { claim, heartbeat, listClaims, release, settleClaims, touchClaims } from "./work/claims.ts";
import { addDependency, listDependencies, removeDependency } from "./work/dependencies.ts";
import { createEpic, createStory, listEpics, listStories, updateEpic, updateStory } from "./work/groups.ts";
import { decay, getHandoff, listHandoffs, readHandoffDetails, restore, setHandoff } from "./work/handoffs.ts";
import { findAny, findEpic, findLonger, findStory } from "./work/ids.ts";
import { listLeft } from "./work/last-holders.ts";
import { importPlan } from "./work/plan.ts";
import { filesInProgress, lastBatch, nextTasks, recordBatch } from "./work/queue.ts";
import { exportRecords } from "./work/records/export-records.ts";
import { importRecords } from "./work/records/import-records.ts";
import { addActivity, listActivity, toEpic, toStory } from "./work/rows.ts";
import { resolveBlockers, setBlocker, setStatus } from "./work/status.ts";
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
} from "./work/tasks.ts";

export class PostgresWorkStore implements WorkStore {
  readonly #server: Server;
  readonly #next: NextClaims;

  constructor(server: Server) {
    this.#server = server;
    this.#next = new NextClaims(server);
  }

  createEpic = this.#writes(createEpic);
  updateEpic = this.#writes(updateEpic);
  getEpic = this.#reads(async (db, id: string) => {
    const row = await findEpic(db, id);
    return { ...toEpic(row), counts: await countTasks(db, { epicId: row.id }) };
  });
  listEpics = this.#reads(listEpics);
  createStory = this.#writes(createStory);
  updateStory = this.#writes(updateStory);
  getStory = this.#reads(async (db, id: string) => {
    const row = await findStory(db, id);
    return { ...toStory(row), counts: await countTasks(db, { storyId: row.id }) };
  });
  listStories = this.#reads(listStories);

  createTask = this.#writes(createTask);
  updateTask = this.#writes(updateTask);
  getTask: WorkStore["getTask"] = (id, at) => this.#readAt(at, (db) => getTask(db, id));
  listTasks: WorkStore["listTasks"] = (query) => this.#readAt(query.at, (db) => listTasks(db, query));
  countTasks: WorkStore["countTasks"] = (scope, at) => this.#readAt(at, (db) => countTasks(db, scope));
  setStatus = this.#writes(setStatus);
  addDependency = this.#writes(addDependency);
  removeDependency = this.#writes(removeDependency);
  listDependencies = this.#reads(listDependencies);
  setBlocker = this.#writes(setBlocker);
  resolveBlockers = this.#writes(resolveBlockers);
  listBlockers = this.#reads(listBlockers);
  recordFailure = this.#writes(recordFailure);
  listFailures = this.#reads(listFailures);

  nextTasks: WorkStore["nextTasks"] = (query) => this.#readAt(query.at, (db, at) => nextTasks(db, { ...query, at }));
  filesInProgress: WorkStore["filesInProgress"] = (scope, at) => this.#readAt(at, (db) => filesInProgress(db, scope));
  lastBatch = this.#reads(lastBatch);
  recordBatch = this.#writes(recordBatch);

  claim: WorkStore["claim"] = async (request, by) =>
    (await this.#next.take(request, by))[0] ?? (await this.#claimAny(request, by));
  /** Takes up to `count` ready tasks at once. Fewer, or none: no more are ready. */
  async claimSeveral(request: Omit<ClaimRequest, "taskId">, count: number, by: Actor): Promise<ClaimOutcome[]> {
    checkCount("count", count);
    const claimed: ClaimOutcome[] = await this.#next.take(request, by, count);
    while (claimed.length < count) {
      const outcome = await this.claim(request, by);
      if (outcome.kind !== "nothing-ready") claimed.push(outcome);
      if (outcome.kind !== "claimed") break;
    }
    return claimed;
  }

  readonly #claimAny = this.#writes(claim);
  heartbeat = this.#writes(heartbeat);
  release = this.#writes(release);
  listClaims: WorkStore["listClaims"] = ({ agent, at }) => this.#readAt(at, (db) => listClaims(db, agent));
  listLeft: WorkStore["listLeft"] = ({ limit, at }) => this.#readAt(at, (db) => listLeft(db, limit));
  updateWip: WorkStore["updateWip"] = this.#writes(async (db, change, by) => {
    await touchClaims(db, by);
    return updateWip(db, change, by);
  });
  wipHistory = this.#reads(wipHistory);

  setHandoff: WorkStore["setHandoff"] = this.#writes(async (db, handoff, by) => {
    await touchClaims(db, by);
    return setHandoff(db, handoff, by);
  });
  getHandoff = this.#reads(getHandoff);
  readHandoffDetails = this.#reads(readHandoffDetails);
  listHandoffs = this.#reads(listHandoffs);
  decay = this.#writes(decay);
  restore = this.#writes(restore);

  recordActivity: WorkStore["recordActivity"] = (activity) =>
    this.#server.write(async (db, { now }) => ({ id: await addActivity(db, this.#timed(activity, now)) }));
  listActivity = this.#reads(listActivity);
  addAgent = this.#writes(addAgent);
  seeAgent = this.#writes(seeAgent);
  getAgent = this.#reads(getAgent);
  removeAgent = this.#writes(removeAgent);
  listAgents = this.#reads(listAgents);
  sendMessage = this.#writes(sendMessage);
  inbox = this.#reads(inbox);
  markRead: WorkStore["markRead"] = this.#writes(async (db, { ids, ...agent }, at) =>
    markRead(db, (await findAgent(db, agent)).seq, ids, at),
  );
  recordSkill = this.#writes(recordSkill);
  skillHistory = this.#reads(skillHistory);

  findId = this.#reads(async (db, id: string) => {
    const { kind, id: whole } = await findAny(db, id);
    return { kind, id: whole };
  });
  findLonger = this.#reads(findLonger);

  importPlan = this.#writes(importPlan);

  /** Reads in one transaction, so the records are consistent despite concurrent writes. */
  async *exportRecords(): AsyncIterable<WorkRecord> {
    yield* await this.#server.read(async (db) => {
      const records: WorkRecord[] = [];
      for await (const record of exportRecords(db)) records.push(record);
      return records;
    });
  }

  importRecords: WorkStore["importRecords"] = async (records, options, by) => {
    // Read the input before taking the lock: others must not wait for a pipe.
    const list: WorkRecord[] = [];
    for await (const record of records) list.push(record);
    return this.#server.write((db, { now }) => importRecords(db, list, options, this.#timed(by, now)));
  };

  #timed<T extends Actor | NewActivity>(by: T, now: Date): T {
    return this.#server.isServerClock ? { ...by, at: now } : by;
  }

  #reads<Args extends unknown[], T>(
    read: (db: Connection, ...args: Args) => Promise<T>,
  ): (...args: Args) => Promise<T> {
    return (...args) => this.#server.read((db) => read(db, ...args));
  }

  /** Returns expired claims first. */
  async #readAt<T>(given: Date, read: (db: Connection, at: Date) => Promise<T>): Promise<T> {
    const timeOf = ({ now }: Start) => (this.#server.isServerClock ? now : given);
    const outcome = await this.#server.read(async (db, start) =>
      start.isCalm(timeOf(start)) ? { result: await read(db, timeOf(start)) } : undefined,
    );
    if (outcome) return outcome.result;
    try {
      await this.#server.write((db, start) => settleClaims(db, timeOf(start)));
    } catch (error) {
      // A server that can only be read still shows them.
      if (!isFault(error, "store-read-only")) throw error;
    }
    return this.#server.read((db, start) => read(db, timeOf(start)));
  }

  /** The last argument of every change gives its time: a date, or an actor with `at`. */
  #writes<Args extends [...unknown[], Date | { at: Date }], T>(
    change: (db: Connection, ...args: Args) => Promise<T>,
  ): (...args: Args) => Promise<T> {
    return (...args) =>
      this.#server.write(async (db, start) => {
        const last = args.at(-1) as Date | { at: Date };
        const at = this.#server.isServerClock ? start.now : last instanceof Date ? last : last.at;
        if (!start.isCalm(at)) await settleClaims(db, at);
        const timed = [...args.slice(0, -1), last instanceof Date ? at : { ...last, at }] as Args;
        return change(db, ...timed);
      });
  }
}
