/** Every entry of the newest schema, as the migrations leave it; see schema.ts. `npm run docs` writes this file. */
export const SCHEMA_TEXT = `120

index activity_by_subject activity
CREATE INDEX activity_by_subject ON activity (subject, id) WHERE subject IS NOT NULL

index agents_by_session agents
CREATE INDEX agents_by_session ON agents (session_id) WHERE session_id IS NOT NULL

index aliases_by_id aliases
CREATE INDEX aliases_by_id ON aliases (id, alias)

index batches_by_session batches
CREATE INDEX batches_by_session ON batches (session_id, id)

index blockers_by_task blockers
CREATE INDEX blockers_by_task ON blockers (task)

index claims_by_agent claims
CREATE INDEX claims_by_agent ON claims (agent)

index claims_by_end claims
CREATE INDEX claims_by_end ON claims (lease_until)

index claims_by_session claims
CREATE INDEX claims_by_session ON claims (session_id, agent_id, claimed_at) WHERE session_id IS NOT NULL

index dependencies_by_target dependencies
CREATE INDEX dependencies_by_target ON dependencies (depends_on, type, task)

index dispatched_agents_by_folder dispatched_agents
CREATE INDEX dispatched_agents_by_folder ON dispatched_agents (folder, at)

index dispatches_by_time dispatches
CREATE INDEX dispatches_by_time ON dispatches (at)

index dispatches_of_loop dispatches
CREATE INDEX dispatches_of_loop ON dispatches (feature, phase, role, iteration)

index failures_by_task failures
CREATE INDEX failures_by_task ON failures (task)

index injections_by_session injections
CREATE INDEX injections_by_session ON injections (session_id, agent_id, id)

index last_holders_by_session last_holders
CREATE INDEX last_holders_by_session ON last_holders (session_id, agent_id) WHERE session_id IS NOT NULL

index last_holders_by_time last_holders
CREATE INDEX last_holders_by_time ON last_holders (last_seen_at)

index lost_claims_by_task lost_claims
CREATE INDEX lost_claims_by_task ON lost_claims (task)

index messages_unread message_recipients
CREATE INDEX messages_unread ON message_recipients (agent, message) WHERE read_at IS NULL

index patterns_by_skill patterns
CREATE INDEX patterns_by_skill ON patterns (skill)

index queue_by_epic queue
CREATE INDEX queue_by_epic ON queue (epic) WHERE epic IS NOT NULL

index queue_ready queue
CREATE INDEX queue_ready ON queue (order_key DESC, task) WHERE is_ready = 1

index queue_ready_of_epic queue
CREATE INDEX queue_ready_of_epic ON queue (epic, order_key DESC, task) WHERE is_ready = 1 AND epic IS NOT NULL

index queue_ready_of_story queue
CREATE INDEX queue_ready_of_story ON queue (story, order_key DESC, task) WHERE is_ready = 1 AND story IS NOT NULL

index receipts_by_time receipts
CREATE INDEX receipts_by_time ON receipts (at, role, file)

index receipts_of_agent receipts
CREATE INDEX receipts_of_agent ON receipts (session_id, agent_id)

index review_decisions_of_loop review_decisions
CREATE INDEX review_decisions_of_loop ON review_decisions (feature, phase, role, issue)

index session_wip_by_time session_wip
CREATE INDEX session_wip_by_time ON session_wip (updated_at)

index skill_history_by_agent skill_history
CREATE INDEX skill_history_by_agent ON skill_history (agent, id)

index skill_history_by_task skill_history
CREATE INDEX skill_history_by_task ON skill_history (task, skill, id) WHERE task IS NOT NULL

index skill_uses_by_session skill_uses
CREATE INDEX skill_uses_by_session ON skill_uses (session_id, agent_id)

index skill_uses_by_skill skill_uses
CREATE INDEX skill_uses_by_skill ON skill_uses (skill, event)

index skills_by_id skills
CREATE INDEX skills_by_id ON skills (id, active)

index skills_by_kind skills
CREATE INDEX skills_by_kind ON skills (active, source_kind)

index sqlite_autoindex_agents_1 agents
-

index sqlite_autoindex_epics_1 epics
-

index sqlite_autoindex_git_states_1 git_states
-

index sqlite_autoindex_handoffs_1 handoffs
-

index sqlite_autoindex_handoffs_2 handoffs
-

index sqlite_autoindex_messages_1 messages
-

index sqlite_autoindex_prompt_matches_1 prompt_matches
-

index sqlite_autoindex_reviews_1 reviews
-

index sqlite_autoindex_skill_bodies_1 skill_bodies
-

index sqlite_autoindex_skills_1 skills
-

index sqlite_autoindex_stories_1 stories
-

index sqlite_autoindex_tasks_1 tasks
-

index sqlite_autoindex_terms_1 terms
-

index stories_by_epic stories
CREATE INDEX stories_by_epic ON stories (epic, status)

index stories_by_status stories
CREATE INDEX stories_by_status ON stories (status, updated_at)

index task_wip_changes_by_task task_wip_changes
CREATE INDEX task_wip_changes_by_task ON task_wip_changes (task, id)

index tasks_by_epic tasks
CREATE INDEX tasks_by_epic ON tasks (epic, status) WHERE epic IS NOT NULL

index tasks_by_parent tasks
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL

index tasks_by_plan tasks
CREATE INDEX tasks_by_plan ON tasks (plan_file, plan_section) WHERE plan_file IS NOT NULL

index tasks_by_status tasks
CREATE INDEX tasks_by_status ON tasks (status, seq)

index tasks_by_story tasks
CREATE INDEX tasks_by_story ON tasks (story, status) WHERE story IS NOT NULL

index tasks_in_story tasks
CREATE INDEX tasks_in_story ON tasks (story, seq) WHERE story IS NOT NULL

index triggers_by_skill triggers
CREATE INDEX triggers_by_skill ON triggers (skill)

index wip_changes_by_session wip_changes
CREATE INDEX wip_changes_by_session ON wip_changes (session_id, agent_id, id)

table activity activity
CREATE TABLE activity (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT,
  text TEXT NOT NULL
) STRICT

table agent_roles agent_roles
CREATE TABLE agent_roles (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  role TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID

table agent_tasks agent_tasks
CREATE TABLE agent_tasks (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  task TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID

table agents agents
CREATE TABLE agents (
  seq INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  -- '' when it works on every branch.
  branch TEXT NOT NULL DEFAULT '',
  role TEXT NOT NULL,
  client TEXT,
  session_id TEXT,
  worktree TEXT,
  created_at TEXT NOT NULL,
  last_seen_at TEXT, removed_at TEXT,
  UNIQUE (name, branch)
) STRICT

table aliases aliases
CREATE TABLE aliases (
  alias TEXT NOT NULL,
  -- Of an epic, story, task, handoff or message here. One alias may stand for several: clones meet in any order.
  id TEXT NOT NULL,
  PRIMARY KEY (alias, id)
) STRICT, WITHOUT ROWID

table batches batches
CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  at TEXT NOT NULL,
  size INTEGER NOT NULL,
  tasks TEXT NOT NULL
) STRICT

table blockers blockers
CREATE TABLE blockers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  created_at TEXT NOT NULL,
  resolved_at TEXT,
  resolved_by TEXT
) STRICT

table claims claims
CREATE TABLE claims (
  task INTEGER PRIMARY KEY REFERENCES tasks (seq),
  agent TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT,
  claimed_at TEXT NOT NULL,
  heartbeat_at TEXT NOT NULL,
  -- Milliseconds since 1970.
  lease_until INTEGER NOT NULL
) STRICT

table dependencies dependencies
CREATE TABLE dependencies (
  task INTEGER NOT NULL REFERENCES tasks (seq),
  depends_on INTEGER NOT NULL REFERENCES tasks (seq),
  type TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (task, depends_on)
) STRICT, WITHOUT ROWID

table dispatched_agents dispatched_agents
CREATE TABLE dispatched_agents (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  -- The sub-agent's type as the client names it, or the role.
  role TEXT NOT NULL,
  -- The feature's folder, absolute.
  folder TEXT NOT NULL,
  iteration INTEGER,
  at TEXT NOT NULL,
  sent_back_at TEXT,
  -- Its receipts are stored.
  settled_at TEXT,
  -- Its warning stands in the review history.
  warned_at TEXT,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID

table dispatches dispatches
CREATE TABLE dispatches (
  seq INTEGER PRIMARY KEY,
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  task TEXT,
  -- fresh, fallback (a resume was due and could not be had) or resume.
  kind TEXT NOT NULL,
  reason TEXT,
  -- What had to be read, as JSON.
  documents TEXT NOT NULL,
  -- Tokens: what was sent, what is then read, and what the pasted versions would have been.
  sent INTEGER NOT NULL,
  reads INTEGER NOT NULL,
  pasted INTEGER NOT NULL,
  pasted_unpruned INTEGER NOT NULL,
  -- Of the prompt that a resume would have sent; NULL when none came into question.
  resumed INTEGER,
  prompt_chars INTEGER NOT NULL,
  -- Where the repository stood: the next iteration's difference starts here.
  git_commit TEXT,
  by TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT

table epics epics
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
) STRICT

table expected_documents expected_documents
CREATE TABLE expected_documents (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  file TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  line_count INTEGER NOT NULL,
  PRIMARY KEY (session_id, agent_id, file)
) STRICT, WITHOUT ROWID

table failures failures
CREATE TABLE failures (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  actor TEXT NOT NULL,
  created_at TEXT NOT NULL,
  summary TEXT NOT NULL,
  details TEXT
) STRICT

table git_states git_states
CREATE TABLE git_states (
  task TEXT NOT NULL,
  worktree TEXT NOT NULL,
  -- The commit; '' before the first one.
  head TEXT NOT NULL,
  -- What was not committed, with a mark of each file's state, as JSON.
  files TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (task, worktree)
) STRICT

table handoff_details handoff_details
CREATE TABLE handoff_details (
  handoff INTEGER PRIMARY KEY REFERENCES handoffs (seq),
  text TEXT NOT NULL
) STRICT

table handoffs handoffs
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
) STRICT

table injections injections
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
, because TEXT) STRICT

table last_holders last_holders
CREATE TABLE last_holders (
  task INTEGER PRIMARY KEY REFERENCES tasks (seq),
  agent TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT NOT NULL DEFAULT '',
  client TEXT,
  -- The top folder of the git work tree; outside of git the project's folder.
  worktree TEXT,
  branch TEXT,
  claimed_at TEXT NOT NULL,
  -- While the claim runs, its heartbeat is newer.
  last_seen_at TEXT NOT NULL,
  -- How the claim ended: expired, ended (the session said so) or gone (its process is). NULL: it has not.
  ended_as TEXT,
  ended_at TEXT
) STRICT

table ledger ledger
CREATE TABLE ledger (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  window INTEGER NOT NULL,
  skill TEXT NOT NULL,
  shown_at_prompt INTEGER,
  named_at_prompt INTEGER,
  loaded_hash TEXT,
  loaded_at TEXT, loaded_by TEXT,
  PRIMARY KEY (session_id, agent_id, window, skill)
) STRICT, WITHOUT ROWID

table lost_claims lost_claims
CREATE TABLE lost_claims (
  -- Grows with every loss.
  token INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  agent TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT NOT NULL DEFAULT '',
  -- Who took it, and when.
  taken_by TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT

table message_recipients message_recipients
CREATE TABLE message_recipients (
  message INTEGER NOT NULL REFERENCES messages (seq),
  agent INTEGER NOT NULL REFERENCES agents (seq),
  is_mention INTEGER NOT NULL,
  read_at TEXT,
  PRIMARY KEY (message, agent)
) STRICT, WITHOUT ROWID

table messages messages
CREATE TABLE messages (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  sender TEXT NOT NULL,
  text TEXT NOT NULL,
  -- The task, handoff or message it came with.
  subject TEXT,
  created_at TEXT NOT NULL
, is_person INTEGER NOT NULL DEFAULT 0) STRICT

table meta meta
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID

table patterns patterns
CREATE TABLE patterns (
  id INTEGER PRIMARY KEY,
  skill INTEGER NOT NULL,
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  flags TEXT NOT NULL,
  linear INTEGER NOT NULL
) STRICT

table prompt_matches prompt_matches
CREATE TABLE "prompt_matches" (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  at TEXT NOT NULL,
  prompt TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id, prompt_number)
) STRICT

table queue queue
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
) STRICT

table receipts receipts
CREATE TABLE receipts (
  seq INTEGER PRIMARY KEY,
  feature TEXT NOT NULL,
  role TEXT NOT NULL,
  iteration INTEGER,
  file TEXT NOT NULL,
  line_count INTEGER NOT NULL,
  -- 0 to 1.
  share REAL NOT NULL,
  is_missing INTEGER NOT NULL,
  -- events or claim.
  source TEXT NOT NULL,
  claimed_lines INTEGER,
  -- '' when nobody knows.
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT

table resume_checks resume_checks
CREATE TABLE resume_checks (
  client TEXT PRIMARY KEY,
  is_ok INTEGER NOT NULL,
  text TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID

table review_agents review_agents
CREATE TABLE review_agents (
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_id TEXT,
  -- Of the loop's first prompt.
  prompt_chars INTEGER NOT NULL,
  last_iteration INTEGER NOT NULL,
  -- Why going on with it failed.
  failure TEXT,
  PRIMARY KEY (feature, phase, role)
) STRICT, WITHOUT ROWID

table review_decisions review_decisions
CREATE TABLE review_decisions (
  seq INTEGER PRIMARY KEY,
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  issue TEXT NOT NULL,
  text TEXT NOT NULL,
  by TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT

table review_issues review_issues
CREATE TABLE review_issues (
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  id TEXT NOT NULL,
  severity TEXT NOT NULL,
  category TEXT,
  description TEXT NOT NULL,
  location TEXT,
  suggestion TEXT,
  status TEXT NOT NULL,
  first_iteration INTEGER NOT NULL,
  last_iteration INTEGER NOT NULL,
  is_reopened INTEGER NOT NULL,
  PRIMARY KEY (feature, phase, role, id)
) STRICT, WITHOUT ROWID

table reviews reviews
CREATE TABLE reviews (
  seq INTEGER PRIMARY KEY,
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  summary TEXT,
  -- Found in this iteration, as JSON, as the history shows them.
  issues TEXT NOT NULL,
  notes TEXT NOT NULL,
  answer_hash TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT,
  by TEXT NOT NULL,
  at TEXT NOT NULL,
  is_in_history INTEGER NOT NULL DEFAULT 0,
  UNIQUE (feature, phase, role, iteration)
) STRICT

table rule_files rule_files
CREATE TABLE rule_files (
  path TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  mtime_ms REAL NOT NULL,
  problems TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID

table seen_calls seen_calls
CREATE TABLE seen_calls (
  session_id TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, tool_use_id)
) STRICT, WITHOUT ROWID

table seen_lines seen_lines
CREATE TABLE seen_lines (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  file TEXT NOT NULL,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  PRIMARY KEY (session_id, agent_id, file, first_line, last_line)
) STRICT, WITHOUT ROWID

table session_files session_files
CREATE TABLE session_files (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  path TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id, path)
) STRICT, WITHOUT ROWID

table session_wip session_wip
CREATE TABLE session_wip (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  data TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID

table sessions sessions
CREATE TABLE sessions (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL DEFAULT '',
  client TEXT NOT NULL,
  cwd TEXT NOT NULL,
  started_at TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  window INTEGER NOT NULL DEFAULT 1,
  prompt_count INTEGER NOT NULL DEFAULT 0,
  last_prompt_at TEXT,
  ended_at TEXT, domain_history TEXT NOT NULL DEFAULT '[]', tracking_since TEXT, tracking_prompts INTEGER NOT NULL DEFAULT 0, last_prompt_id TEXT, process_id INTEGER, process_space TEXT, edits_told_at TEXT, process_start INTEGER,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID

table skill_bodies skill_bodies
CREATE TABLE "skill_bodies" (
  hash TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT

table skill_history skill_history
CREATE TABLE skill_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  agent TEXT NOT NULL,
  task TEXT,
  skill TEXT NOT NULL,
  hash TEXT NOT NULL,
  because TEXT NOT NULL
) STRICT

table skill_rules skill_rules
CREATE TABLE skill_rules (
  skill INTEGER PRIMARY KEY,
  data TEXT NOT NULL
) STRICT

table skill_uses skill_uses
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
) STRICT

table skills skills
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
) STRICT

table skills_search skills_search
CREATE VIRTUAL TABLE skills_search USING fts5 (
  name, description, body, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
)

table skills_search_config skills_search_config
CREATE TABLE 'skills_search_config'(k PRIMARY KEY, v) WITHOUT ROWID

table skills_search_data skills_search_data
CREATE TABLE 'skills_search_data'(id INTEGER PRIMARY KEY, block BLOB)

table skills_search_docsize skills_search_docsize
CREATE TABLE 'skills_search_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER)

table skills_search_idx skills_search_idx
CREATE TABLE 'skills_search_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID

table slow_patterns slow_patterns
CREATE TABLE slow_patterns (
  source TEXT PRIMARY KEY,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID

table spawn_documents spawn_documents
CREATE TABLE spawn_documents (
  session_id TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  role TEXT NOT NULL,
  folder TEXT NOT NULL,
  iteration INTEGER,
  -- As JSON.
  documents TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, tool_use_id)
) STRICT, WITHOUT ROWID

table spawns spawns
CREATE TABLE spawns (
  session_id TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  agent_type TEXT NOT NULL,
  task TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, tool_use_id)
) STRICT, WITHOUT ROWID

table sqlite_sequence sqlite_sequence
CREATE TABLE sqlite_sequence(name,seq)

table stories stories
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
) STRICT

table task_files task_files
CREATE TABLE task_files (
  task INTEGER NOT NULL REFERENCES tasks (seq),
  path TEXT NOT NULL,
  PRIMARY KEY (task, path)
) STRICT, WITHOUT ROWID

table task_wip task_wip
CREATE TABLE task_wip (
  task INTEGER PRIMARY KEY REFERENCES tasks (seq),
  data TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT

table task_wip_changes task_wip_changes
CREATE TABLE task_wip_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  path TEXT NOT NULL,
  before TEXT,
  after TEXT
) STRICT

table tasks tasks
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
) STRICT

table terms terms
CREATE TABLE terms (
  id INTEGER PRIMARY KEY,
  term TEXT NOT NULL UNIQUE,
  df INTEGER NOT NULL DEFAULT 0,
  share REAL,
  postings BLOB
) STRICT

table tool_calls tool_calls
CREATE TABLE tool_calls (
  session_id TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, tool_use_id)
) STRICT, WITHOUT ROWID

table transcripts transcripts
CREATE TABLE transcripts (
  session_id TEXT NOT NULL,
  -- '' for the main agent; sub-agents have files of their own.
  agent_id TEXT NOT NULL,
  path TEXT NOT NULL,
  -- In bytes: everything before it was read.
  offset INTEGER NOT NULL,
  -- Calls before this time are not ours: a fork's transcript begins with its parent's calls.
  since TEXT NOT NULL,
  -- Who tells of tool calls: '' not known yet, 'server' the running MCP server, 'process' a process for each call, which misses none.
  told_by TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID

table triggers triggers
CREATE TABLE triggers (
  stem TEXT NOT NULL,
  skill INTEGER NOT NULL,
  kind TEXT NOT NULL,
  phrase TEXT NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY (stem, skill, kind, phrase)
) STRICT, WITHOUT ROWID

table wip_changes wip_changes
CREATE TABLE wip_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  path TEXT NOT NULL,
  before TEXT,
  after TEXT
) STRICT`;
