/**
 * Access to a shared store: connections, transactions, what is tried again, and faults.
 *
 * Changes wait for one another (a lock per project), so the rules that SQLite's single writer relies on hold here too. Taking the next
 * ready task is the exception: see claim-next.ts.
 *
 * A connection may break after the server was told to commit and before it answered. Every change therefore leaves a token in
 * `operations`, and an attempt to make it again first stores that token: if it is there already, the change was made.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { HaversackError, isFault } from "../../base/errors.ts";
import { type Connection, connect } from "./connection.ts";
import { type Migration, migrations } from "./migrations.ts";
import type { Place } from "./place.ts";

export interface ServerOptions {
  /** The most connections at once. Default: 4. */
  connections?: number;
  /** How long to wait for the lock of another change, in milliseconds. Default: 15,000. */
  busyMs?: number;
  /** How long to try again after a connection broke, in milliseconds. Default: 10,000. */
  patienceMs?: number;
  /** How long one attempt to connect may take. Default: 5,000. */
  timeoutMs?: number;
  /** server: all times are the server's. caller: times are those that callers pass, for tests. */
  clock?: "server" | "caller";
  migrations?: readonly Migration[];
  /** Makes and upgrades no tables. Default: false. */
  isLooking?: boolean;
  /** The oldest version of the server, as in `server_version_num`. */
  oldestServer?: number;
}

/** The oldest release that PostgreSQL's makers still supported when this was written. */
const OLDEST_SERVER = 130_000;

export class Server {
  readonly place: Place;
  readonly isServerClock: boolean;
  readonly #options: Required<Omit<ServerOptions, "clock">>;
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  #count = 0;
  #wasReached = false;
  #isPrepared = false;
  #isClosed = false;
  #changes = 0;

  constructor(place: Place, options: ServerOptions = {}) {
    this.place = place;
    this.isServerClock = options.clock !== "caller";
    this.#options = {
      connections: options.connections ?? 4,
      busyMs: options.busyMs ?? 15_000,
      patienceMs: options.patienceMs ?? 10_000,
      timeoutMs: options.timeoutMs ?? 5000,
      migrations: options.migrations ?? migrations,
      isLooking: options.isLooking ?? false,
      oldestServer: options.oldestServer ?? OLDEST_SERVER,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  /** How many changes this process has made. */
  get changes(): number {
    return this.#changes;
  }

  /** The id by which the store is known under every address. */
  async storeId(): Promise<string> {
    return (await this.read((db) => db.query("SELECT value FROM meta WHERE key = 'id'")))[0]?.["value"] as string;
  }

  /** What `store status` tells of the server. */
  async facts(): Promise<ServerFacts> {
    await this.prepare();
    const began = performance.now();
    const rows = await this.read((db) => db.query(FACTS));
    const latencyMs = performance.now() - began;
    const { version, name, schema, role, is_replica, now } = rows[0] ?? {};
    return {
      serverVersion: String(name),
      serverVersionNumber: Number(version),
      schemaVersion: Number(schema),
      knownVersion: this.knownVersion,
      user: String(role),
      isReplica: is_replica === "t" || is_replica === "true",
      latencyMs,
      clockOffsetMs: Date.now() - latencyMs / 2 - Number(now),
    };
  }

  /** Stores the value unless there is one, and returns what is stored. */
  keepFact(key: string, value: string): Promise<string> {
    return this.write(async (db) => {
      await db.query("INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", key, value);
      const [row] = await db.query("SELECT value FROM meta WHERE key = $1", key);
      return String(row?.["value"]);
    });
  }

  /** Reads one state of the store, whatever others write meanwhile. */
  read<T>(read: (db: Connection, start: Start) => Promise<T>): Promise<T> {
    return this.#persist((db) =>
      inTransaction(db, `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; ${START}`, (start) => {
        this.#checkVersion(start);
        return read(db, start);
      }),
    );
  }

