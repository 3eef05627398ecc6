/** A tool output that is kept outside the window. */

/** An output without its text. */
export interface OutputFacts {
  handle: string;
  at: Date;
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  /** The command, the tool or the file that it came from. */
  source: string;
  lines: number;
  chars: number;
}

export interface NewOutput extends Omit<OutputFacts, "handle"> {
  text: string;
  hash: string;
}

export interface OutputLimits {
  keepDays: number;
  maxBytes: number;
}
