/** What this driver uses of `pg`. */
declare module "pg" {
  export interface QueryResult {
    rows: Record<string, string | number | null>[];
    rowCount: number | null;
  }
  export interface ClientConfig {
    host?: string;
    port?: number;
    user?: string;
    password?: string | (() => string);
    database?: string;
    ssl?: false | object;
    application_name?: string;
    connectionTimeoutMillis?: number;
    keepAlive?: boolean;
    options?: string;
    types?: { getTypeParser(oid: number): (text: string) => unknown };
  }
  export class Client {
    constructor(config: ClientConfig);
    connect(): Promise<void>;
    end(): Promise<void>;
    ref(): void;
    unref(): void;
    query(text: string): Promise<QueryResult | QueryResult[]>;
    query(statement: { name?: string; text: string; values?: readonly unknown[] }): Promise<QueryResult>;
    on(event: "error" | "end", listener: (error?: Error) => void): void;
    on(event: "notification", listener: (message: { channel: string; payload?: string }) => void): void;
    connection: { stream: { destroy(): void; unref?(): void } };
  }
  const pg: { Client: typeof Client };
  export default pg;
}
