/** Takes the next ready tasks without waiting for other changes. See migrations/006-claim-next.ts. */
import { checkCount } from "../../work/clean-input.ts";
import type { Claim, TaskDetails } from "../../work/task.ts";
import type { Actor, ClaimOutcome, ClaimRequest } from "../work-store.ts";
import type { Connection } from "./connection.ts";
import { escapeText, restoreText } from "./dialect.ts";
import type { Server } from "./server.ts";
import { findSeq, findStory } from "./work/ids.ts";
import { type ClaimRow, type TaskRow, toTask } from "./work/rows.ts";
import { getTask } from "./work/tasks.ts";

type Claimed = Extract<ClaimOutcome, { kind: "claimed" }>;

/** Empty: nothing is ready, or the tasks must be taken the general way. */
export async function claimNext(server: Server, request: ClaimRequest, by: Actor, count = 1): Promise<Claimed[]> {
  const { taskId, epicId, storyId, stealReason, isForced, maxClaims, leaseMs } = request;
  if (taskId !== undefined || stealReason !== undefined || isForced || maxClaims) return [];
  // Both: the general way checks that they belong together.
  if (epicId !== undefined && storyId !== undefined) return [];
  checkCount("lease_ms", leaseMs);
  const { client, worktree, branch } = by.place ?? {};
  const who = [by.name, by.sessionId, by.agentId ?? "", client, worktree, branch];
  const at = server.isServerClock ? null : by.at.getTime();
  const rows = await server.statement(
    async (db, { token, isRepeat }) => {
      const epic = epicId === undefined ? null : await findSeq(db, "epic", epicId);
      const story = storyId === undefined ? null : (await findStory(db, storyId)).seq;
      return read(
        await db.query(
          CLAIM,
          token,
          server.knownVersion,
          ...who.map(orNull),
          at,
          leaseMs,
          epic,
          story,
          count,
          isRepeat,
        ),
      );
    },
    async (db, token) => read(await db.query(AGAIN, token, by.name)),
  );
  const claimed: Claimed[] = [];
  for (const row of rows) claimed.push(await toClaimed(server, row, by));
  return claimed;
}

const CLAIM = "SELECT * FROM claim_next($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

/** What a claim took whose answer was lost. */
const AGAIN = `SELECT t.*, array_position(o.tasks, t.seq) AS place, true AS is_special, c.claimed_at, c.lease_until
  FROM operations o JOIN tasks t ON t.seq = ANY (o.tasks) JOIN claims c ON c.task = t.seq AND c.agent = $2 WHERE o.token = $1`;

function orNull(value: string | undefined): string | null {
  return value === undefined ? null : (escapeText(value) as string);
}

/** is_special: something else belongs to it, such as WIP, parts or dependencies. */
type ClaimedRow = TaskRow &
  Pick<ClaimRow, "claimed_at" | "lease_until"> & { place: number; files: string | null; is_special: "t" | "f" };

function read(rows: Awaited<ReturnType<Connection["query"]>>): ClaimedRow[] {
  return (rows as unknown as ClaimedRow[]).sort((one, other) => one.place - other.place);
}

async function toClaimed(
  server: Server,
  { place: _, files, is_special, claimed_at, lease_until, ...row }: ClaimedRow,
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
