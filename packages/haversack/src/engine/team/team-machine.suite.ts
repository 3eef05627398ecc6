/** A machine of a team: a local store that is a snapshot, its hooks, and its way to the shared store, which can be cut. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WORK_TABLES } from "../../store/postgres/copy-work.ts";
import { readPlace } from "../../store/postgres/place.ts";
import type { ServerOptions } from "../../store/postgres/server.ts";
import { Server } from "../../store/postgres/server.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { writeSharedMark } from "../../store/sqlite/meta.ts";
import { openDatabase } from "../../store/sqlite/open.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { mergeWip } from "../../work/wip/merge-wip.ts";
import type { WipPatch } from "../../work/wip/wip.ts";
import { openTeamStore, type TeamStore } from "./team-store.ts";

export const LEASE_MS = 30 * 60_000;

export interface Machine {
  folder: string;
  handle: StoreHandle;
  /** Reaches the server. */
  online: TeamStore;
  /** Does not. */
  offline: TeamStore;
  notes: string[];
  /** A hook after a tool call. */
  tool(session: string, patch: WipPatch, at?: Date): void;
  close(): Promise<void>;
}

/** `fill` makes the store's file. Default: an empty store. */
export function openMachine(url: string, server: ServerOptions = {}, fill?: (file: string) => unknown): Machine {
  const folder = mkdtempSync(join(tmpdir(), "haversack-machine-"));
  fill?.(join(folder, "haversack.db"));
  const handle = openDatabase(join(folder, "haversack.db"), { durability: "full" });
  writeSharedMark(handle.db, { id: "test", shown: "the shared store" });
  const notes: string[] = [];
  const note = (text: string) => notes.push(text);
  const online = openTeamStore({ handle, place: readPlace(url), server, note });
  // Nobody listens there.
  const away = readPlace("postgres://nobody@127.0.0.1:1/none?sslmode=disable");
  const offline = openTeamStore({ handle, place: away, note });
  const state = new SessionState(handle);
  return {
    folder,
    handle,
    online,
    offline,
    notes,
    tool: (sessionId, patch, at = new Date()) =>
      state.recordTool({
        sessionId,
        client: "claude-code",
        cwd: "/",
        at,
        patch,
        merge: (current) => mergeWip(current, patch, { at }),
        leaseMs: () => LEASE_MS,
      }),
    close: async () => {
      await Promise.all([online.close(), offline.close()]);
      handle.db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** All rows of the shared tables, on the server and in a snapshot. */
export async function rowsOnServer(url: string): Promise<Record<string, unknown[]>> {
  const server = new Server(readPlace(url));
  try {
    return await server.read(async (db) => {
      const found: Record<string, unknown[]> = {};
      for (const [table, order] of WORK_TABLES)
        found[table] = await db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all();
      return found;
    });
  } finally {
    await server.close();
  }
}

export function rowsOf({ db }: StoreHandle): Record<string, unknown[]> {
  return Object.fromEntries(
    WORK_TABLES.map(([table, order]) => [
      table,
      db
        .prepare(`SELECT * FROM ${table} ORDER BY ${order}`)
        .all()
        .map((row) => ({ ...row })),
    ]),
  );
}
