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

export interface BoardCard {
  id: string;
  title: string;
  type: string;
  priority: string;
  story_id?: string;
  epic_id?: string;
  waiting?: true;
  note?: string;
  agent?: string;
  lease_until?: Date;
  updated_at: Date;
}

export const COLUMNS = ["todo", "in_progress", "review", "blocked", "done"] as const;
export type Column = (typeof COLUMNS)[number];

export interface BoardView {
  project: string;
  counts: Record<string, number>;
  columns: { status: Column; total: number; tasks: BoardCard[] }[];
  groups: { id: string; kind: "epic" | "story"; title: string; status: string; epic_id?: string }[];
  left: { id: string; title: string; agent: string; last_seen_at: Date }[];
}
