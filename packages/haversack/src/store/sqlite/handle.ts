/** An open store. How faults are told and versions are checked comes with it: the hook does both with less. */
import type { DatabaseSync } from "node:sqlite";

export interface StoreHandle {
  readonly file: string;
  readonly db: DatabaseSync;
  readonly isReadOnly: boolean;
  /** Runs an access to the store and turns what SQLite throws into the store's faults. */
  guard<T>(action: () => T): T;
  /** Called under the write lock: throws when the schema has become one that this program may not write. */
  checkVersion(): void;
}
