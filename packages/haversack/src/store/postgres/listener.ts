/**
 * Tells waiting callers that the store has changed, through one connection that listens. It connects at the first request, and again
 * after the connection broke. Taking the next task sends no notice, because notices make commits wait for one another, so claims are
 * polled.
 */
import type { Connection } from "./connection.ts";
import type { Server } from "./server.ts";

/** How often it looks for claims while somebody asks. */
const LOOK_MS = 2000;
const AGAIN_MS = 1000;

export class Listener {
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  #count = 0;
  #last: unknown;
  #db: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isClosed = false;

  constructor(server: Server) {
    this.#server = server;
  }

  /** A different value after every reported change. */
  get mark(): string {
    this.#start();
    return String(this.#count);
  }

  /** Resolves when the mark differs from this one, or after the timeout. */
  async wait(mark: string, timeoutMs: number): Promise<void> {
    if (this.mark !== mark || this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      this.#waiting.add(end);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#tell();
    await this.#db?.close();
  }

  #start(): void {
    if (this.#isStarted || this.#isClosed) return;
    this.#isStarted = true;
    void this.#listen();
  }

  async #listen(): Promise<void> {
    try {
      const db = await this.#server.connection();
      this.#db = db;
      db.client.unref();
      db.client.on("notification", () => this.#tell());
      await db.exec(`LISTEN ${this.#server.place.schema}`);
      // Something may have changed meanwhile.
      this.#tell();
      await this.#look(db);
    } catch {
      this.#again(AGAIN_MS, () => this.#listen());
    }
  }

  async #look(db: Connection): Promise<void> {
    const [row] = await db.query("SELECT max(id) AS last FROM activity");
    const last = row?.["last"];
    if (this.#last !== undefined && last !== this.#last) this.#tell();
    this.#last = last;
    this.#again(LOOK_MS, () => this.#look(db));
  }

  #again(ms: number, action: () => Promise<void>): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      action().catch(() => {
        this.#db?.drop();
        this.#tell();
        this.#again(AGAIN_MS, () => this.#listen());
      });
    }, ms).unref();
  }

  #tell(): void {
    this.#count++;
    for (const end of [...this.#waiting]) end();
  }
}
