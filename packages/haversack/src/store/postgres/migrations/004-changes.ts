/**
 * What has changed, so that a machine can bring its snapshot up to date without reading everything; and the outboxes of the machines,
 * with what they have sent.
 *
 * `xid` tells a reader what it may have missed: of two changes, the one that began first may be committed last. Claims of the next task are
 * found in `operations`: a trigger for each of their tables would take longer than the claim.
 */
import type { Migration } from "../migrations.ts";
import { claimFunction } from "./002-claim-next.ts";

const TEXT = 'text COLLATE "C"';

/** The tables of a snapshot, with the column that says which rows belong together. NULL: the whole table. */
const TABLES: Readonly<Record<string, string | null>> = {
  epics: "seq",
  stories: "seq",
  tasks: "seq",
  task_files: "task",
  dependencies: "task",
  queue: "task",
  blockers: "id",
  failures: "id",
  claims: "task",
  task_wip: "task",
  task_wip_changes: "id",
  handoffs: "seq",
  handoff_details: "handoff",
  batches: "id",
  last_holders: "task",
  lost_claims: "token",
  aliases: null,
  agents: "seq",
  messages: "seq",
  message_recipients: "message",
  skill_history: "id",
  activity: "id",
};

const NOT_CLAIMING = "current_setting('haversack.is_claiming', true) IS DISTINCT FROM 'on'";

const triggers = Object.entries(TABLES).map(([table, key]) => {
  const keys = key === null ? "ARRAY[]::bigint[]" : `array_agg(DISTINCT ${key})`;
  const trigger = (event: string, rows: string) =>
    `CREATE TRIGGER log_${event.toLowerCase()} AFTER ${event} ON ${table} REFERENCING ${rows} TABLE AS changed
  FOR EACH STATEMENT WHEN (${NOT_CLAIMING}) EXECUTE FUNCTION log_${table}();`;
  return `CREATE FUNCTION log_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO changes (tbl, keys) SELECT '${table}', ${keys} FROM changed HAVING count(*) > 0;
  RETURN NULL;
END $$;
${[trigger("INSERT", "NEW"), trigger("UPDATE", "NEW"), trigger("DELETE", "OLD")].join("\n")}`;
});

export const changes: Migration = {
  version: 4,
  kind: "additive",
  sql: `
CREATE TABLE changes (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at timestamptz NOT NULL DEFAULT now(),
  tbl ${TEXT} NOT NULL,
  keys bigint[] NOT NULL
);
CREATE INDEX changes_by_transaction ON changes (xid);
CREATE INDEX changes_by_time ON changes USING brin (at);

ALTER TABLE operations ADD COLUMN xid xid8 DEFAULT pg_current_xact_id();
-- What a claim of the next tasks said.
ALTER TABLE operations ADD COLUMN activity bigint[];
CREATE INDEX operations_claims ON operations (xid) WHERE tasks IS NOT NULL;

CREATE TABLE outboxes (
  id uuid PRIMARY KEY,
  -- The machine and the file, to tell a copy from the original.
  owner ${TEXT} NOT NULL,
  -- The last entry that was applied, or refused for good.
  applied bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE outbox_ids (
  outbox uuid NOT NULL,
  made ${TEXT} NOT NULL,
  id ${TEXT} NOT NULL,
  PRIMARY KEY (outbox, made)
);

CREATE TABLE outbox_conflicts (
  outbox uuid NOT NULL,
  seq bigint NOT NULL,
  op ${TEXT} NOT NULL,
  args ${TEXT} NOT NULL,
  at ${TEXT} NOT NULL,
  task ${TEXT},
  agent ${TEXT},
  reason ${TEXT} NOT NULL,
  found_at ${TEXT} NOT NULL,
  PRIMARY KEY (outbox, seq)
);

${triggers.join("\n")}

${claimFunction({ isLogged: true })}`,
};
