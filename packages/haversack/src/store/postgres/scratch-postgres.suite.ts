/** A store on the test run's PostgreSQL server, in a schema of its own. */
import { inject } from "vitest";
import { sharedServer } from "../../../../../test/postgres/server.ts";
import { connect } from "./connection.ts";
import { readPlace } from "./place.ts";
import { PostgresWorkStore } from "./postgres-work-store.ts";
import { Server, type ServerOptions } from "./server.ts";

export const server = await sharedServer(inject("postgresFolder"));

/** The address of a project that nobody else uses. */
export function freshUrl(): string {
  const url = new URL(server?.socketUrl ?? "");
  url.searchParams.set("project", `t${process.pid}_${Math.floor(performance.now() * 1000)}_${++count}`);
  return url.href;
}

let count = 0;

export interface Scratch {
  url: string;
  open(options?: ServerOptions): { store: PostgresWorkStore; server: Server };
  /** Removes all rows. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

export function scratch(url = freshUrl()): Scratch {
  const place = readPlace(url);
  const servers: Server[] = [];
  const open = (options: ServerOptions = {}) => {
    const opened = new Server(place, { clock: "caller", connections: 2, ...options });
    servers.push(opened);
    return { store: new PostgresWorkStore(opened), server: opened };
  };
  const closeAll = () => Promise.all(servers.splice(0).map((each) => each.close()));
  return {
    url,
    open,
    empty: async () => {
      await closeAll();
      const db = await connect(place, { timeoutMs: 5000 });
      // Much faster than TRUNCATE, which makes new files.
      await db.exec(`SET session_replication_role = replica; DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '${place.schema}' AND tablename <> 'meta' LOOP
          EXECUTE format('DELETE FROM ${place.schema}.%I', name);
        END LOOP;
        IF FOUND THEN DELETE FROM ${place.schema}.meta WHERE key NOT IN ('version', 'min_reader'); END IF; END $$`);
      await db.close();
    },
    close: async () => {
      await closeAll();
      const db = await connect(place, { timeoutMs: 5000 });
      await db.exec(`DROP SCHEMA IF EXISTS ${place.schema} CASCADE`);
      await db.close();
    },
  };
}
