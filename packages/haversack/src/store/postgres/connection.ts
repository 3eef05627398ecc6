/** One connection to the server, with the statements that the work store's operations use. */
import pg, { type Client, type QueryResult } from "pg";
import { escapeText, restoreText, toPostgres } from "./dialect.ts";
import type { Place } from "./place.ts";

export type SQLInputValue = string | number | bigint | null | NodeJS.ArrayBufferView;
export type SQLOutputValue = string | number | null;

export interface Statement {
  get(...values: SQLInputValue[]): Promise<Record<string, SQLOutputValue> | undefined>;
  all(...values: SQLInputValue[]): Promise<Record<string, SQLOutputValue>[]>;
  run(...values: SQLInputValue[]): Promise<{ changes: number; lastInsertRowid: number }>;
  iterate(...values: SQLInputValue[]): AsyncIterable<Record<string, SQLOutputValue>>;
}

/** A connection in the middle of one operation. Statements are compiled once for each connection. */
export class Connection {
  readonly client: Client;
  /** The connection broke: it cannot be used again. */
  isBroken = false;

  constructor(client: Client) {
    this.client = client;
    client.on("error", () => {
      this.isBroken = true;
    });
    client.on("end", () => {
      this.isBroken = true;
    });
  }

  prepare(sql: string): Statement {
    const { text, numberColumn } = toPostgres(sql);
    const name = nameOf(text);
    const query = (values: SQLInputValue[]) => this.client.query({ name, text, values: values.map(escapeText) });
    return {
      get: async (...values) => (await query(values)).rows[0],
      all: async (...values) => (await query(values)).rows,
      run: async (...values) => {
        const { rows, rowCount } = await query(values);
        return { changes: rowCount ?? 0, lastInsertRowid: Number(rows[0]?.[numberColumn ?? ""] ?? 0) };
      },
      iterate: (...values) => rowsOf(this, text, values),
    };
  }

  /** Statements without parameters, in one message. Returns the rows of the last one that has any. */
  async exec(sql: string): Promise<QueryResult["rows"]> {
    const results = await this.client.query(sql);
    return [results].flat().findLast(({ rows }) => rows.length > 0)?.rows ?? [];
  }

  /** A statement written for PostgreSQL. */
  async query(text: string, ...values: unknown[]): Promise<QueryResult["rows"]> {
    return (await this.client.query({ name: nameOf(text), text, values: values.map(escapeText) })).rows;
  }

  async close(): Promise<void> {
    this.isBroken = true;
    // Keeps the process alive: otherwise it could end while it waits for this.
    this.client.ref();
    await this.client.end().catch(() => undefined);
  }

  /** Without waiting for the server. */
  drop(): void {
    this.isBroken = true;
    this.client.connection.stream.destroy();
  }
}

/** Reads a long result in pieces, inside a transaction: 100,000 tasks need not be in memory at once. */
async function* rowsOf(connection: Connection, text: string, values: SQLInputValue[]) {
  const name = `rows_${++cursors}`;
  await connection.client.query({ text: `DECLARE ${name} NO SCROLL CURSOR FOR ${text}`, values });
  for (;;) {
    const { rows } = await connection.client.query({ text: `FETCH 500 FROM ${name}` });
    yield* rows;
    if (rows.length < 500) break;
  }
  await connection.exec(`CLOSE ${name}`);
}

let cursors = 0;

const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `haversack_${names.size + 1}`;
    names.set(text, name);
  }
  return name;
}

/** `bigint` and floating-point columns become numbers; everything else stays the text that the server sent. */
const NUMBER_TYPES = new Set([20, 21, 23, 700, 701, 1700]);
const types = {
  getTypeParser: (oid: number) => (NUMBER_TYPES.has(oid) ? Number : restoreText),
};

export interface ConnectOptions {
  timeoutMs: number;
}

/** Throws the error of `pg` or of the network. */
export async function connect(place: Place, { timeoutMs }: ConnectOptions): Promise<Connection> {
  let lastError: unknown;
  for (const ssl of place.ssl) {
    const client = new pg.Client({
      ...place.server,
      ssl,
      application_name: "haversack",
      connectionTimeoutMillis: timeoutMs,
      keepAlive: true,
      types,
    });
    const connection = new Connection(client);
    try {
      await client.connect();
      return connection;
    } catch (error) {
      connection.drop();
      lastError = error;
      // As psql does with `prefer`: a server without TLS is asked again without it.
      if (!/does not support SSL/.test(String((error as Error).message))) throw error;
    }
  }
  throw lastError;
}
