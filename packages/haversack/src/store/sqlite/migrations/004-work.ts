/**
 * Work: epics, stories, tasks, and what belongs to them. Rows refer to one another by number; ids are for people and agents.
 *
 * `queue` has one small row per open task, apart from the task's texts: when a task is done that 100,000 others wait for, only
 * small rows change. Its three indexes contain only ready tasks, in order, so that reading the next ones never looks at
 * the rest.
 */
import type { Migration } from "../migrations.ts";

export const work: Migration = {
  version: 4,
  kind: "additive",
  sql: `
CREATE TABLE epics (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  description TEXT,
  priority INTEGER NOT NULL,
  status TEXT NOT NULL,
  source TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  completed_at TEXT
) STRICT;

CREATE TABLE stories (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  epic INTEGER REFERENCES epics (seq),
  title TEXT NOT NULL,
  description TEXT,
  acceptance_criteria TEXT,
  status TEXT NOT NULL,
  source TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  completed_at TEXT
) STRICT;
CREATE INDEX stories_by_epic ON stories (epic, status);

CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  story INTEGER REFERENCES stories (seq),
  -- The story's epic.
  epic INTEGER REFERENCES epics (seq),
  parent INTEGER REFERENCES tasks (seq),
  title TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  priority INTEGER NOT NULL,
  description TEXT,
  acceptance_criteria TEXT,
  steps TEXT,
  estimate_hours REAL,
  skill TEXT,
  plan_file TEXT,
  plan_section TEXT,
  context_summary TEXT,
  handoff_notes TEXT,
  assignee TEXT,
  source TEXT,
  note TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  started_at TEXT,
  completed_at TEXT
) STRICT;
CREATE INDEX tasks_by_status ON tasks (status, seq);
CREATE INDEX tasks_by_story ON tasks (story, status) WHERE story IS NOT NULL;
CREATE INDEX tasks_by_epic ON tasks (epic, status) WHERE epic IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_plan ON tasks (plan_file, plan_section) WHERE plan_file IS NOT NULL;

CREATE TABLE task_files (
  task INTEGER NOT NULL REFERENCES tasks (seq),
  path TEXT NOT NULL,
  PRIMARY KEY (task, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE dependencies (
  task INTEGER NOT NULL REFERENCES tasks (seq),
  depends_on INTEGER NOT NULL REFERENCES tasks (seq),
  type TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (task, depends_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependencies_by_target ON dependencies (depends_on, type, task);

CREATE TABLE queue (
  task INTEGER PRIMARY KEY REFERENCES tasks (seq),
  epic INTEGER,
  story INTEGER,
  order_key INTEGER NOT NULL,
  -- Open tasks that this one waits for.
  waits_for INTEGER NOT NULL,
  -- Open tasks that wait for this one.
  dependents INTEGER NOT NULL,
  is_todo INTEGER NOT NULL,
  is_ready INTEGER NOT NULL
) STRICT;
CREATE INDEX queue_ready ON queue (order_key DESC, task) WHERE is_ready = 1;
CREATE INDEX queue_ready_of_epic ON queue (epic, order_key DESC, task) WHERE is_ready = 1 AND epic IS NOT NULL;
CREATE INDEX queue_ready_of_story ON queue (story, order_key DESC, task) WHERE is_ready = 1 AND story IS NOT NULL;
-- Of every open task of an epic: its priority moves them all.
CREATE INDEX queue_by_epic ON queue (epic) WHERE epic IS NOT NULL;

CREATE TABLE blockers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  created_at TEXT NOT NULL,
  resolved_at TEXT,
  resolved_by TEXT
) STRICT;
CREATE INDEX blockers_by_task ON blockers (task);

CREATE TABLE failures (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  actor TEXT NOT NULL,
  created_at TEXT NOT NULL,
  summary TEXT NOT NULL,
  details TEXT
) STRICT;
CREATE INDEX failures_by_task ON failures (task);

CREATE TABLE claims (
  task INTEGER PRIMARY KEY REFERENCES tasks (seq),
  agent TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT,
  claimed_at TEXT NOT NULL,
  heartbeat_at TEXT NOT NULL,
  -- Milliseconds since 1970.
  lease_until INTEGER NOT NULL
) STRICT;
CREATE INDEX claims_by_end ON claims (lease_until);
CREATE INDEX claims_by_agent ON claims (agent);
CREATE INDEX claims_by_session ON claims (session_id, agent_id, claimed_at) WHERE session_id IS NOT NULL;

CREATE TABLE task_wip (
  task INTEGER PRIMARY KEY REFERENCES tasks (seq),
  data TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE task_wip_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  path TEXT NOT NULL,
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX task_wip_changes_by_task ON task_wip_changes (task, id);

CREATE TABLE handoffs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  role TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  status TEXT NOT NULL,
  summary TEXT NOT NULL,
  files_changed TEXT,
  details_chars INTEGER NOT NULL,
  actor TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- Since when its details, or the whole of it, are in the archive.
  compacted_at TEXT,
  archived_at TEXT,
  UNIQUE (task, role, attempt)
) STRICT;

-- Apart: details can be large, and lists never read them.
CREATE TABLE handoff_details (
  handoff INTEGER PRIMARY KEY REFERENCES handoffs (seq),
  text TEXT NOT NULL
) STRICT;

CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  at TEXT NOT NULL,
  size INTEGER NOT NULL,
  tasks TEXT NOT NULL
) STRICT;
CREATE INDEX batches_by_session ON batches (session_id, id);

-- Local: the task that a sub-agent was started for, by the call that started it. A claim of its own comes before it.
CREATE TABLE agent_tasks (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  task TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID;

-- Local: calls that start a sub-agent for a task, until its agent id is known.
CREATE TABLE spawns (
  session_id TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  agent_type TEXT NOT NULL,
  task TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, tool_use_id)
) STRICT, WITHOUT ROWID;
`,
};
