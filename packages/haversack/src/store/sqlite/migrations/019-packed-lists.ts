/**
 * Posting lists in buckets, see skill-index.ts. A bucket is a row of `terms` with its own name and no word. A program that does
 * not know buckets ignores them, and deletes them with the words when it rebuilds the index.
 */
import type { Migration } from "../migrations.ts";

export const packedLists: Migration = {
  version: 19,
  kind: "additive",
  sql: `
-- Of a bucket: the lists of its terms. \`postings\` and \`df\` are no longer used.
ALTER TABLE terms ADD COLUMN lists BLOB;
-- A body is read from the file that has this version; \`skill_bodies\` keeps only those that a window or a task was given.
CREATE INDEX skills_by_hash ON skills (hash);
`,
};
