/**
 * Tables whose rows hold long texts get a rowid. Without one SQLite keeps a row where its key is, and reads rows that overflow their
 * page whole for each comparison: one of 300 bodies took 21 pages to find and takes 7, and the table
 * two thirds of the room.
 */
import type { Migration } from "../migrations.ts";

export const longRows: Migration = {
  version: 7,
  // The columns and what is unique stay: an older program sees no difference.
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
