/**
 * The functions that take the next tasks, for claim-next.ts. Each of their statements is short and its plan is kept. One statement that does
 * everything took the server 1.35 million instructions for a claim, these take 0.99 million.
 *
 * The condition of a trigger (`WHEN`) is parsed anew at each statement. So the triggers that a claim meets have none: their function decides.
 */
import type { Migration } from "../migrations.ts";

const WEEK_MS = 7 * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/** The columns of a task as the functions return them. A later version may add some at the end. */
export const TASK_COLUMNS =
  "seq id parent title type status priority description acceptance_criteria steps estimate_hours skill plan_file plan_section context_summary handoff_notes assignee source note created_at updated_at started_at completed_at".split(
    " ",
  );

export const TASK = TASK_COLUMNS.map((name) => `t.${name}`).join(", ");

/** From here on nobody changes anything else, and each statement sees what was changed before. */
const gate = (nothing: string) => `
  PERFORM 1 FROM change_lock FOR SHARE;
  -- NULL: the server's time.
  v_ms := coalesce(p_at, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  -- Not with newer tables, a clock that the store has not accepted yet, or an expired claim.
  IF (SELECT sum(CASE m.key WHEN 'min_reader' THEN (m.value::bigint <= p_known)::int
        WHEN 'clock' THEN (m.value::bigint BETWEEN v_ms - ${HOUR_MS} AND v_ms + ${WEEK_MS})::int WHEN 'clock-doubt' THEN -1 END) FROM meta m) <> 2
    OR EXISTS (SELECT 1 FROM claims c WHERE c.lease_until <= v_ms)
  THEN ${nothing}; END IF;
  v_at := to_char(to_timestamp(v_ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  -- Its operation tells readers of the log what it has changed, see 004-changes.ts.
  PERFORM set_config('haversack.is_claiming', 'on', true);`;

/** Each scope has an index of its own. */
const scoped = (statement: (scope: string) => string) => `IF p_story IS NOT NULL THEN
    ${statement(" AND q.story = p_story")};
  ELSIF p_epic IS NOT NULL THEN
    ${statement(" AND q.epic = p_epic")};
  ELSE
    ${statement("")};
  END IF;`;

const ONE = `CREATE FUNCTION claim_one(p_token uuid, p_known bigint, p_at bigint, p_lease_ms bigint, p_epic bigint, p_story bigint,
  p_agent text, p_session text, p_agent_id text, p_client text, p_worktree text, p_branch text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_ms bigint; v_at text; v_task bigint; v_epic bigint; v_story bigint; v_is_held boolean; v_is_unusual boolean; v_has_files boolean;
  v_story_id text; v_status text; v_epic_id text; v_files text; v_id text; v_claimed text;
BEGIN ${gate("RETURN NULL")}
  ${scoped((scope) => `SELECT q.task, q.epic, q.story INTO v_task, v_epic, v_story FROM queue q WHERE q.is_ready = 1${scope} ORDER BY q.order_key DESC, q.task LIMIT 1 FOR UPDATE SKIP LOCKED`)}
  IF v_task IS NULL THEN RETURN NULL; END IF;
  SELECT EXISTS (SELECT 1 FROM last_holders WHERE task = v_task), (SELECT is_unusual FROM special_tasks WHERE task = v_task),
    EXISTS (SELECT 1 FROM task_files WHERE task = v_task) INTO v_is_held, v_is_unusual, v_has_files;
  IF v_story IS NOT NULL THEN SELECT id, status INTO v_story_id, v_status FROM stories WHERE seq = v_story; END IF;
  IF v_is_held OR v_is_unusual OR v_status <> 'in_progress' THEN RETURN NULL; END IF;
  IF v_epic IS NOT NULL THEN SELECT id INTO v_epic_id FROM epics WHERE seq = v_epic; END IF;
  IF v_has_files THEN SELECT json_agg(path ORDER BY path) INTO v_files FROM task_files WHERE task = v_task; END IF;
  UPDATE queue SET is_todo = 0, is_ready = 0 WHERE task = v_task;
  INSERT INTO claims (task, agent, session_id, agent_id, claimed_at, heartbeat_at, lease_until)
    VALUES (v_task, p_agent, p_session, p_agent_id, v_at, v_at, v_ms + p_lease_ms);
  INSERT INTO last_holders (task, agent, session_id, agent_id, client, worktree, branch, claimed_at, last_seen_at)
    VALUES (v_task, p_agent, p_session, p_agent_id, p_client, p_worktree, p_branch, v_at, v_at);
  INSERT INTO operations (token, tasks) VALUES (p_token, ARRAY[v_task]);
  UPDATE tasks t SET status = 'in_progress', started_at = coalesce(t.started_at, v_at), updated_at = v_at WHERE t.seq = v_task
    RETURNING t.id, ROW(1, v_is_unusual IS NOT NULL, v_at, v_ms + p_lease_ms, v_story_id, v_epic_id, v_files, ${TASK})::text INTO v_id, v_claimed;
  INSERT INTO activity (at, actor, kind, subject, text) VALUES (v_at, p_agent, 'task-claimed', v_id, 'claimed by ' || p_agent);
  RETURN v_claimed;
END $$;`;

/** Which task, its place in the list, and who gets it. */
const TAKEN =
  "(SELECT task, place, (place - 1) / p_each + 1 AS who FROM unnest(v_tasks) WITH ORDINALITY AS u (task, place) WHERE task IS NOT NULL)";

/**
 * `p_each`: how many tasks each asker gets, in the order of the lists. `v_tasks` has a gap (NULL) for each task that is left to the general way.
 * What few tasks have is looked up for all of them together.
 */
