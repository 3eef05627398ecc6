/** A prompt, for hook.cjs: what the model receives with it. A sub-agent's prompt is answered with the call that starts it. */
import { mayHoldSecret } from "../base/may-hold-secret.ts";
import { readHead } from "../base/read-head.ts";
import { type DiscoverInput, discover } from "../engine/discover.ts";
import type { HookAnswer } from "../engine/hook-event.ts";
import type { BeforeSpawn } from "../engine/work/sub-agent.ts";
import { profileForAgent } from "../skills/activation.ts";
import { PromptIndex } from "../store/sqlite/prompt-index.ts";
import { agentOfCall, PromptLedger } from "../store/sqlite/prompt-ledger.ts";
import { type ClaudeBase, readClaudePrompt } from "./claude-code/prompt-event.ts";
import type { HookPlace } from "./hook-place.ts";

export function answerPrompt(payload: Record<string, unknown>, base: ClaudeBase, place: HookPlace): HookAnswer {
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
  return answerWith(
    new PromptLedger(place.handle),
    { ...base, client: place.client(), prompt, ...(typeof promptId === "string" && { promptId }) },
    place,
  );
}

/** Recorded under the call: which agent it starts is known later, and then its window is found by the call. */
export function skillsForAgent(start: BeforeSpawn, place: HookPlace): string {
  const { sessionId, cwd, prompt, toolUseId, agentType, client } = start;
  const agentId = agentOfCall(toolUseId);
  const input = { sessionId, agentId, cwd, prompt, client: profileForAgent(client, agentType) };
  return answerWith(new PromptLedger(place.handle), input, place).context ?? "";
}

function answerWith(
  ledger: PromptLedger,
  input: Omit<DiscoverInput, "root" | "at" | "env">,
  place: HookPlace,
): HookAnswer {
  const { root, env, handle, settings } = place;
  const { text, skills, slowPatterns } = discover(
    {
      ...input,
      root,
      at: place.now,
      env,
      readHead: (path) => readHead(path.startsWith("/") ? path : `${root}/${path}`),
    },
    {
      index: new PromptIndex(handle.db),
      ledger,
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
