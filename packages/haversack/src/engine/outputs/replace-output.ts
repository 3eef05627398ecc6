/**
 * Replaces what the model is about to see of a tool's output by a preview, where the user has switched that on. A file's text stays whole
 * when it is read for the first time in a window, because the model may be about to edit it; an unchanged repetition becomes a note.
 * Nothing is replaced unless the whole text has been saved; one with secrets is not, because the store masks them.
 */

import type { Config } from "../../base/config-schema.ts";
import { errorText } from "../../base/errors.ts";
import type { ClientProfile } from "../../skills/showing/activation.ts";
import { SqliteOutputs } from "../../store/sqlite/outputs/sqlite-outputs.ts";
import { noteInjection } from "../../store/sqlite/skills/injections.ts";
import { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import { asksHaversack, showsSource } from "../../work/outputs/stays-whole.ts";
import type { EventAnswer, EventBase, ShownOutput } from "../events/client-event.ts";
import type { EventProject } from "../events/event-project.ts";
import { outputLimits } from "../project.ts";
import { FEWEST_REPLACED_CHARS, hashOf, keepOutput, type RecallWays } from "./kept-outputs.ts";

export function replaceOutput(event: EventBase, output: ShownOutput, project: EventProject): EventAnswer {
  const { handle: store, now, log } = project;
  // If another process holds the lock, or the store cannot be written, the text could not be recalled later.
  if (store.standIn || store.isReadOnly || project.isRehearsal) return {};
  try {
    return replaced(event, output, project);
  } catch (error) {
    log("warn", `a tool output of ${now.toISOString()} stays as it is: ${errorText(error)}`);
    return {};
  }
}

function replaced(event: EventBase, output: ShownOutput, project: EventProject): EventAnswer {
  const { handle: store, now, config } = project;
  const { sessionId, agentId, client } = event;
  const { kind, text, source, exitCode } = output;
  if (text.length > MOST_CHARS || (kind === "command" && asksHaversack(source))) return {};
  const shelf = new SqliteOutputs(store);
  const isRead = kind === "read" || (kind === "command" && showsSource(source));
  const hash = isRead ? hashOf(text) : "";
  const window = isRead ? new SkillLedger(store).tracking(event).window : 0;
  if (isRead && !shelf.noteRead({ sessionId, agentId, source, window, hash, at: now })) return {};
  const kept = keepOutput(
    shelf,
    { text, source, sessionId, agentId, at: now, isCommand: kind === "command", exitCode },
    {
      ...{ limits: outputLimits(config()), ways: (handle) => recallWays(client, handle) },
      maxChars: previewChars(config()),
      // The window still holds what is read again, so nothing is lost if the copy is masked.
      isAllOrNothing: !isRead,
    },
  );
  if (!kept) return {};
  const { handle, chars } = kept;
  const shown = isRead ? unchanged(handle, chars, recallWays(client, handle)) : kept.preview;
  // The lock was lost meanwhile, so the text is not in the store.
  if (store.standIn) return {};
  const because = { kind: "output" as const, handle, source: source.slice(0, 200), chars };
  noteInjection(store, event, { at: now, event: "after-tool", format: "preview", text: shown, because });
  return { output: shown };
}

/** Masking a megabyte takes about half a second, and the client waits. Clients cut outputs long before that. */
const MOST_CHARS = 1_000_000;

function unchanged(handle: string, chars: number, ways: RecallWays): string {
  return `[Haversack: unchanged since it was shown earlier in this conversation; ${chars.toLocaleString("en-US")} characters, kept as ${handle}. Again: ${ways.lines("1-200")}; search: ${ways.find}.]`;
}

/** A third of what is replaced, within reason. */
function previewChars(config: Config): number {
  const over = Math.max(FEWEST_REPLACED_CHARS, config["outputs.replace_over"]);
  return Math.min(LONGEST_PREVIEW, Math.max(SHORTEST_PREVIEW, Math.floor(over / 3)));
}

const SHORTEST_PREVIEW = 1_500;
const LONGEST_PREVIEW = 5_000;

/** Our tool as the client names it, and the command for agents that have only a shell. */
function recallWays({ skillTool }: ClientProfile, handle: string): RecallWays {
  const shell = (option: string) => `haversack recall ${handle} --${option}`;
  if (!skillTool) {
    return {
      lines: (range) => `\`${shell(`lines ${range}`)}\``,
      chars: (range) => `\`${shell(`chars ${range}`)}\``,
      find: "`--find TEXT`",
    };
  }
  const tool = skillTool.replace(/skill$/, "recall");
  const way = (name: string, range: string) =>
    `${tool}(handle: "${handle}", ${name}: "${range}") or \`${shell(`${name} ${range}`)}\``;
  return { lines: (range) => way("lines", range), chars: (range) => way("chars", range), find: 'find: "TEXT"' };
}
