/** The start time of a session's client: by now its process ID may belong to another program, especially in containers. */
import type { Migration } from "../migrations.ts";

export const processStart: Migration = {
  version: 15,
  kind: "additive",
  sql: `
-- As /proc gives it: ticks since the machine's start. NULL or 0: not known.
ALTER TABLE sessions ADD COLUMN process_start INTEGER;
`,
};
