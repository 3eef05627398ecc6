/** Agents by name, and what they say to one another. */

export interface Agent {
  /** Without the @. */
  name: string;
  /** Absent: on every branch. */
  branch?: string;
  role: string;
  client?: string;
  /** The session that it was seen in last. */
  sessionId?: string;
  worktree?: string;
  createdAt: Date;
  lastSeenAt?: Date;
}

export interface Message {
  id: string;
  from: string;
  text: string;
  /** The id of the task, handoff or message it came with. */
  subject?: string;
  at: Date;
  /** Sent to the agent by name, or naming it with an @. */
  isMention: boolean;
  readAt?: Date;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What a name may be: a letter or digit, then those, `.`, `_` and `-`; 64 at most. */
export function isAgentName(name: string): boolean {
  return NAME.test(name);
}
