/** For hook.cjs where a client's package has started it. */
export { ownWiring } from "./own-wiring.ts";
