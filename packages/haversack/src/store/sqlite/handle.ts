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
  /** What takes the place of a write that failed with this error; undefined: nothing does, and it is a fault. */
  standInFor?(error: unknown): StandIn | undefined;
  /** Present from then on: all later writes of this handle go there, so that their order stays. */
  standIn?: StandIn;
}

/** Takes the writes of a process that cannot write: into the spool where there is one, and into tables that only it reads. */
export interface StandIn {
  /** Nothing of the store could be read: what depends on its content has to be decided later. */
  readonly isBlind: boolean;
  /** false: the store cannot be written by this user, or the disk is full. What is written is forgotten with this process. */
  readonly isKept: boolean;
  write<T>(change: (db: DatabaseSync) => T, entry: (result: T) => SpoolEntry | undefined): T;
}
