/** Codex, for hook.cjs. */
import { parentProcess } from "./claude-code/client-process.ts";
import { formatCodexAnswer } from "./codex/answer.ts";
import { readCodexEvent } from "./codex/events.ts";
import { codexProfile } from "./codex/profile.ts";
import { readCodexBase, readCodexPrompt, readCodexPromptId } from "./codex/prompt-event.ts";
import { readCodexOutput } from "./codex/shown-output.ts";
import { readCodexTool } from "./codex/tool-event.ts";
import type { HookAdapter } from "./hook-adapter.ts";

export const adapter: HookAdapter = {
  client: "codex",
  base: readCodexBase,
  prompt(payload) {
    const prompt = readCodexPrompt(payload);
    const promptId = readCodexPromptId(payload);
    return prompt === undefined ? undefined : { prompt, ...(promptId !== undefined && { promptId }) };
  },
  tool: (payload) => readCodexTool(payload),
  shown: (payload) => readCodexOutput(payload),
  event: readCodexEvent,
  answer: formatCodexAnswer,
  profile: codexProfile,
  // Mostly the shell that Codex starts gives its place to the hook (`exec`), and the parent is Codex itself (seen in 0.166.0).
  process: () => parentProcess(),
  talking: ["UserPromptSubmit", "PostToolUse", "Stop"],
};
