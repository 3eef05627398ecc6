/** The library's main entry. */
export { type FaultCode, HaversackError } from "./base/errors.ts";
export type { Activity, ActivityPage, ActivityQuery, NewActivity, WorkStore } from "./store/work-store.ts";
export { estimateTokens } from "./tokens/estimate.ts";
export const version: string = __VERSION__;
