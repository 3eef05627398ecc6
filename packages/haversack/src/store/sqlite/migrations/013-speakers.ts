/** Who sent a message: the person at the terminal, or an agent. Only this program sets it; imports never do. */
import type { Migration } from "../migrations.ts";

export const speakers: Migration = {
  version: 13,
  kind: "additive",
  sql: `
ALTER TABLE messages ADD COLUMN is_person INTEGER NOT NULL DEFAULT 0;
`,
};
