/** Documents that a sub-agent must read, for hook.cjs: loaded when a call names some, and for the sub-agents that have some. */
import { existsSync } from "node:fs";
import { readSendBack } from "../engine/artifacts/hook-artifact-settings.ts";
import {
  addDocuments,
  expectFromPrompt,
  judgeReader,
  noteSeen,
  type ReaderParts,
} from "../engine/artifacts/watch-reader.ts";
import type { HookAnswer } from "../engine/hook-event.ts";
import { placeReader } from "../store/sqlite/artifact-observations.ts";
import { text } from "./claude-code/fields.ts";
import { readClaudeObservation, readShellOutput } from "./claude-code/observation.ts";
import type { ClaudeBase } from "./claude-code/prompt-event.ts";
import { startedBy } from "./claude-code/started-by.ts";
import { findFeatureBlock, roleOf } from "./find-feature-block.ts";
import type { HookPlace } from "./hook-place.ts";

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
  const role = { ...call, agentType: roleOf(call.agentType) };
  if (block === undefined || !addDocuments(block, role, place)) return {};
  return { prompt: `${given ?? call.prompt}\n\n${block}` };
}

function hasRoleMap({ state }: HookPlace): boolean {
  return existsSync(`${state}/artifacts.json`);
}

export function noteShown(payload: Fields, base: ClaudeBase, place: HookPlace): void {
  const observation = () => {
    if (!place.adapter) return readClaudeObservation(payload);
    const shown = place.adapter.shown?.(payload);
    return shown && readShellOutput(shown.command, shown.output);
  };
  noteSeen(base, { observation, cwd: base.cwd }, readerParts(payload, base, place));
}

/** A client whose call says which agent it has started. */
export function placeChild(
  { sessionId, childId, toolUseId }: { sessionId: string; childId: string; toolUseId: string },
  { handle, now }: HookPlace,
): void {
  placeReader(handle, { sessionId, agentId: childId }, { toolUseId, agentType: "", at: now });
}

export function judgeEnd(payload: Fields, base: ClaudeBase, place: HookPlace): HookAnswer {
  const { root, configFiles } = place;
  const end = { root, answer: text(payload["last_assistant_message"]), sendBack: () => readSendBack(configFiles()) };
  const sendBack = judgeReader(base, end, readerParts(payload, base, place));
  return sendBack === undefined ? {} : { sendBack };
}

function readerParts(payload: Fields, { agentId }: ClaudeBase, { handle, now, adapter }: HookPlace): ReaderParts {
  return {
    handle,
    agentType: text(payload["agent_type"]) ?? "",
    startedBy: () => (adapter ? undefined : startedBy(payload["transcript_path"], agentId)),
    now,
  };
}
