/**
 * Gives stored reviews the same order as new ones (work/dependencies.ts): among the sub-tasks of one task, a later one waits
 * for the earlier ones. If the earlier one itself waits for something, it is left out, so that no cycle can result.
 */
import type { Migration } from "../migrations.ts";

const WAITING = "('blocks', 'requires')";

export const reviewOrder: Migration = {
  version: 16,
  kind: "additive",
  sql: `
CREATE TEMP TABLE parts AS
  SELECT seq, parent, place FROM (
    SELECT seq, parent, CASE
      WHEN words LIKE '% implement%' THEN 0
      WHEN words LIKE '% spec review%' THEN 1
      WHEN words LIKE '% quality review%' OR words LIKE '% code review%' THEN 2
    END AS place
    FROM (SELECT seq, parent, ' ' || replace(replace(lower(title), '-', ' '), '"', ' ') AS words FROM tasks
      WHERE parent IS NOT NULL AND status NOT IN ('done', 'archived'))
  ) WHERE place IS NOT NULL;
INSERT OR IGNORE INTO dependencies (task, depends_on, type, created_at)
  SELECT l.seq, e.seq, 'blocks', strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM temp.parts l
  JOIN temp.parts e ON e.parent = l.parent AND e.place < l.place
  WHERE NOT EXISTS (
    SELECT 1 FROM dependencies d WHERE d.task = e.seq AND d.type IN ${WAITING}
      AND NOT EXISTS (SELECT 1 FROM temp.parts o WHERE o.seq = d.depends_on AND o.parent = e.parent AND o.place < e.place)
  );
UPDATE queue SET
  waits_for = (SELECT count(*) FROM dependencies d JOIN queue q ON q.task = d.depends_on WHERE d.task = queue.task AND d.type IN ${WAITING}),
  dependents = (SELECT count(*) FROM dependencies d JOIN queue q ON q.task = d.task WHERE d.depends_on = queue.task AND d.type IN ${WAITING}),
  -- Five points for each that waits, ten of them at most; see queue-order.ts.
  order_key = order_key + 4320000000 * (min(10, (SELECT count(*) FROM dependencies d JOIN queue q ON q.task = d.task WHERE d.depends_on = queue.task AND d.type IN ${WAITING})) - min(10, dependents))
  WHERE task IN (SELECT seq FROM temp.parts);
UPDATE queue SET is_ready = (is_todo AND waits_for = 0) WHERE task IN (SELECT seq FROM temp.parts);
DROP TABLE temp.parts;
`,
};
