/** Why a text was put into a window, beside the text itself. Local state. */
import type { Migration } from "../migrations.ts";

export const because: Migration = {
  version: 8,
  kind: "additive",
  sql: `
-- As JSON, see injections.ts. NULL for a prompt, whose reasons are in prompt_matches, and for rows of older versions.
ALTER TABLE injections ADD COLUMN because TEXT;
`,
};