  /** One change, made once. `notify`: tell those who wait for work. */
  write<T>(change: (db: Connection, start: Start) => Promise<T>, { notify = true } = {}): Promise<T> {
    const token = randomUUID();
    let made: { result: T } | undefined;
    const begin = `BEGIN; ${LOCK}; INSERT INTO operations (token) VALUES ('${token}'); ${START}`;
    const forget = Math.random() < FORGET_RATE ? FORGET : "";
    const end = `${notify ? `NOTIFY ${this.place.schema};` : ""}${forget} COMMIT`;
    return this.#persist(async (db) => {
      try {
        return await inTransaction(
          db,
          begin,
          async (start) => {
            this.#checkVersion(start);
            const result = await change(db, start);
            made = { result };
            this.#changes++;
            return result;
          },
          end,
        );
      } catch (error) {
        if (made && isRepeated(error)) return made.result;
        throw error;
      }
    });
  }

  /**
   * One statement that is a whole change and leaves the token itself. `isRepeat`: it must do so before anything else, because the first
   * attempt may still be under way. `recover` reads what an earlier attempt did.
   */
  async statement<T>(
    make: (db: Connection, operation: { token: string; isRepeat: boolean }) => Promise<T>,
    recover: (db: Connection, token: string) => Promise<T>,
  ): Promise<T> {
    const token = randomUUID();
    let isRepeat = false;
    return this.#persist(async (db) => {
      this.#changes++;
      try {
        return await make(db, { token, isRepeat });
      } catch (error) {
        if (isRepeated(error)) return recover(db, token);
        isRepeat = true;
        throw error;
      }
    });
  }

  /** A connection of its own, for a long stay. The caller closes it. */
  async connection(): Promise<Connection> {
    return this.#translate(() => this.#connect());
  }

  /** Creates or upgrades the tables. */
  async prepare(): Promise<void> {
    await this.#persist(async () => undefined);
  }

  /** Runs it again after a broken connection, a deadlock or a restart of the server, for as long as the patience lasts. */
  async #persist<T>(action: (db: Connection) => Promise<T>): Promise<T> {
    return this.#translate(async () => {
      let until: number | undefined;
      for (let attempt = 0; ; attempt++) {
        try {
          return await this.#use(action);
        } catch (error) {
          if (isFault(error) || !(isPassing(error) || isCut(error) || (this.#wasReached && isBroken(error))))
            throw error;
          until ??= performance.now() + this.#options.patienceMs;
          if (performance.now() > until) throw error;
          await sleep(Math.min(20 * 2 ** attempt, 400) * (0.5 + Math.random()));
        }
      }
    });
  }

  async #use<T>(action: (db: Connection) => Promise<T>): Promise<T> {
    const db = await this.#take();
    try {
      return await action(db);
    } catch (error) {
      if (isBroken(error)) db.drop();
      throw error;
    } finally {
      this.#giveBack(db);
    }
  }

  async #take(): Promise<Connection> {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle && !idle.isBroken) {
        idle.client.ref();
        return idle;
      }
      if (idle) this.#count--;
      else if (this.#count < this.#options.connections) break;
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#count++;
    try {
      return await this.#connect();
    } catch (error) {
      this.#count--;
      this.#waiting.shift()?.();
      throw error;
    }
  }

  #giveBack(db: Connection): void {
    if (db.isBroken) this.#count--;
    else if (this.#isClosed) void db.close();
    else {
      // An idle connection keeps no process alive.
      db.client.unref();
      this.#idle.push(db);
    }
    this.#waiting.shift()?.();
  }

  async #connect(): Promise<Connection> {
    const { timeoutMs, busyMs } = this.#options;
    const db = await connect(this.place, { timeoutMs });
    this.#wasReached = true;
    try {
      const found = await db.exec(
        `SET search_path TO ${this.place.schema}; SET lock_timeout TO ${busyMs}; SET synchronous_commit TO on; SET jit TO off;
         -- Each statement of a claim must see what was changed before it.
         SET default_transaction_isolation TO 'read committed';
         -- A plan that was made while a table was empty must not read it whole when it is full.
         SET enable_seqscan TO off;
         -- A connection that broke must not stay in the queue for the lock. PostgreSQL 13 does not know this setting.
         SELECT set_config(name, '1000', false) FROM pg_settings WHERE name = 'client_connection_check_interval';
         SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name,
           current_setting('server_encoding') AS encoding`,
      );
      this.#checkServer(found[0] ?? {});
      if (!this.#isPrepared) await this.#migrate(db);
      this.#isPrepared = true;
      return db;
    } catch (error) {
      db.drop();
      throw error;
    }
  }

  #checkServer({ version, name, encoding }: Record<string, unknown>): void {
    const { oldestServer } = this.#options;
    if (Number(version) < oldestServer) {
      const wanted = Math.floor(oldestServer / 10_000);
      throw fault(
        "store-unreadable",
        `${this.place.shown} is PostgreSQL ${name}; Haversack needs ${wanted} or newer`,
        "upgrade the server, or name another",
      );
    }
    if (encoding !== "UTF8") {
      throw fault(
        "store-unreadable",
        `${this.place.shown} stores text as ${encoding}; Haversack needs UTF8`,
        "create the database with `createdb --encoding UTF8`",
      );
    }
  }

  /** Of several that start at once, one makes the tables. */
  async #migrate(db: Connection): Promise<void> {
    const { shown, project } = this.place;
    const known = this.knownVersion;
    for (let attempt = 1; ; attempt++) {
      const stored = await this.#storedVersion(db);
      if (stored && stored.minReader > known) throw tooNew(shown, stored.minReader, known);
      if (stored && (stored.version >= known || this.#options.isLooking)) return;
      if (this.#options.isLooking) {
        const hint = "`haversack store migrate` copies the work there; `haversack store use` starts without work";
        throw fault("not-found", `there is no project ${project} at ${shown}`, hint);
      }
      // Asked first: what an upgrade changes before it needs the owner's rights would fail with another error.
      if (stored && !(await this.#ownsTables(db))) {
        const text = `the tables of ${shown} are of version ${stored.version}, and an upgrade to ${known} needs the owner`;
        throw fault("refused", text, "the owner runs any command with this version of Haversack once");
      }
      try {
        return await this.#upgrade(db, stored !== undefined);
      } catch (error) {
        // Another one has just made the schema or a table.
        if (stored || attempt === 3 || !["23505", "42P06", "42P07"].includes(codeOf(error))) throw error;
      }
    }
  }

  async #ownsTables(db: Connection): Promise<boolean> {
    const sql = "SELECT pg_has_role(relowner, 'USAGE')::text AS owns FROM pg_class WHERE oid = to_regclass($1)";
    const [row] = await db.query(sql, `${this.place.schema}.meta`);
    return row?.["owns"] === "true";
  }

  async #upgrade(db: Connection, isThere: boolean): Promise<void> {
    const { schema, shown } = this.place;
    const known = this.knownVersion;
    // A lock on this project's own table or schema: a shared lock could be held by members of other projects on this server.
    const lock = isThere ? "LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE" : `CREATE SCHEMA IF NOT EXISTS ${schema}`;
    await inTransaction(db, `BEGIN; ${lock}; SELECT 0 AS now`, async () => {
      const before = await this.#storedVersion(db);
      if (before && before.minReader > known) throw tooNew(shown, before.minReader, known);
      let minReader = before?.minReader ?? 0;
      for (const { version, kind, sql } of this.#options.migrations) {
        if (version <= (before?.version ?? 0)) continue;
        await db.exec(sql);
        if (kind === "breaking") minReader = version;
      }
      await db.exec(`INSERT INTO meta VALUES ('version', '${Math.max(known, before?.version ?? 0)}'), ('min_reader', '${minReader}')
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`);
    });
  }

  /** The version up to which this program knows the tables. */
  get knownVersion(): number {
    return this.#options.migrations.at(-1)?.version ?? 0;
  }

  /** Others may have upgraded the tables since this program connected. */
  #checkVersion({ minReader }: Start): void {
    if (minReader > this.knownVersion) throw tooNew(this.place.shown, minReader, this.knownVersion);
  }

  async #storedVersion(db: Connection): Promise<{ version: number; minReader: number } | undefined> {
    const { schema, shown } = this.place;
    const [found] = await db.query(
      "SELECT to_regclass($1)::text AS meta, to_regnamespace($2)::text AS schema",
      `${schema}.meta`,
      schema,
    );
    if (!found?.["meta"]) {
      const [other] = await db.query(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1) LIMIT 1",
        schema,
      );
      if (other) throw fault("store-not-a-database", `the schema ${schema} in ${shown} has tables of another program`);
      return undefined;
    }
    const rows = await db.query("SELECT key, value FROM meta WHERE key IN ('version', 'min_reader')");
    const read = (key: string) => Number(rows.find((row) => row["key"] === key)?.["value"] ?? Number.NaN);
    const [version, minReader] = [read("version"), read("min_reader")];
    if (!Number.isInteger(version) || !Number.isInteger(minReader)) {
      throw fault(
        "store-not-a-database",
        `the schema ${schema} in ${shown} has no version, so it is not a Haversack store`,
      );
    }
    return { version, minReader };
  }

  async #translate<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw serverFault(error, this.place.shown);
    }
  }
}

