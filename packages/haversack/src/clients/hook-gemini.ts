/** Gemini CLI, for hook.cjs. */
import { parentProcess } from "./claude-code/client-process.ts";
import { formatGeminiAnswer } from "./gemini/answer.ts";
import { readGeminiEvent } from "./gemini/events.ts";
import { geminiProfile } from "./gemini/profile.ts";
import { readGeminiBase, readGeminiPrompt } from "./gemini/prompt-event.ts";
import { geminiStartBefore } from "./gemini/start-before.ts";
import { readGeminiTool } from "./gemini/tool-event.ts";
import { hasGeminiAnswer } from "./gemini/transcript.ts";
import type { HookAdapter } from "./hook-adapter.ts";

export const adapter: HookAdapter = {
  client: "gemini",
  base: readGeminiBase,
  prompt(payload) {
    const prompt = readGeminiPrompt(payload);
    return prompt === undefined ? undefined : { prompt };
  },
  tool: readGeminiTool,
  event: readGeminiEvent,
  startBefore: geminiStartBefore,
  hasAnswered: (payload) => hasGeminiAnswer(payload["transcript_path"]),
  answer: formatGeminiAnswer,
  profile: geminiProfile,
  // Mostly the shell that the client starts gives its place to the hook (`exec`), and the parent is the client itself (seen in 0.61.0).
  process: () => parentProcess(),
  talking: ["BeforeAgent", "AfterTool"],
};
