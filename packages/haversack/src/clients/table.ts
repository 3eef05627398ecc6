/** Every client that `init` can wire. */
import type { Client } from "../engine/wiring.ts";
import { claudeCode } from "./claude-code/wiring.ts";
import { codex } from "./codex/wiring.ts";
import { gemini } from "./gemini/wiring.ts";
import { opencode } from "./opencode/wiring.ts";

export const CLIENTS: readonly Client[] = [claudeCode, codex, gemini, opencode];
