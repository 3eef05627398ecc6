/** Changes of this machine to shared work that are not sent yet, those that the shared store refused, and the age of the local snapshot. */
import type { Migration } from "../migrations.ts";

export const outbox: Migration = {
  version: 23,
  kind: "additive",
  sql: `
CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- By which the shared store knows what it has applied, also from a copy of this file.
  token TEXT NOT NULL,
  op TEXT NOT NULL,
  args TEXT NOT NULL,
  at TEXT NOT NULL,
  -- The task that it is about, if there is one.
  task TEXT,
  is_claim INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_claims ON outbox (task) WHERE is_claim = 1;

CREATE TABLE conflicts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Of its entry.
  token TEXT NOT NULL UNIQUE,
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
