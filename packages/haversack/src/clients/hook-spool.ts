/** The spool, for hook.cjs: loaded when another process holds the store's lock, and when there is something to read in. */
export { openBlind, standInFor } from "../store/sqlite/spool/stand-in.ts";
export { takeInSpool } from "../store/sqlite/spool/take-in.ts";
