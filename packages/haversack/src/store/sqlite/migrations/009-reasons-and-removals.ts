/** Why a text was put into a window, beside the text itself (local state); and agents that were removed. */
import type { Migration } from "../migrations.ts";

export const reasonsAndRemovals: Migration = {
  version: 9,
  kind: "additive",
  sql: `
-- As JSON, see injections.ts. NULL in rows of older versions.
ALTER TABLE injections ADD COLUMN because TEXT;

-- The row stays: messages and what was read of them refer to it. Added or seen again, the agent is back.
ALTER TABLE agents ADD COLUMN removed_at TEXT;
`,
};