const SOME = `CREATE FUNCTION claim_some(p_token uuid, p_known bigint, p_at bigint, p_lease_ms bigint, p_epic bigint, p_story bigint, p_each bigint,
  p_agent text[], p_session text[], p_agent_id text[], p_client text[], p_worktree text[], p_branch text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  v_ms bigint; v_at text; v_tasks bigint[]; v_stories bigint[]; v_has_story boolean; v_special bigint[]; v_unusual bigint[]; v_closed bigint[];
  v_has_files boolean;
BEGIN ${gate("RETURN")}
  -- A limit that the server does not know would make it plan the statement anew each time, but not one in a sub-select.
  ${scoped(
    (
      scope,
    ) => `SELECT array_agg(p.task), array_agg(p.story), count(p.story) > 0 INTO v_tasks, v_stories, v_has_story FROM (
      SELECT q.task, q.story FROM queue q WHERE q.is_ready = 1${scope} ORDER BY q.order_key DESC, q.task
        LIMIT (SELECT p_each * cardinality(p_agent)) FOR UPDATE SKIP LOCKED
    ) p`,
  )}
  IF v_tasks IS NULL THEN RETURN; END IF;
  SELECT ARRAY(SELECT task FROM special_tasks WHERE task = ANY (v_tasks)), ARRAY(SELECT task FROM last_holders WHERE task = ANY (v_tasks)),
    EXISTS (SELECT 1 FROM task_files WHERE task = ANY (v_tasks)) INTO v_special, v_unusual, v_has_files;
  IF v_special <> '{}' THEN
    v_unusual := v_unusual || ARRAY(SELECT task FROM special_tasks WHERE task = ANY (v_special) AND is_unusual);
  END IF;
  IF v_has_story THEN v_closed := ARRAY(SELECT seq FROM stories WHERE seq = ANY (v_stories) AND status <> 'in_progress'); END IF;
  IF v_unusual <> '{}' OR v_closed <> '{}' THEN
    v_tasks := ARRAY(SELECT CASE WHEN c.task <> ALL (v_unusual) AND (c.story = ANY (v_closed)) IS NOT TRUE THEN c.task END
      FROM unnest(v_tasks, v_stories) WITH ORDINALITY AS c (task, story, place) ORDER BY c.place);
    IF array_remove(v_tasks, NULL) = '{}' THEN RETURN; END IF;
  END IF;
  UPDATE queue SET is_todo = 0, is_ready = 0 WHERE task = ANY (v_tasks);
  INSERT INTO claims (task, agent, session_id, agent_id, claimed_at, heartbeat_at, lease_until)
    SELECT c.task, p_agent[c.who], p_session[c.who], p_agent_id[c.who], v_at, v_at, v_ms + p_lease_ms FROM ${TAKEN} AS c;
  INSERT INTO last_holders (task, agent, session_id, agent_id, client, worktree, branch, claimed_at, last_seen_at)
    SELECT c.task, p_agent[c.who], p_session[c.who], p_agent_id[c.who], p_client[c.who], p_worktree[c.who], p_branch[c.who], v_at, v_at FROM ${TAKEN} AS c;
  INSERT INTO operations (token, tasks) VALUES (p_token, v_tasks);
  RETURN QUERY WITH taken AS (
    UPDATE tasks t SET status = 'in_progress', started_at = coalesce(t.started_at, v_at), updated_at = v_at FROM ${TAKEN} AS c WHERE t.seq = c.task
      RETURNING t.id AS task_id, c.place AS at_place, p_agent[c.who] AS agent, ROW(c.place, t.seq = ANY (v_special), v_at, v_ms + p_lease_ms,
        CASE WHEN t.story IS NOT NULL THEN (SELECT s.id FROM stories s WHERE s.seq = t.story) END,
        CASE WHEN t.epic IS NOT NULL THEN (SELECT e.id FROM epics e WHERE e.seq = t.epic) END,
        CASE WHEN v_has_files THEN (SELECT json_agg(f.path ORDER BY f.path) FROM task_files f WHERE f.task = t.seq) END, ${TASK})::text AS claimed
  ), told AS (
    INSERT INTO activity (at, actor, kind, subject, text)
      SELECT v_at, taken.agent, 'task-claimed', taken.task_id, 'claimed by ' || taken.agent FROM taken ORDER BY taken.at_place
  ) SELECT taken.claimed FROM taken;
END $$;`;

/** What a claim writes. Its log triggers (004-changes.ts) without a condition. */
const WRITTEN = [
  ["tasks", "seq", "UPDATE"],
  ["queue", "task", "UPDATE"],
  ["claims", "task", "INSERT"],
  ["last_holders", "task", "INSERT"],
  ["activity", "id", "INSERT"],
] as const;

const quiet = WRITTEN.map(
  ([table, key, event]) => `CREATE OR REPLACE FUNCTION log_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF current_setting('haversack.is_claiming', true) = 'on' THEN RETURN NULL; END IF;
  INSERT INTO changes (tbl, keys) SELECT '${table}', array_agg(DISTINCT ${key}) FROM changed HAVING count(*) > 0;
  RETURN NULL;
END $$;
DROP TRIGGER log_${event.toLowerCase()} ON ${table};
CREATE TRIGGER log_${event.toLowerCase()} AFTER ${event} ON ${table} REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION log_${table}();`,
);

export const claimFunctions: Migration = {
  version: 8,
  kind: "additive",
  sql: [ONE, SOME, ...quiet].join("\n"),
};
