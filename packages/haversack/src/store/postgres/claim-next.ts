/**
 * Takes the next ready tasks while others take theirs: rows that somebody is taking are skipped. A function of the server (migrations/008-claim-functions.ts)
 * does what the general claim does to a task that nobody has held before, in a story that is in progress or in none. It leaves every other case
 * to the general way.
 *
 * Most of its time is the set-up of its statements and the commit, whatever the number of tasks. So claims of one process that wait at the same
 * time share a call.
 */
import { checkCount } from "../../work/clean-input.ts";
import type { Claim, TaskDetails } from "../../work/task.ts";
import type { Actor, ClaimOutcome, ClaimRequest } from "../work-store.ts";
import type { Connection } from "./connection.ts";
import { escapeText, restoreText } from "./dialect.ts";
import { TASK, TASK_COLUMNS } from "./migrations/008-claim-functions.ts";
import { inTransaction, type Server } from "./server.ts";
import { findSeq, findStory } from "./work/ids.ts";
import { type TaskRow, toTask } from "./work/rows.ts";
import { getTask } from "./work/tasks.ts";

type Claimed = Extract<ClaimOutcome, { kind: "claimed" }>;

interface Wanted {
  request: ClaimRequest;
  by: Actor;
  count: number;
  settle: { resolve(rows: ClaimedTask[]): void; reject(reason: unknown): void };
}

/** While the server works at one statement, the process prepares the other. */
const STATEMENTS_AT_ONCE = 2;

const MOST_SHARED = 100;

