/** The spool, for hook.cjs: loaded when the store cannot be written, and when there is something to read in. */
export { connectToRead, openBlind, standInAfter } from "../store/sqlite/spool/stand-in.ts";
export { takeInOrStandIn } from "../store/sqlite/spool/take-in.ts";
