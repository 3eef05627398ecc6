/** How full a session's window is, from the client's own records. Only reads. Separate from the wiring, so that a list loads little. */
import type { Environment } from "../engine/project.ts";
import type { FilledSession, WindowFill } from "../engine/wiring.ts";
import { claudeFill } from "./claude-code/transcripts.ts";
import { codexFill } from "./codex/rollout.ts";
import { geminiFill } from "./gemini/transcript.ts";
import { opencodeFill } from "./opencode/fill.ts";

const FILLS: Readonly<Record<string, (session: FilledSession, env: Environment) => WindowFill | undefined>> = {
  "claude-code": claudeFill,
  codex: codexFill,
  gemini: geminiFill,
  opencode: opencodeFill,
};

/** Undefined: not known. */
export function windowFill(session: FilledSession & { client: string }, env: Environment): WindowFill | undefined {
  return FILLS[session.client]?.(session, env);
}
