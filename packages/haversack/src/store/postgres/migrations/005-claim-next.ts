/**
 * Takes the next ready tasks in one call, while others take theirs: rows that somebody is taking are skipped. It does what the general
 * claim does to a task that nobody has held before, in a story that is in progress or in none. In every other case it changes nothing and
 * gives no row, and the caller goes the general way, alone.
 *
 * Most of its time is the set-up of its statements, so it has few and plain ones. Claims and last holders have no foreign key: the check
 * would take a sixth of a claim, and tasks are never deleted.
 */
import type { Migration } from "../migrations.ts";

const WEEK_MS = 7 * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/** A task as JSON. more: something else belongs to it, such as WIP, parts or dependencies. */
const SHOWN = `t.*, (SELECT s.id FROM stories s WHERE s.seq = t.story) AS story_id, (SELECT e.id FROM epics e WHERE e.seq = t.epic) AS epic_id,
      (SELECT p.id FROM tasks p WHERE p.seq = t.parent) AS parent_id,
      (SELECT json_agg(f.path ORDER BY f.path) FROM task_files f WHERE f.task = t.seq) AS files,
      EXISTS (SELECT 1 FROM dependencies d WHERE d.task = t.seq) OR EXISTS (SELECT 1 FROM dependencies d WHERE d.depends_on = t.seq)
        OR EXISTS (SELECT 1 FROM task_wip w WHERE w.task = t.seq) OR EXISTS (SELECT 1 FROM tasks o WHERE o.parent = t.seq)
        OR EXISTS (SELECT 1 FROM failures f WHERE f.task = t.seq) OR EXISTS (SELECT 1 FROM aliases a WHERE a.id = t.id)
        OR EXISTS (SELECT 1 FROM aliases a WHERE a.alias = t.id) AS more`;

/** The same statement for each scope, because each has an index of its own. */
const pick = (where: string) => `SELECT array_agg(p.task), bool_or(
        EXISTS (SELECT 1 FROM last_holders h WHERE h.task = p.task)
        OR EXISTS (SELECT 1 FROM lost_claims l WHERE l.task = p.task)
        OR EXISTS (SELECT 1 FROM blockers b WHERE b.task = p.task AND b.resolved_at IS NULL)
        OR EXISTS (SELECT 1 FROM stories s WHERE s.seq = p.story AND s.status <> 'in_progress')
      ) INTO picked, is_unusual FROM (
        SELECT q.task, q.story FROM queue q WHERE q.is_ready = 1${where} ORDER BY q.order_key DESC, q.task LIMIT how_many FOR UPDATE SKIP LOCKED
      ) p;`;

export const claimNext: Migration = {
  version: 5,
  // Others are kept out by a lock that older programs do not take.
  kind: "breaking",
  sql: `
DROP FUNCTION IF EXISTS claim_next(uuid, int, bigint, text, text, text, text, text, text, bigint, bigint, bigint, bigint, int, boolean);
DROP FUNCTION IF EXISTS claimed_tasks(bigint[]);
ALTER TABLE claims DROP CONSTRAINT IF EXISTS claims_task_fkey;
ALTER TABLE last_holders DROP CONSTRAINT IF EXISTS last_holders_task_fkey;

-- Locked by every change, see LOCK in server.ts. A table and not an advisory lock, which members of other projects could take.
CREATE TABLE change_lock ();

CREATE FUNCTION claim_next(
  operation uuid, known_version bigint, by_agent text, by_session text, by_agent_id text, by_client text, by_worktree text, by_branch text,
  -- NULL: the server's time.
  at_ms bigint, lease_ms bigint, of_epic bigint, of_story bigint, how_many int,
  -- An attempt with this token was made before, and may still be under way: whichever stores the token first counts.
  is_repeat boolean
) RETURNS SETOF text LANGUAGE plpgsql
-- Planned once, and by index: planning and compiling take longer than the claim, and a plan for empty tables would read them whole later.
-- Its operation tells readers of the log what it has changed, see 004-changes.ts.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off SET haversack.is_claiming = 'on' AS $$
#variable_conflict use_column
DECLARE
  picked bigint[];
  is_unusual boolean;
  now_ms bigint;
  now_text text;
BEGIN
  -- Others may take tasks at the same time, but nobody changes anything else meanwhile.
  LOCK TABLE change_lock IN ROW SHARE MODE;
  IF is_repeat THEN
    INSERT INTO operations (token) VALUES (operation);
  END IF;
  now_ms := coalesce(at_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  now_text := to_char(to_timestamp(now_ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  -- Newer tables, a clock that the store has not accepted yet, or an expired claim.
  IF (SELECT count(*) FILTER (WHERE CASE m.key
        WHEN 'min_reader' THEN m.value::bigint <= known_version
        WHEN 'clock' THEN m.value::bigint BETWEEN now_ms - ${HOUR_MS} AND now_ms + ${WEEK_MS} END) < 2
      OR count(*) FILTER (WHERE m.key = 'clock-doubt') > 0 FROM meta m)
    OR EXISTS (SELECT 1 FROM claims c WHERE c.lease_until <= now_ms) THEN
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
  UPDATE queue q SET is_todo = 0, is_ready = 0 WHERE q.task = ANY (picked);
  INSERT INTO claims (task, agent, session_id, agent_id, claimed_at, heartbeat_at, lease_until)
    SELECT p, by_agent, by_session, by_agent_id, now_text, now_text, now_ms + lease_ms FROM unnest(picked) p;
  INSERT INTO last_holders (task, agent, session_id, agent_id, client, worktree, branch, claimed_at, last_seen_at)
    SELECT p, by_agent, by_session, by_agent_id, by_client, by_worktree, by_branch, now_text, now_text FROM unnest(picked) p;
  RETURN QUERY WITH
    taken AS (
      UPDATE tasks t SET status = 'in_progress', started_at = coalesce(t.started_at, now_text), updated_at = now_text
        WHERE t.seq = ANY (picked) RETURNING t.*
    ),
    told AS (
      INSERT INTO activity (at, actor, kind, subject, text)
        SELECT now_text, by_agent, 'task-claimed', t.id, 'claimed by ' || by_agent FROM taken t ORDER BY array_position(picked, t.seq)
        RETURNING activity.id
    ),
    logged AS (
      INSERT INTO operations (token, tasks, activity) SELECT operation, picked, array_agg(told.id) FROM told
        ON CONFLICT (token) DO UPDATE SET tasks = excluded.tasks, activity = excluded.activity
    )
    SELECT row_to_json(x)::text FROM (
      SELECT ${SHOWN}, now_text AS claimed_at, now_ms + lease_ms AS lease_until FROM taken t ORDER BY array_position(picked, t.seq)
    ) x;
END $$;

-- What a claim took whose answer was lost, in the same order.
CREATE FUNCTION claimed_tasks(picked bigint[], by_agent text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT row_to_json(x)::text FROM (
    SELECT ${SHOWN}, c.claimed_at, c.lease_until FROM tasks t JOIN claims c ON c.task = t.seq AND c.agent = by_agent
      WHERE t.seq = ANY (picked) ORDER BY array_position(picked, t.seq)
  ) x
$$;
`,
};
