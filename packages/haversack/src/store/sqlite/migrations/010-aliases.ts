/** Aliases: the ids that other clones have for things of this store. */
import type { Migration } from "../migrations.ts";

export const aliases: Migration = {
  version: 10,
  kind: "additive",
  sql: `
CREATE TABLE aliases (
  alias TEXT NOT NULL,
  -- Of an epic, story, task, handoff or message here. One alias may stand for several: clones meet in any order.
  id TEXT NOT NULL,
  PRIMARY KEY (alias, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_id ON aliases (id, alias);
`,
};
