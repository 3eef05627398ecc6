/**
 * Takes the next ready tasks in one call, while others take theirs: rows that somebody is taking are skipped. It does what the general
 * claim does to a task that nobody has held before, in a story that is in progress or in none. In every other case it changes nothing and
 * gives no row, and the caller goes the general way, alone.
 *
 * Most of its time is the set-up of its statements and their sub-plans, so it has few of both. The mark in `special_tasks` saves it a look into seven
 * tables. Claims and last holders have no foreign key: the check would take a sixth of a claim, and tasks are never deleted.
 */
import type { Migration } from "../migrations.ts";

const WEEK_MS = 7 * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/** A task with rows in these tables is special: after it was taken, it is read again in the general way. */
const SPECIAL: Readonly<Record<string, string>> = {
  dependencies: "SELECT task FROM changed UNION SELECT depends_on FROM changed",
  task_wip: "SELECT task FROM changed",
  failures: "SELECT DISTINCT task FROM changed",
  blockers: "SELECT DISTINCT task FROM changed",
  lost_claims: "SELECT DISTINCT task FROM changed",
  aliases: "SELECT DISTINCT t.seq FROM changed c JOIN tasks t ON t.id IN (c.id, c.alias)",
  tasks:
    "SELECT parent FROM changed WHERE parent IS NOT NULL UNION SELECT c.seq FROM changed c JOIN aliases a ON c.id IN (a.id, a.alias)",
};

/** A task with rows in these tables is unusual: it is taken in the general way. */
const UNUSUAL = new Set(["blockers", "lost_claims"]);

const mark = (
  rows: string,
  table: string,
) => `INSERT INTO special_tasks SELECT s.*, ${UNUSUAL.has(table)} FROM (${rows}) s
  ON CONFLICT (task) DO UPDATE SET is_unusual = true WHERE excluded.is_unusual AND NOT special_tasks.is_unusual`;

/** The mark stays when the rows are removed: it costs only some time. */
const marks = Object.entries(SPECIAL).map(
  ([table, rows]) => `CREATE FUNCTION mark_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  ${mark(rows, table)};
  RETURN NULL;
END $$;
CREATE TRIGGER mark_special AFTER INSERT ON ${table} REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mark_${table}();
${mark(rows.replaceAll("changed", table), table)};`,
);

/** The same statement for each scope, because each has an index of its own. */
const pick = (where: string) => `SELECT array_agg(p.task), bool_or(
        EXISTS (SELECT 1 FROM last_holders h WHERE h.task = p.task)
        OR EXISTS (SELECT 1 FROM special_tasks o WHERE o.task = p.task AND o.is_unusual)
        OR EXISTS (SELECT 1 FROM stories s WHERE s.seq = p.story AND s.status <> 'in_progress')
      ) INTO picked, is_unusual FROM (
        SELECT q.task, q.story FROM queue q WHERE q.is_ready = 1${where} ORDER BY q.order_key DESC, q.task LIMIT how_many FOR UPDATE SKIP LOCKED
      ) p;`;

export const claimNext: Migration = {
  version: 6,
  // Others are kept out by a lock that older programs do not take.
  kind: "breaking",
  sql: `
-- Of earlier builds.
DROP FUNCTION IF EXISTS claim_next(uuid, int, bigint, text, text, text, text, text, text, bigint, bigint, bigint, bigint, int, boolean);
DROP FUNCTION IF EXISTS claim_next(uuid, bigint, text, text, text, text, text, text, bigint, bigint, bigint, bigint, int, boolean);
DROP FUNCTION IF EXISTS claimed_tasks(bigint[]);
DROP FUNCTION IF EXISTS claimed_tasks(bigint[], text);
ALTER TABLE claims DROP CONSTRAINT IF EXISTS claims_task_fkey;
ALTER TABLE last_holders DROP CONSTRAINT IF EXISTS last_holders_task_fkey;
ALTER TABLE operations DROP COLUMN activity;

-- Locked by every change, see LOCK in server.ts. A table and not an advisory lock, which members of other projects could take.
CREATE TABLE IF NOT EXISTS change_lock ();

CREATE TABLE special_tasks (task bigint PRIMARY KEY, is_unusual boolean NOT NULL);
${marks.join("\n")}
CREATE FUNCTION mark_parent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  ${mark("SELECT NEW.parent", "tasks")};
  RETURN NULL;
END $$;
CREATE TRIGGER mark_parent AFTER UPDATE OF parent ON tasks FOR EACH ROW WHEN (NEW.parent IS NOT NULL) EXECUTE FUNCTION mark_parent();

CREATE FUNCTION claim_next(
  operation uuid, known_version bigint, by_agent text, by_session text, by_agent_id text, by_client text, by_worktree text, by_branch text,
  -- NULL: the server's time.
  at_ms bigint, lease_ms bigint, of_epic bigint, of_story bigint, how_many int,
  -- An attempt with this token was made before, and may still be under way: whichever stores the token first counts.
  is_repeat boolean
) RETURNS TABLE (
  seq bigint, id text, story bigint, epic bigint, parent bigint, title text, type text, status text, priority bigint, description text,
  acceptance_criteria text, steps text, estimate_hours double precision, skill text, plan_file text, plan_section text, context_summary text,
  handoff_notes text, assignee text, source text, note text, created_at text, updated_at text, started_at text, completed_at text,
  -- place: the order in which they were taken.
  place int, story_id text, epic_id text, files text, is_special boolean, claimed_at text, lease_until bigint
) LANGUAGE plpgsql
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
  -- The first attempt has not stored it, so this one holds it until its end.
  IF is_repeat THEN
    DELETE FROM operations WHERE token = operation;
  END IF;
  RETURN QUERY WITH
    queued AS (
      UPDATE queue q SET is_todo = 0, is_ready = 0 WHERE q.task = ANY (picked)
    ),
    claim AS (
      INSERT INTO claims (task, agent, session_id, agent_id, claimed_at, heartbeat_at, lease_until)
        SELECT p, by_agent, by_session, by_agent_id, now_text, now_text, now_ms + lease_ms FROM unnest(picked) p
    ),
    holder AS (
      INSERT INTO last_holders (task, agent, session_id, agent_id, client, worktree, branch, claimed_at, last_seen_at)
        SELECT p, by_agent, by_session, by_agent_id, by_client, by_worktree, by_branch, now_text, now_text FROM unnest(picked) p
    ),
    logged AS (
      INSERT INTO operations (token, tasks) VALUES (operation, picked)
    ),
    taken AS (
      UPDATE tasks t SET status = 'in_progress', started_at = coalesce(t.started_at, now_text), updated_at = now_text
        WHERE t.seq = ANY (picked) RETURNING t.*
    ),
    told AS (
      INSERT INTO activity (at, actor, kind, subject, text)
        SELECT now_text, by_agent, 'task-claimed', t.id, 'claimed by ' || by_agent FROM taken t ORDER BY array_position(picked, t.seq)
    )
    SELECT t.*, array_position(picked, t.seq),
      (SELECT s.id FROM stories s WHERE s.seq = t.story), (SELECT e.id FROM epics e WHERE e.seq = t.epic),
      (SELECT json_agg(f.path ORDER BY f.path)::text FROM task_files f WHERE f.task = t.seq),
      EXISTS (SELECT 1 FROM special_tasks o WHERE o.task = t.seq), now_text, now_ms + lease_ms FROM taken t;
END $$;
`,
};
