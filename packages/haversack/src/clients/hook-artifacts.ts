/** Documents that a sub-agent must read, for hook.cjs: loaded when a call names some, and for the sub-agents that have some. */
import { existsSync } from "node:fs";
import { readSendBack } from "../engine/artifacts/hook-artifact-settings.ts";
import { expectFromPrompt, judgeReader, noteSeen, type ReaderParts } from "../engine/artifacts/watch-reader.ts";
import type { HookAnswer } from "../engine/hook-event.ts";
import { text } from "./claude-code/events.ts";
import { readClaudeObservation } from "./claude-code/observation.ts";
import type { ClaudeBase } from "./claude-code/prompt-event.ts";
import { startedBy } from "./claude-code/started-by.ts";
import { findFeatureBlock } from "./find-feature-block.ts";
import type { HookPlace } from "./hook-session.ts";

type Fields = Record<string, unknown>;

/** `given`: the prompt as it will be, where something was added to it already. */
export function noteSpawn(
  call: ClaudeBase & { toolUseId: string; agentType: string; prompt: string },
  given: string | undefined,
  place: HookPlace,
): HookAnswer {
  if (expectFromPrompt(call.prompt, call, place)) return {};
  const block = hasRoleMap(place) ? findFeatureBlock({ ...call, ...place }) : undefined;
  // A block in which nothing can be read helps nobody.
  if (block === undefined || !expectFromPrompt(block, call, place)) return {};
  return { prompt: `${given ?? call.prompt}\n\n${block}` };
}

function hasRoleMap({ state }: HookPlace): boolean {
  return existsSync(`${state}/artifacts.json`);
}

export function noteShown(payload: Fields, base: ClaudeBase, place: HookPlace): void {
  const observation = () => readClaudeObservation(payload);
  noteSeen(base, { observation, cwd: base.cwd }, readerParts(payload, base, place));
}

export function judgeEnd(payload: Fields, base: ClaudeBase, place: HookPlace): HookAnswer {
  const { root, configFiles } = place;
  const end = { root, answer: text(payload["last_assistant_message"]), sendBack: () => readSendBack(configFiles()) };
  const sendBack = judgeReader(base, end, readerParts(payload, base, place));
  return sendBack === undefined ? {} : { sendBack };
}

function readerParts(payload: Fields, { agentId }: ClaudeBase, { handle, now }: HookPlace): ReaderParts {
  return {
    handle,
    agentType: text(payload["agent_type"]) ?? "",
    startedBy: () => startedBy(payload["transcript_path"], agentId),
    now,
  };
}
