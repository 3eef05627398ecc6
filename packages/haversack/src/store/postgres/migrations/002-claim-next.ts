/**
 * Takes the next ready tasks in one statement, while others take theirs: rows that somebody is taking are skipped. It does what the
 * general claim does to a task that nobody has held before, in a story that is in progress or in none. In every other case it changes
 * nothing and gives no row, and the caller goes the general way, alone.
 */
import type { Migration } from "../migrations.ts";

const WEEK_MS = 7 * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/** A claimed task as JSON. more: something else belongs to it, such as WIP, parts or dependencies. */
const SHOWN = `t.*, s.id AS story_id, e.id AS epic_id, p.id AS parent_id, row_to_json(c) AS claim,
      (SELECT json_agg(f.path ORDER BY f.path) FROM task_files f WHERE f.task = t.seq) AS files,
      EXISTS (SELECT 1 FROM dependencies d WHERE d.task = t.seq) OR EXISTS (SELECT 1 FROM dependencies d WHERE d.depends_on = t.seq)
        OR EXISTS (SELECT 1 FROM task_wip w WHERE w.task = t.seq) OR EXISTS (SELECT 1 FROM tasks o WHERE o.parent = t.seq)
        OR EXISTS (SELECT 1 FROM failures f WHERE f.task = t.seq) OR EXISTS (SELECT 1 FROM aliases a WHERE a.id = t.id)
        OR EXISTS (SELECT 1 FROM aliases a WHERE a.alias = t.id) AS more`;
const AROUND =
  "LEFT JOIN stories s ON s.seq = t.story LEFT JOIN epics e ON e.seq = t.epic LEFT JOIN tasks p ON p.seq = t.parent";

/** The same statement for each scope, because each has an index of its own. */
const pick = (where: string) => `SELECT array_agg(p.task), bool_or(
        EXISTS (SELECT 1 FROM last_holders h WHERE h.task = p.task)
        OR EXISTS (SELECT 1 FROM lost_claims l WHERE l.task = p.task)
        OR EXISTS (SELECT 1 FROM blockers b WHERE b.task = p.task AND b.resolved_at IS NULL)
        OR EXISTS (SELECT 1 FROM stories s WHERE s.seq = p.story AND s.status <> 'in_progress')
      ) INTO picked, is_unusual FROM (
        SELECT q.task, q.story FROM queue q WHERE q.is_ready = 1${where} ORDER BY q.order_key DESC, q.task LIMIT how_many FOR UPDATE SKIP LOCKED
      ) p;`;

const OPERATION = `operation AS (
      INSERT INTO operations (token, tasks) SELECT operation, picked WHERE NOT is_repeat
    ),
    repeated AS (UPDATE operations o SET tasks = picked WHERE is_repeat AND o.token = operation)`;

const LOGGED = `operation AS (
      INSERT INTO operations (token, tasks, activity) SELECT operation, picked, (SELECT array_agg(told.id) FROM told) WHERE NOT is_repeat
    ),
    repeated AS (
      UPDATE operations o SET tasks = picked, activity = (SELECT array_agg(told.id) FROM told) WHERE is_repeat AND o.token = operation
    )`;

/** `isLogged`: its operation tells readers of the log what it has changed, see 004-changes.ts. */
export const claimFunction = ({ isLogged = false } = {}) => `CREATE OR REPLACE FUNCTION claim_next(
  operation uuid, lock_kind int, known_version bigint, by_agent text, by_session text, by_agent_id text, by_client text, by_worktree text, by_branch text,
  -- NULL: the server's time.
  at_ms bigint, lease_ms bigint, of_epic bigint, of_story bigint, how_many int,
  -- An attempt with this token was made before, and may still be under way: whichever stores the token first counts.
  is_repeat boolean
) RETURNS SETOF text LANGUAGE plpgsql
-- Planned once, and by index: planning and compiling take longer than the claim, and a plan for empty tables would read them whole later.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off${isLogged ? " SET haversack.is_claiming = 'on'" : ""} AS $$
#variable_conflict use_column
DECLARE
  picked bigint[];
  is_unusual boolean;
  now_ms bigint;
  now_text text;
BEGIN
  -- Others may take tasks at the same time, but nobody changes anything else meanwhile.
  PERFORM pg_advisory_xact_lock_shared(hashtext(current_schema()), lock_kind);
  IF is_repeat THEN
    INSERT INTO operations (token) VALUES (operation);
  END IF;
  now_ms := coalesce(at_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  now_text := to_char(to_timestamp(now_ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  -- Newer tables, an expired claim, or a clock that the store has not accepted yet.
  IF EXISTS (SELECT 1 FROM meta m WHERE m.key = 'min_reader' AND m.value::bigint > known_version)
    OR EXISTS (SELECT 1 FROM claims c WHERE c.lease_until <= now_ms)
    OR NOT EXISTS (SELECT 1 FROM meta m WHERE m.key = 'clock' AND m.value::bigint BETWEEN now_ms - ${HOUR_MS} AND now_ms + ${WEEK_MS})
    OR EXISTS (SELECT 1 FROM meta m WHERE m.key = 'clock-doubt') THEN
    RETURN;
  END IF;
  IF of_story IS NOT NULL THEN
    ${pick(" AND q.story = of_story")}
  ELSIF of_epic IS NOT NULL THEN
    ${pick(" AND q.epic = of_epic")}
  ELSE
    ${pick("")}
  END IF;
  IF picked IS NULL OR is_unusual THEN
    RETURN;
  END IF;
  RETURN QUERY WITH
    ${isLogged ? "" : `${OPERATION},`}
    claim AS (
      INSERT INTO claims (task, agent, session_id, agent_id, claimed_at, heartbeat_at, lease_until)
        SELECT p, by_agent, by_session, by_agent_id, now_text, now_text, now_ms + lease_ms FROM unnest(picked) p RETURNING claims.*
    ),
    holder AS (
      INSERT INTO last_holders (task, agent, session_id, agent_id, client, worktree, branch, claimed_at, last_seen_at)
        SELECT p, by_agent, by_session, by_agent_id, by_client, by_worktree, by_branch, now_text, now_text FROM unnest(picked) p
    ),
    queued AS (UPDATE queue q SET is_todo = 0, is_ready = 0 WHERE q.task = ANY (picked)),
    taken AS (
      UPDATE tasks t SET status = 'in_progress', started_at = coalesce(t.started_at, now_text), updated_at = now_text
        WHERE t.seq = ANY (picked) RETURNING t.*
    ),
    told AS (
      INSERT INTO activity (at, actor, kind, subject, text)
        SELECT now_text, by_agent, 'task-claimed', t.id, 'claimed by ' || by_agent FROM taken t ORDER BY array_position(picked, t.seq)${isLogged ? " RETURNING activity.id" : ""}
    )${isLogged ? `,\n    ${LOGGED}` : ""}
    SELECT row_to_json(x)::text FROM (SELECT ${SHOWN} FROM taken t JOIN claim c ON c.task = t.seq ${AROUND} ORDER BY array_position(picked, t.seq)) x;
END $$;
`;

export const claimNext: Migration = {
  version: 2,
  kind: "additive",
  sql: `
${claimFunction()}
-- The tasks of a claim whose answer was lost, in the same order.
CREATE FUNCTION claimed_tasks(picked bigint[]) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT row_to_json(x)::text FROM (
    SELECT ${SHOWN} FROM tasks t JOIN claims c ON c.task = t.seq ${AROUND} WHERE t.seq = ANY (picked) ORDER BY array_position(picked, t.seq)
  ) x
$$;
`,
};
