/**
 * Applies two rules to stored sub-tasks. Those without a story join their parent's story (work/tasks.ts), so that a story with
 * open sub-tasks is not complete. A task that is worked on through its sub-tasks is not ready (work/dependencies.ts). Sub-tasks in an
 * archived story stay as they are, because otherwise the story would come back.
 */
import type { Migration } from "../migrations.ts";

const WAITING = "('blocks', 'requires')";
const NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
const IS_REVIEW =
  "words NOT LIKE '% implement%' AND (words LIKE '% spec review%' OR words LIKE '% quality review%' OR words LIKE '% code review%')";

/** The status of a group, based on its contents; see groups.ts. */
function statusBy(parts: string): string {
  const has = (statuses: string) => `EXISTS (SELECT 1 FROM ${parts} AND status IN (${statuses}))`;
  return `CASE WHEN ${has("'in_progress', 'review', 'blocked'")} THEN 'in_progress'
    WHEN ${has("'todo'")} THEN iif(${has("'done'")}, 'in_progress', 'todo')
    WHEN ${has("'done'")} THEN 'done' ELSE status END`;
}

export const partsInStories: Migration = {
  version: 17,
  kind: "additive",
  sql: `
CREATE TEMP TABLE moved AS WITH RECURSIVE chain (seq, story, epic) AS (
    SELECT t.seq, p.story, p.epic FROM tasks t JOIN tasks p ON p.seq = t.parent JOIN stories s ON s.seq = p.story
      WHERE t.story IS NULL AND s.status <> 'archived'
    UNION SELECT t.seq, c.story, c.epic FROM chain c JOIN tasks t ON t.parent = c.seq WHERE t.story IS NULL
  ) SELECT seq, story, epic FROM chain;
CREATE UNIQUE INDEX temp.moved_by_seq ON moved (seq);
UPDATE tasks SET (story, epic) = (SELECT story, epic FROM temp.moved m WHERE m.seq = tasks.seq) WHERE seq IN (SELECT seq FROM temp.moved);
UPDATE queue SET (story, epic) = (SELECT story, epic FROM temp.moved m WHERE m.seq = queue.task),
  -- 100 points for each priority; without an epic they counted as P2. See queue-order.ts.
  order_key = order_key + 86400000000 * (2 - coalesce((SELECT e.priority FROM temp.moved m JOIN epics e ON e.seq = m.epic WHERE m.seq = queue.task), 2))
  WHERE task IN (SELECT seq FROM temp.moved);
UPDATE stories SET status = ${statusBy("tasks WHERE story = stories.seq")} WHERE seq IN (SELECT story FROM temp.moved);
UPDATE epics SET status = ${statusBy("stories WHERE epic = epics.seq")} WHERE status <> 'archived' AND seq IN (SELECT epic FROM temp.moved);
UPDATE stories SET completed_at = NULL, updated_at = ${NOW} WHERE completed_at IS NOT NULL AND status <> 'done';
UPDATE epics SET completed_at = NULL, updated_at = ${NOW} WHERE completed_at IS NOT NULL AND status <> 'done';
DROP TABLE temp.moved;

CREATE TEMP TABLE below AS WITH RECURSIVE chain (top, seq) AS (
    SELECT t.parent, t.seq FROM tasks t JOIN queue q ON q.task = t.parent
    UNION SELECT c.top, t.seq FROM chain c JOIN tasks t ON t.parent = c.seq
  ) SELECT top, seq FROM chain JOIN queue q ON q.task = seq;
CREATE UNIQUE INDEX temp.below_by_both ON below (top, seq);
CREATE TEMP TABLE later AS WITH RECURSIVE chain (top, seq) AS (
    SELECT b.top, b.seq FROM temp.below b JOIN dependencies d ON d.task = b.seq AND d.depends_on = b.top AND d.type IN ${WAITING}
    UNION SELECT c.top, b.seq FROM chain c JOIN dependencies d ON d.depends_on = c.seq AND d.type IN ${WAITING}
      JOIN temp.below b ON b.top = c.top AND b.seq = d.task
  ) SELECT top, seq FROM chain;
CREATE UNIQUE INDEX temp.later_by_both ON later (top, seq);
UPDATE queue SET is_ready = 0,
  waits_for = 1 + (SELECT count(*) FROM dependencies d JOIN queue q ON q.task = d.depends_on WHERE d.task = queue.task AND d.type IN ${WAITING})
  WHERE task IN (
    SELECT b.top FROM temp.below b WHERE NOT EXISTS (SELECT 1 FROM temp.later l WHERE l.top = b.top AND l.seq = b.seq)
  ) AND EXISTS (
    SELECT 1 FROM (SELECT ' ' || replace(replace(lower(title), '-', ' '), '"', ' ') AS words FROM tasks WHERE parent = queue.task AND status <> 'archived')
    WHERE NOT (${IS_REVIEW})
  );
DROP TABLE temp.below;
DROP TABLE temp.later;
`,
};
