/**
 * The half of the store that a team can share: tasks, claims, handoffs, messages, activity. Whole operations only, each
 * one atomic and, once its promise is fulfilled, saved for good. No caller ever holds a transaction, so a server
 * behind a network can implement it. Times come in as arguments.
 */
export interface WorkStore {
  /** Append-only. The id grows with every record. */
  recordActivity(activity: NewActivity): Promise<{ id: number }>;
  /** Newest first. */
  listActivity(query: ActivityQuery): Promise<ActivityPage>;
}

export interface NewActivity {
  at: Date;
  /** Who did it: an agent, a person, `haversack`. */
  actor: string;
  /** A short kebab-case word, such as `task-claimed`. */
  kind: string;
  /** The id of what it is about, when it is about one thing. */
  subject?: string;
  /** One line for people. Already masked by the caller. */
  text: string;
}

export interface Activity extends NewActivity {
  id: number;
}

export interface ActivityQuery {
  limit: number;
  /** Only records older than this one: the next page. */
  beforeId?: number;
  kind?: string;
  subject?: string;
}

export interface ActivityPage {
  activity: Activity[];
  /** Set when there is more: pass it as `beforeId`. */
  nextBeforeId?: number;
}
