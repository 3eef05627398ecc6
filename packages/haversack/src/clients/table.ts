/** Every client that `init` can wire. */
import type { Client } from "../engine/wiring.ts";
import { claudeCode } from "./claude-code/wiring.ts";

export const CLIENTS: readonly Client[] = [claudeCode];
