/** A prompt, for hook.cjs: what the model receives with it. */
import { mayHoldSecret } from "../base/may-hold-secret.ts";
import { readHead } from "../base/read-head.ts";
import { discover } from "../engine/discover.ts";
import type { HookAnswer } from "../engine/hook-event.ts";
import { PromptIndex } from "../store/sqlite/prompt-index.ts";
import { PromptLedger } from "../store/sqlite/prompt-ledger.ts";
import { type ClaudeBase, readClaudePrompt } from "./claude-code/prompt-event.ts";
import type { HookPlace } from "./hook-place.ts";

export function answerPrompt(payload: Record<string, unknown>, base: ClaudeBase, place: HookPlace): HookAnswer {
  const { root, env, handle, settings } = place;
  const { adapter } = place;
  const asked = adapter
    ? adapter.prompt(payload)
    : { prompt: readClaudePrompt(payload), promptId: payload["prompt_id"] };
  const prompt = asked?.prompt;
  if (!prompt) return {};
  // `/name` is Claude Code's own way to load a skill: it brings the body itself.
  if (!adapter && prompt.startsWith("/"))
    (require("./hook-session.cjs") as typeof import("./hook-session.ts")).noteCommand(prompt, base, place);
  const promptId = asked.promptId;
  const { text, skills, slowPatterns } = discover(
    {
      ...base,
      root,
      client: place.client(),
      prompt,
      ...(typeof promptId === "string" && { promptId }),
      at: place.now,
      env,
      readHead: (path) => readHead(path.startsWith("/") ? path : `${root}/${path}`),
    },
    {
      index: new PromptIndex(handle.db),
      ledger: new PromptLedger(handle),
      settings: settings(),
      // Most projects have no rules, and most prompts no secrets: what deals with them is loaded when it is needed.
      matchRules: (input, index) =>
        (require("./hook-rules.cjs") as typeof import("./hook-rules.ts")).matchRules(input, index),
      maskSecrets: (found) => (mayHoldSecret(found) ? place.log().maskSecrets(found) : found),
    },
  );
  for (const source of slowPatterns) {
    place.log().logLine(place.state, "warn", `the pattern /${source}/ took too long and is left out from now on`);
  }
  return { considered: skills.length, ...(text && { context: text }) };
}