export interface ServerFacts {
  serverVersion: string;
  serverVersionNumber: number;
  schemaVersion: number;
  knownVersion: number;
  user: string;
  isReplica: boolean;
  /** Of one short transaction. */
  latencyMs: number;
  /** How far this machine's clock is ahead of the server's. */
  clockOffsetMs: number;
}

const FACTS = `SELECT current_setting('server_version_num') AS version, current_setting('server_version') AS name, current_user AS role,
  pg_is_in_recovery() AS is_replica, (SELECT value FROM meta WHERE key = 'version') AS schema,
  floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

/** How often old tokens and changes are removed. */
const FORGET_RATE = 1 / 200;

/** A machine that has not looked for so long reads everything again (LOG_MS in pull-work.ts). */
const FORGET =
  "DELETE FROM operations WHERE at < now() - interval '1 day'; DELETE FROM changes WHERE at < now() - interval '1 day'; DELETE FROM applied_entries WHERE at < now() - interval '90 days';";

/** One change at a time, and no claim of the next task meanwhile. Only members of the project have the right to take it. */
const LOCK = "LOCK TABLE change_lock IN EXCLUSIVE MODE";

/** What is read at the start of every operation, in the same message: the server's time, and whether a claim is over. */
const START = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
  (SELECT value::bigint FROM meta WHERE key = 'clock') AS clock, (SELECT count(*) FROM meta WHERE key = 'clock-doubt') AS doubts,
  (SELECT min(lease_until) FROM claims) AS first_end, (SELECT max(lease_until) FROM claims) AS last_end,
  (SELECT value::bigint FROM meta WHERE key = 'min_reader') AS min_reader`;

