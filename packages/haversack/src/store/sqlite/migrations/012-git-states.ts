/** What was not committed in a worktree when a task was claimed there, so that later changes can be recognized. Local state. */
import type { Migration } from "../migrations.ts";

export const gitStates: Migration = {
  version: 12,
  kind: "additive",
  sql: `
CREATE TABLE git_states (
  task TEXT NOT NULL,
  worktree TEXT NOT NULL,
  -- The commit; '' before the first one.
  head TEXT NOT NULL,
  -- What was not committed, with a mark of each file's state, as JSON.
  files TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (task, worktree)
) STRICT;
`,
};
