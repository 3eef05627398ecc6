/** How far the local snapshot of shared work is behind, for status and doctor. Asks no server and loads no driver. */
import { readStore, type StoreHandle } from "../../store/sqlite/access.ts";
import { isSnapshotOf, readSharedMark } from "../../store/sqlite/meta.ts";
import { readSnapshotState, type SnapshotState } from "../../store/sqlite/outbox/outbox.ts";

export interface TeamState extends Pick<SnapshotState, "backlog" | "conflicts" | "takenAt" | "offline"> {
  /** The shared store's address, without a password. */
  shared: string;
  /** Whether this is the state of the store at the address with this key. */
  isOf(key: string): boolean;
}

/** Undefined: the work of this store is its own. */
export function teamState(handle: StoreHandle): TeamState | undefined {
  const mark = readStore(handle, readSharedMark);
  if (!mark) return undefined;
  const { backlog, conflicts, takenAt, offline } = readSnapshotState(handle);
  const isOf = (key: string) => isSnapshotOf(mark, key);
  return { shared: mark.shown, isOf, backlog, conflicts, ...(takenAt && { takenAt }), ...(offline && { offline }) };
}

/** After a failed attempt to connect, no other is made for this long at most. */
export const MOST_OFFLINE_MS = 30_000;

/** The server did not answer a moment ago. A time further ahead was noted before the clock was set back. */
export function isOffline({ offline }: Pick<TeamState, "offline">, now: number): boolean {
  const leftMs = offline ? offline.until.getTime() - now : 0;
  return leftMs > 0 && leftMs <= MOST_OFFLINE_MS;
}

/** How old the snapshot of a long-lived process may be. */
const SNAPSHOT_MS = 10_000;

/** Whether a long-lived process should send what waits and read what is new. */
export function isDue(team: TeamState, now: number): boolean {
  if (isOffline(team, now)) return false;
  return team.backlog.count > 0 || !team.takenAt || Math.abs(now - team.takenAt.getTime()) > SNAPSHOT_MS;
}

/** snake_case, for JSON. */
export function viewTeam({ shared, backlog, conflicts, takenAt, offline }: TeamState): object {
  return {
    address: shared,
    ...(takenAt && { snapshot_at: takenAt }),
    ...(offline && { offline_since: offline.since }),
    waiting: backlog.count,
    ...(backlog.oldest && { waiting_since: backlog.oldest }),
    conflicts,
  };
}

/** `snapshot 3 min old; 12 changes wait to be sent, the first since 09:10 UTC; 2 conflicts` */
export function describeTeam({ backlog, conflicts, takenAt, offline }: TeamState, now: Date): string {
  const parts = [takenAt ? `snapshot ${ageOf(takenAt, now)} old` : "no snapshot yet"];
  if (offline) parts.push(`offline for ${ageOf(offline.since, now)}`);
  if (backlog.count > 0) {
    const since = backlog.oldest ? `, the first for ${ageOf(backlog.oldest, now)}` : "";
    parts.push(`${changesWait(backlog.count)} to be sent${since}`);
  }
  if (conflicts > 0) parts.push(`${conflicts} ${conflicts === 1 ? "conflict" : "conflicts"}`);
  return parts.join("; ");
}

function ageOf(at: Date, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

export function changesWait(count: number): string {
  return `${count} ${count === 1 ? "change waits" : "changes wait"}`;
}
