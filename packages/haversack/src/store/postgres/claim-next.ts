/**
 * Takes the next ready tasks while others take theirs: rows that somebody is taking are skipped. One statement does what the general claim does
 * to a task that nobody has held before, in a story that is in progress or in none. It leaves every other case to the general way.
 *
 * Most of its time is the set-up of its sub-plans and the commit, whatever the number of tasks. So claims of one process that wait at the same
 * time share a statement.
 */
import { checkCount } from "../../work/clean-input.ts";
import type { Claim, TaskDetails } from "../../work/task.ts";
import type { Actor, ClaimOutcome, ClaimRequest } from "../work-store.ts";
import type { Connection } from "./connection.ts";
import { restoreText } from "./dialect.ts";
import { inTransaction, type Server } from "./server.ts";
import { findSeq, findStory } from "./work/ids.ts";
import { type ClaimRow, type TaskRow, toTask } from "./work/rows.ts";
import { getTask } from "./work/tasks.ts";

type Claimed = Extract<ClaimOutcome, { kind: "claimed" }>;

interface Wanted {
  request: ClaimRequest;
  by: Actor;
  count: number;
  settle: { resolve(rows: ClaimedRow[]): void; reject(reason: unknown): void };
}

/** While the server works at one statement, the process prepares the other. */
const STATEMENTS_AT_ONCE = 2;

/** Each number of tasks is a statement of its own: with a parameter for it, the server would plan each anew. */
const MOST_SHARED = 100;

