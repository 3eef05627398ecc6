/** The patterns for secrets: one file for the hook and the commands, loaded when a text may hold one (see scripts/build.mjs). */
export { maskKeys, maskNamed } from "../base/mask/patterns.ts";