export class Start {
  readonly now: Date;
  readonly minReader: number;
  readonly #row: Readonly<Record<string, number | string | null>>;

  constructor(row: Readonly<Record<string, number | string | null>> = {}) {
    this.now = new Date(Number(row["now"]));
    this.minReader = Number(row["min_reader"] ?? 0);
    this.#row = row;
  }

  /** Nothing is to be done about claims and clocks at this time (`settleClaims` in work/claims.ts). */
  isCalm(at: Date): boolean {
    const { clock, doubts, first_end, last_end } = this.#row;
    const time = at.getTime();
    if (typeof clock !== "number" || doubts !== 0 || time > clock + HOUR_MS || time < clock - WEEK_MS) return false;
    if (first_end === null || last_end === null) return true;
    return Number(first_end) > time && Number(last_end) <= time + WEEK_MS;
  }
}

const HOUR_MS = 60 * 60_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

export async function inTransaction<T>(
  db: Connection,
  begin: string,
  action: (start: Start) => Promise<T>,
  end = "COMMIT",
): Promise<T> {
  try {
    const [row] = await db.exec(begin);
    const result = await action(new Start(row));
    await db.exec(end);
    return result;
  } catch (error) {
    if (!db.isBroken && !isBroken(error)) await db.exec("ROLLBACK").catch(() => db.drop());
    throw error;
  }
}

// Errors of the server (five characters, `SQLSTATE`), of the network, and of `pg`.

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? "");
}

/** The token of this change is stored already. */
function isRepeated(error: unknown): boolean {
  return codeOf(error) === "23505" && (error as { constraint?: string }).constraint === "operations_pkey";
}

