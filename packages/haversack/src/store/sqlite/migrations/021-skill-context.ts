/** Which languages and frameworks a skill is for, found in its name and description when it is indexed. */
import type { Migration } from "../migrations.ts";

export const skillContext: Migration = {
  version: 21,
  kind: "additive",
  sql: `
-- {"of": [...], "words": [...]}, or '' for a skill that is for no one technology.
ALTER TABLE skills ADD COLUMN tied TEXT NOT NULL DEFAULT '';
`,
};