export class NextClaims {
  readonly #server: Server;
  #waiting: Wanted[] = [];
  #running = 0;

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
    const rows = await new Promise<ClaimedRow[]>((resolve, reject) => {
      this.#waiting.push({ request, by, count, settle: { resolve, reject } });
      this.#nextSoon();
    });
    const claimed: Claimed[] = [];
    for (const row of rows) claimed.push(await toClaimed(this.#server, row, by));
    return claimed;
  }

  /** After all that can run now: of those that one statement answered, many may ask again at once. */
  #nextSoon(): void {
    setImmediate(() => this.#next());
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
  async #claim(group: readonly Wanted[]): Promise<(ClaimedRow | undefined)[]> {
    const [{ request, by }] = group as readonly [Wanted];
    const { leaseMs, epicId, storyId } = request;
    const who = group.flatMap(({ by: { name, sessionId, agentId = "", place: { client, worktree, branch } = {} } }) =>
      [name, sessionId, agentId, client, worktree, branch].map((value) => value ?? null),
    );
    const actors = group.flatMap((wanted) => Array.from({ length: wanted.count }, () => wanted.by));
    const at = this.#server.isServerClock ? null : by.at.getTime();
    const scope = epicId !== undefined ? "epic" : storyId !== undefined ? "story" : undefined;
    const sql = claimSql(
      group.map(({ count }) => count),
      scope,
    );
    const rows = await this.#server.statement(
      async (db, { token, isRepeat }) => {
        const scoped: number[] = [];
        if (epicId !== undefined) scoped.push(await findSeq(db, "epic", epicId));
        if (storyId !== undefined) scoped.push((await findStory(db, storyId)).seq);
        const run = () => db.query(sql, token, this.#server.knownVersion, at, leaseMs, ...who, ...scoped);
        return isRepeat ? repeat(db, token, run) : run();
      },
      (db, token) => db.query(AGAIN, token),
    );
    const found: (ClaimedRow | undefined)[] = actors.map(() => undefined);
    for (const row of rows as unknown as ClaimedRow[]) {
      // Of one whose answer was lost, somebody may have taken it over since.
      if (row.agent === actors[row.place - 1]?.name) found[row.place - 1] = row;
    }
    return found;
  }
}

/** The first attempt may still be under way: whichever stores the token first counts, also if this one finds nothing. */
function repeat(
  db: Connection,
  token: string,
  run: () => ReturnType<Connection["query"]>,
): ReturnType<Connection["query"]> {
  const store = `INSERT INTO operations (token) VALUES ('${token}')`;
  return inTransaction(db, `BEGIN; ${store}; DELETE FROM operations WHERE token = '${token}'`, async () => {
    const rows = await run();
    if (rows.length === 0) await db.exec(store);
    return rows;
  });
}

const WEEK_MS = 7 * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

const statements = new Map<string, string>();

/** Each scope has an index of its own. */
function claimSql(counts: readonly number[], scope: "epic" | "story" | undefined): string {
  const key = `${scope ?? ""}${counts}`;
  const known = statements.get(key);
  if (known !== undefined) return known;
  let count = 0;
  const who = counts.map((wanted, index) => {
    const values = Array.from({ length: 6 }, (_, at) => `$${5 + index * 6 + at}::text`);
    return `(${count + 1}, ${(count += wanted)}, ${values.join(", ")})`;
  });
  const sql = `WITH gate AS MATERIALIZED (
    SELECT now_ms, to_char(to_timestamp(now_ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now_text
    -- NULL: the server's time.
    FROM (SELECT coalesce($3::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now_ms) AS clock
    -- Others may take tasks at the same time, but nobody changes anything else meanwhile. The server locks the tables of a statement before it
    -- decides which rows the statement sees.
    WHERE NOT EXISTS (SELECT 1 FROM change_lock FOR SHARE)
      -- Its operation tells readers of the log what it has changed, see migrations/004-changes.ts.
      AND set_config('haversack.is_claiming', 'on', true) = 'on'
      -- Not with newer tables, a clock that the store has not accepted yet, or an expired claim.
      AND (SELECT sum(CASE m.key WHEN 'min_reader' THEN (m.value::bigint <= $2)::int
          WHEN 'clock' THEN (m.value::bigint BETWEEN now_ms - ${HOUR_MS} AND now_ms + ${WEEK_MS})::int WHEN 'clock-doubt' THEN -1 END) FROM meta m) = 2
      AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.lease_until <= now_ms)
  ), picked AS MATERIALIZED (
    SELECT gate.*, p.task, ${count === 1 ? "1" : "row_number() OVER (ORDER BY p.order_key DESC, p.task)"} AS place, o.task IS NOT NULL AS is_special,
      s.id AS story_id, (h.task IS NOT NULL OR o.is_unusual OR s.status <> 'in_progress') IS TRUE AS is_unusual
    FROM gate CROSS JOIN LATERAL (
      SELECT q.task, q.story, q.order_key FROM queue q WHERE q.is_ready = 1${scope ? ` AND q.${scope} = $${5 + counts.length * 6}` : ""}
        ORDER BY q.order_key DESC, q.task LIMIT ${count} FOR UPDATE SKIP LOCKED
    ) p LEFT JOIN last_holders h ON h.task = p.task LEFT JOIN special_tasks o ON o.task = p.task LEFT JOIN stories s ON s.seq = p.story
  ), chosen AS MATERIALIZED (
    SELECT p.*, w.* FROM picked p JOIN (VALUES ${who.join(", ")}) AS w (first, last, agent, session_id, agent_id, client, worktree, branch)
      ON p.place BETWEEN w.first AND w.last
    WHERE NOT p.is_unusual
  ), queued AS (
    UPDATE queue q SET is_todo = 0, is_ready = 0 FROM chosen c WHERE q.task = c.task
  ), claim AS (
    INSERT INTO claims (task, agent, session_id, agent_id, claimed_at, heartbeat_at, lease_until)
      SELECT task, agent, session_id, agent_id, now_text, now_text, now_ms + $4 FROM chosen
  ), holder AS (
    INSERT INTO last_holders (task, agent, session_id, agent_id, client, worktree, branch, claimed_at, last_seen_at)
      SELECT task, agent, session_id, agent_id, client, worktree, branch, now_text, now_text FROM chosen
  ), logged AS (
    INSERT INTO operations (token, tasks)
      SELECT $1, array_agg(CASE WHEN NOT is_unusual THEN task END ORDER BY place) FROM picked HAVING count(*) FILTER (WHERE NOT is_unusual) > 0
  ), taken AS (
    UPDATE tasks t SET status = 'in_progress', started_at = coalesce(t.started_at, c.now_text), updated_at = c.now_text
      FROM chosen c WHERE t.seq = c.task RETURNING t.*, c.place, c.agent, c.is_special, c.story_id, c.now_text AS claimed_at, c.now_ms + $4 AS lease_until
  ), told AS (
    INSERT INTO activity (at, actor, kind, subject, text)
      SELECT claimed_at, agent, 'task-claimed', id, 'claimed by ' || agent FROM taken${count === 1 ? "" : " ORDER BY place"}
  )
  SELECT taken.*, (SELECT e.id FROM epics e WHERE e.seq = taken.epic) AS epic_id,
    (SELECT json_agg(f.path ORDER BY f.path)::text FROM task_files f WHERE f.task = taken.seq) AS files FROM taken`;
  statements.set(key, sql);
  return sql;
}

/** What a claim took whose answer was lost. */
const AGAIN = `SELECT t.*, array_position(o.tasks, t.seq) AS place, true AS is_special, c.agent, c.claimed_at, c.lease_until
  FROM operations o JOIN tasks t ON t.seq = ANY (o.tasks) JOIN claims c ON c.task = t.seq WHERE o.token = $1`;

/** is_special: something else belongs to it, such as WIP, parts or dependencies. */
type ClaimedRow = TaskRow &
  Pick<ClaimRow, "agent" | "claimed_at" | "lease_until"> & {
    place: number;
    files: string | null;
    is_special: "t" | "f";
  };

async function toClaimed(
  server: Server,
  { place: _, agent: __, files, is_special, claimed_at, lease_until, ...row }: ClaimedRow,
  by: Actor,
): Promise<Claimed> {
  const claim: Claim = {
    taskId: row.id,
    agent: by.name,
    claimedAt: new Date(claimed_at),
    heartbeatAt: new Date(claimed_at),
    leaseUntil: new Date(lease_until),
    ...(by.sessionId !== undefined && { sessionId: by.sessionId }),
    ...(by.agentId && { agentId: by.agentId }),
  };
  const none = { waitsFor: [], waitedForBy: [], relatesTo: [], parts: [], blockers: [], failureCount: 0 };
  const task: TaskDetails =
    is_special === "t" || row.parent !== null
      ? await server.read((db) => getTask(db, row.id))
      : { ...toTask(row, filesIn(files)), claim, ...none };
  return { kind: "claimed", claim, task, ...(row.note !== null && { note: row.note }) };
}

/** JSON has its own way to write the marks of a NUL character. */
function filesIn(json: string | null): string[] {
  return json === null ? [] : (JSON.parse(json) as string[]).map(restoreText);
}