/** The connection cannot be used again. A server that is going down answers with an error when it is asked for TLS. */
function isBroken(error: unknown): boolean {
  const code = codeOf(error);
  if (/^(08|57P0[1-5])/.test(code)) return true;
  if (/^E[A-Z]+$/.test(code)) return true;
  return /Connection terminated|connection is closed|not queryable|timeout expired|Client was closed|error establishing an SSL connection/i.test(
    String((error as Error)?.message),
  );
}

/** The connection existed and was cut: worth another attempt, even the first time. */
function isCut(error: unknown): boolean {
  return (
    /^(ECONNRESET|EPIPE|57P01|57P02)$/.test(codeOf(error)) ||
    /Connection terminated/.test(String((error as Error)?.message))
  );
}

/** A deadlock or a conflict: the server has undone it. Or the server is starting. */
function isPassing(error: unknown): boolean {
  return ["40001", "40P01", "57P03"].includes(codeOf(error));
}

/** A fault that says only that the server does not answer: it may answer later. */
export function isUnreachable(error: unknown): boolean {
  if (!isFault(error, "store-unreadable")) return false;
  const { cause } = error as Error;
  return cause !== undefined && (isBroken(cause) || isPassing(cause));
}

function tooNew(shown: string, needed: number, known: number): HaversackError {
  return new HaversackError(
    "store-too-new",
    `${shown} was written by a newer Haversack: it needs schema ${needed}, this program knows ${known}`,
    { hint: "update Haversack on this machine; nothing was changed" },
  );
}

type ServerCode =
  | "not-found"
  | "store-unreadable"
  | "store-not-a-database"
  | "store-locked"
  | "store-full"
  | "store-read-only"
  | "refused";

function fault(code: ServerCode, text: string, hint?: string, cause?: unknown): HaversackError {
  return new HaversackError(code, text.replaceAll("\n", " "), { ...(hint !== undefined && { hint }), cause });
}

/** One line for each way in which a server can fail. The texts of `pg` name no password. */
export function serverFault(error: unknown, shown: string): unknown {
  if (isFault(error) || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const text = error.message;
  if (/no pg_hba\.conf entry|pg_hba\.conf rejects/.test(text)) {
    const hint = /no encryption/.test(text)
      ? "the server may want TLS: give `sslmode=require` or stricter"
      : "ask the server's administrator: its pg_hba.conf decides who may connect from where";
    return fault("store-unreadable", `${shown} does not let this user in: ${text}`, hint, error);
  }
  if (/^28/.test(code) || /password must be a/.test(text)) {
    const hint = "give the password in PGPASSWORD or in ~/.pgpass";
    const why = /password must be a/.test(text) ? "no password was given" : text.replace(/^SASL: /, "");
    return fault("store-unreadable", `${shown} refused this user: ${why}`, hint, error);
  }
  if (code === "3D000")
    return fault("store-unreadable", `${shown}: ${text}`, "create the database first: `createdb NAME`", error);
  if (code === "42501")
    return fault("refused", `${shown}: this user may not do that (${text})`, "ask the owner of the database", error);
  if (code === "25006") {
    return fault(
      "store-read-only",
      `${shown} can only be read: it is a replica, or set to read-only`,
      "name the primary server",
      error,
    );
  }
  if (code === "53100")
    return fault(
      "store-full",
      `the disk of ${shown} is full; nothing was saved`,
      "free some space there, then run it again",
      error,
    );
  if (code === "53300")
    return fault(
      "store-locked",
      `${shown} has no free connection (${text})`,
      "try again, or raise max_connections",
      error,
    );
  if (code === "55P03")
    return fault("store-locked", `${shown} is busy: another change holds the lock`, "try again", error);
  if (isBroken(error) || isPassing(error)) {
    return fault(
      "store-unreadable",
      `${shown} cannot be reached: ${text || code}`,
      "check the address, and that the server runs",
      error,
    );
  }
  if (/SSL|certificate/i.test(text)) {
    // Node adds advice about its own options.
    const why = text.replace(/;.*/, "").replace(/: \.?$/, "");
    const hint = /not support SSL/.test(text)
      ? "with `sslmode=prefer` or `disable` the connection is not encrypted"
      : "name the CA's certificate in `sslrootcert`, and use the host name in the server's certificate";
    return fault("store-unreadable", `${shown} cannot be used with this sslmode: ${why}`, hint, error);
  }
  return error;
}
