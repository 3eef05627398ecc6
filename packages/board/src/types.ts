/** What the server answers, as the page uses it. */
export type {
  AuditReport,
  AuditView,
  BoardCard,
  BoardView,
  Column,
  GroupCard,
  GroupsView,
  ProjectView,
  SavingsRow,
} from "../../haversack/src/board-server/board-types.ts";

export interface TaskView {
  id: string;
  title: string;
  status: string;
  task_type?: string;
  priority?: string;
  description?: string;
  acceptance_criteria?: string;
  story_id?: string;
  epic_id?: string;
  skill?: string;
  files?: string[];
  steps?: { text: string; done?: boolean }[];
  waits_for?: Brief[];
  waited_for_by?: Brief[];
  relates_to?: Brief[];
  sub_tasks?: Brief[];
  blockers?: string[];
  note?: string;
  wip?: unknown;
  wip_updated_at?: string;
  claim?: { agent: string; lease_until: string };
  failures?: number;
  handoffs: { id: string; role: string; attempt: number; status: string; summary: string; files_changed?: string[] }[];
  activity: { at: string; actor: string; kind: string; text: string }[];
}

export interface Brief {
  id: string;
  title: string;
  status: string;
}

export interface RunView {
  id: string;
  state: "running" | "ended" | "interrupted";
  client: string;
  machine: string;
  scope: string;
  started_at: string;
  ended_at?: string;
  stopped?: string;
  remedy?: string;
  batch_size: number;
  sessions: number;
  tokens: number;
  cost_usd: number;
  fill?: number;
  tasks: { id: string; title: string; state: string }[];
}

export interface SkillRow {
  id: string;
  name: string;
  description: string;
  source: string;
  shown: number;
  used: number;
  loaded: number;
  tokens: number;
}

export interface Tried {
  text: string;
  tokens: number;
  skills: {
    id: string;
    confidence: number;
    disclosure: string;
    verdict?: string;
    reasons: { feature: string; text: string; strength?: number }[];
  }[];
}

export interface AgentsView {
  agents: {
    name: string;
    role?: string;
    branch?: string;
    client?: string;
    message_count: number;
    messages: { id: string; from: string; text: string; at: string; readAt?: string }[];
  }[];
  claims: { task_id: string; title?: string; agent: string; claimed_at: string; lease_until: string }[];
}
