/** An open store. How faults are told and versions are checked comes with it: the hook does both with less. */
import type { DatabaseSync } from "node:sqlite";
import type { SpoolEntry } from "./spool/spool-entry.ts";

export interface StoreHandle {
  readonly file: string;
  readonly db: DatabaseSync;
  readonly isReadOnly: boolean;
  /** Runs an access to the store and turns what SQLite throws into the store's faults. */
  guard<T>(action: () => T): T;
  /** Called under the write lock: throws when the schema has become one that this program may not write. */
  checkVersion(): void;
  /** Called when the write lock cannot be had in time. Absent: that is a fault. */
  whenLocked?(): StandIn;
  /** Present from then on: all later writes of this handle go there, so that their order stays. */
  standIn?: StandIn;
}

/** Takes the writes of a process that cannot get the lock: into the spool, and into tables that only this process reads. */
export interface StandIn {
  /** Nothing of the store could be read: what depends on its content has to be decided later. */
  readonly isBlind: boolean;
  write<T>(change: (db: DatabaseSync) => T, entry: (result: T) => SpoolEntry | undefined): T;
}
