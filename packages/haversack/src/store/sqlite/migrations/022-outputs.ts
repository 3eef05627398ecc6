/** Tool outputs that were kept and shown to the model as a preview, and the files that a window has already seen in full. */
import type { Migration } from "../migrations.ts";

export const outputs: Migration = {
  version: 22,
  kind: "additive",
  sql: `
CREATE TABLE outputs (
  handle TEXT PRIMARY KEY,
  at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  -- '' for the main agent.
  agent_id TEXT NOT NULL,
  -- The command, the tool or the file that it came from.
  source TEXT NOT NULL,
  lines INTEGER NOT NULL,
  chars INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX outputs_by_time ON outputs (at);
CREATE INDEX outputs_by_hash ON outputs (hash);

-- Apart from the facts, so that listing and counting reads no texts.
CREATE TABLE output_texts (
  handle TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

-- What a window was shown whole. A repeated reading of the same text is replaced by a note.
CREATE TABLE shown_reads (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  source TEXT NOT NULL,
  window INTEGER NOT NULL,
  hash TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id, source)
) STRICT, WITHOUT ROWID;
`,
};
