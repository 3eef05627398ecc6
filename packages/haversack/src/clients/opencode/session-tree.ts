/**
 * Which session a sub-agent belongs to. In opencode a sub-agent is a session of its own with a parent; for us it is an agent of the
 * topmost session. The client tells of it in `session.created`; of a session from an earlier process it has to be asked.
 */
export interface SessionPlace {
  /** The topmost session. */
  sessionId: string;
  /** "" for the topmost session itself. */
  agentId: string;
}

/** The parent's id; "" for none; undefined: not known. */
export type AskParent = (sessionId: string) => Promise<string | undefined>;

export class SessionTree {
  readonly #parents = new Map<string, string>();
  readonly #askParent: AskParent;

  constructor(askParent: AskParent) {
    this.#askParent = askParent;
  }

  note(sessionId: string, parentId: string | undefined): void {
    this.#parents.set(sessionId, parentId ?? "");
    // Sessions of weeks in one process must not pile up; one that is asked for again is asked of the client.
    if (this.#parents.size > MAX_SESSIONS) this.#parents.delete(this.#parents.keys().next().value!);
  }

  knows(sessionId: string): boolean {
    return this.#parents.has(sessionId);
  }

  async place(sessionId: string): Promise<SessionPlace> {
    let top = sessionId;
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const parent = await this.#parentOf(top);
      if (!parent) break;
      top = parent;
    }
    return { sessionId: top, agentId: top === sessionId ? "" : sessionId };
  }

  async #parentOf(sessionId: string): Promise<string> {
    const known = this.#parents.get(sessionId);
    if (known !== undefined) return known;
    const asked = await this.#askParent(sessionId);
    if (asked !== undefined) this.note(sessionId, asked);
    return asked ?? "";
  }
}

const MAX_SESSIONS = 1_000;
const MAX_DEPTH = 10;
