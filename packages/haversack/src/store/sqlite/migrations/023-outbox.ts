/** What this machine has changed in shared work and not sent yet, what the shared store refused, and how old the local snapshot is. */
import type { Migration } from "../migrations.ts";

export const outbox: Migration = {
  version: 23,
  kind: "additive",
  sql: `
CREATE TABLE outbox (
  -- Never reused: the shared store remembers the last one that it has applied.
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  op TEXT NOT NULL,
  args TEXT NOT NULL,
  at TEXT NOT NULL,
  -- The task that it is about, if there is one.
  task TEXT,
  is_claim INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_claims ON outbox (task) WHERE is_claim = 1;

CREATE TABLE conflicts (
  -- The number that its entry had.
  seq INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  args TEXT NOT NULL,
  at TEXT NOT NULL,
  task TEXT,
  agent TEXT,
  reason TEXT NOT NULL,
  found_at TEXT NOT NULL
) STRICT;

CREATE TABLE snapshot_state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`,
};
