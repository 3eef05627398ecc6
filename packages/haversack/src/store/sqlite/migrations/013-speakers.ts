/** Who sent a message: the person at the terminal, or an agent. Set by this program alone; no import brings it. */
import type { Migration } from "../migrations.ts";

export const speakers: Migration = {
  version: 13,
  kind: "additive",
  sql: `
ALTER TABLE messages ADD COLUMN is_person INTEGER NOT NULL DEFAULT 0;
`,
};
