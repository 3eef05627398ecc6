/** Skills: the compiled index, and per window what the model has been shown. All of it local state. */
import type { Migration } from "../migrations.ts";

export const skills: Migration = {
  version: 2,
  kind: "additive",
  sql: `
-- Every skill file that was read, and every skill that only a rules file names. The nearest of one id is active.
CREATE TABLE skills (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  mtime_ms REAL NOT NULL,
  rank INTEGER NOT NULL,
  active INTEGER NOT NULL DEFAULT 0,
  hash TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  brief TEXT NOT NULL,
  domain TEXT,
  folder TEXT,
  source_kind TEXT NOT NULL,
  source_label TEXT NOT NULL,
  model_invocable INTEGER NOT NULL,
  load_confidence REAL,
  requires TEXT NOT NULL DEFAULT '[]',
  own_triggers TEXT,
  terms BLOB NOT NULL,
  problems TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX skills_by_id ON skills (id, active);
-- For counting: a row is long, and a prompt asks how many there are.
CREATE INDEX skills_by_kind ON skills (active, source_kind);

-- Bodies by content hash, so that a version that was loaded can be shown after its file changed.
CREATE TABLE skill_bodies (
  hash TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- df: how many active skills hold it. share: how common it is in ordinary requests, from the background list; null for a
-- rare word. postings: see posting-lists.ts; last, so that reading the counts does not read the lists.
CREATE TABLE terms (
  id INTEGER PRIMARY KEY,
  term TEXT NOT NULL UNIQUE,
  df INTEGER NOT NULL DEFAULT 0,
  share REAL,
  postings BLOB
) STRICT;

CREATE VIRTUAL TABLE skills_search USING fts5 (
  name, description, body, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
);

-- What skill-rules files and frontmatter triggers say, compiled. The row of a skill without a rule is absent.
CREATE TABLE rule_files (
  path TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  mtime_ms REAL NOT NULL,
  problems TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID;
CREATE TABLE skill_rules (
  skill INTEGER PRIMARY KEY,
  data TEXT NOT NULL
) STRICT;
-- A keyword or phrase is looked up by its rarest fixed handle: the stem of its first word.
CREATE TABLE triggers (
  stem TEXT NOT NULL,
  skill INTEGER NOT NULL,
  kind TEXT NOT NULL,
  phrase TEXT NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY (stem, skill, kind, phrase)
) STRICT, WITHOUT ROWID;
CREATE INDEX triggers_by_skill ON triggers (skill);
CREATE TABLE patterns (
  id INTEGER PRIMARY KEY,
  skill INTEGER NOT NULL,
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  flags TEXT NOT NULL,
  linear INTEGER NOT NULL
) STRICT;
CREATE INDEX patterns_by_skill ON patterns (skill);
-- Patterns that used up their time once are not run again until their text changes.
CREATE TABLE slow_patterns (
  source TEXT PRIMARY KEY,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE sessions ADD COLUMN domain_history TEXT NOT NULL DEFAULT '[]';
-- When skill tracking began anew (start or idle time-out), and the prompts counted since.
ALTER TABLE sessions ADD COLUMN tracking_since TEXT;
ALTER TABLE sessions ADD COLUMN tracking_prompts INTEGER NOT NULL DEFAULT 0;

CREATE TABLE ledger (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  window INTEGER NOT NULL,
  skill TEXT NOT NULL,
  shown_at_prompt INTEGER,
  named_at_prompt INTEGER,
  loaded_hash TEXT,
  loaded_at TEXT,
  PRIMARY KEY (session_id, agent_id, window, skill)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_files (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  path TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id, path)
) STRICT, WITHOUT ROWID;

-- Every answer to a prompt, the silent ones too, with its tokens.
CREATE TABLE injections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  window INTEGER NOT NULL,
  event TEXT NOT NULL,
  format TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX injections_by_session ON injections (session_id, agent_id, id);

-- shown: brief in front of the model. named: its name repeated. loaded: its body.
CREATE TABLE skill_uses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  window INTEGER NOT NULL,
  skill TEXT NOT NULL,
  event TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  hash TEXT
) STRICT;
CREATE INDEX skill_uses_by_skill ON skill_uses (skill, event);
CREATE INDEX skill_uses_by_session ON skill_uses (session_id, agent_id);

-- What the last prompts were matched with, for \`why\`.
CREATE TABLE prompt_matches (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  at TEXT NOT NULL,
  prompt TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id, prompt_number)
) STRICT, WITHOUT ROWID;
`,
};
