/** What `haversack store …` loads: one import for its four jobs. No hook imports this. */
export { type BackupReport, backupStore } from "./backup-store.ts";
export { checkStore, isWriteLocked, type StoreCheck, type StoreFacts } from "./check-store.ts";
export { peekStore, type StorePeek } from "./peek-store.ts";
export { type PurgeReport, purgeStore } from "./purge-store.ts";
export { type RestoreReport, restoreStore } from "./restore-store.ts";
