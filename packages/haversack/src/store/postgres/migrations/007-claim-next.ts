/**
 * What a claim of the next task relies on (claim-next.ts): a table to lock, and marks for tasks to which more belongs than their row. The mark saves
 * a claim a look into seven tables. Claims and last holders have no foreign key: the check would take a sixth of a claim, and tasks are never deleted.
 */
import type { Migration } from "../migrations.ts";

/** Rows of which tables make a task special: it is read again, in the general way, after it was taken. */
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

/** And of which make it unusual: it is taken in the general way. */
const UNUSUAL = new Set(["blockers", "lost_claims"]);

const mark = (
  rows: string,
  table: string,
) => `INSERT INTO special_tasks SELECT s.*, ${UNUSUAL.has(table)} FROM (${rows}) s
  ON CONFLICT (task) DO UPDATE SET is_unusual = true WHERE excluded.is_unusual AND NOT special_tasks.is_unusual`;

/** The mark stays when the rows are removed: it costs only some time. */
const marks = Object.entries(SPECIAL).map(
  ([table, rows]) => `CREATE OR REPLACE FUNCTION mark_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  ${mark(rows, table)};
  RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS mark_special ON ${table};
CREATE TRIGGER mark_special AFTER INSERT ON ${table} REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mark_${table}();
${mark(rows.replaceAll("changed", table), table)};`,
);

export const claimNext: Migration = {
  version: 7,
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
ALTER TABLE operations DROP COLUMN IF EXISTS activity;

-- Locked by every change, see LOCK in server.ts. A table and not an advisory lock, which members of other projects could take.
CREATE TABLE IF NOT EXISTS change_lock ();

CREATE TABLE IF NOT EXISTS special_tasks (task bigint PRIMARY KEY, is_unusual boolean NOT NULL);
${marks.join("\n")}
CREATE OR REPLACE FUNCTION mark_parent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  ${mark("SELECT NEW.parent", "tasks")};
  RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS mark_parent ON tasks;
CREATE TRIGGER mark_parent AFTER UPDATE OF parent ON tasks FOR EACH ROW WHEN (NEW.parent IS NOT NULL) EXECUTE FUNCTION mark_parent();
`,
};
