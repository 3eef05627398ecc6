/**
 * Work state as records: what an export holds, one line of JSON each, and what an import takes. Times are ISO text, absent fields
 * are absent, keys and lines come in one fixed order, so that two exports of the same state are the same bytes and two
 * branches differ only in the lines that changed.
 */
import type { TaskFieldRecord } from "../work/task.ts";

export type WorkRecord =
  | EpicRecord
  | StoryRecord
  | TaskRecord
  | DependencyRecord
  | BlockerRecord
  | FailureRecord
  | HandoffRecord
  | AgentRecord
  | MessageRecord
  | SkillUseRecord
  | ActivityRecord;

export interface EpicRecord {
  kind: "epic";
  id: string;
  /** The ids that other clones have for it. */
  aliases?: string[];
  title: string;
  description?: string;
  priority: string;
  status: string;
  source?: string;
  created_at: string;
  updated_at: string;
  completed_at?: string;
}

export interface StoryRecord {
  kind: "story";
  id: string;
  /** The ids that other clones have for it. */
  aliases?: string[];
  epic_id?: string;
  title: string;
  description?: string;
  acceptance_criteria?: string;
  status: string;
  source?: string;
  created_at: string;
  updated_at: string;
  completed_at?: string;
}

export interface TaskRecord extends TaskFieldRecord {
  kind: "task";
  id: string;
  /** The ids that other clones have for it. */
  aliases?: string[];
  title: string;
  type: string;
  status: string;
  priority: string;
  note?: string;
  created_at: string;
  updated_at: string;
  started_at?: string;
  completed_at?: string;
  claim?: {
    agent: string;
    session_id?: string;
    agent_id?: string;
    claimed_at: string;
    heartbeat_at: string;
    lease_until: string;
  };
  /** Who held it last, while it is unfinished: also when the claim has ended. */
  last_holder?: {
    agent: string;
    session_id?: string;
    agent_id?: string;
    client?: string;
    worktree?: string;
    branch?: string;
    claimed_at: string;
    last_seen_at: string;
    ended_as?: string;
    ended_at?: string;
  };
  wip?: Record<string, unknown>;
  wip_updated_at?: string;
  wip_history?: { at: string; actor: string; path: string; before?: unknown; after?: unknown }[];
}

export interface DependencyRecord {
  kind: "dependency";
  task_id: string;
  depends_on_id: string;
  type: string;
  created_at: string;
}

export interface BlockerRecord {
  kind: "blocker";
  task_id: string;
  reason: string;
  actor: string;
  created_at: string;
  resolved_at?: string;
  resolved_by?: string;
}

export interface FailureRecord {
  kind: "failure";
  task_id: string;
  actor: string;
  created_at: string;
  summary: string;
  details?: string;
}

export interface HandoffRecord {
  kind: "handoff";
  id: string;
  /** The ids that other clones have for it. */
  aliases?: string[];
  task_id: string;
  role: string;
  attempt: number;
  status: string;
  summary: string;
  files_changed?: string[];
  details?: string;
  actor: string;
  created_at: string;
  compacted_at?: string;
  archived_at?: string;
}

/** Known by its name and branch: it has no id. */
export interface AgentRecord {
  kind: "agent";
  name: string;
  branch?: string;
  role: string;
  client?: string;
  session_id?: string;
  worktree?: string;
  created_at: string;
  last_seen_at?: string;
  removed_at?: string;
}

export interface MessageRecord {
  kind: "message";
  id: string;
  /** The ids that other clones have for it. */
  aliases?: string[];
  from: string;
  text: string;
  subject?: string;
  created_at: string;
  /** By name and branch. */
  readers?: MessageReader[];
}

export interface MessageReader {
  agent: string;
  branch?: string;
  is_mention: boolean;
  read_at?: string;
}

/** Which version of a skill an agent worked with; the text itself stays in the index of its machine. */
export interface SkillUseRecord {
  kind: "skill_use";
  at: string;
  agent: string;
  task_id?: string;
  skill: string;
  hash: string;
  because: string;
}

export interface ActivityRecord {
  kind: "activity";
  at: string;
  actor: string;
  activity: string;
  subject?: string;
  text: string;
}

export interface ImportOptions {
  /** Only report. */
  isDryRun?: boolean;
}

export interface ImportReport {
  added: Record<WorkRecord["kind"], number>;
  /** There already, and the same. */
  same: number;
  /** There already and older than what came: replaced. */
  updated: { id: string; fields: string[] }[];
  /** There already and newer: kept. */
  kept: { id: string; fields: string[] }[];
  /** The same id for two different things: what came has a new one, and the old one is its alias. */
  renamed: { from: string; to: string }[];
  /** There already under another id, which another clone gave it: what came has an id that is now its alias. */
  recognized: { from: string; to: string }[];
  /** What could not be taken over, and why. */
  problems: { where: string; text: string }[];
}
