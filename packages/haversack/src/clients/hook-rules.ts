/** The rules' half of matching, for hook.cjs. */
export { matchRules } from "../skills/match-rules.ts";
