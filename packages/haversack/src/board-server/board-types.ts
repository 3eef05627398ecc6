/** What the board's server and its page agree on. Imports nothing: the page is built without Node's types. */
export interface SkillUseRow {
  id: string;
  shown: number;
  used: number;
  loaded: number;
  tokens: number;
}

export interface SavingsRow {
  session_id: string;
  client: string;
  at: string;
  prompts: number;
  added: number;
  added_cached: number;
  native: number;
  native_cached: number;
}

export interface ProjectView {
  name: string;
  /** The store that the project shares cannot be reached. `waiting`: changes of this machine that are sent later. */
  offline?: { snapshot_at?: Date; waiting: number };
}

export interface BoardCard {
  id: string;
  title: string;
  type: string;
  priority: string;
  story_id?: string;
  epic_id?: string;
  /** The title of its story, or of its epic. */
  group?: string;
  waiting?: true;
  note?: string;
  agent?: string;
  lease_until?: Date;
  updated_at: Date;
}

export const COLUMNS = ["todo", "in_progress", "review", "blocked", "done"] as const;
export type Column = (typeof COLUMNS)[number];

/** An epic or a story with its progress. */
export interface GroupCard {
  id: string;
  kind: "epic" | "story";
  title: string;
  status: string;
  epic_id?: string;
  done: number;
  /** Without archived tasks. */
  total: number;
}

export interface GroupsView {
  groups: GroupCard[];
  /** How many there are. */
  total: number;
}

/** What filled the windows of this project's sessions, from the clients' transcripts. */
export interface AuditView {
  state: "none" | "reading" | "ready" | "failed";
  days: number;
  /** When the reading began or ended. */
  at?: string;
  problem?: string;
  report?: AuditReport;
}

export interface AuditReport {
  files: number;
  bytes: number;
  broken: number;
  sessions: number;
  windows: number;
  compactions: number;
  tokens: number;
  carried: number;
  /** In the order of the report, without empty ones. */
  categories: { key: string; label: string; tokens: number }[];
  /** Tokens of each of `categories`, in their order. */
  by_day: { day: string; tokens: number[] }[];
  wastes: { tokens: number; text: string; remedy: string }[];
  lost: { at: string; session: string; trigger: string; before: number; after: number; what: string }[];
}

export interface BoardView {
  project: string;
  counts: Record<string, number>;
  columns: { status: Column; total: number; tasks: BoardCard[] }[];
  groups: { id: string; kind: "epic" | "story"; title: string; status: string; epic_id?: string }[];
  left: { id: string; title: string; agent: string; last_seen_at: Date }[];
}