export class NextClaims {
  readonly #server: Server;
  #waiting: Wanted[] = [];
  #running = 0;
  #wasShared = false;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Empty: nothing is ready, or the tasks must be taken the general way. */
  async take(request: ClaimRequest, by: Actor, count = 1): Promise<Claimed[]> {
    const { taskId, epicId, storyId, stealReason, isForced, maxClaims } = request;
    if (taskId !== undefined || stealReason !== undefined || isForced || maxClaims) return [];
    // Both: the general way checks that they belong together.
    if (epicId !== undefined && storyId !== undefined) return [];
    checkCount("lease_ms", request.leaseMs);
    const rows = await new Promise<ClaimedTask[]>((resolve, reject) => {
      this.#waiting.push({ request, by, count, settle: { resolve, reject } });
      this.#nextSoon();
    });
    const claimed: Claimed[] = [];
    for (const row of rows) claimed.push(await toClaimed(this.#server, row, by));
    return claimed;
  }

  /** After all that can run now: of those that one statement answered, many may ask again at once. One that is alone need not wait for others. */
  #nextSoon(): void {
    if (this.#wasShared) setImmediate(() => this.#next());
    else queueMicrotask(() => this.#next());
  }

  #next(): void {
    const [first] = this.#waiting;
    if (!first || this.#running === STATEMENTS_AT_ONCE) return;
    let size = 0;
    const isTaken = (wanted: Wanted) => {
      if (size > 0 && (!this.#isAlike(wanted, first) || size + wanted.count > MOST_SHARED)) return false;
      size += wanted.count;
      return true;
    };
    const group = this.#waiting.filter(isTaken);
    this.#waiting = this.#waiting.filter((wanted) => !group.includes(wanted));
    this.#wasShared = group.length > 1;
    this.#running++;
    void this.#claim(group)
      .then(
        (rows) => {
          for (const { count, settle } of group)
            settle.resolve(rows.splice(0, count).filter((row) => row !== undefined));
        },
        (error) => {
          for (const { settle } of group) settle.reject(error);
        },
      )
      .finally(() => {
        this.#running--;
        this.#nextSoon();
      });
  }

  #isAlike(one: Wanted, other: Wanted): boolean {
    const isSameTime = this.#server.isServerClock || one.by.at.getTime() === other.by.at.getTime();
    const fields = ["leaseMs", "epicId", "storyId"] as const;
    return isSameTime && one.count === other.count && fields.every((key) => one.request[key] === other.request[key]);
  }

  /** In the order of those who asked, with a gap for each that got nothing. */
  async #claim(group: readonly Wanted[]): Promise<(ClaimedTask | undefined)[]> {
    const [{ request, by, count }] = group as readonly [Wanted];
    const { leaseMs, epicId, storyId } = request;
    const at = this.#server.isServerClock ? null : by.at.getTime();
    const who = whoOf(group);
    const rows = await this.#server.statement(
      async (db, { token, isRepeat }) => {
        const epic = epicId === undefined ? null : await findSeq(db, "epic", epicId);
        const story = storyId === undefined ? null : (await findStory(db, storyId)).seq;
        const values = [token, this.#server.knownVersion, at, leaseMs, epic, story];
        const run = async () => {
          const found =
            group.length === 1 && count === 1
              ? await db.query(ONE, ...values, ...who.map(([value]) => value))
              : await db.query(SOME, ...values, count, ...who);
          return found.flatMap(({ claimed }) => (claimed === null ? [] : [readRecord(String(claimed))]));
        };
        return isRepeat ? repeat(db, token, run) : run();
      },
      async (db, token) =>
        (await db.query(AGAIN, token)).map(({ claimed, agent }) => ({ ...readRecord(String(claimed)), agent })),
    );
    const found = new Array<ClaimedTask | undefined>(group.length * count).fill(undefined);
    for (const row of rows) {
      // Of one whose answer was lost, somebody may have taken it over since.
      const asker = group[Math.floor((row.place - 1) / count)];
      if (row.agent === undefined || row.agent === asker?.by.name) found[row.place - 1] = row;
    }
    return found;
  }
}

/** A list for each column: all names, all sessions, and so on. */
function whoOf(group: readonly Wanted[]): (string | null)[][] {
  const names: (string | null)[][] = [[], [], [], [], [], []];
  for (const { by } of group) {
    const { name, sessionId, agentId = "", place = {} } = by;
    const values = [name, sessionId, agentId, place.client, place.worktree, place.branch];
    for (const [index, list] of names.entries()) list.push(escapeText(values[index] ?? null) as string | null);
  }
  return names;
}

/** The first attempt may still be under way: whichever stores the token first counts, also if this one finds nothing. */
function repeat(db: Connection, token: string, run: () => Promise<ClaimedTask[]>): Promise<ClaimedTask[]> {
  const store = `INSERT INTO operations (token) VALUES ('${token}')`;
  return inTransaction(db, `BEGIN; ${store}; DELETE FROM operations WHERE token = '${token}'`, async () => {
    const rows = await run();
    if (rows.length === 0) await db.exec(store);
    return rows;
  });
}

// See migrations/008-claim-functions.ts.
const ONE = "SELECT claim_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS claimed";
const SOME = "SELECT claim_some($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS claimed";

/** What a claim took whose answer was lost: the same columns. All are read again in the general way. */
const AGAIN = `SELECT c.agent, ROW(array_position(o.tasks, t.seq), true, c.claimed_at, c.lease_until, NULL, NULL, NULL, ${TASK})::text AS claimed
  FROM operations o JOIN tasks t ON t.seq = ANY (o.tasks) JOIN claims c ON c.task = t.seq WHERE o.token = $1`;

interface ClaimedTask {
  row: TaskRow;
  place: number;
  /** Something else belongs to it, such as WIP, parts or dependencies. */
  isSpecial: boolean;
  at: string;
  leaseUntil: number;
  /** As JSON. */
  files: string | null;
  /** Only if it was read again. */
  agent?: unknown;
}

const NUMBERS = new Set(["seq", "parent", "priority", "estimate_hours"]);

/**
 * A row as the server writes it: `(1,T4829,"a ""quoted"" text",,2)`. A result with a column for each field would take this process 9 µs more for each
 * claim, because every answer describes its columns.
 */
function readRecord(record: string): ClaimedTask {
  const fields: (string | null)[] = [];
  for (let at = 1; at < record.length; at++) {
    if (record[at] === '"') {
      const start = at + 1;
      // Quotes and backslashes inside are doubled.
      for (at = record.indexOf('"', start); record[at + 1] === '"'; at = record.indexOf('"', at + 2));
      fields.push(record.slice(start, at++).replace(/(["\\])\1/g, "$1"));
    } else {
      const comma = record.indexOf(",", at);
      const end = comma < 0 ? record.length - 1 : comma;
      fields.push(end > at ? record.slice(at, end) : null);
      at = end;
    }
  }
  const [place, isSpecial, at, leaseUntil, storyId, epicId, files = null, ...rest] = fields;
  const row: Record<string, unknown> = { story_id: storyId, epic_id: epicId };
  for (const [index, name] of TASK_COLUMNS.entries()) {
    const text = rest[index] ?? null;
    row[name] = text !== null && NUMBERS.has(name) ? Number(text) : text;
  }
  return {
    row: row as unknown as TaskRow,
    place: Number(place),
    isSpecial: isSpecial === "t",
    at: String(at),
    leaseUntil: Number(leaseUntil),
    files,
  };
}

async function toClaimed(
  server: Server,
  { row, isSpecial, at, leaseUntil, files }: ClaimedTask,
  by: Actor,
): Promise<Claimed> {
  const claim: Claim = {
    taskId: row.id,
    agent: by.name,
    claimedAt: new Date(at),
    heartbeatAt: new Date(at),
    leaseUntil: new Date(leaseUntil),
    ...(by.sessionId !== undefined && { sessionId: by.sessionId }),
    ...(by.agentId && { agentId: by.agentId }),
  };
  const none = { waitsFor: [], waitedForBy: [], relatesTo: [], parts: [], blockers: [], failureCount: 0 };
  const task: TaskDetails =
    isSpecial || row.parent !== null
      ? await server.read((db) => getTask(db, row.id))
      : { ...toTask(row, filesIn(files)), claim, ...none };
  return { kind: "claimed", claim, task, ...(row.note !== null && { note: row.note }) };
}

/** JSON has its own way to write the marks of a NUL character. */
function filesIn(json: string | null): string[] {
  return json === null ? [] : (JSON.parse(json) as string[]).map(restoreText);
}
