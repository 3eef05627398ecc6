/**
 * Sends the outbox to the shared store, in order. Each entry arrives once, however often this process or the server is killed in between:
 * the server saves its token together with its change, and only then does it leave the outbox.
 */
import { randomUUID } from "node:crypto";
import { applyEntries, type Renamed } from "../../store/postgres/apply-entries.ts";
import { SESSION } from "../../store/postgres/pull-work.ts";
import type { Server } from "../../store/postgres/server.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import {
  acknowledge,
  nameOutbox,
  type OutboxEntry,
  readOutbox,
  readSnapshotState,
  type Stale,
} from "../../store/sqlite/outbox/outbox.ts";

export interface Forwarded {
  /** How many entries left the outbox. */
  sent: number;
  /** How many of them were refused. */
  conflicts: number;
  renamed: Renamed[];
}

/** Entries per transaction on the server. Other machines wait for each transaction. */
const BATCH = 100;

/** Faults of the server are thrown; what was not sent stays in the outbox. */
export async function forwardOutbox(server: Server, handle: StoreHandle): Promise<Forwarded> {
  const done: Forwarded = { sent: 0, conflicts: 0, renamed: [] };
  for (;;) {
    const read = readOutbox(handle, { limit: BATCH + 1 });
    if (read.length === 0) return done;
    const entries = read.slice(0, BATCH);
    const last = entries.at(-1)?.seq ?? 0;
    const { conflicts, lastConflict, renamed } = await applyEntries(server, {
      outbox: nameOf(handle),
      entries,
      hasMore: read.length > BATCH,
      lastConflict: readSnapshotState(handle).lastConflict,
      now: new Date(),
    });
    const refused = new Set(conflicts.map(({ token }) => token));
    acknowledge(handle, { applied: last, conflicts, lastConflict, stale: staleAfter(entries, refused) });
    done.sent += entries.length;
    done.conflicts += conflicts.length;
    done.renamed.push(...renamed);
  }
}

/** The name under which the server stores its state of this outbox. */
export function nameOf(handle: StoreHandle): string {
  return readSnapshotState(handle).outbox ?? nameOutbox(handle, randomUUID());
}

/** What to read again: the applied entries may have had another result there, because the shared store had another state before. */
function staleAfter(entries: readonly OutboxEntry[], refused: ReadonlySet<string>): Stale {
  const stale = new Set<string>();
  for (const { token, op, args, taskId } of entries) {
    if (op === "call") return "all";
    if (op === "tool" && (refused.has(token) || args.holder !== undefined)) stale.add(args.taskId);
    if (taskId !== undefined && refused.has(token)) stale.add(taskId);
    if (op === "take-over") for (const { taskId: id } of [...args.free, ...args.move]) stale.add(id);
    if (op === "fork") for (const { sessionId } of [args.from, args.to]) stale.add(SESSION + sessionId);
    if (op === "take-back" || op === "regain" || op === "let-go" || op === "bind") stale.add(SESSION + args.sessionId);
  }
  return [...stale];
}
